"""R20, R21 and R30–R32: deployments that begin, sleep, wake and end."""

from collections.abc import Callable

import numpy as np

from .reading import Answer, Floats
from .rows import ALL, NONE, Range, Row, at_least, at_most
from .stretches import Mask, holding, hosts, inner, memories, on, points, utilizations

ASLEEP_S = 600
WORKING = "RUNNING"
ON_THE_WAY = ("CREATED", "DEPLOYING")


def _compute_points(answer: Answer) -> Floats:
    return np.array([len(answer.nodes), *(one.values.size for one in answer.compute())], dtype=np.float64)


def _share_of_zeros(answer: Answer) -> Floats:
    """Share of the window's points at which the rates, and the concurrency, are there and 0."""
    grid = answer.asked.grid()
    counted = (answer.volume, answer.concurrency, *answer.by_status.values())
    return np.array([(on(one, grid) == 0).mean() for one in counted])


def _share_of_nulls(answer: Answer) -> Floats:
    """Share of the window's points at which the quantiles are there and null."""
    grid = answer.asked.grid()
    return np.array([np.isin(grid, one.times_s[np.isnan(one.values)]).mean() for one in answer.quantiles.values()])


def _first(mask: Mask, begin: int = 0) -> float:
    """Number of the first True from `begin` on; NaN where there is none."""
    found = np.flatnonzero(mask[begin:])
    return float(found[0] + begin) if found.size else np.nan


def _beginnings(answer: Answer) -> Floats:
    """Seconds from creation to CPU, GPU memory and work, the first of all nodes; shape (3,)."""
    seen = hosts(answer), holding(answer), utilizations(answer) > 0
    begins = np.array([_first(one.any(axis=0)) for one in seen]) * answer.asked.step_s
    grid = answer.asked.grid()
    return begins + (grid[0] - answer.asked.created_s) if grid.size else np.full(3, np.nan)


def _filled_at_first(held: Floats, begin: float, works: float) -> Floats:
    """Each rank's memory in its first point over that at the first work; NaN where it fell between them."""
    if np.isnan([begin, works]).any():
        return np.zeros(0)
    ramps = held[:, int(begin) : int(works) + 1]
    falls = ~(np.diff(ramps, axis=1) >= 0).all(axis=1)
    return np.where(falls, np.nan, ramps[:, 0] / ramps[:, -1])


def _ramp(answer: Answer) -> Floats:
    begin, works = _first(holding(answer).any(axis=0)), _first((utilizations(answer) > 0).any(axis=0))
    return _filled_at_first(memories(answer), begin, works)


def naps(answer: Answer) -> list[slice]:
    """When no node is there for ten minutes or more, between times when one is."""
    return inner(~hosts(answer).any(axis=0), points(ASLEEP_S, answer))


def _wakings(answer: Answer) -> list[tuple[float, float, float, float, float]]:
    """Of each nap: its beginning, and then the first traffic, node, GPU memory and work, as numbers of points."""
    served = on(answer.volume, answer.asked.grid()) > 0
    seen = hosts(answer).any(axis=0), holding(answer).any(axis=0), (utilizations(answer) > 0).any(axis=0)
    found = []
    for nap in naps(answer):
        node, memory, works = (_first(one, nap.stop) for one in seen)
        found.append((float(nap.start), _first(served, nap.start + 1), node, memory, works))
    return found


def _between(first: int, second: int) -> Callable[[Answer], Floats]:
    """Seconds between two of the five moments of each waking."""

    def seconds(answer: Answer) -> Floats:
        return np.array([one[second] - one[first] for one in _wakings(answer)], dtype=np.float64) * answer.asked.step_s

    return seconds


def _ramps_of_wakings(answer: Answer) -> Floats:
    held = memories(answer)
    ramps = [_filled_at_first(held, memory, works) for *_, memory, works in _wakings(answer)]
    return np.concatenate(ramps) if ramps else np.zeros(0)


def _ends_s(answer: Answer) -> Floats:
    """Seconds from the last point of each compute series to the end of the window."""
    ends = [one.times_s[-1] if one.times_s.size else np.nan for one in answer.compute()]
    return answer.asked.grid()[-1] - np.array(ends, dtype=np.float64)


def _ends_apart(answer: Answer) -> Floats:
    ends_s = _ends_s(answer)
    return np.array([np.ptp(ends_s)]) if ends_s.size else ends_s


def _served_after(answer: Answer) -> Floats:
    """Points of traffic that are neither 0 nor null after the compute series have ended; NaN where they have not."""
    ends_s = _ends_s(answer)
    if not ends_s.size or not ends_s.min() > 0:
        return np.full(1, np.nan)
    end_s = answer.asked.grid()[-1] - ends_s.min()
    return np.array([np.count_nonzero(np.nan_to_num(one.values[one.times_s > end_s])) for one in answer.traffic()])


