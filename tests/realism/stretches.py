"""When something was so: which points there are on the grid of an answer, and the stretches of time they form."""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from .reading import Answer, Floats, Node, Seconds, Series

Mask = npt.NDArray[np.bool_]


def on(series: Series, times_s: Seconds) -> Floats:
    """The values at these times; NaN where the series has no point."""
    found = np.full(times_s.size, np.nan)
    _, at, there = np.intersect1d(series.times_s, times_s, return_indices=True)
    found[there] = series.values[at]
    return found


def shown(series: Series, times_s: Seconds) -> Mask:
    """At which of these times the series has a point."""
    return np.isin(times_s, series.times_s)


def stretches(mask: Mask) -> list[slice]:
    """The runs of True, in order."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return [slice(int(first), int(stop)) for first, stop in edges.reshape(-1, 2)]


def inner(mask: Mask, least: int = 1) -> list[slice]:
    """The runs of True of `least` points or more whose beginning and end both lie inside."""
    return [one for one in stretches(mask) if one.start > 0 and one.stop < mask.size and one.stop - one.start >= least]


def bridged(mask: Mask, holes: int) -> Mask:
    """The mask with runs of False of up to `holes` points between two True filled."""
    filled = mask.copy()
    for hole in inner(~mask):
        if hole.stop - hole.start <= holes:
            filled[hole] = True
    return filled


def hosts(answer: Answer) -> Mask:
    """Which node has a point of CPU, shape (nodes, times)."""
    return _of_nodes(answer, lambda node, grid: shown(node.cpu, grid))


def holding(answer: Answer) -> Mask:
    """Which node has a point of GPU memory, shape (nodes, times)."""
    return _of_nodes(answer, lambda node, grid: _any(node.memory.values(), grid))


def utilizations(answer: Answer) -> Floats:
    """Utilization of all ranks of all nodes, NaN where absent, shape (ranks, times)."""
    return _ranks(answer, [one for node in answer.nodes for one in node.utilization.values()])


def memories(answer: Answer) -> Floats:
    """GPU memory of all ranks of all nodes in bytes, NaN where absent, shape (ranks, times)."""
    return _ranks(answer, [one for node in answer.nodes for one in node.memory.values()])


def busy(answer: Answer) -> Floats:
    """Mean utilization of the ranks that are there, NaN where none is, shape (times,)."""
    ranks = utilizations(answer)
    there = np.count_nonzero(~np.isnan(ranks), axis=0)
    return np.where(there > 0, np.nansum(ranks, axis=0) / np.maximum(there, 1), np.nan)


def points(seconds: float, answer: Answer) -> int:
    """How many steps of an answer last so long."""
    return max(1, round(seconds / answer.asked.step_s))


def _any(series: Iterable[Series], times_s: Seconds) -> Mask:
    found: Mask = np.any([shown(one, times_s) for one in series] or [np.zeros(times_s.size, dtype=np.bool_)], axis=0)
    return found


def _of_nodes(answer: Answer, there: Callable[[Node, Seconds], Mask]) -> Mask:
    grid = answer.asked.grid()
    return np.array([there(node, grid) for node in answer.nodes], dtype=np.bool_).reshape(-1, grid.size)


def _ranks(answer: Answer, series: list[Series]) -> Floats:
    grid = answer.asked.grid()
    return np.array([on(one, grid) for one in series], dtype=np.float64).reshape(-1, grid.size)
