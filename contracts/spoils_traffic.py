"""Faults of traffic within one answer: sums and quantiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .answer import QUANTILES, STATUSES
from .spoil import IDLE, Call, Change, Spoil
from .spoil_change import Points, metrics, series

_SUM, _ORDER, _SERVED = "volume_is_sum_of_statuses", "quantiles_are_ordered", "quantiles_go_with_requests"
VOLUME, BY_STATUS, LATENCY = "inference_volume", "inference_volume_by_status", "response_time_stats"


def _statuses(edit: Callable[[dict[str, float]], None]) -> Change:
    def each(points: Points, call: Call) -> None:
        for point in points:
            edit(point)

    return series(each, BY_STATUS)


def _two_is_total(point: dict[str, float]) -> None:
    point["status_2xx"] = sum(point[name] for name in STATUSES)
    point["status_4xx"] += 0.01 * point["status_2xx"]


def _shares(point: dict[str, float]) -> None:
    total = sum(point[name] for name in STATUSES)
    point.update({name: point[name] / total for name in STATUSES if total})


def _errors_left_out(found: dict[str, Any], call: Call) -> None:
    good = {point["timestamp"]: point["status_2xx"] for point in found[BY_STATUS]}
    for point in found[VOLUME]:
        point["value"] = good.get(point["timestamp"], point["value"])


def _counters(found: dict[str, Any], call: Call) -> None:
    total = 0.0
    for point in found[BY_STATUS]:
        total += point["status_2xx"]
        point["status_2xx"] = total


def _quantiles(edit: Callable[[dict[str, Any]], dict[str, Any]]) -> Change:
    """A change of the three quantiles of each point where there are some."""

    def each(points: Points, call: Call) -> None:
        for point in points:
            if all(point.get(name) is not None for name in QUANTILES):
                point.update(edit({name: point[name] for name in QUANTILES}))

    return series(each, LATENCY)


def _zero_where_null(points: Points, call: Call) -> None:
    for point in points:
        point.update({name: 0.0 for name in QUANTILES if point.get(name) is None})


def _last_where_null(points: Points, call: Call) -> None:
    last = dict.fromkeys(QUANTILES, 1.0)
    for point in points:
        for name in QUANTILES:
            point[name] = last[name] = last[name] if point.get(name) is None else point[name]


SPOILS = (
    Spoil("2xx-is-all", "2xx is the volume of all requests, errors stand beside it.", _SUM, _statuses(_two_is_total)),
    Spoil("5xx-counted-twice", "Requests that failed are counted by two layers.", _SUM,
          _statuses(lambda point: point.update(status_5xx=point["status_5xx"] + 0.05 * point["status_2xx"]))),
    Spoil("shares-of-classes", "The status classes are shares of the volume.", _SUM, _statuses(_shares)),
    Spoil("errors-left-out", "The volume has no requests that were refused.", _SUM, metrics(_errors_left_out)),
    Spoil("counters", "2xx is a counter that only grows.", _SUM, metrics(_counters)),
    Spoil("p99-below-p95", "p95 and p99 are exchanged.", _ORDER,
          _quantiles(lambda q: {"p95": q["p99"], "p99": q["p95"]})),
    Spoil("p50-above-p95", "p50 and p95 are exchanged.", _ORDER,
          _quantiles(lambda q: {"p50": q["p95"], "p95": q["p50"]})),
    Spoil("p99-of-bursts", "p99 is from another set of requests than p95, and falls below it.", _ORDER,
          _quantiles(lambda q: {"p99": q["p95"] * 0.9})),
    Spoil("zero-for-nothing", "Latency is 0 where nothing was served.", _SERVED, series(_zero_where_null, LATENCY),
          deployment=IDLE),
    Spoil("last-for-nothing", "Latency stays at its last value where nothing is served.", _SERVED,
          series(_last_where_null, LATENCY), deployment=IDLE),
    Spoil("null-p99", "p99 is always null.", _SERVED, _quantiles(lambda q: {"p99": None})),
)  # fmt: skip
"""Each is seen in one answer, in its traffic."""
