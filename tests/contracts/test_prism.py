"""A provider that nobody here wrote: Prism, serving openapi.yaml. Its series are made up, and the report says so."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from loopsmock.contracts.checks import Verdict
from loopsmock.contracts.provider import Report
from loopsmock.contracts.report_html import page
from loopsmock.contracts.report_junit import junit
from loopsmock.contracts.report_terminal import terminal
from loopsmock.contracts.secret import Key
from loopsmock.contracts.settings import Settings, run

from tests.support import BEARER, ROOT

PRISM = ROOT / ".npm" / "node_modules" / ".bin" / "prism"
PATIENCE_S = 60.0


def prism() -> str:
    """The program: that of .ci/run, or one on the PATH; in CI it must be there."""
    found = str(PRISM) if PRISM.exists() else shutil.which("prism")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("Prism is not there: .ci/run installs it by npm")
        pytest.skip("Prism is not installed: npm install --prefix .npm @stoplight/prism-cli@5.14.2")
    return found


@pytest.fixture(scope="module", params=["static", "dynamic"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    """What the suite says of Prism with the examples of its own making, and with values at random."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    mode = ["--dynamic"] if request.param == "dynamic" else []
    command = [prism(), "mock", *mode, "--port", str(port), str(ROOT / "openapi.yaml")]
    log = Path(tmp_path_factory.mktemp("prism")) / "log"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, log)
            settings = Settings(url, deployment_ids=["healthy"], max_requests=25)
            yield run(settings, key=Key("loopsmock"))
        finally:
            process.terminate()


def wait_for(url: str, log: Path) -> None:
    """Until it answers."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            httpx.get(f"{url}/v1/loops/deployments", headers=BEARER, trust_env=False)
            return
        except httpx.TransportError:
            if time.monotonic() > deadline:
                pytest.fail(f"Prism did not start: {log.read_text('utf-8')[-500:]}")
            time.sleep(0.1)


def test_its_violations_are_right(report: Report) -> None:
    failed = {result.check.id for result in report.failed}
    # It refuses forms, takes every key and id, and makes its series up: whatever range is asked for.
    assert failed >= {
        "the_curl_sample_works",
        "deployment_id_is_echoed",
        "points_are_in_the_window",
        "rank_keys_are_numbers",
        "a_wrong_key_is_refused",
        "an_unknown_deployment_is_refused",
    }
    # What Prism is good at holds.
    held = {result.check.id for result in report.having(Verdict.PASS)}
    assert held >= {
        "no_server_errors",
        "content_type",
        "strict_json",
        "schema",
        "text_for_a_number_is_refused",
        "a_fraction_is_refused",
        "broken_json_is_refused",
        "a_missing_key_is_refused",
        "a_wrong_method_is_refused",
    }
    assert report.exit_code == 1
    assert not report.silent


def test_every_report_can_show_them(report: Report) -> None:
    shown = terminal(report, colour=False)
    for result in report.failed:
        assert f"error[{result.check.id}]" in shown
    assert "deployment_id_is_echoed" in page(report)
    assert "deployment_id_is_echoed" in junit(report)
