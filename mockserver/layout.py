"""Plan + the nodes of a job → the order of an answer: static JSON, and rows of series between it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from .job import Job, Scope
from .plan import Constant, Id, Node, Object, PerNode, RankMap, Series


@dataclass(frozen=True, slots=True)
class Row:
    """The datapoints of one row of a series."""

    series: Series
    node: int
    number: int
    """Which of the series' rows, counted over all nodes."""


@lru_cache(maxsize=256)
def steps(root: Object, job: Job, has_nodes: bool) -> tuple[bytes | Row, ...]:
    """The parts of an answer in order; without nodes, maps and lists of nodes are empty."""
    merged: list[bytes | Row] = []
    for part in _walk(root, job, 0, has_nodes):
        if merged and isinstance(part, bytes) and isinstance(merged[-1], bytes):
            merged[-1] += part
        else:
            merged.append(part)
    return tuple(merged)


@lru_cache(maxsize=256)
def rows(root: Object, job: Job, has_nodes: bool) -> int:
    """How many rows of series an answer has."""
    return sum(isinstance(step, Row) for step in steps(root, job, has_nodes))


def _walk(node: Node, job: Job, number: int, has_nodes: bool) -> Iterator[bytes | Row]:
    """The parts of one place of the plan; `number` is the node it stands in, at the top the leader."""
    if isinstance(node, Object):
        opening = "{"
        for name, child in node.members:
            yield f"{opening}{json.dumps(name)}:".encode()
            yield from _walk(child, job, number, has_nodes)
            opening = ","
        yield b"}"
    elif isinstance(node, Series):
        yield b"["
        if has_nodes or node.scope is Scope.DEPLOYMENT:
            yield Row(node, number, number)
        yield b"]"
    elif isinstance(node, RankMap):
        opening = "{"
        for rank, name in enumerate(job.rank_names if has_nodes else ()):
            yield f"{opening}{json.dumps(name)}:[".encode()
            yield Row(node.series, number, number * len(job.rank_names) + rank)
            opening = "],"
        yield b"]}" if has_nodes else b"{}"
    elif isinstance(node, PerNode):
        opening = "["
        for index in range(len(job.node_ids) if has_nodes else 0):
            yield opening.encode()
            yield from _walk(node.entry, job, index, has_nodes)
            opening = ","
        yield b"]" if has_nodes else b"[]"
    elif isinstance(node, Id):
        yield json.dumps(job.node_ids[number] if node.scope is Scope.NODE else job.deployment.id).encode()
    else:
        assert isinstance(node, Constant)
        yield node.json.encode()
