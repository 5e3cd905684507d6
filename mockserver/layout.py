"""Plan + the nodes of a job → the order of an answer: static JSON, and rows of series between it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from .job import Job, Scope
from .shapes import Constant, Id, Node, Object, PerNode, RankMap, Series


@dataclass(frozen=True, slots=True)
class Row:
    """The datapoints of one row of a series."""

    series: Series
    node: int
    number: int
    """Which of the series' rows, counted over all nodes."""


@lru_cache(maxsize=256)
def steps(root: Object, job: Job, listed: tuple[int, ...]) -> tuple[bytes | Row, ...]:
    """The parts of an answer in order.

    Args:
        root: what stands where.
        job: whose nodes and ranks they are.
        listed: the nodes that have points. A leader without any leaves its maps and series at the top empty.
    """
    merged: list[bytes | Row] = []
    for part in _walk(root, job, 0, listed):
        if merged and isinstance(part, bytes) and isinstance(merged[-1], bytes):
            merged[-1] += part
        else:
            merged.append(part)
    return tuple(merged)


@lru_cache(maxsize=256)
def rows(root: Object, job: Job, listed: tuple[int, ...]) -> int:
    """How many rows of series an answer has."""
    return sum(isinstance(step, Row) for step in steps(root, job, listed))


def _walk(node: Node, job: Job, number: int, listed: tuple[int, ...]) -> Iterator[bytes | Row]:
    """The parts of one place of the plan; `number` is the node it stands in, at the top the leader."""
    if isinstance(node, Object):
        opening = "{"
        for name, child in node.members:
            yield f"{opening}{json.dumps(name)}:".encode()
            yield from _walk(child, job, number, listed)
            opening = ","
        yield b"}"
    elif isinstance(node, Series):
        yield b"["
        if number in listed or node.scope is Scope.DEPLOYMENT:
            yield Row(node, number, number)
        yield b"]"
    elif isinstance(node, RankMap):
        opening = "{"
        for rank, name in enumerate(job.rank_names if number in listed else ()):
            yield f"{opening}{json.dumps(name)}:[".encode()
            yield Row(node.series, number, number * len(job.rank_names) + rank)
            opening = "],"
        yield b"]}" if number in listed else b"{}"
    elif isinstance(node, PerNode):
        opening = "["
        for index in listed:
            yield opening.encode()
            yield from _walk(node.entry, job, index, listed)
            opening = ","
        yield b"]" if listed else b"[]"
    elif isinstance(node, Id):
        yield json.dumps(job.node_ids[number] if node.scope is Scope.NODE else job.deployment.id).encode()
    else:
        assert isinstance(node, Constant)
        yield node.json.encode()
