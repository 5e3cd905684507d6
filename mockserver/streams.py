"""Named streams of random bits, hashed together: a call into numpy costs more than the few values it makes.

A stream belongs to the deployment, to each node or to each rank. Its bits depend on its name and on whose it is, not
on which other streams there are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .job import Job, Moments, Scope
from .noise import Integers, Reals, Table, Words, uniform, words

SPAN_TICKS = 40
"""Slow streams have new bits every ten minutes."""


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
class _Rows:
    """The keys of some streams' rows for some nodes, and which rows are whose."""

    keys: Words
    of: dict[str, slice]


@dataclass(frozen=True, slots=True)
class Slow:
    """What changes every SPAN_TICKS."""

    at: Integers
    """Which span each point lies in, shape (points,)."""
    of_cells: Integers
    """Which span each cell lies in, shape (cells,)."""
    bits: dict[str, Words]
    """Of each stream declared with every_span: rows × spans."""
    drifts: dict[str, Reals]
    """Of each stream declared with drifting, in [−1, 1]: rows × cells."""


def tick_bits(moments: Moments, first_node: int, stop_node: int) -> dict[str, Words]:
    """The bits of each stream declared with every_tick: rows × cells, rows of these nodes."""
    rows = _rows(moments.job, "tick", _TICK, first_node, stop_node)
    bits = words(rows.keys, moments.ticks)
    return {name: bits[own] for name, own in rows.of.items()}


def slow(moments: Moments, first_node: int, stop_node: int) -> Slow:
    """The streams that change slowly, rows of these nodes."""
    job, span = moments.job, moments.ticks // SPAN_TICKS
    drifting_rows = _rows(job, "drift", _DRIFT, first_node, stop_node)
    span_rows = _rows(job, "span", _SPAN, first_node, stop_node)

    def make(numbers: Integers) -> tuple[Integers, Reals, Words]:
        bits = words(np.concatenate([drifting_rows.keys, span_rows.keys]), numbers)
        drifts = len(drifting_rows.keys)
        return numbers, 2.0 * uniform(bits[:drifts]) - 1.0, bits[drifts:]

    first, last = int(span[0]), int(span[-1])
    if last - first < len(span):
        known = job.kept.get("slow")
        if known is None or known[0] != (first_node, stop_node):
            known = job.kept["slow"] = (first_node, stop_node), Table(make)
        numbers, knots, bits = known[1].between(first, last + 2)
        at = span - first
    else:  # far apart cells: only the spans beside them
        numbers, knots, bits = make(np.unique(np.concatenate([span, span + 1])))
        at = numbers.searchsorted(span)
    left = knots.take(at, axis=1)
    lines = knots.take(at + 1, axis=1)
    lines -= left
    lines *= moments.ticks * (1.0 / SPAN_TICKS) - numbers.take(at)
    lines += left
    return Slow(
        at if moments.at is None else at[moments.at],
        at,
        {name: bits[own] for name, own in span_rows.of.items()},
        {name: lines[own] for name, own in drifting_rows.of.items()},
    )


def _rows(job: Job, kind: str, streams: list[tuple[Scope, str]], first_node: int, stop_node: int) -> _Rows:
    known: tuple[Any, _Rows] | None = job.kept.get(kind)
    if known is not None and known[0] == (first_node, stop_node):
        return known[1]
    of: dict[str, slice] = {}
    parts: list[Words] = []
    first = 0
    for scope, name in streams:
        parts.append(job.row_keys(name, scope, first_node, stop_node))
        of[name] = slice(first, first + len(parts[-1]))
        first += len(parts[-1])
    rows = _Rows(np.concatenate(parts), of)
    job.kept[kind] = (first_node, stop_node), rows
    return rows
