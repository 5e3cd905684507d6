"""Servers on loopback that a provider must not be, and one that writes down what it is asked."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support import Mock


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Played:
    """A server, and what it was asked."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


Answer = Callable[["Handler", Asked], None]


class Handler(BaseHTTPRequestHandler):
    """Answers by the function that its server has."""

    played: Played
    answer: Answer

    def do(self) -> None:
        """Note the request, then answer it."""
        length = int(self.headers.get("content-length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, self.rfile.read(length))
        self.played.asked.append(asked)
        type(self).answer(self, asked)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do  # noqa: N815

    def say(self, status: int, body: bytes, **headers: str) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in {"Content_Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@contextmanager
def playing(answer: Answer) -> Iterator[Played]:
    """A server that answers by a function, until the end of the block."""
    played = Played("")
    handler = type("Handler", (Handler,), {"played": played, "answer": staticmethod(answer)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda request, client_address: None  # type: ignore[method-assign]
    played.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield played
    finally:
        played.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def hang(handler: Handler, asked: Asked) -> None:
    """Never answer."""
    handler.played.over.wait(60)


def dribble(handler: Handler, asked: Asked) -> None:
    """Send a byte now and then, so that no single wait is long."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    while not handler.played.over.is_set():
        handler.wfile.write(b" ")
        time.sleep(0.02)


def reset(handler: Handler, asked: Asked) -> None:
    """Reset the connection."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def html(handler: Handler, asked: Asked) -> None:
    """A page where JSON belongs."""
    handler.say(200, b"<!doctype html><title>Sign in</title>", Content_Type="text/html")


def large(handler: Handler, asked: Asked) -> None:
    """100 MB."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(100_000_000))
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" " * 1_000_000)


def limited(handler: Handler, asked: Asked) -> None:
    """429 with the time to wait in the body."""
    handler.say(429, b'{"error": "Rate limit exceeded.", "retry_after": 0.01}')


def mocked(mock: Mock, before: Callable[[Asked, int], bytes | None] = lambda asked, number: None) -> Answer:
    """The mock behind this server; `before` may answer 429 in its place by giving a body."""
    lock = threading.Lock()

    def answer(handler: Handler, asked: Asked) -> None:
        limit = before(asked, len(handler.played.asked))
        if limit is not None:
            handler.say(429, limit)
            return
        kept = {name: value for name, value in asked.headers.items() if name in ("authorization", "content-type")}
        with lock:
            response = mock.request(asked.method, asked.path, asked.body, kept)
        handler.say(response.status_code, response.content, Content_Type=response.headers["content-type"])

    return answer
