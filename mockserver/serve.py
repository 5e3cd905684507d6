"""Runs the app under uvicorn: sockets, first line, access log, a stop without waiting."""

import io
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from .access import AccessLog
from .app import create_app
from .errors import StartError
from .greeting import greeting
from .listen import listen, url_of

_KEEP_ALIVE_S = 75  # longer than client pools keep idle connections, so none is closed under a request


@dataclass(frozen=True, slots=True)
class Settings:
    """Where to listen and what to say."""

    host: str = "127.0.0.1"
    port: int = 8000
    port_file: Path | None = None
    quiet: bool = False


class _Server(uvicorn.Server):
    """A server that tells when it accepts, and that stops at the first signal."""

    def __init__(self, config: uvicorn.Config, accepting: Callable[[], None]) -> None:
        super().__init__(config)
        self._accepting = accepting
        self.failure: StartError | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept, then say so; a failure to do so is kept for `run`, and stops the server."""
        await super().startup(sockets)
        try:
            self._accepting()
        except StartError as error:
            self.failure = error
            self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; the signal is not raised again afterwards, so the exit code is 0."""
        self.should_exit = True


def stop_on_signals() -> None:
    """End with exit 0 on SIGINT and SIGTERM also before and after the time in which uvicorn handles them."""

    def stop(sig: int, frame: FrameType | None) -> None:
        sys.exit(0)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)


def run(settings: Settings, *, api_key: str | None, **world: Any) -> None:
    """Serve until a signal comes.

    Args:
        settings: Where to listen and what to say.
        api_key: The key that clients must send, or None for the default rule. It is never printed.
        world: The other arguments of `create_app`.

    Raises:
        StartError: The port, the port file, the spec or a scenario is of no use.
    """
    if settings.port_file:
        _forget(settings.port_file)
    sockets = listen(settings.host, settings.port)
    try:
        port = int(sockets[0].getsockname()[1])
        log = _log_to_stderr(quiet=settings.quiet)
        app = create_app(api_key=api_key, **world)
        url = url_of(settings.host, port)

        def accepting() -> None:
            if settings.port_file:
                _write_port(settings.port_file, port)
            _say(f"LOOPSMOCK_URL={url}\n")
            if not settings.quiet:
                deployments = app.state.world.deployments
                key_set = api_key is not None
                _say(greeting(url, app.state.routing, deployments, key_set=key_set, spec=world.get("spec")))

        config = uvicorn.Config(
            app if settings.quiet else AccessLog(app),
            loop="asyncio" if sys.platform == "win32" else "uvloop",
            http="httptools",
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=0,
        )
        server = _Server(config, accepting)
        # What a stop cuts short is nobody's fault.
        log.addFilter(lambda record: not server.should_exit)
        server.run(sockets)
        if server.failure:
            raise server.failure
    finally:
        for sock in sockets:
            sock.close()


def _log_to_stderr(*, quiet: bool) -> logging.Handler:
    """Show the log of uvicorn and of this package on stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("loopsmock: %(message)s"))
    for name, level in (("uvicorn.error", logging.WARNING), ("loopsmock", logging.WARNING if quiet else logging.INFO)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.addHandler(handler)
        logger.propagate = False
    return handler


def _forget(port_file: Path) -> None:
    """Remove what an earlier run left there: a waiting script must not read an old port."""
    try:
        port_file.unlink(missing_ok=True)
    except OSError as error:
        raise StartError(f"cannot replace the port file {port_file}: {error.strerror}") from error


def _write_port(port_file: Path, port: int) -> None:
    """Write the port in one step, so that nobody reads half a file."""
    draft = port_file.with_name(f".{port_file.name}.{os.getpid()}")
    try:
        draft.write_text(f"{port}\n", encoding="ascii")
        draft.replace(port_file)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise StartError(f"cannot write the port file {port_file}: {error.strerror}") from error


def _say(text: str) -> None:
    """Write to stdout at once; a reader that is gone (`| head -1`) does not end the server."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without UTF-8 gets question marks
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
