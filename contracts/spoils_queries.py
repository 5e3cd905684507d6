"""Faults that only show between answers: what another request for the same time gets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any
from zlib import crc32

from .answer import time_ms
from .plan import HOUR_MS, MINUTE_MS
from .spoil import LONG, PAIR, Ask, Call, Change, Reply, Spoil
from .spoil_change import Points, lists, metrics, newest_ms, request, series

_SAME, _NEWEST = "the_same_request_gets_the_same_points", "the_newest_points_repeat"
_NULL, _WINDOW, _STEP = "null_means_left_out", "the_window_changes_no_value", "the_step_changes_no_value"
_SHOWN = "windows_show_the_same_points"


def chance(*words: object) -> float:
    """A number from 0 to 1 that only depends on the words."""
    return crc32(repr(words).encode()) / 2**32


def at(point: dict[str, Any]) -> int:
    """The time of a point."""
    return time_ms(point["timestamp"]) or 0


def _shaken(by: Callable[[dict[str, Any], int, Call], object], *names: str) -> Change:
    """A change of values by up to a twentieth, which depends on point, index and call as `by` says."""

    def edit(points: Points, call: Call) -> None:
        for index, point in enumerate(points):
            key = by(point, index, call)
            if key is not None:
                point["value"] *= 1 + chance(key) / 20

    return series(edit, *names)


def _newest_still_arrive(found: dict[str, Any], call: Call) -> None:
    newest = call.memory["newest"] = max(call.memory.get("newest", 0), newest_ms(found))
    for path, points in lists(found):
        for point in points if "cpu_usage" in path else ():
            if at(point) > newest - 3 * MINUTE_MS:
                point["value"] *= 1 - 0.5 / call.number


def _new_leader(found: dict[str, Any], call: Call) -> None:
    nodes = found["per_node_metrics"]
    if call.number > 10 and nodes:
        found.update({name: series for name, series in nodes[-1].items() if name != "node_id"})


def _ids_by_place(found: dict[str, Any], call: Call) -> None:
    nodes = found["per_node_metrics"]
    if call.number > 10:
        ids = [node["node_id"] for node in nodes]
        for node, id_ in zip(nodes, reversed(ids), strict=True):
            node["node_id"] = id_


def _nulls(**meanings: int) -> Change:
    """A change of what null means, where it is written."""

    def edit(call: Call) -> None:
        written = {name: meanings[name] for name, value in call.members.items() if value is None and name in meanings}
        if written:
            call.ask(**written)

    return request(edit)


def _smoothed(points: Points, call: Call) -> None:
    values = [point["value"] for point in points]
    for index, point in enumerate(points):
        last = values[max(0, index - 4) : index + 1]
        point["value"] = sum(last) / len(last)


def _few_digits_in_long_ranges(points: Points, call: Call) -> None:
    for point in points if call.span_ms > HOUR_MS else ():
        point["value"] = round(point["value"], 1)


def _per_step(points: Points, call: Call) -> None:
    for point in points:
        point["value"] *= (call.asked("step") or 60) / 60


async def _averaged(call: Call, ask: Ask) -> Reply:
    start, step = call.asked("start"), call.asked("step") or (600 if call.span_ms > 24 * HOUR_MS else 0)
    coarse = call.is_for_metrics and call.span_ms > 0 and start is not None and step > 60
    if coarse and start is not None:
        call.ask(start_epoch_millis=start - step * 1000, step_seconds=step)
    came = await ask(call)
    if coarse and came.status == 200:
        value = came.value
        for _, points in lists(value["metrics"]):
            means = [
                {**point, **{name: _mean(point[name], before[name]) for name in point if name != "timestamp"}}
                for before, point in pairwise(points)
            ]
            points[:] = means
        came.say(200, value)
    return came


def _mean(one: float | None, other: float | None) -> float | None:
    return one if one is None or other is None else (one + other) / 2


def _last_hour_only(found: dict[str, Any], call: Call) -> None:
    end = call.asked("end") or newest_ms(found)
    for _, points in lists(found):
        points[:] = [point for point in points if at(point) >= end - HOUR_MS]


def _newest_thousand(points: Points, call: Call) -> None:
    del points[:-1000]


def _first_left_out(points: Points, call: Call) -> None:
    del points[:1]


def _every_other(points: Points, call: Call) -> None:
    del points[1::2]


def _holes_by_place(points: Points, call: Call) -> None:
    del points[9::10]


def _second_node_only_in_long_ranges(found: dict[str, Any], call: Call) -> None:
    if 0 < call.span_ms <= HOUR_MS:
        del found["per_node_metrics"][1:]


def _host_left_out(found: dict[str, Any], call: Call) -> None:
    if call.span_ms > 24 * HOUR_MS:
        for name in ("cpu_usage", "cpu_memory_usage_bytes"):
            for compute in (found, *found["per_node_metrics"]):
                compute[name] = []


SPOILS = (
    Spoil("new-noise", "A past value is made anew for each request.", _SAME,
          _shaken(lambda point, index, call: (point["timestamp"], call.number), "cpu_usage")),
    Spoil("another-replica", "Half of the requests reach a replica with other numbers.", _SAME,
          _shaken(lambda point, index, call: at(point) if call.number > 12 else None, "gpu_memory_usage_bytes")),
    Spoil("new-leader", "From some request on the leader is another node, for the past as well.", _SAME,
          metrics(_new_leader), deployment=PAIR),
    Spoil("ids-by-place", "Ids go to nodes by their order, which changes.", _SAME, metrics(_ids_by_place),
          deployment=PAIR),
    Spoil("newest-arrive-late", "The points of the last three minutes grow with each request.", _NEWEST,
          metrics(_newest_still_arrive)),
    Spoil("null-step", "A step that is null is 60 s, one that is left out is derived.", _NULL, _nulls(step_seconds=60)),
    Spoil("null-divisor", "A divisor that is null is the interval of the scrapes, 15 s.", _NULL,
          _nulls(time_divisor_seconds=15)),
    Spoil("seeded-by-start", "Values depend on the start of the window.", _WINDOW,
          _shaken(lambda point, index, call: call.asked("start"), "cpu_usage")),
    Spoil("seeded-by-place", "Values depend on their place in the series.", _WINDOW,
          _shaken(lambda point, index, call: index, "concurrent_requests")),
    Spoil("smoothed", "A value is the mean of the last five points of the answer.", _WINDOW,
          series(_smoothed, "gpu_utilization")),
    Spoil("few-digits", "Values are rounded in ranges beyond an hour.", _WINDOW,
          series(_few_digits_in_long_ranges, "cpu_usage")),
    Spoil("per-step", "CPU usage grows with the step.", _STEP, series(_per_step, "cpu_usage")),
    Spoil("averaged", "Beyond a step of a minute, values are means over the step.", _STEP, _averaged),
    Spoil("last-hour-only", "Long ranges are cut to their last hour.", _SHOWN, metrics(_last_hour_only)),
    Spoil("newest-thousand", "Series are cut to their newest thousand points.", _SHOWN, series(_newest_thousand),
          deployment=LONG),
    Spoil("start-exclusive", "The start is exclusive.", _SHOWN, series(_first_left_out)),
    Spoil("every-other", "CPU usage has every other point.", _SHOWN, series(_every_other, "cpu_usage")),
    Spoil("holes-by-place", "Every tenth point of the answer is left out.", _SHOWN, series(_holes_by_place)),
    Spoil("node-only-in-long-ranges", "The second node is left out of ranges up to an hour.", _SHOWN,
          metrics(_second_node_only_in_long_ranges), deployment=PAIR),
    Spoil("series-only-in-short-ranges", "CPU and host memory are left out of ranges beyond a day.", _SHOWN,
          metrics(_host_left_out)),
)  # fmt: skip
"""Each is seen between answers for the same time."""
