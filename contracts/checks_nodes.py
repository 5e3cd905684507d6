"""Checks of nodes and ranks: ids, keys, and the leader at the top level."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import fmean

from .answer import TOP, Answer, Series
from .check import Level, Subject, each_answer, fault
from .checks_units import owner
from .evidence import Evidence
from .spec_pointer import join
from .strict_json import quote
from .violation import Violation

NODES = Subject("nodes")
MUST, SHOULD = Level.MUST, Level.SHOULD
_LEADER = "documented by the vendor: compute fields at the top are the leader pod's"
LEAST_MEANS = 10
"""Points that must be means: a single one may be so by chance."""
_RANK = re.compile(r"(?:0|[1-9][0-9]*)\Z", re.ASCII)


@NODES.check(
    MUST,
    source="documented by the vendor: node_id identifies the node",
    why="Each node is listed once, under an id of its own that is not empty. Clients file the series under it.",
    good='"g00r0", "g00r1"',
    bad='"g00r0", "g00r0"',
)
@each_answer
def node_ids_are_unique(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    yield len(answer.node_ids)
    for index, id_ in enumerate(answer.node_ids):
        where = f"/metrics/per_node_metrics/{index}/node_id"
        if not id_:
            yield fault(where, f"the node number {index} of per_node_metrics has an empty node_id", '""')
            return
        if id_ in answer.node_ids[:index]:
            message = f"two entries of per_node_metrics have the node_id {quote(id_)}"
            yield fault(where, message, id_, "each id once")
            return


@NODES.check(
    MUST,
    source='documented by the vendor: keys are GPU ranks as strings, "0", "1", …',
    why="The keys of the GPU maps are whole numbers in decimal, without leading zeros; they start again on each node "
    "and need not start at 0. Clients sort them as numbers.",
    good='"0", "1", "10"',
    bad='"gpu0", "00"',
)
@each_answer
def rank_keys_are_numbers(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for node, maps in answer.rank_maps.items():
        for name, keys in maps.items():
            yield len(keys)
            wrong = next((key for key in keys if not _RANK.match(key)), None)
            if wrong is not None:
                message = f"{name} of {owner(node)} has the key {quote(wrong)}, which is no GPU rank such as 0, 1 or 10"
                yield fault(join("/metrics", name, wrong), message, wrong, "a whole number in decimal")
                return


@NODES.check(
    SHOULD,
    source="relied upon by some published clients",
    why="On each node, GPU memory and GPU utilization are told of the same ranks. Clients look one up by the keys of "
    "the other.",
    good="memory 0…7, utilization 0…7",
    bad="memory 0…7, utilization 0…6",
)
@each_answer
def rank_maps_agree(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for node, maps in answer.rank_maps.items():
        memory, utilization = (set(maps.get(f"gpu_{name}", ())) for name in ("memory_usage_bytes", "utilization"))
        yield len(memory | utilization)
        if memory != utilization:
            rank = min(memory ^ utilization)
            has, lacks = ("memory", "utilization") if rank in memory else ("utilization", "memory")
            message = f"{owner(node)}: rank {quote(rank)} has GPU {has} but no GPU {lacks}"
            yield fault("/metrics", message, rank, "the same ranks in both maps")
            return


def _compute(answer: Answer, node: str) -> dict[tuple[tuple[str, ...], str], Series]:
    return {series.key[1:]: series for series in answer.series if series.node == node}


def _same(one: Series | None, other: Series | None) -> bool:
    return (one.at if one else {}) == (other.at if other else {})


def _likeness(answer: Answer) -> dict[str, tuple[int, list[Series]]]:
    """By listed node: how many series at the top are its own, and those which are not."""
    top = _compute(answer, TOP)
    found = {}
    for node in dict.fromkeys(answer.node_ids):
        own = _compute(answer, node)
        keys = {**top, **own}
        differing = [key for key in keys if not _same(top.get(key), own.get(key))]
        found[node] = len(keys) - len(differing), [top.get(key) or own[key] for key in differing]
    return found


def _mean_of_nodes(answer: Answer) -> Series | None:
    """CPU usage at the top if it is the mean over the listed nodes wherever these differ."""
    top = answer.of("cpu_usage", TOP)
    nodes = [answer.of("cpu_usage", node) for node in dict.fromkeys(answer.node_ids)]
    if top is None or len(nodes) < 2:
        return None
    near = []
    for time, value in top.at.items():
        found = [known for one in nodes if one and (known := one.at.get(time)) is not None]
        if value is not None and len(found) == len(nodes) and max(found) > min(found):
            near.append(abs(value - fmean(found)) <= 0.01 * (max(found) - min(found)))
    return top if len(near) >= LEAST_MEANS and all(near) else None


@NODES.check(
    MUST,
    source=_LEADER,
    why="The compute series at the top level are those of one node, the leader: they are no mean over nodes, and no "
    "mixture of two nodes. If one of them is a listed node's, all are.",
    good="cpu_usage and gpu_utilization at the top are g00r0's",
    bad="cpu_usage at the top is g00r0's, gpu_utilization is g00r1's",
)
@each_answer
def the_top_level_is_one_node(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    likeness = _likeness(answer)
    if not likeness:
        return
    node, (alike, differing) = max(likeness.items(), key=lambda one: one[1][0])
    yield alike + len(differing)
    mean = None if alike else _mean_of_nodes(answer)
    if mean:
        message = f"{mean.title} is the mean of the listed nodes: the top level must be one node, the leader"
        yield fault(mean.pointer, message, "", "the series of one node")
    if alike and differing and any(series.numbers for series in differing):
        series = differing[0]
        others = [other for other in likeness if _same(answer.by_key.get((other, *series.key[1:])), series)]
        whose = f"is that of node {others[0]}" if others else "is no node's"
        message = (
            f"{alike} of the {alike + len(differing)} compute series at the top level are those of node {node}, but "
            f"{series.title} {whose}: the top level must be one node, the leader"
        )
        yield fault(series.pointer, message, "", f"the series of node {node}")


@NODES.check(
    SHOULD,
    source="inferred: the leader is a node like the others",
    why="The leader, whose compute series stand at the top level, is one of the listed nodes.",
    good="the top level repeats the series of g00r0",
    bad="the top level repeats no node's series",
)
@each_answer
def the_leader_is_listed(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    top = _compute(answer, TOP)
    if not any(series.numbers for series in top.values()):
        return
    yield len(top)
    if not answer.node_ids:
        yield fault(
            "/metrics/per_node_metrics",
            "the top level has compute series but per_node_metrics lists no node, not even the leader",
            "[]",
            "the leader, at least",
        )
    elif not any(alike for alike, _ in _likeness(answer).values()):
        message = (
            "no compute series at the top level is that of a listed node, so the leader, whose series they are, is not "
            f"among {', '.join(answer.node_ids[:4])}"
        )
        yield fault("/metrics", message, "", "the series of one listed node")


@NODES.check(
    SHOULD,
    source="documented by the vendor: the instance type in the listing; that the series obey it is inferred",
    why="There are no more nodes than listed, and each node that has GPU series has one rank for each GPU of the "
    "instance type. Judged where the provider lists the deployment.",
    good="gpu_count 8, ranks 0…7",
    bad="gpu_count 8, ranks 0…6",
)
@each_answer
def ranks_fit_the_instance_type(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    facts = evidence.facts
    if facts.gpus is None:
        return
    yield len(answer.node_ids)
    if facts.nodes is not None and len(answer.node_ids) > facts.nodes:
        message = f"per_node_metrics has {len(answer.node_ids)} nodes, but the deployment is listed with {facts.nodes}"
        yield fault("/metrics/per_node_metrics", message, str(len(answer.node_ids)), str(facts.nodes))
    for node, maps in answer.rank_maps.items():
        for name, keys in maps.items():
            yield len(keys)
            if keys and len(keys) != facts.gpus:
                message = (
                    f"{name} of {owner(node)} has {len(keys)} ranks, but the listed instance type has {facts.gpus} GPUs"
                )
                yield fault("/metrics", message, str(len(keys)), str(facts.gpus))
                return
