"""R29 and R33: samples that cannot be read, now and then or not yet."""

import numpy as np

from .reading import Answer, Floats, Seconds, Series
from .rows import NONE, Range, Row, at_least
from .stretches import Mask, shown, stretches


def _sets(answer: Answer) -> list[list[Series]]:
    """What goes missing together: all series of one node, or all of the traffic."""
    return [list(answer.traffic()), *(list(node.series()) for node in answer.nodes)]


def _missing(answer: Answer) -> list[Mask]:
    """For each set the times at which none of it is there."""
    grid = answer.asked.grid()
    return [~np.any([shown(one, grid) for one in series], axis=0) for series in _sets(answer)]


def _share_missing(answer: Answer) -> Floats:
    return np.array([np.mean(_missing(answer))])


def _mean_run(answer: Answer) -> Floats:
    """Points of a gap, on average."""
    runs = [one.stop - one.start for mask in _missing(answer) for one in stretches(mask)]
    return np.array([np.mean(runs)] if runs else [], dtype=np.float64)


def _partly_missing(answer: Answer) -> Floats:
    """Times at which some series of a set are there and others are not."""
    grid = answer.asked.grid()
    counts = [np.sum([shown(one, grid) for one in series], axis=0) for series in _sets(answer)]
    wholes = [len(series) for series in _sets(answer)]
    return np.array(
        [np.count_nonzero((count > 0) & (count < whole)) for count, whole in zip(counts, wholes, strict=True)],
        dtype=np.float64,
    )


def _unread(answer: Answer) -> tuple[Seconds, float]:
    """The times after the newest compute point, and how many seconds now lies after it."""
    grid = answer.asked.grid()
    newest = [one.times_s[-1] for one in answer.compute() if one.times_s.size]
    if not newest:
        return grid[:0], np.nan
    return grid[grid > max(newest)], answer.asked.now_ms / 1000 - max(newest)


def _behind(answer: Answer) -> Floats:
    """Seconds from the newest point of each compute series to now."""
    newest = [one.times_s[-1] if one.times_s.size else np.nan for one in answer.compute()]
    return answer.asked.now_ms / 1000 - np.array(newest, dtype=np.float64)


def _traffic_unread(answer: Answer) -> Floats:
    """Points of traffic after the newest compute point that are missing, or neither 0 nor null."""
    unread, _ = _unread(answer)
    if not unread.size:
        return np.full(1, np.nan)
    found = []
    for one in (answer.volume, answer.concurrency, *answer.by_status.values()):
        found.append(np.count_nonzero(~np.isin(unread, one.times_s[one.values == 0])))
    for one in answer.quantiles.values():
        found.append(np.count_nonzero(~np.isin(unread, one.times_s[np.isnan(one.values)])))
    return np.array(found, dtype=np.float64)


def _traffic_read(answer: Answer) -> Floats:
    """Rate of requests in the minutes before."""
    unread, _ = _unread(answer)
    if not unread.size:
        return np.full(1, np.nan)
    before = answer.volume.values[answer.volume.times_s < unread[0]]
    return np.array([before[-10:].mean()] if before.size else [np.nan])


GAPPY = (
    Row("R29", "share of points missing", Range(0.02, 0.20), "proposal", _share_missing),
    Row("R29", "points of a gap: mean", at_least(3), "proposal", _mean_run),
    Row("R29", "times at which a set is partly missing", NONE, "proposal", _partly_missing),
)
LAGGING = (
    Row("R33", "seconds from the newest compute point to now", Range(60, 180), "observed on a sibling", _behind),
    Row("R33", "points of traffic since that are not 0 or null", NONE, "observed on a sibling", _traffic_unread),
    Row("R33", "requests a second before that", at_least(0.1), "proposal", _traffic_read),
)
