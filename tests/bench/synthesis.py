"""Figure a: synthesis and rendering without HTTP, beside orjson.dumps of the finished dicts.

Run as a program it measures in a process of its own: `synthesis.py RUNS WINDOWS` prints what it saw as JSON.
"""

import gc
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

from figures import NotMeasuredError, Row, ratio_of_rounds, spread
from launch import NOW_MS

TARGET = 0.6
PATH = "/v1/loops/deployments/{deployment_id}/metrics"
DEPLOYMENT, STEP_S, COUNT = "wide", 60, 1441
FIRST_START_S = NOW_MS // 1000 - 2 * 86_400
HOP_S = 86_400 + 3_607
"""From window to window: no moment is asked for twice."""
LEAST_POINTS = 320 * COUNT
BLOCK_BYTES = 64 * 1024
PATIENCE_S = 150.0

Pieces = Iterable[bytes | memoryview]


def renderer(seed: int) -> Callable[[int], Pieces]:
    """What a server of this seed does between the members of a request and its bytes, by the window's start.

    The only place here that knows how the package is made inside.
    """
    from loopsmock.mockserver import create_app
    from loopsmock.mockserver.render import pieces

    state = create_app(seed=seed, clock=lambda: NOW_MS).state
    _, plan = state.routing.served[PATH]["POST"]
    deployment = state.world.deployment(DEPLOYMENT)

    def render(start_s: int) -> Pieces:
        members = {
            "start_epoch_millis": start_s * 1000,
            "end_epoch_millis": (start_s + (COUNT - 1) * STEP_S) * 1000,
            "step_seconds": STEP_S,
        }
        return pieces(plan, state.world.view(deployment, members))

    return render


def as_stream(pieces: Pieces) -> None:
    """Make the blocks that the server sends, and let go of each."""
    block: list[bytes | memoryview] = []
    size = 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size >= BLOCK_BYTES:
            b"".join(block)
            block, size = [], 0


class Timed:
    """Adds the seconds spent in a `with` block to one entry of a table."""

    def __init__(self, table: dict[str, float], name: str) -> None:
        self._table, self._name = table, name

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._table[self._name] += time.perf_counter() - self._began


def measure(runs: int, windows: int) -> dict[str, object]:
    """Render windows that nobody asked for before, a new seed a run; dump each answer's dicts right after.

    Both sides make the whole answer as one bytes object. The server itself never holds a whole large answer; how long
    its blocks take is measured beside it, on windows of their own.

    Returns:
        Per run the mean seconds of each, and the size of the smallest answer.
    """
    import orjson

    times: dict[str, list[float]] = {"whole": [], "stream": [], "dumped": []}
    points, sizes = [], []
    starts = (FIRST_START_S - HOP_S * number for number in count())
    # Neither side is charged for the garbage of the 500,000 dicts that only the other one needs.
    gc.disable()
    for run in range(runs + 1):
        render, taken = renderer(seed=run), dict.fromkeys(times, 0.0)
        for _ in range(windows):
            start_s, other_start_s = next(starts), next(starts)
            with Timed(taken, "whole"):
                body = b"".join(render(start_s))
            points.append(body.count(b'"timestamp"'))
            sizes.append(len(body))
            answer = orjson.loads(body)
            del body
            with Timed(taken, "dumped"):
                orjson.dumps(answer)
            with Timed(taken, "stream"):
                as_stream(render(other_start_s))
            del answer
            gc.collect()
        if run:  # run 0 was the warm-up
            for name, total_s in taken.items():
                times[name].append(total_s / windows)
    return {"seconds": times, "points": min(points), "bytes": min(sizes)}


def figure_a(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """The median over the runs of rendering ÷ dumping."""
    if importlib.util.find_spec("orjson") is None:
        raise NotMeasuredError('orjson is missing; pip install "loopsmock[test]"')
    runs, windows = (2, 1) if quick else (5, 3)
    say(f"a: {runs} runs of {windows} new windows")
    command = [sys.executable, str(Path(__file__)), str(runs), str(windows)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotMeasuredError(f"the runs did not end within {PATIENCE_S:.0f} s") from error
    if done.returncode:
        raise NotMeasuredError((done.stderr.strip().splitlines() or ["the runs failed without a word"])[-1])
    seen = json.loads(done.stdout)
    if seen["points"] < LEAST_POINTS:
        raise NotMeasuredError(f"{seen['points']} points were rendered, fewer than {LEAST_POINTS}")
    whole_s, stream_s, dumped_s = (seen["seconds"][name] for name in ("whole", "stream", "dumped"))
    nanoseconds = statistics.median(whole_s) / seen["points"] * 1e9
    detail = {
        "runs": runs,
        "windows_a_run": windows,
        "points": seen["points"],
        "bytes": seen["bytes"],
        "whole_ms": spread(whole_s, 1000),
        "stream_ms": spread(stream_s, 1000),
        "dumped_ms": spread(dumped_s, 1000),
        "ratios": [round(ours / theirs, 4) for ours, theirs in zip(whole_s, dumped_s, strict=True)],
    }
    return [
        Row("a", "points in a day of wide at 60 s", seen["points"], "points"),
        Row(
            "a",
            "synthesis and rendering ÷ orjson.dumps",
            ratio_of_rounds(whole_s, dumped_s),
            "x",
            "at most",
            TARGET,
            detail,
        ),
        Row("a", "the same, as the server's blocks ÷ orjson.dumps", ratio_of_rounds(stream_s, dumped_s), "x"),
        Row("a", "synthesis and rendering, one point", nanoseconds, "ns"),
    ]


if __name__ == "__main__":
    try:
        print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
    except NotMeasuredError as unmeasured:
        sys.exit(str(unmeasured))
