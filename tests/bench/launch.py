"""Starts the processes that are measured, and ends them whatever happens; figure d is here too."""

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from figures import NotMeasuredError, Row, ratio_of_rounds, spread
from load import HEALTH_REQUEST, Connection, metrics_request

HERE = Path(__file__).parent
NOW = "2026-12-01T05:03:00Z"
NOW_MS = 1_796_101_380_000
"""The same moment; the deployments are 88 days old then, so that windows can move a long way."""
PATIENCE_S = 20.0
IMPORTS = "import fastapi, uvicorn, numpy"
TARGET_LAUNCH = 1.4


@dataclass(frozen=True, slots=True)
class Running:
    """A process that serves."""

    url: str
    pid: int


def _environment() -> dict[str, str]:
    # The settings of whoever runs the bench must not change what it measures.
    # An installed package is compiled once, by pip; where a variable forbids that, a checkout would be at each start.
    left_out = "LOOPSMOCK_", "PYTHONDONTWRITEBYTECODE"
    return {name: text for name, text in os.environ.items() if not name.startswith(left_out)}


def first_line(process: "subprocess.Popen[bytes]") -> str:
    """The first line on the process's standard output, or what there is of it when patience or the process ends."""
    assert process.stdout is not None
    deadline, line = time.monotonic() + PATIENCE_S, b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        # One byte a read, so that nothing past the line is taken from a later reader.
        byte = os.read(process.stdout.fileno(), 1) if ready else b""
        if not byte:
            break
        line += byte
    return line.decode(errors="replace").strip()


@contextmanager
def started(command: Sequence[str], said: str) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """A running process and the rest of its first line after `said`; it is ended on the way out.

    Raises:
        NotMeasuredError: its first line is another one; the message quotes the end of its standard error.
    """
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, env=_environment()
        )
        try:
            line = first_line(process)
            if not line.startswith(said):
                complaints.seek(0)
                why = complaints.read().decode(errors="replace").strip().splitlines()
                raise NotMeasuredError(f"{' '.join(command[1:4])} did not start: {(why or [line or 'no output'])[-1]}")
            yield process, line.removeprefix(said)
        finally:
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()


@contextmanager
def loopsmock(*flags: str) -> Iterator[Running]:
    """The server that is measured, at a frozen now, on a free port."""
    command = [sys.executable, "-m", "loopsmock", "serve", "--port", "0", "--quiet", "--now", NOW, *flags]
    with started(command, "LOOPSMOCK_URL=") as (process, url):
        yield Running(url, process.pid)


@contextmanager
def baseline(kind: str, body: Path) -> Iterator[Running]:
    """One of the servers it is compared with, answering with the body in the file."""
    with started([sys.executable, str(HERE / "baselines.py"), kind, str(body)], "URL=") as (process, url):
        yield Running(url, process.pid)


def seconds_to_first_200() -> tuple[float, float]:
    """From the launch to the first 200 of the health route, and to the first metrics."""
    began = time.perf_counter()
    with loopsmock() as server:
        connection = _patiently(server.url, began + PATIENCE_S)
        healthy_s = time.perf_counter() - began
        connection.exchange(metrics_request("healthy", {}))
        metrics_s = time.perf_counter() - began
        connection.close()
    return healthy_s, metrics_s


def _patiently(url: str, deadline: float) -> Connection:
    """A connection on which the health route has answered 200."""
    while True:
        try:
            connection = Connection(url)
            connection.exchange(HEALTH_REQUEST)
            return connection
        except (NotMeasuredError, ConnectionError):
            if time.perf_counter() > deadline:
                raise
            time.sleep(0.001)


def seconds_to_import() -> tuple[float, float]:
    """The bare imports in a process of their own: from launch until they are done, and until it has ended."""
    began = time.perf_counter()
    with started([sys.executable, "-c", f"{IMPORTS}; print('DONE', flush=True)"], "DONE") as (process, _):
        done_s = time.perf_counter() - began
        process.wait(PATIENCE_S)
        return done_s, time.perf_counter() - began


def figure_d(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """Launch to first 200, alternating with the bare imports."""
    rounds = 3 if quick else 9
    seconds_to_import()  # once unmeasured: the bytecode is written and the files are in memory
    seconds_to_first_200()
    imports, ended, healths, metrics = [], [], [], []
    for number in range(rounds):
        say(f"d: launch {number + 1} of {rounds}")
        # Judged by when the imports are done: the mock is not made to wait for its exit either.
        done_s, ended_s = seconds_to_import()
        imports.append(done_s)
        ended.append(ended_s)
        healthy_s, metrics_s = seconds_to_first_200()
        healths.append(healthy_s)
        metrics.append(metrics_s)
    detail = {
        "rounds": rounds,
        "imports_ms": spread(imports, 1000),
        "imports_and_exit_ms": spread(ended, 1000),
        "health_ms": spread(healths, 1000),
        "metrics_ms": spread(metrics, 1000),
    }
    return [
        Row(
            "d",
            "launch to first 200 ÷ bare imports",
            ratio_of_rounds(healths, imports),
            "x",
            "at most",
            TARGET_LAUNCH,
            detail,
        ),
        Row("d", "launch to first metrics ÷ bare imports", ratio_of_rounds(metrics, imports), "x"),
    ]
