"""The bench runs and reports; how fast anything is, no test says."""

import json
import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parent / "bench" / "run.py"


def bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(RUN), *arguments], capture_output=True, text=True, timeout=170, check=False
    )


def test_the_quick_bench_writes_its_figures(tmp_path: Path) -> None:
    written = tmp_path / "bench.json"
    done = bench("--only", "a", "--quick", "--json", str(written))
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(written.read_text(encoding="utf-8"))
    assert report["quick"] is True
    assert report["not_measured"] == {}
    points, ratio, _as_blocks, a_point = report["figures"]
    # 320 node series of 1,441 points, and the leader's and the traffic's beside them.
    assert points["measured"] >= 320 * 1441
    assert (ratio["figure"], ratio["bound"], ratio["target"]) == ("a", "at most", 0.6)
    assert ratio["measured"] > 0
    assert ratio["held"] is (ratio["measured"] <= ratio["target"])
    assert a_point["unit"] == "ns"
    for what in ("points in a day of wide", "orjson.dumps", "at most 0.60 x"):
        assert what in done.stdout


def test_an_unknown_figure_is_refused() -> None:
    done = bench("--only", "a,z")
    assert done.returncode == 2
    assert "no figure 'z'; there are a,b,c,d,e" in done.stderr
