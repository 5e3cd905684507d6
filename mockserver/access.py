"""One line on stderr for each request, with neither headers nor the query."""

import select
import sys
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LONGEST_PATH = 500  # keeps a line below what a pipe that is ready takes without blocking


class AccessLog:
    """An ASGI app around another that logs method, path, status, bytes and milliseconds of each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; log it when it has been answered, failed or been given up."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = "---"
        length = 0
        ended = False

        async def counted(message: Message) -> None:
            nonlocal status, length, ended
            await send(message)
            if message["type"] == "http.response.start":
                status = str(message["status"])
            elif message["type"] == "http.response.body":
                length += len(message.get("body", b""))
                ended = not message.get("more_body", False)

        try:
            await self._app(scope, receive, counted)
        finally:
            elapsed_ms = (time.perf_counter() - started) * 1000
            # The path as it was sent: still quoted, so that no line break gets into the log.
            path = scope.get("raw_path") or scope["path"].encode()
            shown = path.split(b"?")[0][:_LONGEST_PATH].decode("ascii", "backslashreplace")
            cut = "" if ended else " cut short"
            _write(f"{scope['method']} {shown} {status} {length} B {elapsed_ms:.1f} ms{cut}\n")


def _write(line: str) -> None:
    """Write one line, or drop it where it would block: nobody may read the pipe behind stderr."""
    if sys.stderr is None:
        return
    try:
        if sys.platform == "win32" or select.select([], [sys.stderr], [], 0)[1]:
            sys.stderr.write(line)
            sys.stderr.flush()
    except OSError:
        # Whoever read the log is gone. The answers matter more.
        return
