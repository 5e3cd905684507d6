"""Figure e: how long `loopsmock check` takes on the largest deployment, and how much of that is judging."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from figures import NotMeasuredError, Row, spread
from launch import loopsmock

TARGET_S = 10.0
PATIENCE_S = 120.0


def _seconds(*words: str) -> float:
    """From the launch of a command to its end, which must be good."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "loopsmock", *words], capture_output=True, encoding="utf-8", timeout=PATIENCE_S
    )
    if done.returncode:
        raise NotMeasuredError(f"loopsmock {words[0]} ended with {done.returncode}: {done.stderr or done.stdout}"[:300])
    return time.perf_counter() - began


def figure_e(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """A whole run with its generated requests, and a replay of it without a network."""
    rounds = 1 if quick else 5
    checks, replays = [], []
    with loopsmock() as server, tempfile.TemporaryDirectory() as folder:
        record = str(Path(folder) / "run.json")
        for number in range(rounds):
            say(f"e: check {number + 1} of {rounds}")
            checks.append(_seconds("check", server.url, "--json", record))
            replays.append(_seconds("replay", record))
    middle = spread(checks)
    return [
        Row("e", "check of wide, with generated requests", middle["median"], "s", "at most", TARGET_S, middle),
        Row("e", "replay of it, without a network", spread(replays)["median"], "s", detail=spread(replays)),
    ]
