"""Hypothesis looks further: pairs of generated requests, judged by the same checks, shrunk to the smallest that fails.

A pair is a window of the last day and a second request that is related to it: the same, a part of it, another step,
another divisor, or null against left out. Smaller means nearer to now, shorter, a rounder step and fewer members.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from .check import Check
from .checks import Verdict, judge
from .evidence import Evidence
from .exchange import Exchange, Request
from .plan import MINUTE_MS, metrics_request
from .spec import Spec

STEPS_S = (60, 30, 120, 300, 600, 15, 45, 61)
DIVISORS = (None, 60, 1, 3600, 7)
MOST_POINTS = 240
DAY_MINUTES = 24 * 60

Members = dict[str, int | None]


@st.composite
def pairs(draw: st.DrawFn, now_ms: int) -> tuple[Members, Members]:
    """Two related requests about the day before now_ms.

    Shrinks towards a window of a minute ten minutes ago at a step of 60 s, asked twice.
    """
    end_min = draw(st.integers(10, DAY_MINUTES // 2))
    step_s = draw(st.sampled_from(STEPS_S))
    length_min = draw(st.integers(1, min(DAY_MINUTES // 2, MOST_POINTS * step_s // 60)))
    odd_ms = draw(st.sampled_from((0, 500, 7_437, 30_000)))
    end = now_ms // MINUTE_MS * MINUTE_MS - end_min * MINUTE_MS
    first: Members = {
        "start_epoch_millis": end - length_min * MINUTE_MS - odd_ms,
        "end_epoch_millis": end,
        "step_seconds": step_s,
    }
    divisor = draw(st.sampled_from(DIVISORS))
    if divisor is not None:
        first["time_divisor_seconds"] = divisor
    relation = draw(st.sampled_from(("same", "part", "divisor", "step", "null")))
    second = dict(first)
    if relation == "part":
        # Both ends move by whole steps, so that the grids have times in common.
        steps = length_min * 60 // step_s
        skipped = draw(st.integers(0, steps))
        start = first["start_epoch_millis"]
        assert start is not None
        second["start_epoch_millis"] = min(start + skipped * step_s * 1000, end - 1000)
    elif relation == "divisor":
        second["time_divisor_seconds"] = draw(st.sampled_from((60, 3600, 1)))
    elif relation == "step":
        second["step_seconds"] = step_s * draw(st.sampled_from((2, 3, 5)))
    elif relation == "null":
        second.setdefault("time_divisor_seconds", None)
    return first, second


def explore(
    spec: Spec,
    ask: Callable[[Request], Exchange | None],
    checks: Sequence[Check],
    *,
    deployment_id: str,
    now_ms: int,
    cases: int,
    seed: int,
) -> tuple[Exchange, ...]:
    """Look for a pair of requests whose answers a check fails on.

    Args:
        spec: the contract.
        ask: sends a request; None once no more may be sent.
        checks: which checks to run.
        deployment_id: whose metrics to ask for.
        now_ms: the provider's now.
        cases: how many requests to send, about; shrinking takes further ones.
        seed: of the search.

    Returns:
        The exchanges of the smallest pair found; none if all held.
    """
    # Asked again about a pair, the search must hear the same, however the provider changes and whatever is left.
    seen: dict[str, tuple[Exchange, ...]] = {}

    def violates(pair: tuple[Members, Members]) -> bool:
        name = repr(pair)
        if name not in seen:
            seen[name] = shown(pair)
        return bool(seen[name])

    def shown(pair: tuple[Members, Members]) -> tuple[Exchange, ...]:
        exchanges = []
        for number, members in enumerate(pair, 1):
            exchange = ask(metrics_request(deployment_id, f"generated {number} of 2", dict(members)))
            if exchange is None:
                return ()
            exchanges.append(exchange)
        evidence = Evidence(spec, exchanges, now_ms=now_ms)
        if any(result.verdict in (Verdict.FAIL, Verdict.WARN) for result in judge(evidence, checks)):
            return tuple(exchanges)
        return ()

    try:
        smallest = find(
            pairs(now_ms),
            violates,
            settings=settings(
                max_examples=-(-cases // 2),
                database=None,
                deadline=None,
                verbosity=Verbosity.quiet,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            ),
            random=random.Random(seed),
        )
    except NoSuchExample:
        return ()
    return seen[repr(smallest)]