def _worked_minutes(answer: Answer) -> Floats:
    """From the first work to the last point."""
    working = np.flatnonzero((utilizations(answer) > 0).any(axis=0))
    return np.array([np.ptp(working) * answer.asked.step_s / 60]) if working.size else np.zeros(0)


def _everything(answer: Answer) -> Floats:
    return np.array([len(answer.nodes), *(one.values.size for one in answer.series())], dtype=np.float64)


def listed(answer: Answer) -> bool:
    """Whether the server lists deployments with a status at all."""
    return answer.beside is not None and answer.beside.listed is not None


def _contradictions(answer: Answer, without_nodes: tuple[str, ...]) -> Floats:
    """Moments whose status does not go with the compute series: RUNNING without a node, or another with work."""
    assert answer.beside is not None and answer.beside.listed is not None
    grid, there = answer.asked.grid(), hosts(answer).any(axis=0)
    works, wrong = (utilizations(answer) > 0).any(axis=0), []
    for moment_s, status in answer.beside.listed:
        at = int(np.searchsorted(grid, moment_s, side="right")) - 1
        # The status may follow within one sample.
        near = slice(max(0, at - 1), at + 2)
        fits = there[near].any() if status == WORKING else not works[near].all()
        if status in without_nodes:
            fits = not there[near].all()
        wrong.append(not fits or (status not in (WORKING, *ON_THE_WAY, *without_nodes)))
    return np.array([np.count_nonzero(wrong)] if wrong else [np.nan], dtype=np.float64)


def statuses(*without_nodes: str) -> tuple[Row, ...]:
    """The status goes with the series; beside RUNNING and what comes before it, only these are seen."""
    return (
        Row(
            "R30",
            "moments whose status contradicts the series",
            NONE,
            "proposal",
            lambda answer: _contradictions(answer, without_nodes),
            listed,
        ),
    )


def ends_as(status: str) -> Row:
    """The deployment is listed so once its compute series have ended."""

    def share(answer: Answer) -> Floats:
        assert answer.beside is not None and answer.beside.listed is not None
        ends_s = _ends_s(answer)
        if not ends_s.size or not ends_s.min() > 0:
            return np.full(1, np.nan)
        after_s = answer.asked.grid()[-1] - ends_s.min() + answer.asked.step_s
        seen = [name == status for moment_s, name in answer.beside.listed if moment_s > after_s]
        return np.array([np.mean(seen)]) if seen else np.full(1, np.nan)

    return Row("R30", f"share of moments after the end that are {status}", ALL, "proposal", share, listed)


NOBODY = "nobody asks, nothing runs"
AT_ZERO = (
    Row("R20", "nodes, and points of compute series", NONE, NOBODY, _compute_points),
    Row("R20", "rates: share of points that are 0", ALL, NOBODY, _share_of_zeros),
    Row("R20", "quantiles: share of points that are null", ALL, NOBODY, _share_of_nulls),
)
ORDER = "clients' code; proposal"
BRAND_NEW = (
    Row("R21", "seconds from creation to a node", Range(15, 900), ORDER, lambda answer: _beginnings(answer)[:1]),
    Row(
        "R21",
        "seconds from a node to GPU memory",
        Range(15, 900),
        ORDER,
        lambda answer: np.diff(_beginnings(answer)[:2]),
    ),
    Row(
        "R21", "seconds from GPU memory to work", Range(15, 900), ORDER, lambda answer: np.diff(_beginnings(answer)[1:])
    ),
    Row(
        "R21",
        "minutes from creation to work",
        Range(1, 15),
        ORDER,
        lambda answer: _beginnings(answer)[2:] / 60,
    ),
    Row("R21", "GPU memory at first / at first work, rising", at_most(0.5), ORDER, _ramp),
)
WAKES = (
    Row("R32", "seconds without a node and without requests", at_least(ASLEEP_S), ORDER, _between(0, 1)),
    Row("R32", "seconds from the first request to a node", Range(15, 900), ORDER, _between(1, 2)),
    Row("R32", "seconds from a node to GPU memory", Range(15, 900), ORDER, _between(2, 3)),
    Row("R32", "seconds from GPU memory to work", Range(15, 900), ORDER, _between(3, 4)),
    Row("R32", "seconds from the first request to work", Range(60, 900), ORDER, _between(1, 4)),
    Row("R32", "GPU memory at first / at first work, rising", at_most(0.5), ORDER, _ramps_of_wakings),
)
COLD = (Row("R31", "nodes, and points of any series", NONE, "proposal", _everything),)


def ends(worked_minutes: Range) -> tuple[Row, ...]:
    """R30 of a deployment that works so long and then is no more."""
    return (
        Row(
            "R30",
            "seconds since the last compute point",
            at_least(ASLEEP_S),
            "proposal",
            _ends_s,
        ),
        Row("R30", "seconds between the ends of compute series", NONE, "proposal", _ends_apart),
        Row("R30", "points of traffic after the end", NONE, "proposal", _served_after),
        Row("R30", "minutes from the first work to the last", worked_minutes, "proposal", _worked_minutes),
    )
