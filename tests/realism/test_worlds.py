"""C1 and C2 for every scenario, and that no deployment feels what is done to another."""

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopsmock.mockserver import create_app
from loopsmock.mockserver.render import pieces
from loopsmock.mockserver.scenario_file import TAKES
from loopsmock.mockserver.shapes import Plan

from . import rules
from .reading import Answer
from .served import DAY_S, LIVES_S, NOW_MS, Beside, body, catalogue, created_s
from .test_purity import Clock, answered, digests, ranges_through

NOW_S = NOW_MS // 1000
LAG_S = 120
EVERYTHING = Path(__file__).with_name("everything.yaml")
LATER = Clock()
NOW_APP = create_app(scenarios=[EVERYTHING], clock=lambda: NOW_MS)
LATER_APP = create_app(scenarios=[EVERYTHING], clock=LATER)


def life_left_s(id_: str) -> int:
    return created_s(NOW_MS, id_) + LIVES_S[id_] - 1 - NOW_S if id_ in LIVES_S else 25 * DAY_S


# Every scenario gets its own examples: a pure function of few of them would do for the others.
@pytest.mark.parametrize("id_", catalogue())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(draws=st.data())
def test_two_answers_agree_wherever_they_meet(id_: str, draws: st.DataObject) -> None:
    # The newest minutes of a lagging deployment are not all readable yet: what is will be all the same later.
    newest_s = NOW_S - LAG_S - 15 if id_ == "lagging" else NOW_S
    oldest_s = max(created_s(NOW_MS, id_), NOW_S - 7 * DAY_S)
    moment_s = draws.draw(st.integers(oldest_s, newest_s), label="moment_s")
    LATER.ms = NOW_MS + draws.draw(st.integers(0, life_left_s(id_) * 1000), label="later_ms")
    assert created_s(LATER.ms, id_) == created_s(NOW_MS, id_)
    one, other = (
        trimmed(app, id_, draws.draw(ranges_through(moment_s)), newest_s, now_ms)
        for app, now_ms in ((NOW_APP, NOW_MS), (LATER_APP, LATER.ms))
    )
    assert moment_s in one.asked.grid() and moment_s in other.asked.grid()
    one.beside = Beside(one, other, 1, None)
    assert rules.differs_in_another_window(one).sum() == 0
    for row in (rules.STRAY, *(row for row in rules.ALWAYS if row.id in ("C5", "C7", "C8", "C12"))):
        assert not row.broken(one), row.statistic


def trimmed(app: object, id_: str, range_: tuple[dict[str, int], int], newest_s: int, now_ms: int) -> Answer:
    members, step_s = range_
    if newest_s < NOW_S:
        # The end stays on its side of the limit, and so may a step that follows from the range's length.
        members = members | {
            "end_epoch_millis": min(members["end_epoch_millis"], newest_s * 1000),
            "step_seconds": step_s,
        }
        members["start_epoch_millis"] = min(members["start_epoch_millis"], members["end_epoch_millis"] - 1)
    return answered(app, id_, members, step_s, now_ms)


def requests(ids: list[str]) -> list[tuple[str, dict[str, int]]]:
    steps = ((15, 3_600_000), (60, 6 * 3_600_000), (600, 86_400_000))
    return [
        (id_, {"start_epoch_millis": NOW_MS - back_ms, "step_seconds": step_s})
        for id_ in ids
        for step_s, back_ms in steps
    ]


def test_what_is_done_to_one_deployment_changes_no_byte_of_another(tmp_path: Path) -> None:
    ids = catalogue()
    before = digests(create_app(clock=lambda: NOW_MS), requests(ids))
    # Every deployment but one is compared: that one plays something else now, and there are two more.
    (tmp_path / "healthy.yaml").write_text(
        "extends: wide\nshows: Another.\nfaults: [{kind: gaps, every: 20m, lasts: 6m}]\n"
    )
    app = create_app(scenarios=[EVERYTHING, tmp_path], deployments={"more": "single"}, clock=lambda: NOW_MS)
    after = digests(app, requests(ids))
    same = [id_ for (id_, _), one, other in zip(requests(ids), before, after, strict=True) if one == other]
    assert sorted({*ids} - {*same}) == ["healthy"]
    assert same == [id_ for id_ in ids if id_ != "healthy" for _ in range(3)]


# What a fault needs; it begins long after now. Two kinds come all the time or not at all.
NEEDED = {
    "node-loss": "nodes: [1], lasts: 5m, ",
    "disk-growth": "lasts: 5h, ",
    "end": "status: FAILED, ",
    "errors": "status: 5xx, share: 0.2, ",
    "scaled-down": "lasts: 1h, ",
    "leak": "every: 3500d, ",
}


@pytest.mark.parametrize("kind", sorted(TAKES.keys() - {"gaps", "never-starts"}))
def test_a_fault_changes_nothing_before_it_begins(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "healthy.yaml"
    fault = f"{{kind: {kind}, {NEEDED.get(kind, '')}at: 3000d}}"
    file.write_text(f"extends: healthy\nshows: Not yet.\nfaults: [{fault}]\n")
    range_ = {"start_epoch_millis": NOW_MS - 6 * 3_600_000, "step_seconds": 60}
    # Read, since numbers are written as wide as the largest that could come.
    bodies = [
        json.loads(body(create_app(scenarios=files, clock=lambda: NOW_MS), "healthy", **range_))
        for files in ([], [file])
    ]
    # A disk that a fault fills holds no checkpoints, and memory that leaks does not wander beside it.
    assert (bodies[0] == bodies[1]) == (kind not in ("disk-growth", "leak"))


def test_every_kind_of_fault_streams_in_little_memory() -> None:
    world = NOW_APP.state.world
    (plan,) = (
        served
        for methods in NOW_APP.state.routing.served.values()
        for _, served in methods.values()
        if isinstance(served, Plan)
    )
    kinds = {fault.kind for fault in world.deployment("everything").scenario.faults}
    assert kinds == set(TAKES) - {"never-starts"}, "nothing else would be seen with it"
    range_ = {"start_epoch_millis": NOW_MS - 7 * DAY_S * 1000, "end_epoch_millis": NOW_MS, "step_seconds": 60}

    def peak_of(id_: str) -> tuple[int, int]:
        view = world.view(world.deployment(id_), range_)
        tracemalloc.start()
        try:
            return sum(len(piece) for piece in pieces(plan, view)), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    size, peak = peak_of("everything")
    assert size > 150_000_000
    assert peak < 25_000_000
    assert peak < 3 * peak_of("wide")[1]
