"""Plan + signals → the bytes of an answer, piece by piece; no object per datapoint is ever made.

A datapoint has a fixed width within one answer, so a series is a byte matrix: a template that holds all static JSON
and the timestamps, and the text of the numbers written into its columns. Calls into numpy cost more than what they do
for a small answer, so all series of some nodes are computed and written together (batch.py); a large answer is
painted row by row and slice by slice, so that memory stays flat.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .batch import Batch, Piece
from .job import Job, Moments
from .layout import rows, steps
from .plan import Plan, Series
from .streams import Scope
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
    return rows(plan.root, view.job, view.compute.count > 0) * view.traffic.count * TYPICAL_BYTES


def whole(plan: Plan, view: View) -> bytes:
    """The answer at once: everything is computed together, which is quickest where there is little of it."""
    compute, traffic = _moments(view)
    every_node = slice(0, len(view.job.node_ids))
    rows: dict[Series, list[Piece]] = {}
    if compute is traffic and view.compute.count:
        rows = Batch(plan.series, compute, every_node, view.divisor).painted()
    else:
        of_deployment, of_nodes = _by_kind(plan)
        if view.traffic.count:
            rows |= Batch(of_deployment, traffic, every_node, view.divisor).painted()
        if view.compute.count:
            rows |= Batch(of_nodes, compute, every_node, view.divisor).painted()
    return b"".join(
        [
            step if type(step) is bytes else rows[step.series][step.number] if step.series in rows else b""
            for step in steps(plan.root, view.job, view.compute.count > 0)
        ]
    )


def pieces(plan: Plan, view: View) -> Iterator[Piece]:
    """The answer piece by piece, node by node. A piece is never changed after it was handed out."""
    compute, traffic = _moments(view)
    of_deployment, of_nodes = _by_kind(plan)
    nodes = len(view.job.node_ids)
    together = max(1, NODE_POINTS // max(1, view.compute.count))
    deployment: Batch | None = None
    some: Batch | None = None
    for step in steps(plan.root, view.job, view.compute.count > 0):
        if isinstance(step, bytes):
            yield step
        elif step.series.scope is Scope.DEPLOYMENT:
            if view.traffic.count:
                deployment = deployment or Batch(of_deployment, traffic, slice(0, 0), view.divisor)
                yield from deployment.slices(step)
        else:
            # The leader's batch serves the top of the answer and, later, its own place among the nodes.
            if some is None or not some.nodes.start <= step.node < some.nodes.stop:
                first = step.node - step.node % together
                some = Batch(of_nodes, compute, slice(first, min(first + together, nodes)), view.divisor)
            yield from some.slices(step)


def _moments(view: View) -> tuple[Moments, Moments]:
    """Of the compute series and of the traffic series; the same where they show the same points."""
    compute = Moments(view.job, view.compute, view.settled_until_s)
    return compute, compute if view.traffic == view.compute else Moments(view.job, view.traffic, view.settled_until_s)


def _by_kind(plan: Plan) -> tuple[tuple[Series, ...], tuple[Series, ...]]:
    of_deployment = tuple(series for series in plan.series if series.scope is Scope.DEPLOYMENT)
    return of_deployment, tuple(series for series in plan.series if series.scope is not Scope.DEPLOYMENT)
