"""C1, C2, C5, C12: a value depends on seed, deployment, series, timestamp and life; a request only chooses points."""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopsmock.mockserver import create_app

from . import rules
from .reading import Answer
from .rows import Row
from .served import HOUR_MS, NODES, NOW_MS, answer, app_at, asked, body, created_s, parsed

NOW_S = NOW_MS // 1000
CREATED_S = created_s(NOW_MS)
STEPS_S = (1, 7, 15, 20, 45, 3600)
LIFE_LEFT_S = 25 * 86_400

# The ladder's steps, and how many of them a range must last so that this one is taken when none is asked for.
DEFAULT_STEPS = {30: (2, 240), 60: (122, 300), 600: (146, 300), 3600: (74, 160)}


def broken_rules(seen: Answer) -> list[Row]:
    return [row for row in rules.ALWAYS if row.broken(seen)]


@dataclass
class Clock:
    """A clock that stands where it was put."""

    ms: int = NOW_MS

    def __call__(self) -> int:
        return self.ms


LATER = Clock()
NOW_APP, LATER_APP = app_at(), create_app(clock=LATER)


@st.composite
def ranges_through(draw: st.DrawFn, moment_s: int) -> tuple[dict[str, int], int]:
    """Request members whose grid meets a moment, and the step they lead to. Shrinks to few points at step 1."""
    if draw(st.booleans()):
        step_s = draw(st.sampled_from(tuple(DEFAULT_STEPS)))
        count = draw(st.integers(*DEFAULT_STEPS[step_s]))
        members = {}
    else:
        step_s = draw(st.sampled_from(STEPS_S))
        count = draw(st.integers(1, 120))
        members = {"step_seconds": step_s}
    before = draw(st.integers(0, count))
    fractions_ms = sorted(draw(st.tuples(st.integers(0, 999), st.integers(0, 999))))
    start_s = moment_s - before * step_s
    members["start_epoch_millis"] = start_s * 1000 + fractions_ms[0]
    members["end_epoch_millis"] = (start_s + count * step_s) * 1000 + fractions_ms[1]
    return members, step_s


def answered(app: Any, id_: str, members: dict[str, int], step_s: int, now_ms: int) -> Answer:
    request = asked(id_, members["start_epoch_millis"], members["end_epoch_millis"], step_s, now_ms=now_ms)
    return parsed(body(app, id_, **members), request)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.sampled_from(["single", "healthy"]), st.integers(0, LIFE_LEFT_S * 1000))
def test_two_answers_agree_wherever_they_meet(draws: st.DataObject, id_: str, later_ms: int) -> None:
    # Past the first week, so that no window reaches the boot, where points are missing.
    moment_s = draws.draw(st.integers(CREATED_S + 7 * 86_400, NOW_S), label="moment_s")
    LATER.ms = NOW_MS + later_ms
    assert created_s(LATER.ms) == CREATED_S
    one = answered(NOW_APP, id_, *draws.draw(ranges_through(moment_s)), NOW_MS)
    other = answered(LATER_APP, id_, *draws.draw(ranges_through(moment_s)), LATER.ms)
    for seen in (one, other):
        assert broken_rules(seen) == []
        assert moment_s in seen.volume.times_s
    assert rules.disagreements(one, other).sum() == 0


REQUESTS = [
    (id_, {"end_epoch_millis": NOW_MS - 1000 * ago_s, "step_seconds": step_s})
    for id_ in NODES
    for step_s, ago_s in ((7, 0), (30, 86_400), (3600, 5))
]

PRINT_DIGESTS = """
import asyncio, hashlib, json, sys
import httpx
from loopsmock.mockserver import create_app

async def main(now_ms, requests):
    app = create_app(clock=lambda: now_ms)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        for id_, members in requests:
            path = f"/v1/loops/deployments/{id_}/metrics"
            response = await client.post(path, json=members, headers={"Authorization": "Bearer k"})
            print(hashlib.sha256(response.content).hexdigest())

asyncio.run(main(*json.load(sys.stdin)))
"""


def digests(app: Any, requests: list[tuple[str, dict[str, int]]]) -> list[str]:
    return [hashlib.sha256(body(app, id_, **members)).hexdigest() for id_, members in requests]


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_a_fresh_process_gives_the_same_bytes(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_DIGESTS],
        input=json.dumps([NOW_MS, REQUESTS]),
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.split() == digests(app_at(), REQUESTS)


def test_eight_threads_get_the_same_bytes() -> None:
    shared = app_at()

    def in_turn(first: int) -> list[str]:
        turned = REQUESTS[first:] + REQUESTS[:first]
        found = digests(shared, turned)
        return found[len(REQUESTS) - first :] + found[: len(REQUESTS) - first]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(in_turn, range(8)))
    assert len(set(found[0])) == len(REQUESTS)
    assert found == [digests(app_at(), REQUESTS)] * 8


def values_of(answer_: Answer) -> dict[str, bytes]:
    """The values of every series that belongs to something of its own, by name."""
    named = {"volume": answer_.volume, "concurrency": answer_.concurrency, **answer_.by_status, **answer_.quantiles}
    for node in answer_.nodes:
        named |= {f"{node.id}/{number}": series for number, series in enumerate(node.series())}
    return {name: series.values.tobytes() for name, series in named.items()}


