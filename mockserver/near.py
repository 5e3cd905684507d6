"""What was written for the windows asked for last, kept for the windows that follow them.

A dashboard asks for the last hour again and again: its window moves by seconds, and nearly all native samples it shows
were shown before. From the second of such windows on, the numbers of the neighbourhood are kept as text, and a window
within it only picks its cells. What an answer says does not depend on it, nor how it says it.
"""

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

from .batch import Written, shown, write
from .job import TICK_S, Job, Moments
from .shapes import Plan, Series
from .window import Window

MOST_TICKS = 4 * 60 * 4
"""Four hours: windows of more native samples are not kept."""
LEAST_POINTS = 1 / 6
"""Share of the native samples that a window must show: of a sparser one too many would be written for nothing."""


class _Kept(NamedTuple):
    first: int
    stop: int
    written: dict[Series, Written] | None


class Near:
    """Keeps the neighbourhood of the last windows of a few deployments."""

    def __init__(self, deployments: int = 8) -> None:
        """Keep so many neighbourhoods."""
        self._deployments = deployments
        self._kept: OrderedDict[tuple[int, Job, int], _Kept] = OrderedDict()
        self._lock = Lock()

    def written(self, plan: Plan, moments: Moments, divisor: int) -> dict[Series, Written]:
        """All series of a plan for all nodes at these moments."""
        every_node = slice(0, len(moments.job.node_ids))
        first, stop = int(moments.ticks[0]), int(moments.ticks[-1]) + 1
        if stop - first > MOST_TICKS or len(moments.points) < (stop - first) * LEAST_POINTS:
            return write(plan.series, moments, every_node, divisor)
        wanted = id(plan), moments.job, divisor
        with self._lock:
            known = self._kept.pop(wanted, None) or _Kept(0, 0, None)
        if known.written is None or not (known.first <= first and stop <= known.stop):
            if not (known.first < stop and first < known.stop):  # another place: nobody may come back to it
                self._keep(wanted, _Kept(first, stop, None))
                return write(plan.series, moments, every_node, divisor)
            margin = (stop - first) // 2
            known = _Kept(first - margin, stop + margin, None)
            cells = Moments(moments.job, Window(known.first * TICK_S, TICK_S, known.stop - known.first))
            known = known._replace(written=write(plan.series, cells, every_node, divisor))
        self._keep(wanted, known)
        assert known.written is not None
        return shown(known.written, moments.points // TICK_S - known.first)

    def _keep(self, wanted: tuple[int, Job, int], known: _Kept) -> None:
        with self._lock:
            self._kept[wanted] = known
            if len(self._kept) > self._deployments:
                self._kept.popitem(last=False)
