"""R18, R19 and R25–R27: what fails, leaks and fills up, found in the answer itself."""

import numpy as np

from .reading import Answer, Floats, Node, Series
from .rows import NONE, Range, Row, at_least, at_most
from .stretches import Mask, bridged, holding, hosts, inner, memories, on, points, stretches, utilizations

AROUND_S = 600
"""How long before and after an outage requests may fail because of it."""
PEAK_S = 120
TIMEOUT_S = 600
"""After so long the collective that waits for a lost node has timed out."""
BURST_SHARE = 0.05
BURST_S = 300
RESTART = 0.01
"""A fall of memory by this share of the limit is no drift: the process is a new one."""
LEAK_S = 3600


def outages(answer: Answer) -> list[slice]:
    """When no node holds GPU memory, between times when one does."""
    return inner(~holding(answer).any(axis=0))


def _reloads(answer: Answer) -> list[slice]:
    """From the first GPU memory after each outage to the first work."""
    works = (utilizations(answer) > 0).any(axis=0)
    found = []
    for outage in outages(answer):
        after = np.flatnonzero(works[outage.stop :])
        if after.size:
            found.append(slice(outage.stop, outage.stop + int(after[0])))
    return found


def _peaks(answer: Answer) -> Floats:
    """Fullest GPU of all, just before each outage."""
    held, before = memories(answer), points(PEAK_S, answer)
    peaks = [np.nanmax(held[:, max(0, one.start - before) : one.start]) for one in outages(answer)]
    return np.array(peaks, dtype=np.float64) / answer.asked.node_type.gpu_memory_bytes


def _minutes(found: list[slice], answer: Answer) -> Floats:
    return np.array([one.stop - one.start for one in found], dtype=np.float64) * answer.asked.step_s / 60


def _falls_in_reloads(answer: Answer) -> Floats:
    held = memories(answer)
    return np.array([np.count_nonzero(np.diff(held[:, one], axis=1) < 0) for one in _reloads(answer)], dtype=np.float64)


def _around_outages(answer: Answer) -> list[Mask]:
    around, size = points(AROUND_S, answer), answer.asked.grid().size
    masks = [np.zeros(size, dtype=np.bool_) for _ in outages(answer)]
    for mask, one in zip(masks, outages(answer), strict=True):
        mask[max(0, one.start - around) : one.stop + around] = True
    return masks


def _failed_around(answer: Answer) -> Floats:
    """Sum of the rates of 5xx around each outage."""
    failed = on(answer.by_status["status_5xx"], answer.asked.grid())
    return np.array([np.nansum(failed[mask]) for mask in _around_outages(answer)], dtype=np.float64)


def _failed_elsewhere(answer: Answer) -> Floats:
    """Points with 5xx far from any outage."""
    failed, masks = on(answer.by_status["status_5xx"], answer.asked.grid()), _around_outages(answer)
    return np.array([np.count_nonzero(failed[~np.any(masks, axis=0)] > 0)] if masks else [], dtype=np.float64)


def losses(answer: Answer) -> list[tuple[Node, slice]]:
    """Which node is gone, and when, while another one is there for longer than a collective waits."""
    there, found = hosts(answer), []
    for number, node in enumerate(answer.nodes):
        others = np.delete(there, number, axis=0).any(axis=0)
        found += [(node, one) for one in inner(~there[number] & others, points(TIMEOUT_S, answer) + 1)]
    return found


def _points_of_the_lost(answer: Answer) -> Floats:
    grid, found = answer.asked.grid(), []
    for node, one in losses(answer):
        gone = grid[one]
        found.append(sum(np.count_nonzero(np.isin(series.times_s, gone)) for series in node.series()))
    return np.array(found, dtype=np.float64)


def _survivors(answer: Answer) -> Floats:
    """Highest utilization of the nodes that are left, once the collective has timed out."""
    ranks, waits = utilizations(answer), points(TIMEOUT_S, answer)
    highest = []
    for _, one in losses(answer):
        left = ranks[:, one.start + waits : one.stop]
        highest.append(np.nanmax(left) if not np.isnan(left).all() else np.nan)
    return np.array(highest, dtype=np.float64)


def _growths(answer: Answer, limit: float, series: list[Series]) -> Floats:
    """For each series: least growth an hour, as a share of the limit, of its stretches without a restart.

    NaN where a stretch falls at any step, or where there is none of an hour or more.
    """
    grid, found = answer.asked.grid(), []
    for one in series:
        values = on(one, grid) / limit
        change = np.diff(values, prepend=values[:1])
        grows = ~np.isnan(values) & ~(change < -RESTART)
        hourly = []
        for part in stretches(grows):
            during = values[part]
            hours = (during.size - 1) * answer.asked.step_s / 3600
            if hours * 3600 >= LEAK_S:
                falls = (np.diff(during) < 0).any()
                hourly.append(np.nan if falls else (during[-1] - during[0]) / hours)
        found.append(min(hourly) if hourly and not np.isnan(hourly).any() else np.nan)
    return np.array(found, dtype=np.float64)


