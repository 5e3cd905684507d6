"""Ctrl-C as a wish: the run ends before its next request, and what it has found so far is reported."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

import click


class Interrupts:
    """While it is open, the first Ctrl-C is noted and the second one ends the program.

    An exception in the middle of anything, an import of another thread's say, would leave locks behind.
    """

    def __init__(self) -> None:
        self._asked = False
        self._before: Any = None

    def asked(self) -> bool:
        """Whether there was one."""
        return self._asked

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        click.echo("\nloopsmock: the run ends after this request; Ctrl-C again ends it at once", err=True)
