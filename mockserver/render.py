"""Plan + signals → the bytes of an answer; no object per datapoint is ever made.

A datapoint has a fixed width within one answer, so a series is a byte matrix with the text of the numbers and
timestamps in its columns. A small answer is one buffer, filled in for all nodes at once (canvas.py), since calls into
numpy cost more than what they do there. A large one is made node by node, row by row and slice by slice (batch.py),
so that memory stays flat.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .batch import Written, row, stamps, write
from .canvas import canvas
from .job import Job, Moments, Scope
from .layout import rows, steps
from .load import presence
from .near import Near
from .shapes import Plan, Series
from .window import Window

NODE_POINTS = 3000
"""Nodes are computed together while a series of theirs has up to this many points in all."""
TYPICAL_BYTES = 60
"""Of a datapoint."""


@dataclass(frozen=True, slots=True)
class View:
    """What of a deployment's life an answer shows. Equal views give equal bytes."""

    job: Job
    compute: Window
    """The points that compute series have."""
    traffic: Window
    """The points that traffic series have."""
    settled_until_s: int | None = None
    """Traffic sampled after this has not been ingested yet; None means that all has."""
    divisor: int = 1
    """Unit of time of the request volumes, seconds."""


def estimated_bytes(plan: Plan, view: View) -> int:
    """About how long the answer is."""
    every_node = tuple(range(len(view.job.node_ids)))
    return rows(plan.root, view.job, every_node) * view.traffic.count * TYPICAL_BYTES


def whole(plan: Plan, view: View, near: Near | None = None) -> bytes | memoryview:
    """The answer at once: everything is computed together, which is quickest where there is little of it.

    Args:
        plan: what stands where.
        view: what is shown.
        near: keeps what windows nearby may want.
    """
    compute, traffic = moments_of(view)
    if compute is traffic and view.compute.count and compute.once(presence) is None:
        every_node = slice(0, len(view.job.node_ids))
        if near is None or view.settled_until_s is not None:
            written = write(plan.series, compute, every_node, view.divisor)
        else:
            written = near.written(plan, compute, view.divisor)
        if all(one.kept is None for one in written.values()):
            shape = tuple([(series, one.datapoint) for series, one in written.items()])
            texts = {series: one.columns for series, one in written.items()}
            return canvas(plan.root, view.job, view.compute.count, shape).filled(texts, compute.once(stamps))
    # Points or nodes are missing: the answer has no shape that is known before.
    return b"".join(pieces(plan, view))


def pieces(plan: Plan, view: View) -> Iterator[bytes | memoryview]:
    """The answer piece by piece, node by node. A piece is never changed after it was handed out."""
    compute, traffic = moments_of(view)
    every_node = len(view.job.node_ids)
    listed = _listed(compute)
    together = max(1, NODE_POINTS // max(1, view.compute.count))
    deployment: dict[Series, Written] = {}
    some: dict[Series, Written] = {}
    nodes = slice(0, 0)
    for step in steps(plan.root, view.job, listed):
        if isinstance(step, bytes):
            yield step
            continue
        series = step.series
        if series.scope is Scope.DEPLOYMENT:
            if view.traffic.count:
                if series not in deployment:
                    deployment |= write((series,), traffic, slice(0, 0), view.divisor)
                yield from row(deployment[series], 0, traffic)
            continue
        # What was written for the top of the answer, the leader, serves its place among the nodes later.
        if not nodes.start <= step.node < nodes.stop:
            first = step.node - step.node % together
            nodes, some = slice(first, min(first + together, every_node)), {}
        if series not in some:
            some |= write((series,), compute, nodes, view.divisor)
        rows_of_node = len(some[series].columns[0][0]) // (nodes.stop - nodes.start)
        yield from row(some[series], step.number - nodes.start * rows_of_node, compute)


def _listed(moments: Moments) -> tuple[int, ...]:
    """The nodes that have a point in the window."""
    if not len(moments.ticks):
        return ()
    found = moments.once(presence)
    nodes = range(len(moments.job.node_ids))
    return tuple(nodes) if found is None else tuple(node for node in nodes if found.host[node].any())


def moments_of(view: View) -> tuple[Moments, Moments]:
    """The moments of the compute series and of the traffic series; the same where they show the same points."""
    compute = Moments(view.job, view.compute, view.settled_until_s)
    return compute, compute if view.traffic == view.compute else Moments(view.job, view.traffic, view.settled_until_s)
