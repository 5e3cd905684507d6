"""Faults of nodes, ranks and the leader."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from .spoil import PAIR, RANKS, Call, Change, Spoil
from .spoil_change import computes, lists, metrics

_IDS, _KEYS, _AGREE = "node_ids_are_unique", "rank_keys_are_numbers", "rank_maps_agree"
_ONE, _LISTED, _FIT = "the_top_level_is_one_node", "the_leader_is_listed", "ranks_fit_the_instance_type"
MAPS = ("gpu_memory_usage_bytes", "gpu_utilization")
COMPUTE = (*MAPS, "cpu_usage", "cpu_memory_usage_bytes", "ephemeral_storage")


def renamed(name: Callable[[str], str]) -> Change:
    """A change of the keys of all GPU maps."""

    def edit(found: dict[str, Any], call: Call) -> None:
        for compute in computes(found):
            for map_ in MAPS:
                compute[map_] = {name(rank): points for rank, points in compute[map_].items()}

    return metrics(edit)


def node_ids(name: Callable[[int, str], str]) -> Change:
    """A change of the ids of all nodes, by place and id."""

    def edit(found: dict[str, Any], call: Call) -> None:
        for index, node in enumerate(found["per_node_metrics"]):
            node["node_id"] = name(index, node["node_id"])

    return metrics(edit)


def _drop_last_rank(*maps: str) -> Change:
    def edit(found: dict[str, Any], call: Call) -> None:
        for compute in computes(found):
            for map_ in maps:
                compute[map_].popitem()

    return metrics(edit)


def _top(make: Callable[[list[float]], float], *names: str) -> Change:
    """A change of the top level: each value there is made from those of all nodes."""

    def edit(found: dict[str, Any], call: Call) -> None:
        nodes = [dict(lists(node)) for node in found["per_node_metrics"]]
        for path, points in lists({name: found[name] for name in names}):
            for index, point in enumerate(points):
                point["value"] = make([node[path][index]["value"] for node in nodes])

    return metrics(edit)


def _mixed(*names: str) -> Change:
    """A change of some series at the top level to those of the last node."""

    def edit(found: dict[str, Any], call: Call) -> None:
        for name in names:
            found[name] = deepcopy(found["per_node_metrics"][-1][name])

    return metrics(edit)


def _first_unlisted(found: dict[str, Any], call: Call) -> None:
    del found["per_node_metrics"][0]


def _none_listed(found: dict[str, Any], call: Call) -> None:
    found["per_node_metrics"] = []


def _one_more(found: dict[str, Any], call: Call) -> None:
    found["per_node_metrics"].append({**deepcopy(found["per_node_metrics"][-1]), "node_id": "sampler-0"})


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


SPOILS = (
    Spoil("same-id", "All nodes have the same id.", _IDS, node_ids(lambda index, id_: "trainer"), deployment=PAIR),
    Spoil("node-twice", "The leader is listed twice.", _IDS,
          metrics(lambda found, call: found["per_node_metrics"].append(deepcopy(found["per_node_metrics"][0])))),
    Spoil("empty-id", "The id of a node is empty.", _IDS, node_ids(lambda index, id_: "")),
    Spoil("gpu0", 'Ranks are named "gpu0".', _KEYS, renamed(lambda rank: f"gpu{rank}")),
    Spoil("padded-ranks", "Ranks have leading zeros.", _KEYS, renamed(lambda rank: f"{int(rank):02}")),
    Spoil("gpu-uuid", "Ranks are the ids that the driver gives to GPUs.", _KEYS,
          renamed(lambda rank: f"GPU-4a1c{rank}")),
    Spoil("no-utilization-of-a-rank", "The last rank has memory but no utilization.", _AGREE,
          _drop_last_rank("gpu_utilization")),
    Spoil("no-memory-of-a-rank", "The last rank has utilization but no memory.", _AGREE,
          _drop_last_rank("gpu_memory_usage_bytes")),
    Spoil("rank-missing", "The last rank of each node is missing.", _FIT, _drop_last_rank(*MAPS), deployment=RANKS),
    Spoil("top-is-the-mean", "The top level is the mean of all nodes.", _ONE, _top(_mean, *COMPUTE), deployment=PAIR),
    Spoil("top-is-the-sum", "CPU and memory at the top level are the sums over all nodes.", _ONE,
          _top(sum, "cpu_usage", "cpu_memory_usage_bytes"), deployment=PAIR),
    Spoil("top-is-the-busiest", "Each value at the top level is the greatest of all nodes.", _ONE,
          _top(max, *COMPUTE), deployment=PAIR),
    Spoil("top-is-mixed", "GPU series at the top level are another node's than CPU.", _ONE, _mixed(*MAPS),
          deployment=PAIR),
    Spoil("top-storage-of-another", "Storage at the top level is another node's.", _ONE, _mixed("ephemeral_storage"),
          deployment=PAIR),
    Spoil("leader-unlisted", "The nodes are listed without the leader.", _LISTED, metrics(_first_unlisted),
          deployment=PAIR),
    Spoil("no-node-listed", "No node is listed where there is only one.", _LISTED, metrics(_none_listed)),
    Spoil("one-node-too-many", "A node of another deployment is listed too.", _FIT, metrics(_one_more)),
)  # fmt: skip
"""Each is seen in one answer, between its nodes."""
