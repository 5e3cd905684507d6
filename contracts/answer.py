"""The series of a 200, found by their shape, so that series which nobody here knows are read as well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

from .exchange import Exchange
from .spec_pointer import join

TRAFFIC = ("inference_volume", "concurrent_requests", "response_time_stats", "inference_volume_by_status")
TOP = ""
"""The node of the compute series that stand beside the traffic, outside of every listed node."""
STATUSES = ("status_2xx", "status_4xx", "status_5xx")
QUANTILES = ("p50", "p95", "p99")

LATEST_MS = 253_402_300_799_999
"""The end of the year 9999."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_ZONE = re.compile(r"(?:Z|[+-]\d\d:\d\d)\Z", re.IGNORECASE)

_NUMBERS = frozenset([float, int, type(None)])

Key = tuple[str | None, tuple[str, ...], str]


@dataclass(frozen=True)
class Series:
    """One quantity over time.

    Args:
        node: the id of the node it belongs to, TOP for the compute series at the top, None for traffic.
        path: the names that lead to it, `("gpu_utilization", "3")`.
        quantity: the member of a point that holds the values, `value` or `p95`.
        pointer: JSON pointer to the list of its points.
        times_ms: epoch milliseconds, one a point; None where the text is no RFC 3339 time.
        stamps: the texts of the times.
        values: one a point; None for null or left out.
    """

    node: str | None
    path: tuple[str, ...]
    quantity: str
    pointer: str
    times_ms: tuple[int | None, ...]
    stamps: tuple[str, ...]
    values: tuple[float | None, ...]

    @property
    def key(self) -> Key:
        """What identifies the series in every answer of one deployment."""
        return self.node, self.path, self.quantity

    @cached_property
    def at(self) -> dict[int, float | None]:
        """The value at each time; of a time that stands there twice, the last."""
        return {time: value for time, value in zip(self.times_ms, self.values, strict=True) if time is not None}

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The values that are there."""
        return tuple(value for value in self.values if value is not None)

    @property
    def title(self) -> str:
        """The series in words, `gpu_utilization of node g00r0, rank 3`."""
        return title(self.key)

    def place(self, index: int) -> str:
        """JSON pointer to the quantity of a point."""
        return join(self.pointer, index, self.quantity)


def title(key: Key) -> str:
    """A series in words, from what identifies it."""
    node, path, quantity = key
    ranked = len(path) > 1 and path[0].startswith("gpu_")
    words = ".".join(path[:-1] if ranked else path)
    if quantity != "value":
        words += f".{quantity}"
    words += " at the top level" if node == TOP else f" of node {node}" if node else ""
    return f"{words}, rank {path[-1]}" if ranked else words


@dataclass(frozen=True)
class Answer:
    """The series of one exchange.

    Args:
        exchange: where they are from.
        deployment_id: what the body says.
        series: in the order of the body; a list of points with three quantities is three series.
        empty: pointers to the lists without a point.
        node_ids: in the order of the body, as they stand there.
        rank_maps: by node (TOP for the top level) and name, the keys of each map of series.
    """

    exchange: Exchange
    deployment_id: str
    series: tuple[Series, ...]
    empty: tuple[str, ...]
    node_ids: tuple[str, ...]
    rank_maps: Mapping[str, Mapping[str, tuple[str, ...]]]

    @property
    def label(self) -> str:
        """The name of the request in the plan."""
        return self.exchange.request.label

    @cached_property
    def members(self) -> dict[str, Any]:
        """The members of the request that are not null."""
        return self.exchange.request.members

    def asked(self, name: str) -> int | None:
        """A time member of the request; None where it is null, left out, out of bounds or no integer."""
        value = self.members.get(name)
        least = 1 if name in ("step_seconds", "time_divisor_seconds") else 0
        return value if type(value) is int and least <= value <= LATEST_MS else None

    @cached_property
    def by_key(self) -> dict[Key, Series]:
        """The series by what identifies them."""
        return {series.key: series for series in self.series}

    @cached_property
    def points(self) -> int:
        """How many points all lists together have."""
        return sum(len(one.stamps) for one in self.lists)

    @cached_property
    def lists(self) -> tuple[Series, ...]:
        """One series for each list of points: those of several quantities share their times."""
        return tuple({series.pointer: series for series in self.series}.values())

    @cached_property
    def times_ms(self) -> tuple[int, ...]:
        """Every time at which any series has a point, ascending."""
        return tuple(sorted({time for series in self.lists for time in series.at}))

    def of(self, name: str, node: str | None = None, quantity: str = "value") -> Series | None:
        """The series of this name, None if it has no point; disk series are `ephemeral_storage.usage_bytes`."""
        return self.by_key.get((node, tuple(name.split(".")), quantity))

    def named(self, name: str) -> Iterator[Series]:
        """Every series whose first name is this, of all nodes and ranks."""
        return (series for series in self.series if series.path[0] == name)

    def traffic(self) -> Iterator[Series]:
        """Every series of the traffic."""
        return (series for series in self.series if series.node is None)

    @cached_property
    def steps_ms(self) -> tuple[int, ...]:
        """The smallest distance between two neighbours of each list that has two."""
        return tuple(least for one in self.lists if (least := _least_step(one.at)))

    @property
    def step_ms(self) -> int | None:
        """The distance of neighbouring points; None if no list has two points."""
        return min(self.steps_ms, default=None)


@dataclass
class _Reader:
    """Walks the value of `metrics`; reads times that many series share once."""

    series: list[Series] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    node_ids: list[str] = field(default_factory=list)
    rank_maps: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    times: dict[tuple[str, ...], tuple[int | None, ...]] = field(default_factory=dict)

    def walk(self, value: Any, node: str | None, path: tuple[str, ...], pointer: str) -> None:
        if isinstance(value, Mapping):
            if path and path[0].startswith("gpu_") and len(path) == 1:
                self.rank_maps.setdefault(node or TOP, {})[path[0]] = tuple(value)
            for name, member in value.items():
                owner = TOP if node is None and not path and name not in TRAFFIC else node
                self.walk(member, owner, (*path, name), join(pointer, name))
        elif isinstance(value, list) and not value:
            self.empty.append(pointer)
        elif isinstance(value, list) and all(type(one) is dict and "timestamp" in one for one in value):
            self.points(value, node, path, pointer)
        elif isinstance(value, list):
            for index, entry in enumerate(value):
                if isinstance(entry, Mapping) and "node_id" in entry:
                    id_ = str(entry["node_id"])
                    self.node_ids.append(id_)
                    rest = {name: member for name, member in entry.items() if name != "node_id"}
                    # Nodes that share an id would hide each other: the later ones are told apart by their place.
                    owner = id_ if self.node_ids.count(id_) == 1 else f"{id_}#{index}"
                    self.walk(rest, owner, (), join(pointer, index))

    def points(self, points: list[Mapping[str, Any]], node: str | None, path: tuple[str, ...], pointer: str) -> None:
        stamps = tuple([str(point["timestamp"]) for point in points])
        if stamps not in self.times:
            self.times[stamps] = tuple(map(time_ms, stamps))
        names = dict.fromkeys(chain.from_iterable(points))
        names.pop("timestamp")
        for quantity in names or ("value",):
            values = [point.get(quantity) for point in points]
            if not _NUMBERS.issuperset(map(type, values)):
                values = list(map(_number, values))
            self.series.append(Series(node, path, quantity, pointer, self.times[stamps], stamps, tuple(values)))


def read(exchange: Exchange, body: Any) -> Answer:
    """The series of a body that the schema has accepted.

    Args:
        exchange: the exchange it came with.
        body: its JSON value.
    """
    reader = _Reader()
    reader.walk(body["metrics"], None, (), "/metrics")
    return Answer(
        exchange,
        body["deployment_id"],
        tuple(reader.series),
        tuple(reader.empty),
        tuple(reader.node_ids),
        reader.rank_maps,
    )


def time_ms(stamp: str) -> int | None:
    """An RFC 3339 time → epoch milliseconds, rounded down; None if it is not one, or has no zone."""
    if not _ZONE.search(stamp):
        return None
    try:
        return (datetime.fromisoformat(stamp.upper()) - _EPOCH) // _MS
    except (ValueError, OverflowError):
        return None


def clock(ms: int) -> str:
    """A time as people read it: 2026-12-01T05:03:00Z, with milliseconds where there are some."""
    try:
        moment = _EPOCH + ms * _MS
    except OverflowError:
        return f"{ms} ms after 1970"
    spec = "milliseconds" if ms % 1000 else "seconds"
    return moment.isoformat(timespec=spec).replace("+00:00", "Z")


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _least_step(at: Mapping[int, Any]) -> int | None:
    times = sorted(at)
    return min((later - earlier for earlier, later in pairwise(times)), default=None)
