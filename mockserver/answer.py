"""Plan + view → an ASGI response: one body where it is small, a stream where it is large."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .near import Near
from .render import View, estimated_bytes, pieces, whole
from .shapes import Plan

WHOLE_BYTES = 1 << 20
"""Up to this size an answer is one body with a Content-Length."""
BLOCK_BYTES = 64 * 1024
"""What a stream sends at least at a time; after each block other requests get their turn."""


class Answers:
    """Makes answers, and keeps the last few small ones: a dashboard asks for the same window again and again."""

    def __init__(self, kept_bytes: int = 4 << 20) -> None:
        """Keep answers up to this many bytes in all."""
        self._kept: OrderedDict[tuple[int, View], bytes | memoryview] = OrderedDict()
        self._room = kept_bytes
        self._near = Near()
        self._lock = Lock()  # an app may serve several event loops in threads of their own

    def respond(self, plan: Plan, view: View) -> Response:
        """The response of a plan for what is in view."""
        if estimated_bytes(plan, view) > WHOLE_BYTES:
            return _Stream(pieces(plan, view))
        return Response(self._body(plan, view), media_type="application/json")

    def _body(self, plan: Plan, view: View) -> bytes | memoryview:
        wanted = id(plan), view
        with self._lock:
            body = self._kept.get(wanted)
            if body is not None:
                self._kept.move_to_end(wanted)
                return body
        body = whole(plan, view, self._near)
        with self._lock:
            if wanted not in self._kept:
                self._kept[wanted] = body
                self._room -= len(body)
            while self._room < 0:
                self._room += len(self._kept.popitem(last=False)[1])
        return body


class _Stream(Response):
    """An answer that is sent while it is made; each block lets other requests have their turn."""

    media_type = "application/json"

    def __init__(self, parts: Iterator[bytes | memoryview]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer until its end, or until nobody listens."""
        # Starlette's own streaming response needs 12 ms for its first use: it brings a task library with it.
        gone = asyncio.ensure_future(receive())
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            for block in _blocks(self._parts):
                await send({"type": "http.response.body", "body": block, "more_body": True})
                await asyncio.sleep(0)
                if gone.done():
                    return
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()


def _blocks(parts: Iterator[bytes | memoryview]) -> Iterator[bytes]:
    """The same bytes in blocks of at least BLOCK_BYTES, but for the last."""
    block: list[bytes | memoryview] = []
    size = 0
    for part in parts:
        block.append(part)
        size += len(part)
        if size >= BLOCK_BYTES:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)
