"""The vendor's own cURL sample against a running mock, with only host and id changed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .support import OPERATION, serving

# The sample sends its JSON as application/x-www-form-urlencoded: that is what --data means.
SAMPLE = """curl --request POST \\
  --url {url}/v1/loops/deployments/{id}/metrics \\
  --header "Authorization: {scheme} $BASETEN_API_KEY" \\
  --data '{{
    "end_epoch_millis": null,
    "start_epoch_millis": null,
    "step_seconds": null,
    "time_divisor_seconds": null
  }}'"""
WRITE_OUT = " --silent --show-error --write-out '\\n%{http_code} %{content_type}'"


@pytest.fixture(autouse=True)
def _needs_curl() -> None:
    if not shutil.which("curl"):
        assert not os.environ.get("CI"), "curl is missing"
        pytest.skip("curl is missing")


def pasted(command: str, home: Path, key: str = "loopsmock") -> tuple[str, bytes]:
    """Status and content type, and the body, of a curl line in a shell; nobody's ~/.curlrc or proxy takes part."""
    shell = os.environ | {"BASETEN_API_KEY": key, "HOME": str(home), "NO_PROXY": "*", "CURL_HOME": str(home)}
    done = subprocess.run(["sh", "-c", command + WRITE_OUT], env=shell, capture_output=True, timeout=60, check=True)
    body, _, written = done.stdout.rpartition(b"\n")
    return written.decode(), body


@pytest.mark.parametrize("scheme", ["Bearer", "Api-Key"])
@pytest.mark.parametrize("deployment", ["healthy", "single", "wide"])
def test_the_sample_works_as_printed(scheme: str, deployment: str, server_url: str, tmp_path: Path) -> None:
    command = SAMPLE.format(url=server_url, id=deployment, scheme=scheme)
    written, body = pasted(command, tmp_path)
    assert written == "200 application/json"
    assert OPERATION.response_violations(200, "application/json", body) == []
    answer = json.loads(body)
    assert answer["deployment_id"] == deployment
    assert len(answer["metrics"]["inference_volume"]) == 121


def test_the_sample_sends_a_form(server_url: str, tmp_path: Path) -> None:
    command = SAMPLE.format(url=server_url, id="single", scheme="Bearer") + " --verbose 2>&1"
    _, told = pasted(command, tmp_path)
    assert b"content-type: application/x-www-form-urlencoded" in told.lower()


def test_the_sample_with_a_key_that_is_wanted(tmp_path: Path) -> None:
    with serving(LOOPSMOCK_API_KEY="the-key-of-this-test") as url:
        command = SAMPLE.format(url=url, id="single", scheme="Bearer")
        assert pasted(command, tmp_path, "the-key-of-this-test")[0] == "200 application/json"
        written, body = pasted(command, tmp_path, "another")
    assert written == "403 application/json"
    assert json.loads(body) == {"code": "PERMISSION_DENIED", "message": "Authorization error"}


@pytest.mark.parametrize("host", ["api.baseten.co", "metrics.example:8080"])
def test_any_host_is_answered(host: str, server_url: str, tmp_path: Path) -> None:
    command = SAMPLE.format(url=server_url, id="single", scheme="Bearer") + f" --header 'Host: {host}'"
    assert pasted(command, tmp_path)[0] == "200 application/json"


@pytest.mark.parametrize("framing", ["", " --header 'Transfer-Encoding: chunked'"], ids=["Content-Length", "chunked"])
def test_a_body_that_is_too_large_is_answered_not_cut(framing: str, server_url: str, tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_bytes(b" " * 1_000_000)
    command = f"curl --url {server_url}/v1/loops/deployments/single/metrics --header 'Authorization: Bearer k'"
    written, body = pasted(f"{command} --data-binary @{file}{framing}", tmp_path)
    assert written == "413 application/json"
    assert json.loads(body)["code"] == "PAYLOAD_TOO_LARGE"
