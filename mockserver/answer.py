"""Plan + view → an ASGI response: one body where it is small, a stream where it is large."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from threading import Lock

from starlette.responses import Response, StreamingResponse

from .near import Near
from .plan import Plan
from .render import View, estimated_bytes, pieces, whole

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
            return StreamingResponse(_stream(plan, view), media_type="application/json")
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


async def _stream(plan: Plan, view: View) -> AsyncIterator[bytes]:
    block: list[bytes | memoryview] = []
    size = 0
    for piece in pieces(plan, view):
        block.append(piece)
        size += len(piece)
        if size >= BLOCK_BYTES:
            yield b"".join(block)
            block, size = [], 0
            await asyncio.sleep(0)
    yield b"".join(block)
