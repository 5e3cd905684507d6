"""Figure c: a week of `wide` at 60 s in one answer: its first byte, its memory, and who waits meanwhile."""

import json
import re
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from figures import NotMeasuredError, Row, spread
from launch import HERE, NOW_MS, PATIENCE_S, Running, first_line, loopsmock, started
from load import Answer, Connection, metrics_request

WEEK_MS = 7 * 86_400_000
STEP_S = 60
MEBIBYTE = 1 << 20
LEAST_POINTS = 3_000_000
LEAST_PROBES = 5
IDLE_S = 0.6
TARGET_FIRST_BYTE, TARGET_MEMORY_MB, TARGET_WAIT_MS = 0.05, 16.0, 50.0
SMALL = {"start_epoch_millis": NOW_MS - 300_000, "end_epoch_millis": NOW_MS, "step_seconds": 30}
BIG_REQUEST = metrics_request(
    "wide", {"start_epoch_millis": NOW_MS - WEEK_MS, "end_epoch_millis": NOW_MS, "step_seconds": STEP_S}
)


@dataclass(frozen=True, slots=True)
class Week:
    """One week's answer by a fresh server, times in seconds, memory in MiB."""

    answer: Answer
    idle_mb: float
    grown_mb: float
    idle_waits_s: list[float]
    waits_s: list[float]


def resident_mb(pid: int, field: str) -> float:
    """VmRSS (now) or VmHWM (the peak since the last reset) of a process in MiB."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError as error:
        raise NotMeasuredError("resident memory is read from /proc, which this system lacks") from error
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    if found is None:
        raise NotMeasuredError(f"no {field} in the status of the server")
    return int(found[1]) * 1024 / MEBIBYTE


def _forget_peak(pid: int) -> None:
    # 5 resets VmHWM to VmRSS (Linux, proc(5)), so that start-up does not count as this answer's peak.
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
    except OSError as error:
        raise NotMeasuredError(f"the server's peak memory cannot be reset: {error.strerror}") from error


def measure(server: Running) -> Week:
    """Ask a fresh server for the week: once alone, once beside a client that wants little."""
    connection = Connection(server.url)
    for _ in range(20):
        connection.exchange(metrics_request("single", SMALL))
    idle_mb = resident_mb(server.pid, "VmRSS")
    _forget_peak(server.pid)
    answer = connection.exchange(BIG_REQUEST)
    grown_mb = resident_mb(server.pid, "VmHWM") - idle_mb
    idle_waits_s, waits_s = _waits_beside(server, connection)
    connection.close()
    return Week(answer, idle_mb, grown_mb, idle_waits_s, waits_s)


def _waits_beside(server: Running, connection: Connection) -> tuple[list[float], list[float]]:
    """How long small requests on another connection wait: before, and during the week's answer."""
    command = [sys.executable, str(HERE / "load.py"), server.url, "single", json.dumps(SMALL)]
    with started(command, "READY") as (process, _):
        time.sleep(IDLE_S)
        began = time.monotonic()
        connection.exchange(BIG_REQUEST)
        ended = time.monotonic()
        probes = _end_of(process)
    idle_waits_s = [wait_s for begin, wait_s in probes if begin + wait_s < began]
    waits_s = [wait_s for begin, wait_s in probes if begin < ended and begin + wait_s > began]
    if min(len(idle_waits_s), len(waits_s)) < LEAST_PROBES:
        raise NotMeasuredError(f"only {len(waits_s)} small requests were answered beside the week's")
    return idle_waits_s, waits_s


def _end_of(process: "subprocess.Popen[bytes]") -> list[tuple[float, float]]:
    """Tell the other client to stop, and read what it saw."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    if not select.select([process.stdout], [], [], PATIENCE_S)[0]:
        raise NotMeasuredError("the client beside the week's answer did not end")
    line = first_line(process)
    if not line.startswith("["):
        raise NotMeasuredError("the client beside the week's answer failed")
    return [(float(begin), float(wait_s)) for begin, wait_s in json.loads(line)]


def _points(server: Running) -> int:
    """How many points the week's answer really has."""
    connection, body = Connection(server.url), bytearray()
    connection.exchange(BIG_REQUEST, body)
    connection.close()
    points = body.count(b'"timestamp"')
    if points < LEAST_POINTS:
        raise NotMeasuredError(f"a week of wide has {points} points, too few to be one")
    return points


def figure_c(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """Each repetition on a fresh server: times are medians, memory and waits the worst of all."""
    repetitions = 1 if quick else 3
    weeks = []
    points = 0
    for number in range(repetitions):
        say(f"c: week {number + 1} of {repetitions}")
        with loopsmock() as server:
            weeks.append(measure(server))
            points = points or _points(server)
    first_s = [week.answer.first_byte_s for week in weeks]
    total_s = [week.answer.total_s for week in weeks]
    idle_waits_s = [wait_s for week in weeks for wait_s in week.idle_waits_s]
    waits_s = [wait_s for week in weeks for wait_s in week.waits_s]
    detail = {
        "repetitions": repetitions,
        "bytes": weeks[0].answer.size,
        "points": points,
        "first_byte_ms": spread(first_s, 1000),
        "total_ms": spread(total_s, 1000),
        "idle_mb": spread([week.idle_mb for week in weeks]),
        "grown_mb": spread([week.grown_mb for week in weeks]),
        "wait_idle_ms": spread(idle_waits_s, 1000),
        "wait_beside_ms": spread(waits_s, 1000),
        "requests_beside": len(waits_s),
    }
    share = statistics.median(first / total for first, total in zip(first_s, total_s, strict=True))
    grown_mb, longest_ms = max(week.grown_mb for week in weeks), max(waits_s) * 1000
    return [
        Row("c", "points in a week of wide at 60 s", points, "points"),
        Row("c", "first byte ÷ total", share, "x", "at most", TARGET_FIRST_BYTE, detail),
        Row("c", "total", statistics.median(total_s) * 1000, "ms"),
        Row("c", "peak memory above idle", grown_mb, "MB", "at most", TARGET_MEMORY_MB, detail),
        Row("c", "longest wait of a small request meanwhile", longest_ms, "ms", "at most", TARGET_WAIT_MS, detail),
        Row("c", "median wait of a small request meanwhile", statistics.median(waits_s) * 1000, "ms"),
        Row("c", "median wait of a small request when idle", statistics.median(idle_waits_s) * 1000, "ms"),
    ]
