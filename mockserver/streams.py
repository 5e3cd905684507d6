"""Named streams of random bits, hashed together: a call into numpy costs more than the few values it makes.

A stream belongs to the deployment, to each node or to each rank. Its bits depend on its name and on whose it is, not
on which other streams there are.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .job import Job, Moments
from .noise import Integers, Reals, Words, uniform, words

SPAN_TICKS = 40
"""Slow streams have new bits every ten minutes."""


class Scope(IntEnum):
    """What one row belongs to."""

    DEPLOYMENT = 0
    NODE = 1
    RANK = 2


_TICK: list[tuple[Scope, str]] = []
_DRIFT: list[tuple[Scope, str]] = []
_SPAN: list[tuple[Scope, str]] = []


def every_tick(name: str, scope: Scope) -> str:
    """Declare a stream with new bits at each native sample."""
    _TICK.append((scope, name))
    return name


def every_span(name: str, scope: Scope) -> str:
    """Declare a stream with new bits every SPAN_TICKS."""
    _SPAN.append((scope, name))
    return name


def drifting(name: str, scope: Scope) -> str:
    """Declare a stream that wanders slowly: a value every SPAN_TICKS and straight lines between them."""
    _DRIFT.append((scope, name))
    return name


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans that hold some cells, each followed by the next one."""

    numbers: Integers
    """Ascending, shape (spans,)."""
    at: Integers
    """Which of them each cell lies in, shape (cells,)."""


def spans(moments: Moments) -> Spans:
    """The spans of SPAN_TICKS that hold the cells."""
    span = moments.ticks // SPAN_TICKS
    first, last = int(span[0]), int(span[-1])
    if last - first < len(span):
        return Spans(np.arange(first, last + 2), span - first)
    numbers = np.unique(np.concatenate([span, span + 1]))  # far apart cells: only the spans beside them
    return Spans(numbers, numbers.searchsorted(span))


def tick_bits(moments: Moments, first_node: int, stop_node: int) -> dict[str, Words]:
    """The bits of each stream declared with every_tick: rows × cells, rows of these nodes."""
    keys, rows = _keys(moments.job, _TICK, first_node, stop_node)
    bits = words(keys, moments.ticks)
    return {name: bits[own] for name, own in rows.items()}


def span_bits(moments: Moments, first_node: int, stop_node: int) -> dict[str, Words]:
    """The bits of each stream declared with every_span: rows × spans, rows of these nodes."""
    return moments.once(_slow, first_node, stop_node)[1]


def drifts(moments: Moments, first_node: int, stop_node: int) -> dict[str, Reals]:
    """Each stream declared with drifting, in [−1, 1]: rows × cells, rows of these nodes."""
    return moments.once(_slow, first_node, stop_node)[0]


def _slow(moments: Moments, first_node: int, stop_node: int) -> tuple[dict[str, Reals], dict[str, Words]]:
    within = moments.once(spans)
    drift_keys, drift_rows = _keys(moments.job, _DRIFT, first_node, stop_node)
    span_keys, span_rows = _keys(moments.job, _SPAN, first_node, stop_node)
    bits = words(np.concatenate([drift_keys, span_keys]), within.numbers)
    knots = uniform(bits[: len(drift_keys)])
    knots *= 2.0
    knots -= 1.0
    left = knots.take(within.at, axis=1)
    lines = knots.take(within.at + 1, axis=1)
    lines -= left
    lines *= (moments.ticks - within.numbers.take(within.at) * SPAN_TICKS) / SPAN_TICKS
    lines += left
    slow = bits[len(drift_keys) :]
    return {name: lines[own] for name, own in drift_rows.items()}, {name: slow[own] for name, own in span_rows.items()}


def _keys(
    job: Job, streams: list[tuple[Scope, str]], first_node: int, stop_node: int
) -> tuple[Words, dict[str, slice]]:
    """A key for each row, and which rows are whose."""
    rows: dict[str, slice] = {}
    parts: list[Words] = []
    first = 0
    ranks = len(job.rank_names)
    for scope, name in streams:
        if scope is Scope.DEPLOYMENT:
            part = job.keys(name)
        elif scope is Scope.NODE:
            part = job.node_keys(name)[first_node:stop_node]
        else:
            part = job.rank_keys(name)[first_node * ranks : stop_node * ranks]
        parts.append(part)
        rows[name] = slice(first, first + len(part))
        first += len(part)
    return np.concatenate(parts), rows
