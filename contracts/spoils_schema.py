"""Faults in the shape of a JSON answer."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from .answer import time_ms
from .spoil import SCHEMA, Call, Reply, Spoil
from .spoil_change import Points, answer, computes, metrics, reply, series, values

_fault = partial(Spoil, kind=SCHEMA)
_THE = "schema"


def _drop(name: str) -> Any:
    return metrics(lambda found, call: found.pop(name, None))


def _none(found: dict[str, Any], call: Call) -> None:
    found["response_time_stats"] = None


def _flat_storage(found: dict[str, Any], call: Call) -> None:
    for compute in computes(found):
        compute["ephemeral_storage"] = compute["ephemeral_storage"]["usage_bytes"]


def _ranks_in_a_list(found: dict[str, Any], call: Call) -> None:
    for compute in computes(found):
        compute["gpu_utilization"] = list(compute["gpu_utilization"].values())


def _nodes_by_id(found: dict[str, Any], call: Call) -> None:
    found["per_node_metrics"] = {node.pop("node_id"): node for node in found["per_node_metrics"]}


def _numbered_nodes(found: dict[str, Any], call: Call) -> None:
    for index, node in enumerate(found["per_node_metrics"]):
        node["node_id"] = index


def _statuses_in_a_map(points: Points, call: Call) -> None:
    points[:] = [
        {"timestamp": point["timestamp"], "statuses": {k[-3:]: v for k, v in point.items() if k != "timestamp"}}
        for point in points
    ]


def _pairs(points: Points, call: Call) -> None:
    points[:] = [[time_ms(point["timestamp"]), point["value"]] for point in points]  # type: ignore[misc]


def _epoch_numbers(points: Points, call: Call) -> None:
    for point in points:
        point["timestamp"] = (time_ms(point["timestamp"]) or 0) // 1000


def _null_gaps(points: Points, call: Call) -> None:
    for point in points[::10]:
        point["value"] = None


def _camel(value: Any) -> Any:
    """A value with its members in camelCase."""
    if isinstance(value, list):
        return [_camel(one) for one in value]
    if isinstance(value, dict):
        return {re.sub("_([a-z0-9])", lambda m: m[1].upper(), name): _camel(one) for name, one in value.items()}
    return value


def _bare_listing(came: Reply, call: Call) -> None:
    if came.status == 200 and call.is_for_listing:
        came.say(200, came.value["deployments"])


def _status_in_a_word(came: Reply, call: Call) -> None:
    if came.status == 200 and call.is_for_listing:
        deployments = came.value["deployments"]
        came.say(200, {"deployments": [{**one, "status": one["status"]["name"]} for one in deployments]})


SPOILS = (
    _fault("values-as-text", "Values are JSON strings.", _THE, values(str)),  # type: ignore[arg-type]
    _fault("null-series", "A series that has no point is null.", _THE, metrics(_none)),
    _fault("member-left-out", "concurrent_requests is left out.", _THE, _drop("concurrent_requests")),
    _fault("nodes-left-out", "per_node_metrics is left out.", _THE, _drop("per_node_metrics")),
    _fault("metrics-left-out", "The series stand at the top, without `metrics` around them.", _THE,
           answer(lambda value, call: {"deployment_id": value["deployment_id"], **value["metrics"]})),
    _fault("wrapped", "The answer is wrapped into `data`.", _THE, answer(lambda value, call: {"data": value})),
    _fault("in-a-list", "The answer is a list with the answer in it.", _THE, answer(lambda value, call: [value])),
    _fault("camel-case", "Members are in camelCase.", _THE, answer(lambda value, call: _camel(value))),
    _fault("ranks-in-a-list", "GPU utilization is a list by rank, not a map.", _THE, metrics(_ranks_in_a_list)),
    _fault("nodes-by-id", "per_node_metrics is a map from node id to series.", _THE, metrics(_nodes_by_id)),
    _fault("numbered-nodes", "Node ids are numbers.", _THE, metrics(_numbered_nodes)),
    _fault("points-as-pairs", "A point is a pair of time and value.", _THE, series(_pairs, "inference_volume")),
    _fault("epoch-numbers", "Timestamps are epoch seconds as numbers.", _THE, series(_epoch_numbers)),
    _fault("null-gaps", "A gap is a point whose value is null.", _THE, series(_null_gaps, "cpu_usage")),
    _fault("statuses-in-a-map", "The status classes are a map within the point.", _THE,
           series(_statuses_in_a_map, "inference_volume_by_status")),
    _fault("flat-storage", "ephemeral_storage is the usage alone.", _THE, metrics(_flat_storage)),
    _fault("bare-listing", "The listing is a bare list.", "the_listing_fits_the_contract", reply(_bare_listing)),
    _fault("status-in-a-word", "A listed deployment's status is a word, not an object.",
           "the_listing_fits_the_contract", reply(_status_in_a_word)),
)  # fmt: skip
"""Each breaks the contract's file in one response."""
