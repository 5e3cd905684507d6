"""What tests of the running mock share: the app in this process, and servers of their own on loopback."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
from loopsmock.contracts.spec import documented, load
from loopsmock.mockserver import create_app

ROOT = Path(__file__).resolve().parents[1]
SPEC = load()
(OPERATION,) = (operation for operation in SPEC.operations if operation.method == "POST")
(DOCUMENTED,) = (operation for operation in load(documented(SPEC.document)).operations if operation.method == "POST")
"""The operation of the metrics without what this project added to the contract."""
PATH = OPERATION.path
BEARER = {"Authorization": "Bearer loopsmock"}
NOW = "2026-12-01T05:03:00.250Z"
NOW_MS = 1_796_101_380_250
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
_PATIENCE_S = 60.0
STRAGGLER = """extends: healthy
shows: The second node is slow from minute 20 to 40.
created: {every: 6h}
faults:
  - kind: slow-data
    nodes: [1]
    busy: 0.5
    at: 20m
    lasts: 20m
    every: 1h
"""
"""A scenario file as a user would write it."""


class Mock:
    """The app in this process at a frozen time. What it raises fails the test: that is a 500 to a client."""

    def __init__(self, **arguments: Any) -> None:
        self.app = create_app(**{"clock": lambda: NOW_MS} | arguments)

    def request(
        self, method: str, path: str | bytes, content: Any = b"", headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """One request; the path goes out as it is, already quoted."""
        raw = path.encode() if isinstance(path, str) else path
        url = httpx.URL("http://mock").copy_with(raw_path=raw)
        request = httpx.Request(method, url, content=content, headers=BEARER if headers is None else headers)
        return asyncio.run(_sent(httpx.ASGITransport(self.app), request))

    def post(
        self, body: Any, deployment: str = "single", headers: Mapping[str, str] | None = None, path: str = PATH
    ) -> httpx.Response:
        """A request for metrics; a body that is not bytes goes as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("POST", path.replace("{deployment_id}", deployment), content, headers)

    def metrics(self, deployment: str = "single", **members: int | None) -> dict[str, Any]:
        """The metrics of a deployment over a window."""
        response = self.post(members, deployment)
        assert response.status_code == 200, response.text[:300]
        found: dict[str, Any] = response.json()["metrics"]
        return found


def error_of(response: httpx.Response, status: int, code: str) -> str:
    """The message of an error answer that is formed as the contract says."""
    assert response.status_code == status, response.text[:300]
    assert OPERATION.response_violations(status, response.headers["content-type"], response.content) == []
    envelope: dict[str, str] = response.json()
    assert jsonschema_rs.is_valid(SPEC.document["components"]["schemas"]["Error"], envelope)
    assert envelope["code"] == code
    return envelope["message"]


def accepted(response: httpx.Response) -> dict[str, Any]:
    """The answer, after our contract and the documented part of it have accepted it."""
    assert response.status_code == 200, response.text[:300]
    for operation in (OPERATION, DOCUMENTED):
        assert operation.response_violations(200, response.headers["content-type"], response.content) == []
    found: dict[str, Any] = response.json()
    return found


def environment(**variables: str) -> dict[str, str]:
    """This process's environment with no LOOPSMOCK_ variables but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LOOPSMOCK_")}
    return kept | {"PYTHONIOENCODING": "utf-8"} | variables


def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command line that ends by itself."""
    command = [sys.executable, "-m", "loopsmock", *words]
    return subprocess.run(
        command, env=environment(**variables), capture_output=True, encoding="utf-8", timeout=_PATIENCE_S
    )


async def _sent(transport: httpx.ASGITransport, request: httpx.Request) -> httpx.Response:
    response = await transport.handle_async_request(request)
    await response.aread()
    response.request = request
    return response


@contextmanager
def serving(*words: str, **variables: str) -> Iterator[str]:
    """The URL of a quiet server in its own process at the frozen time; it is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "loopsmock", "serve", "--port", "0", "--quiet", "--now", NOW, *words],
        env=environment(**variables),
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    watch = threading.Timer(_PATIENCE_S, process.kill)
    watch.start()
    try:
        assert process.stdout
        first = process.stdout.readline()
        watch.cancel()
        assert first.startswith("LOOPSMOCK_URL=http://127.0.0.1:"), "the server did not start"
        yield first.strip().removeprefix("LOOPSMOCK_URL=")
    finally:
        watch.cancel()
        process.terminate()
        try:
            process.communicate(timeout=_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
