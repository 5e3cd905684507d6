"""The line of curl sends what `check` sent: each is run by a shell against a server that writes down what comes."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from loopsmock.contracts import plan
from loopsmock.contracts.curl import MOST_ARGUMENT, curl
from loopsmock.contracts.exchange import Request
from loopsmock.contracts.sender import WRONG_KEY

from ..support import NOW_MS, environment

pytestmark = pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
KEY = "a key's $HOME `x`"
Came = tuple[str, str, bytes, dict[str, str]]


class Listener(HTTPServer):
    """Writes down every request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Writer)
        self.came: list[Came] = []
        self.url = f"http://127.0.0.1:{self.server_port}/prefix"


class _Writer(BaseHTTPRequestHandler):
    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        assert isinstance(self.server, Listener)
        names = {name.lower(): value for name, value in self.headers.items()}
        self.server.came.append((self.command, self.path, body, names))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def sent(listener: Listener, home: Path, request: Request, shell: str = "bash", **variables: str) -> Came:
    """What comes when a shell runs the line for a request."""
    listener.came.clear()
    settings = environment(HOME=str(home), CURL_HOME=str(home), NO_PROXY="*", **variables)
    line = curl(listener.url, request)
    # By its input, as if pasted: a command line could not be as long.
    done = subprocess.run([shell], input=line.encode(), env=settings, cwd=home, capture_output=True, timeout=60)
    assert done.returncode == 0, (line[:2000], done.stderr)
    (came,) = listener.came
    return came


def request_of(body: bytes, label: str = "one") -> Request:
    return plan.metrics_request("single", label, body)


EVERY = [plan.listing(), plan.opening("a b/é"), *plan.answers("single", NOW_MS), *plan.probes("single", NOW_MS, 0)]
BODIES = {
    "quotes": b"""{"it's": "\\"$HOME `x` \\\\ !! %s"}""",
    "at": b"@/etc/hostname",
    "dash": b"-d",
    "control": b'{"a":\n\t"\x1b[31m"}\r\n',
    "nul and high": b"\x00\xff\xfe%d\\n'",
    "letters": "{“é”: 日本}".encode(),
    "digits after an escape": b"\x017",
    "long": b"x" * (MOST_ARGUMENT + 50_000),
}


@pytest.mark.parametrize("request_", EVERY, ids=lambda one: one.label)
def test_the_line_sends_what_the_plan_sends(request_: Request, listener: Listener, tmp_path: Path) -> None:
    method, path, body, headers = sent(listener, tmp_path, request_, BASETEN_API_KEY=KEY)
    assert (method, path, body) == (request_.method, f"/prefix{request_.path}", request_.body)
    assert headers.get("content-type") == request_.content_type
    key = WRONG_KEY if request_.key == "wrong" else KEY
    assert headers.get("authorization") == (None if request_.scheme is None else f"{request_.scheme} {key}")


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_any_body_arrives_byte_for_byte(body: bytes, shell: str, listener: Listener, tmp_path: Path) -> None:
    assert sent(listener, tmp_path, request_of(body), shell)[2] == body


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (Request("globs", "GET", "/v1/{a,b}/[1-3]"), "/v1/{a,b}/[1-3]"),
        (Request("dots", "GET", "/v1/../x/."), "/v1/../x/."),
        (Request("quotes", "DELETE", "/it's?a=$HOME&b=`x`"), "/it's?a=$HOME&b=`x`"),
        (Request("spaces", "PATCH", "/a b\n\x1b", b"{}"), "/a%20b%0A%1B"),
        (Request("no body", "POST", "/v1", content_type=None), "/v1"),
        (Request("a body all the same", "GET", "/v1", b"{}"), "/v1"),
        (Request("head", "HEAD", "/v1", content_type=None), "/v1"),
        (Request("a scheme", "GET", '/v1"', scheme="$HOME `x` '\""), '/v1"'),
    ],
    ids=lambda one: one.label if isinstance(one, Request) else "",
)
def test_odd_requests_arrive_as_they_are(request_: Request, path: str, listener: Listener, tmp_path: Path) -> None:
    came = sent(listener, tmp_path, request_, BASETEN_API_KEY=KEY)
    assert came[:3] == (request_.method, f"/prefix{path}", request_.body)
    assert came[3].get("content-type") == request_.content_type
    assert came[3]["authorization"] == f"{request_.scheme} {KEY}"


def test_the_key_is_left_to_the_shell(listener: Listener, tmp_path: Path) -> None:
    assert '"Authorization: Bearer $BASETEN_API_KEY"' in curl("https://api.example.com", request_of(b"{}"))
    assert sent(listener, tmp_path, request_of(b"{}"), BASETEN_API_KEY="")[3]["authorization"] == "Bearer loopsmock"
