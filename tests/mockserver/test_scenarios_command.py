"""`loopsmock scenarios`: list, show, check and preview, and `serve --scenario`, in processes of their own."""

import re
import subprocess
from pathlib import Path

import httpx
import pytest
from loopsmock.mockserver.scenario_entry import text
from loopsmock.mockserver.scenario_file import catalogue

from ..support import BEARER, NOW, PATH, STRAGGLER, run, serving

OURS = catalogue()


def scenarios(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `loopsmock scenarios …` at the frozen time."""
    return run("scenarios", *words, **{"LOOPSMOCK_NOW": NOW} | variables)


def drawn(output: str) -> dict[str, str]:
    """The drawing of each line, by its name."""
    return {name.strip(): bars for name, bars in re.findall(r"^(.+?) +\|(.*)\| ", output, re.MULTILINE)}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    file = tmp_path / "slow.yaml"
    file.write_text(STRAGGLER, "utf-8")
    return file


def test_list_has_a_line_for_each_with_its_size_and_status() -> None:
    head, *lines = scenarios("list").stdout.splitlines()
    assert re.split(r"  +", head) == ["id", "nodes × GPUs", "status", "what it shows"]
    cells = [re.split(r"  +", line) for line in lines]
    assert [row[0] for row in cells] == list(OURS)
    assert {row[0]: row[3] for row in cells} == {name: scenario.shows for name, scenario in OURS.items()}
    by_id = {row[0]: row[1:3] for row in cells}
    assert by_id["wide"] == ["16 × 8 H200", "RUNNING"]
    # 05:03 is five hours into a life of what is created every six hours.
    assert by_id["preempted"] == ["2 × 8 H100", "PREEMPTED"]
    assert by_id["cold"][1] == "CREATED"


def test_what_show_says_is_the_whole_scenario(tmp_path: Path) -> None:
    for name, scenario in OURS.items():
        (tmp_path / f"{name}.yaml").write_text(text(scenario), "utf-8")
        assert "extends" not in text(scenario)
    assert catalogue([tmp_path]) == OURS
    assert scenarios("show", "node-dropout").stdout == text(OURS["node-dropout"])


def test_a_users_scenario_is_checked_shown_drawn_and_served(own: Path) -> None:
    checked = scenarios("check", str(own))
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout == f"{own}: fine: 2 × 8 H100, 1 fault. The second node is slow from minute 20 to 40.\n"
    assert "slow-data" in scenarios("show", str(own)).stdout
    assert "\nslow  " in scenarios("list", LOOPSMOCK_SCENARIO=str(own)).stdout
    preview = scenarios("preview", str(own), "--window", "1h", "--columns", "60")
    assert "RUNNING at 2026-12-01T05:03:00Z; the last 1 h, 1 min a column" in preview.stdout
    lines = drawn(preview.stdout)
    # From 04:03 to 05:03: the slow minutes 20 to 40 are columns 17 to 36.
    assert len(lines) == 9
    assert not set(lines["GPU busy g00r1"][17:37]) & set("▆▇█")
    assert lines["GPU busy g00r1"][:17].count("█") > 12
    assert lines["GPU busy g00r0"].count("█") > 45
    with serving("--scenario", str(own)) as url:
        start_ms = 1_796_097_600_000  # 04:00
        request = {"start_epoch_millis": start_ms, "end_epoch_millis": start_ms + 3_599_000, "step_seconds": 60}
        answered = httpx.post(url + PATH.replace("{deployment_id}", "slow"), json=request, headers=BEARER, timeout=30)
        nodes = answered.json()["metrics"]["per_node_metrics"]
    slow = [[point["value"] < 0.6 for point in node["gpu_utilization"]["3"]] for node in nodes]
    assert all(slow[1][20:40])
    assert sum(slow[1]) < 24 > sum(slow[0]) + 15


@pytest.mark.parametrize(
    ("spoil", "line", "says"),
    [
        (("busy:", "buzy:"), 7, "faults.0.buzy: there is no such member; did you mean busy?"),
        (("at: 20m", "at: 20min"), 8, "faults.0.at: '20min' is not a duration above zero; write for example 90s"),
        (("extends: healthy", "extends: slow"), 1, "circle, slow → slow: one of them must not extend"),
        (("nodes: [1]", "nodes: [5]"), 6, "faults.0.nodes: there is no node 5; there are 0 to 1"),
        (("lasts: 20m", "lasts: -20m"), 9, "faults.0.lasts: '-20m' is not a duration above zero; write for example"),
        (("shows:", "nodes: 2\nnodes: 3\nshows:"), 3, 'the key "nodes" stands twice'),
        (("created: {every: 6h}", "created: {every: 9999d}"), 3, "9999d is longer than 3650d"),
        (("busy: 0.5", "busy: &a [[1, 2], 3]\n    ranks: [*b]"), 8, "the alias *b names nothing"),
        (("kind: slow-data", "kind: surge\n    factor: 0.01"), 6, "factor: "),
        (("created: {every: 6h}", "1: 2"), 3, "1: there is no such member; there are extends, shows"),
        (("created: {every: 6h}", "workload: {dip_every: 1m}"), 3, "dip_every: 60s is too short; write 180s or more"),
    ],
)
def test_a_broken_file_is_told_with_file_line_reason_and_remedy(
    spoil: tuple[str, str], line: int, says: str, own: Path
) -> None:
    own.write_text(STRAGGLER.replace(*spoil), "utf-8")
    done = scenarios("check", str(own))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"loopsmock: {own}:{line}: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_what_would_leave_the_bounds_of_numbers_and_memory_is_refused(own: Path) -> None:
    surge = "\n  - {kind: surge, factor: 20}"
    own.write_text(f"extends: healthy\nshows: Too much.\nfaults:{surge * 3}\n", "utf-8")
    assert f"{own}:3: faults: all surge faults together make 8000 times as much" in scenarios("check", str(own)).stderr
    bomb = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    own.write_text(f"a0: &a0 [x]\n{bomb}", "utf-8")
    assert "aliases make it more than 1000000 values" in scenarios("check", str(own)).stderr
    odd = own.with_name("a%2Fb.yaml")
    odd.write_text(STRAGGLER, "utf-8")
    assert "rename it to letters, digits" in scenarios("check", str(odd)).stderr


def test_serve_refuses_what_check_refuses(own: Path) -> None:
    own.write_text(STRAGGLER.replace("busy:", "buzy:"), "utf-8")
    done = run("serve", "--port", "0", "--scenario", str(own))
    assert (done.returncode, done.stderr) == (2, scenarios("check", str(own)).stderr)


def test_a_fault_that_nobody_will_see_is_noted(own: Path) -> None:
    own.write_text(STRAGGLER.replace("created: {every: 6h}\n", "").replace("    every: 1h\n", ""), "utf-8")
    for done in (scenarios("check", str(own)), scenarios("preview", str(own))):
        assert done.returncode == 0
        assert "note: slow-data: it is over for good" in done.stdout
        assert "every: 1h" in done.stdout
    own.write_text(STRAGGLER.replace("at: 20m", "at: 7h").replace("    every: 1h\n", ""), "utf-8")
    assert "note: slow-data: it never begins: every life ends after 6h" in scenarios("check", str(own)).stdout


def test_files_that_extend_one_another_are_checked_together(own: Path) -> None:
    (own.parent / "slower.yml").write_text("extends: slow\nshows: Slower.\nnodes: 3\n", "utf-8")
    done = scenarios("check", str(own.parent))
    assert [line.split(": ")[2] for line in done.stdout.splitlines()] == [
        "2 × 8 H100, 1 fault. The second node is slow from minute 20 to 40.",
        "3 × 8 H100, 1 fault. Slower.",
    ]
    (own.parent / "slow.yml").write_text("extends: healthy\nshows: Again.\n", "utf-8")
    assert "is called slow as well; rename one of them" in scenarios("check", str(own.parent)).stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "helthy"), "there is no scenario 'helthy'; did you mean healthy?"),
        (("preview", "none.yaml"), "none.yaml: cannot be read: No such file"),
        (("preview", "cold", "--window", "9d"), "--window: the range of 777600 s is longer than 604800 s"),
        (("preview", "cold", "--window", "soon"), "'soon' is not a duration; write for example 7d"),
    ],
)
def test_what_is_of_no_use_is_refused_in_one_line(words: tuple[str, ...], says: str) -> None:
    done = scenarios(*words)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_preview_is_blank_where_nothing_is_and_takes_a_poor_terminal() -> None:
    assert all(not bars.strip() for bars in drawn(scenarios("preview", "cold").stdout).values())
    poor = scenarios("preview", "scale-from-zero", PYTHONIOENCODING="ascii")
    assert poor.returncode == 0
    assert poor.stdout.isascii()
    lines = drawn(poor.stdout)
    assert {" ", "#"} <= set(lines["GPU busy g00r0"])
    assert set(lines["requests a second"]) - set("_.:-=+*#") == set(), "zero while it sleeps, not absent"


def test_a_preview_shows_what_its_window_says() -> None:
    for window, column in (("90s", "15 s"), ("10m", "15 s"), ("6h", "10 min"), ("7d", "6 h")):
        done = scenarios("preview", "single", "--window", window, "--columns", "40")
        assert f", {column} a column" in done.stdout, done.stderr
        assert all(bars.strip() for bars in drawn(done.stdout).values())