def test_seeds_deployments_nodes_and_ranks_have_their_own_values() -> None:
    request = asked("healthy", NOW_MS - HOUR_MS, NOW_MS, 15)
    app = app_at(deployments={"twin": "healthy"})
    found = [values_of(answer(app, "healthy", request)), values_of(answer(app_at(seed=1), "healthy", request))]
    found.append(values_of(answer(app, "twin", request)))
    for one, other in combinations(found, 2):
        assert [name for name in one if one[name] == other[name]] == []
    assert len(set(found[0].values())) == len(found[0])


def leaves(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Every leaf of a JSON document by its path."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else None
    if items is None:
        return {path: tree}
    return {at: leaf for key, child in items for at, leaf in leaves(child, (*path, str(key))).items()}


# Long enough for a 5xx or more in each.
@pytest.mark.parametrize(("scenario", "hours", "divisor"), [("healthy", 3, 60), ("single", 3, 7), ("wide", 1, 60)])
def test_the_divisor_multiplies_the_two_request_volumes_and_nothing_else(
    scenario: str, hours: int, divisor: int
) -> None:
    range_ = {"start_epoch_millis": NOW_MS - hours * HOUR_MS, "step_seconds": 15}
    per_second, per_unit = (
        leaves(json.loads(body(NOW_APP, scenario, **range_, **members), parse_float=Decimal)["metrics"])
        for members in ({}, {"time_divisor_seconds": divisor})
    )
    assert per_second.keys() == per_unit.keys()
    scaled = set()
    for path, value in per_second.items():
        if per_unit[path] != value:
            assert per_unit[path] == value * divisor, path
            scaled.add((path[0], path[-1]))
        elif path[0] in ("inference_volume", "inference_volume_by_status") and path[-1] != "timestamp":
            assert value == 0, path
    by_status = {("inference_volume_by_status", f"status_{status}") for status in ("2xx", "4xx", "5xx")}
    assert scaled == {("inference_volume", "value"), *by_status}


@pytest.mark.parametrize("step_s", STEPS_S)
@pytest.mark.parametrize("scenario", NODES)
def test_nothing_is_before_creation(scenario: str, step_s: int) -> None:
    reach_ms = 60_000 * max(10, step_s)
    created_ms = CREATED_S * 1000
    request = asked(scenario, created_ms - reach_ms - 1500, created_ms + reach_ms, step_s)
    seen = answer(NOW_APP, scenario, request)
    # Nodes boot after creation, so points of theirs are missing from the grid.
    assert [rule for rule in broken_rules(seen) if rule.id != "C3"] == []
    assert CREATED_S <= seen.volume.times_s[0] < CREATED_S + step_s


@pytest.mark.parametrize("scenario", NODES)
def test_before_creation_everything_is_empty(scenario: str) -> None:
    created_ms = CREATED_S * 1000
    request = asked(scenario, created_ms - HOUR_MS, created_ms - 1, 15)
    seen = answer(NOW_APP, scenario, request)
    assert [series.values.size for series in seen.series() if series.values.size] == []
    assert (seen.nodes, seen.top.memory, seen.top.utilization) == ([], {}, {})


@pytest.mark.parametrize("step_s", STEPS_S)
@pytest.mark.parametrize("scenario", NODES)
def test_nothing_is_in_the_future(scenario: str, step_s: int) -> None:
    reach_ms = 60_000 * step_s
    request = asked(scenario, NOW_MS - reach_ms, NOW_MS + reach_ms, step_s)
    seen = answer(NOW_APP, scenario, request)
    assert broken_rules(seen) == []
    assert NOW_S - step_s < seen.volume.times_s[-1] <= NOW_S


@pytest.mark.parametrize("step_s", [1, 7, 15, 20, 45])
@pytest.mark.parametrize("scenario", ["single", "healthy"])
def test_the_lag_hides_and_changes_nothing_else(scenario: str, step_s: int) -> None:
    lag_s, native_s = 120, 15
    request = asked(scenario, NOW_MS - HOUR_MS // 4, NOW_MS, step_s)
    at_once, lagging = answer(NOW_APP, scenario, request), answer(app_at(lag_s=lag_s), scenario, request)
    grid = request.grid()
    readable, hidden = grid <= NOW_S - lag_s, grid >= NOW_S - lag_s + native_s
    assert readable.any() and hidden.any()
    for now, late in zip(at_once.traffic(), lagging.traffic(), strict=True):
        assert np.array_equal(late.times_s, grid)
        assert np.array_equal(now.values[readable], late.values[readable], equal_nan=True)
    for series in (lagging.volume, lagging.concurrency, *lagging.by_status.values()):
        assert not series.values[hidden].any()
    assert all(np.isnan(series.values[hidden]).all() for series in lagging.quantiles.values())
    assert all(not np.isnan(series.values).any() for series in at_once.quantiles.values())
    for node, late_node in zip([at_once.top, *at_once.nodes], [lagging.top, *lagging.nodes], strict=True):
        for now, late in zip(node.series(), late_node.series(), strict=True):
            assert np.array_equal(late.times_s, grid[: late.times_s.size])
            assert np.count_nonzero(readable) <= late.times_s.size <= np.count_nonzero(~hidden)
            assert np.array_equal(now.values[: late.values.size], late.values)


def test_all_of_a_window_can_lie_in_the_lag() -> None:
    request = asked("healthy", NOW_MS - 60_000, NOW_MS, 15)
    seen = answer(app_at(lag_s=300), "healthy", request)
    assert (seen.nodes, seen.top.memory, seen.top.utilization) == ([], {}, {})
    assert seen.volume.values.tolist() == [0.0] * request.grid().size
