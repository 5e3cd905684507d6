"""An answer as arrays: what the rows look at. Knows the contract's member names and nothing of any server."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Seconds = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NodeType:
    """What one node has, as its vendor states it."""

    gpu_count: int
    gpu_memory_bytes: int
    """Of one GPU, as NVML reports it."""
    cores: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and what is known beforehand of the deployment that it asks about."""

    start_ms: int
    end_ms: int
    step_s: int
    now_ms: int
    created_s: int
    node_type: NodeType
    nodes: int

    def grid(self) -> Seconds:
        """The epoch seconds at which every series must have a point."""
        start_s = self.start_ms // 1000
        count = (self.end_ms - start_s * 1000) // (1000 * self.step_s) + 1
        times_s = start_s + self.step_s * np.arange(count)
        return times_s[(times_s >= self.created_s) & (times_s * 1000 <= self.now_ms)]


@dataclass(slots=True)
class Series:
    """Points in the order of the answer; a null quantile is NaN."""

    times_s: Seconds
    values: Floats


@dataclass(slots=True)
class Node:
    """Compute series of one node, or those at the top of the answer."""

    id: str
    memory: dict[str, Series]
    utilization: dict[str, Series]
    cpu: Series
    host_memory: Series
    disk_usage: Series
    disk_utilization: Series

    def series(self) -> Iterator[Series]:
        """All of them."""
        yield from self.memory.values()
        yield from self.utilization.values()
        yield from (self.cpu, self.host_memory, self.disk_usage, self.disk_utilization)


@dataclass(slots=True)
class Answer:
    """A whole answer, what was asked, and what stands beside it."""

    asked: Asked
    volume: Series
    concurrency: Series
    by_status: dict[str, Series]
    quantiles: dict[str, Series]
    top: Node
    nodes: list[Node]
    beside: "Beside | None" = None

    def traffic(self) -> Iterator[Series]:
        """The series of the whole deployment."""
        yield from (self.volume, self.concurrency, *self.by_status.values(), *self.quantiles.values())

    def series(self) -> Iterator[Series]:
        """Every series of the answer."""
        yield from self.traffic()
        for node in (self.top, *self.nodes):
            yield from node.series()

    def compute(self) -> Iterator[Series]:
        """The series of the nodes."""
        for node in self.nodes:
            yield from node.series()


@dataclass(slots=True)
class Beside:
    """What some rows compare an answer with."""

    healthy: Answer
    """The deployment `healthy` of the same seed and window."""
    coarser: Answer
    """The same deployment over a window that begins elsewhere, at another step and per another unit of time."""
    divisor: int
    """Seconds in the unit of time of `coarser`."""
    listed: tuple[tuple[int, str], ...] | None
    """Moments, epoch seconds, and the status that the deployment is listed with; None where none is served."""


@dataclass(slots=True)
class _Reader:
    """Keeps the last timestamps, since nearly all series of an answer share them."""

    stamps: list[str] = field(default_factory=list)
    times_s: Seconds = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def series(self, points: Sequence[Mapping[str, Any]], quantity: str = "value") -> Series:
        stamps = [point["timestamp"] for point in points]
        if stamps != self.stamps:
            self.stamps = stamps
            seconds = [datetime.fromisoformat(stamp).timestamp() for stamp in stamps]
            self.times_s = np.array(seconds, dtype=np.float64).astype(np.int64)
        # None becomes NaN; a quantity that the contract requires raises KeyError where it is not there.
        return Series(self.times_s, np.array([point[quantity] for point in points], dtype=np.float64))

    def node(self, members: Mapping[str, Any]) -> Node:
        disk = members["ephemeral_storage"]
        return Node(
            members.get("node_id", ""),
            {rank: self.series(points) for rank, points in members["gpu_memory_usage_bytes"].items()},
            {rank: self.series(points) for rank, points in members["gpu_utilization"].items()},
            self.series(members["cpu_usage"]),
            self.series(members["cpu_memory_usage_bytes"]),
            self.series(disk["usage_bytes"]),
            self.series(disk["utilization"]),
        )


def read(document: Mapping[str, Any], asked: Asked) -> Answer:
    """The arrays of a parsed answer."""
    reader, metrics = _Reader(), document["metrics"]
    statuses = ("status_2xx", "status_4xx", "status_5xx")
    return Answer(
        asked,
        reader.series(metrics["inference_volume"]),
        reader.series(metrics["concurrent_requests"]),
        {name: reader.series(metrics["inference_volume_by_status"], name) for name in statuses},
        {name: reader.series(metrics["response_time_stats"], name) for name in ("p50", "p95", "p99")},
        reader.node(metrics),
        [reader.node(entry) for entry in metrics["per_node_metrics"]],
    )
