"""C3–C12: what holds for every point of every answer, as rows; and what two answers must agree on (C1, C2, C5)."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from .reading import Answer, Floats, Node, Seconds, Series
from .rows import NONE, Range, Row
from .stretches import busy, on, shown

SOURCE = "units and sums of the contract; NVML; instance types"
STATIONARY_S = 3600
ENOUGH_S = 600
LAGS = 10
COINCIDES = 0.5
"""Least correlation of traffic and utilization that says when they move at all."""


def _count(parts: Iterable[npt.ArrayLike]) -> Floats:
    """Numbers of broken points or series, one an inspected part."""
    return np.array([np.count_nonzero(np.asarray(part)) for part in parts], dtype=np.float64)


def _aligned(*series: Series) -> bool:
    return all(np.array_equal(one.times_s, series[0].times_s) for one in series)


def off_grid(answer: Answer) -> Floats:
    """Series whose timestamps are not start + k·step, each once, ascending, from creation to now."""
    grid = answer.asked.grid()
    return _count(not np.array_equal(one.times_s, grid) for one in answer.series())


def stray(answer: Answer) -> Floats:
    """Series with timestamps that are not start + k·step, or do not ascend, or lie outside of life and past."""
    grid = answer.asked.grid()
    return _count(
        not (np.isin(one.times_s, grid).all() and (np.diff(one.times_s) > 0).all()) for one in answer.series()
    )


def pointless(answer: Answer) -> Floats:
    """Nodes that are listed without a point in the window."""
    return _count(not any(one.times_s.size for one in node.series()) for node in answer.nodes or [answer.top])


def differs_from_leader(answer: Answer) -> Floats:
    """Series at the top that are not those of the leader, the first node."""
    if not answer.nodes:
        return _count([one.times_s.size for one in answer.top.series()])
    top, leader = answer.top, answer.nodes[0]
    if (top.memory.keys(), top.utilization.keys()) != (leader.memory.keys(), leader.utilization.keys()):
        return np.ones(1)
    pairs = zip(top.series(), leader.series(), strict=True)
    return _count(not (_aligned(one, other) and np.array_equal(one.values, other.values)) for one, other in pairs)


def not_the_sum(answer: Answer) -> Floats:
    """Points whose volume is not 2xx + 4xx + 5xx within 1e-9 of it."""
    if not _aligned(answer.volume, *answer.by_status.values()):
        return np.ones(1)
    total = sum(one.values for one in answer.by_status.values())
    return _count([np.abs(answer.volume.values - total) > 1e-9 * np.abs(answer.volume.values)])


def littles_law(answer: Answer) -> Floats:
    """Mean concurrency over mean of rate × latency, of each hour in which there is enough to compare.

    That is ten minutes or more with requests, and during these a concurrency of 1 or more on average. The mean latency
    of a bucket is that of a lognormal with its p50 and p95.
    """
    p50, p95 = (answer.quantiles[name].values for name in ("p50", "p95"))
    if not _aligned(answer.volume, answer.concurrency, answer.quantiles["p50"]):
        return np.full(1, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_s = p50 * np.exp((np.log(p95 / p50) / 1.645) ** 2 / 2) / 1000
    expected = np.where(np.isnan(mean_s), 0.0, answer.volume.values * mean_s)
    served = answer.volume.values > 0
    ratios = []
    samples = STATIONARY_S // answer.asked.step_s
    for first in range(0, expected.size - samples + 1, samples):
        hour = slice(first, first + samples)
        times = np.count_nonzero(served[hour])
        if times * answer.asked.step_s >= ENOUGH_S and answer.concurrency.values[hour].sum() >= times:
            with np.errstate(divide="ignore"):
                ratios.append(answer.concurrency.values[hour].mean() / expected[hour].mean())
    return np.array(ratios, dtype=np.float64)


def not_whole(answer: Answer) -> Floats:
    """Points whose concurrency is not a whole number from 0."""
    values = answer.concurrency.values
    return _count([(values < 0) | (values != np.floor(values))])


def quantiles_disordered(answer: Answer) -> Floats:
    """Points with p50 > p95 or p95 > p99, with some of them null, or with any of them while nothing was served."""
    p50, p95, p99 = (answer.quantiles[name].values for name in ("p50", "p95", "p99"))
    if not _aligned(answer.volume, answer.quantiles["p50"]):
        return np.ones(1)
    nulls = np.isnan([p50, p95, p99])
    served = answer.volume.values > 0
    return _count([(p50 > p95) | (p95 > p99), nulls.any(axis=0) & ~nulls.all(axis=0), ~served & ~nulls.all(axis=0)])


def out_of_bounds(answer: Answer) -> Floats:
    """Points below 0 or above what the node has."""
    has = answer.asked.node_type

    def beyond(series: Series, limit: float) -> npt.ArrayLike:
        return ~((series.values >= 0) & (series.values <= limit))

    parts: list[npt.ArrayLike] = []
    for node in (answer.top, *answer.nodes):
        parts += [beyond(one, 1.0) for one in (*node.utilization.values(), node.disk_utilization)]
        parts += [beyond(one, has.gpu_memory_bytes) for one in node.memory.values()]
        parts += [beyond(node.cpu, has.cores), beyond(node.host_memory, has.memory_bytes)]
        parts.append(node.disk_usage.values < 0)
    return _count(parts)


def disk_off_capacity(answer: Answer) -> Floats:
    """Points whose disk utilization is not usage / capacity within 1e-9, with the one capacity of the node."""

    def wrong(node: Node) -> npt.ArrayLike:
        usage, share = node.disk_usage, node.disk_utilization
        if not _aligned(usage, share):
            return True
        if not share.values.any():
            return usage.values
        fullest = share.values.argmax()
        capacity = usage.values[fullest] / share.values[fullest]
        holds: npt.NDArray[np.bool_] = np.abs(share.values - usage.values / capacity) <= 1e-9 * np.abs(share.values)
        return ~holds

    return _count(wrong(node) for node in answer.nodes)


def ranks_wrong(answer: Answer) -> Floats:
    """Nodes whose rank keys are not 0…gpu_count − 1 in both maps; and whether a node is missing or there twice."""
    ranks = {str(rank) for rank in range(answer.asked.node_type.gpu_count)}
    whole = len({node.id for node in answer.nodes}) == len(answer.nodes) == answer.asked.nodes
    return _count([not whole, *(not node.memory.keys() == node.utilization.keys() == ranks for node in answer.nodes)])


def busy_without_memory(answer: Answer) -> Floats:
    """Points at which a rank is busy but holds no memory."""

    def wrong(node: Node, rank: str) -> npt.ArrayLike:
        busy, memory = node.utilization[rank], node.memory.get(rank)
        return (
            busy.times_s[busy.values > 0].size
            if memory is None
            else ~np.isin(busy.times_s[busy.values > 0], memory.times_s[memory.values > 0])
        )

    return _count(wrong(node, rank) for node in answer.nodes for rank in node.utilization)


def lag_of_traffic(answer: Answer) -> Floats:
    """Steps from the utilization's phases to the traffic's, where they correlate best; NaN where they hardly do.

    Where no rank is there none is busy; where traffic is missing nothing is compared.
    """
    rate, works = on(answer.volume, answer.asked.grid()), np.nan_to_num(busy(answer))
    lags, size = range(-LAGS, LAGS + 1), rate.size
    found = []
    for lag in lags:
        one, other = works[max(0, -lag) : size - max(0, lag)], rate[max(0, lag) : size + min(0, lag)]
        there = ~np.isnan(other)
        moves = there.any() and np.ptp(one[there]) > 0 and np.ptp(other[there]) > 0
        found.append(np.corrcoef(one[there], other[there])[0, 1] if moves else -1.0)
    best = int(np.argmax(found))
    return np.array([float(lags[best])]) if found[best] >= COINCIDES else np.full(1, np.nan)


def out_of_life(answer: Answer) -> Floats:
    """Points before creation or in the future."""
    asked = answer.asked
    return _count((one.times_s < asked.created_s) | (one.times_s * 1000 > asked.now_ms) for one in answer.series())


def _exact(id_: str, statistic: str, target: Range, source: str, measure: Callable[[Answer], Floats]) -> Row:
    return Row(id_, statistic, target, source, measure, seeds_inside=1.0)


ROWS = (
    _exact("C3", "series off the grid", NONE, "observed on siblings", off_grid),
    _exact("C4", "series at the top that are not the leader's", NONE, "documented", differs_from_leader),
    _exact("C5", "points whose volume is not the sum of statuses", NONE, SOURCE, not_the_sum),
    _exact("C6", "concurrency / (rate × latency), each hour", Range(0.9, 1.1), "Little's law", littles_law),
    _exact("C6", "points whose concurrency is not whole", NONE, "a gauge of requests", not_whole),
    _exact("C7", "points with disordered or stray quantiles", NONE, SOURCE, quantiles_disordered),
    _exact("C8", "points outside the node's bounds", NONE, SOURCE, out_of_bounds),
    _exact("C9", "points whose disk share is not usage / capacity", NONE, SOURCE, disk_off_capacity),
    _exact("C10", "nodes with wrong ranks", NONE, SOURCE, ranks_wrong),
    _exact("C11", "points busy without memory", NONE, SOURCE, busy_without_memory),
    _exact("C11", "steps from utilization's phases to traffic's", Range(-1, 1), "proposal", lag_of_traffic),
    _exact("C12", "points before creation or in the future", NONE, SOURCE, out_of_life),
)
STRAY = _exact("C3", "series with stray points", NONE, "observed on siblings", stray)
"""C3 where points are missing on purpose."""
LISTED = _exact("C10", "nodes without a point", NONE, "assumption", pointless)
ALWAYS = tuple(row for row in ROWS if row.target == NONE)
"""Those that hold for a window and step of any size, one point included."""


def disagreements(one: Answer, other: Answer) -> Floats:
    """C1 and C2: for each series, the shared timestamps at which two answers of one deployment differ."""

    def differing(first: Series, second: Series) -> npt.ArrayLike:
        _, at, also = np.intersect1d(first.times_s, second.times_s, return_indices=True)
        return ~np.isclose(first.values[at], second.values[also], rtol=0, atol=0, equal_nan=True)

    if [node.id for node in one.nodes] != [node.id for node in other.nodes]:
        return np.ones(1)
    return _count(differing(*pair) for pair in zip(one.series(), other.series(), strict=True))


def _again(answer: Answer) -> Iterator[tuple[Series, Series, float]]:
    """Each series, what the other window shows of it, and how many times its values that must be."""
    if answer.beside is None:
        raise ValueError("this row needs another window beside the answer")
    other, nodes = answer.beside.coarser, {node.id: node for node in answer.nodes}
    counted = [answer.volume, *answer.by_status.values()]
    pairs = list(zip(answer.traffic(), other.traffic(), strict=True))
    for node in other.nodes:
        # A node that has no point in one of the windows is not listed there.
        pairs += zip(nodes[node.id].series(), node.series(), strict=True) if node.id in nodes else []
    for one, also in pairs:
        yield one, also, answer.beside.divisor if any(one is series for series in counted) else 1.0


def _differing(one: Series, other: Series, times: float, grid: Seconds) -> npt.ArrayLike:
    """At which shared times one window has a point and the other does not, or another value."""
    first, second = on(one, grid) * times, on(other, grid)
    same = np.isclose(first, second, rtol=1e-12 if times != 1 else 0, atol=0, equal_nan=True)
    return ~same | (shown(one, grid) != shown(other, grid))


def differs_in_another_window(answer: Answer) -> Floats:
    """Points that another window, at another step, shows otherwise or not at all."""
    return _compared(answer, scaled=False)


def divisor_wrong(answer: Answer) -> Floats:
    """Points of the request volumes that another unit of time does not multiply."""
    return _compared(answer, scaled=True)


def _compared(answer: Answer, scaled: bool) -> Floats:
    assert answer.beside is not None
    grid = np.intersect1d(answer.asked.grid(), answer.beside.coarser.asked.grid())
    if not grid.size:
        return np.full(1, np.nan)
    return _count(_differing(one, other, times, grid) for one, other, times in _again(answer) if (times != 1) == scaled)


BESIDE = (
    _exact("C1", "points that another window shows otherwise (C2 too)", NONE, SOURCE, differs_in_another_window),
    _exact("C5", "volumes that the divisor does not multiply", NONE, SOURCE, divisor_wrong),
)