def _leaks(answer: Answer) -> Floats:
    """Of host memory or of GPU memory, whichever grows: growth an hour of each node or rank."""
    has = answer.asked.node_type
    host = _growths(answer, has.memory_bytes, [node.host_memory for node in answer.nodes])
    if host.size and not np.isnan(host).any():
        return host
    return _growths(answer, has.gpu_memory_bytes, [one for node in answer.nodes for one in node.memory.values()])


def _fullest(answer: Answer) -> Floats:
    return np.array([node.disk_utilization.values.max(initial=0.0) for node in answer.nodes])


def _hours_to_fill(answer: Answer) -> Floats:
    """Hours from the last point below 0.7 to the first at 0.9 after it; NaN where a disk does not get there."""
    found = []
    for node in answer.nodes:
        used = node.disk_utilization
        full = np.flatnonzero(used.values >= 0.9)
        below = np.flatnonzero(used.values[: full[0]] < 0.7) if full.size else full
        found.append((used.times_s[full[0]] - used.times_s[below[-1]]) / 3600 if below.size else np.nan)
    return np.array(found, dtype=np.float64)


def _bursts(answer: Answer, status: str) -> tuple[Floats, Floats, list[slice]]:
    """Rates of the status and of all on the grid, and when the one is a large share of the other."""
    grid = answer.asked.grid()
    rate, total = on(answer.by_status[status], grid), on(answer.volume, grid)
    with np.errstate(invalid="ignore", divide="ignore"):
        many = bridged(rate / total > BURST_SHARE, points(60, answer))
    return rate, total, [one for one in stretches(many) if one.stop - one.start >= points(BURST_S, answer)]


def _share_in(answer: Answer, status: str) -> Floats:
    rate, total, bursts = _bursts(answer, status)
    return np.array([np.nansum(rate[one]) / np.nansum(total[one]) for one in bursts], dtype=np.float64)


def _share_outside(answer: Answer, status: str) -> Floats:
    rate, total, bursts = _bursts(answer, status)
    outside, edge = np.ones(rate.size, dtype=np.bool_), points(60, answer)
    for one in bursts:
        outside[max(0, one.start - edge) : one.stop + edge] = False
    return np.array([np.nansum(rate[outside]) / np.nansum(total[outside])] if bursts else [], dtype=np.float64)


def _share(answer: Answer, status: str) -> Floats:
    total = answer.volume.values.sum()
    return np.array([answer.by_status[status].values.sum() / total if total else np.nan])


def bursts_of(status: str, other: str, most_of_other: float) -> tuple[Row, ...]:
    """R27 of a deployment whose requests fail with this status for some minutes, and no other."""
    name = status.removeprefix("status_")
    return (
        Row(
            "R27", f"share of {name} in a burst", Range(0.05, 0.5), "proposal", lambda answer: _share_in(answer, status)
        ),
        Row(
            "R27", f"share of {name} outside", at_most(0.001), "proposal", lambda answer: _share_outside(answer, status)
        ),
        Row(
            "R27",
            f"share of {other.removeprefix('status_')}",
            at_most(most_of_other),
            "proposal",
            lambda answer: _share(answer, other),
        ),
    )


OUT_OF_MEMORY = (
    Row("R18", "fullest GPU before an outage", at_least(0.95), "Lablup; proposal", _peaks),
    Row(
        "R18",
        "minutes of an outage",
        Range(2, 15),
        "Lablup: retried after 11 min",
        lambda answer: _minutes(outages(answer), answer),
    ),
    Row(
        "R18",
        "minutes from GPU memory to work, after an outage",
        Range(1, 10),
        "proposal",
        lambda answer: _minutes(_reloads(answer), answer),
    ),
    Row("R18", "falls of GPU memory while it is loaded again", NONE, "proposal", _falls_in_reloads),
    Row("R18", "rates of 5xx around an outage: sum", at_least(1e-6), "proposal", _failed_around),
    Row("R18", "points with 5xx elsewhere", NONE, "proposal", _failed_elsewhere),
)
NODE_LOSS = (
    Row("R19", "points of a lost node", NONE, "DCGM: a dead series is absent", _points_of_the_lost),
    Row("R19", "utilization of survivors after 10 min: highest", NONE, "proposal", _survivors),
)
LEAK = (Row("R25", "memory growth an hour / limit", at_least(0.02), "proposal", _leaks),)
DISK = (
    Row("R26", "disk of a node: highest use", Range(0.9, 1.0), "colours of clients", _fullest),
    Row("R26", "disk of a node: hours from 0.7 to 0.9", Range(0, 6), "colours of clients", _hours_to_fill),
)
