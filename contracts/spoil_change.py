"""Ways to say what a spoil changes: requests, replies, bytes, JSON values, series, or single numbers."""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from .answer import time_ms
from .spoil import Ask, Call, Change, Reply

_PLAIN = 2
"""The format of marshal without references: equal values are equal bytes."""
Points = list[dict[str, Any]]


async def as_it_is(call: Call, ask: Ask) -> Reply:
    """The change of nothing."""
    return await ask(call)


def request(edit: Callable[[Call], None]) -> Change:
    """A change of every request before the app sees it."""

    async def change(call: Call, ask: Ask) -> Reply:
        edit(call)
        return await ask(call)

    return change


def reply(edit: Callable[[Reply, Call], None]) -> Change:
    """A change of every reply."""

    async def change(call: Call, ask: Ask) -> Reply:
        came = await ask(call)
        edit(came, call)
        return came

    return change


def success(edit: Callable[[Reply], None]) -> Change:
    """A change of the 200s to requests for metrics, as bytes."""

    def changed(came: Reply, call: Call) -> None:
        if came.status == 200 and call.is_for_metrics:
            edit(came)

    return reply(changed)


def answer(edit: Callable[[dict[str, Any], Call], Any]) -> Change:
    """A change of the JSON value of the 200s to requests for metrics; it is edited, or another one returned."""

    def changed(came: Reply, call: Call) -> None:
        if came.status == 200 and call.is_for_metrics:
            before = _parsed(came.body)
            value = marshal.loads(before)
            other = edit(value, call)
            value = value if other is None else other
            if marshal.dumps(value, _PLAIN) != before:
                came.body = json.dumps(value).encode()

    return reply(changed)


@lru_cache(maxsize=64)
def _parsed(body: bytes) -> bytes:
    """A JSON body in a form that is read several times as fast: the same bodies come for most spoils."""
    return marshal.dumps(json.loads(body), _PLAIN)


def metrics(edit: Callable[[dict[str, Any], Call], None]) -> Change:
    """A change of the series of the 200s to requests for metrics."""
    return answer(lambda value, call: edit(value["metrics"], call))


def series(edit: Callable[[Points, Call], None], *names: str) -> Change:
    """A change of each list of points, or of those with a name on their way, `gpu_utilization` or `usage_bytes`."""

    def edited(found: dict[str, Any], call: Call) -> None:
        for path, points in lists(found):
            if not names or any(name in path for name in names):
                edit(points, call)

    return metrics(edited)


def values(edit: Callable[[float], float | None], *names: str) -> Change:
    """A change of each number of each point of the lists with one of these names."""

    def edited(points: Points, call: Call) -> None:
        for point in points:
            for name, value in point.items():
                if name != "timestamp" and value is not None:
                    point[name] = edit(value)

    return series(edited, *names)


def lists(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Points]]:
    """Every list of points of the metrics, with the names that lead to it."""
    if isinstance(found, dict):
        for name, member in found.items():
            yield from lists(member, (*path, name))
    elif isinstance(found, list):
        if path[-1:] == ("per_node_metrics",):
            for index, node in enumerate(found):
                yield from lists(node, (*path, str(index)))
        else:
            yield path, found


def newest_ms(found: dict[str, Any]) -> int:
    """The newest time of any point of the metrics; 0 if there is none."""
    return max((time_ms(points[-1]["timestamp"]) or 0 for _, points in lists(found) if points), default=0)


def computes(found: dict[str, Any]) -> list[dict[str, Any]]:
    """What has compute series: the top level and each node."""
    return [found, *found["per_node_metrics"]]
