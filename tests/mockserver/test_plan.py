"""The contract drives the mock: another openapi.yaml, and the behaviour follows with no code changed."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopsmock.mockserver import StartError

from ..support import HOUR_MS, NOW_MS, PATH, SPEC, Mock

Document = dict[str, Any]
REQUEST, METRICS, NODE, POINT, QUANTILES, STATUSES, STORAGE = (
    "GetLoopsDeploymentMetricsRequestV1",
    "LoopsDeploymentMetricsV1",
    "LoopsDeploymentNodeMetricsV1",
    "TrainingJobMetricV1",
    "ResponseTimeDatapointV1",
    "InferenceVolumeByStatusDatapointV1",
    "StorageMetricsV1",
)
SERIES = {"type": "array", "items": {"$ref": f"#/components/schemas/{POINT}"}}
RANKS = {"type": "object", "additionalProperties": SERIES}


def changed(change: Callable[[Document, Document], object]) -> Document:
    """Our contract after a change of its document or its schemas."""
    document = copy.deepcopy(SPEC.document)
    change(document, document["components"]["schemas"])
    return document


def added(schema: str, name: str, member: Any, required: bool = True) -> Document:
    """Our contract with one more member in a schema."""

    def change(_: Document, schemas: Document) -> None:
        schemas[schema]["properties"][name] = member
        if required:
            schemas[schema]["required"].append(name)

    return changed(change)


def answer(document: Document, deployment: str = "single", path: str = PATH, **arguments: Any) -> Document:
    """The metrics that a mock of this contract answers with; the contract accepts them."""
    mock = Mock(spec=document, **arguments)
    response = mock.post({"time_divisor_seconds": 60}, deployment, path=path)
    assert response.status_code == 200, response.text[:300]
    (operation,) = mock.app.state.routing.metrics
    assert operation.response_violations(200, "application/json", response.content) == []
    metrics: Document = response.json()["metrics"]
    return metrics


def warnings(document: Document) -> list[str]:
    found: list[str] = Mock(spec=document).app.state.routing.warnings
    return found


def refusal(document: Document) -> str:
    with pytest.raises(StartError) as caught:
        Mock(spec=document)
    assert "\n" not in str(caught.value)
    return str(caught.value)


OURS = answer(copy.deepcopy(SPEC.document))


# What changes in the answer


def test_our_own_contract_needs_no_warning() -> None:
    assert warnings(copy.deepcopy(SPEC.document)) == []


def test_the_path_is_the_contracts() -> None:
    renamed = "/v1/loops/trainers/{deployment_id}/series"

    def change(document: Document, _: Document) -> None:
        document["paths"] = {renamed: document["paths"][PATH]}

    document = changed(change)
    assert answer(document, path=renamed) == OURS
    mock = Mock(spec=document)
    assert mock.post({}).status_code == 404
    assert mock.request("GET", "/openapi.json").json() == document


@pytest.mark.parametrize("required", [True, False], ids=["required", "optional"])
def test_a_series_that_is_added_is_served(required: bool) -> None:
    document = added(METRICS, "queue_depth", SERIES, required)
    found = answer(document)
    assert found.pop("queue_depth")[0].keys() == {"value", "timestamp"}
    assert found == OURS, "nothing else moves"
    (warning,) = warnings(document)
    assert "queue_depth" in warning
    assert "generic" in warning


def test_a_map_per_rank_that_is_added_is_served_at_each_node() -> None:
    found = answer(added(NODE, "gpu_temperature_celsius", RANKS), "healthy")
    assert len(found["per_node_metrics"]) == 2
    values = set()
    for node in found["per_node_metrics"]:
        temperature, utilization = node["gpu_temperature_celsius"], node["gpu_utilization"]
        assert list(temperature) == list(utilization) == [str(rank) for rank in range(8)]
        for rank, points in temperature.items():
            assert [point["timestamp"] for point in points] == [point["timestamp"] for point in utilization[rank]]
            values.add(json.dumps([point["value"] for point in points]))
    assert len(values) == 16, "each rank has its own"


@pytest.mark.parametrize("member", [SERIES, RANKS], ids=["series", "map per rank"])
def test_what_is_added_beside_the_nodes_is_the_leaders_and_comes_and_goes_with_it(member: Document) -> None:
    def change(_: Document, schemas: Document) -> None:
        for name in (METRICS, NODE):
            schemas[name]["properties"]["power_watts"] = member

    document = changed(change)
    found = answer(document, "node-dropout")
    leader, second = found["per_node_metrics"]
    assert found["power_watts"] == leader["power_watts"] != second["power_watts"]
    host = [point["timestamp"] for point in second["cpu_usage"]]
    shown = second["power_watts"] if isinstance(second["power_watts"], list) else second["power_watts"]["3"]
    assert [point["timestamp"] for point in shown] == host
    assert len(host) == 121 - 50, "gone from 04:10 to 04:35"
    assert not answer(document, "scaled-to-zero")["power_watts"]


def test_a_known_series_that_moves_to_a_new_place_keeps_its_signal() -> None:
    def change(_: Document, schemas: Document) -> None:
        schemas[STORAGE]["properties"]["cpu_usage"] = SERIES

    document = changed(change)
    assert warnings(document) == []
    assert answer(document)["ephemeral_storage"]["cpu_usage"] == OURS["cpu_usage"]


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        ({"type": "string", "const": "cores"}, "cores"),
        ({"type": "string", "enum": ["a", "b"]}, "a"),
        ({"type": "string", "default": "d"}, "d"),
        ({"type": ["string", "null"]}, None),
        ({"type": "boolean", "examples": [True]}, True),
    ],
)
def test_a_member_that_is_added_to_a_datapoint_is_in_each(member: Document, expected: Any) -> None:
    found = answer(added(POINT, "unit", member))
    assert {point["unit"] for point in found["cpu_usage"] + found["inference_volume"]} == {expected}
    assert [point["value"] for point in found["cpu_usage"]] == [point["value"] for point in OURS["cpu_usage"]]


def test_a_number_that_is_added_to_a_datapoint_is_served() -> None:
    found = answer(added(QUANTILES, "p999", {"type": "number", "minimum": 5, "maximum": 6}))
    values = [point["p999"] for point in found["response_time_stats"]]
    assert all(5 <= value <= 6 for value in values)
    assert len(set(values)) > 3
    assert [point["p50"] for point in found["response_time_stats"]] == [p["p50"] for p in OURS["response_time_stats"]]


def test_a_member_that_is_renamed_is_renamed() -> None:
    def change(_: Document, schemas: Document) -> None:
        for old, new in (("status_2xx", "status_ok"), ("timestamp", "at")):
            members = schemas[STATUSES]["properties"]
            schemas[STATUSES]["properties"] = {new if name == old else name: value for name, value in members.items()}
            schemas[STATUSES]["required"] = [new if name == old else name for name in schemas[STATUSES]["required"]]

    document = changed(change)
    assert list(answer(document)["inference_volume_by_status"][0]) == ["at", "status_ok", "status_4xx", "status_5xx"]
    assert ["status_ok" in warning for warning in warnings(document)] == [True], "its signal is gone with its name"


@pytest.mark.parametrize("name", ["gpu_utilization", "response_time_stats", "ephemeral_storage", "per_node_metrics"])
def test_a_member_that_is_removed_is_gone(name: str) -> None:
    def change(_: Document, schemas: Document) -> None:
        del schemas[METRICS]["properties"][name]
        schemas[METRICS]["required"].remove(name)

    assert answer(changed(change)) == {key: value for key, value in OURS.items() if key != name}


def test_members_come_in_the_order_of_the_contract() -> None:
    def change(_: Document, schemas: Document) -> None:
        for schema in (METRICS, POINT, NODE):
            schemas[schema]["properties"] = dict(reversed(schemas[schema]["properties"].items()))

    found = answer(changed(change))
    assert list(found) == list(reversed(OURS))
    assert list(found["cpu_usage"][0]) == ["timestamp", "value"]
    assert found == OURS


def test_a_quantity_that_becomes_an_integer_is_written_as_one() -> None:
    found = answer(changed(lambda _, schemas: schemas[POINT]["properties"].update(value={"type": "integer"})))
    for name in ("cpu_usage", "cpu_memory_usage_bytes", "inference_volume"):
        for point, ours in zip(found[name], OURS[name], strict=True):
            assert type(point["value"]) is int
            assert abs(point["value"] - ours["value"]) <= 0.5


def test_values_are_clipped_to_bounds_that_are_tightened() -> None:
    bounds = {"minimum": 0.25, "maximum": 3.5}
    found = answer(changed(lambda _, schemas: schemas[POINT]["properties"]["value"].update(bounds)))
    for name in ("cpu_usage", "inference_volume"):
        assert [point["value"] for point in found[name]] == [min(max(p["value"], 0.25), 3.5) for p in OURS[name]]
    assert {point["value"] for point in found["cpu_memory_usage_bytes"]} == {3.5}


def test_quantiles_that_must_not_be_null_have_no_point_instead() -> None:
    def change(_: Document, schemas: Document) -> None:
        for name in ("p50", "p95", "p99"):
            schemas[QUANTILES]["properties"][name] = {"type": "number"}

    with_gaps, with_nulls = (answer(d, lag_s=600) for d in (changed(change), copy.deepcopy(SPEC.document)))
    assert any(point["p50"] is None for point in with_nulls["response_time_stats"])
    assert with_gaps["response_time_stats"] == [p for p in with_nulls["response_time_stats"] if p["p50"] is not None]


# What changes in the request


def test_bounds_of_the_request_are_the_contracts() -> None:
    bounds = {"minimum": 30, "multipleOf": 30}
    mock = Mock(spec=changed(lambda _, schemas: schemas[REQUEST]["properties"]["step_seconds"].update(bounds)))
    for step_s, says in ((29, "at least 30"), (45, "multiple of 30")):
        assert Mock().post({"step_seconds": step_s}).status_code == 200
        refused = mock.post({"step_seconds": step_s})
        assert refused.status_code == 400
        assert "step_seconds" in refused.text
        assert says in refused.text
    assert mock.post({"step_seconds": 60}).status_code == 200


def test_what_the_contract_requires_or_forbids_in_a_request() -> None:
    def change(_: Document, schemas: Document) -> None:
        schemas[REQUEST].update(required=["start_epoch_millis"], additionalProperties=False)

    mock = Mock(spec=changed(change))
    assert "start_epoch_millis: is required" in mock.post({}).text
    assert "x: is not a member" in mock.post({"start_epoch_millis": NOW_MS - HOUR_MS, "x": 1}).text
    assert mock.post({"start_epoch_millis": NOW_MS - HOUR_MS}).status_code == 200


def test_a_body_that_need_not_be_there() -> None:
    def change(document: Document, _: Document) -> None:
        document["paths"][PATH]["post"]["requestBody"]["required"] = False

    assert Mock().post(b"").status_code == 400
    assert Mock(spec=changed(change)).post(b"").json()["metrics"]["cpu_usage"] == Mock().metrics()["cpu_usage"]


@pytest.mark.parametrize("type_", [None, "string", "number", ["integer", "string", "boolean", "array", "null"]])
def test_members_without_bounds_or_of_other_types_are_refused_in_words(type_: Any) -> None:
    # The vendor's own file declares no bounds at all.
    schema = {} if type_ is None else {"type": type_}
    members = ("start_epoch_millis", "end_epoch_millis", "step_seconds", "time_divisor_seconds")
    mock = Mock(spec=changed(lambda _, schemas: schemas[REQUEST].update(properties=dict.fromkeys(members, schema))))
    for member in members:
        for value in (-1, 10**30, -(10**30), 0.5, "1", "x", True, [], {}):
            refused = mock.post({member: value})
            assert refused.status_code == 400, value
            assert refused.json()["message"].startswith(f"{member}: ")


# What cannot be served


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (added(METRICS, "owner", {"type": "string"}), "/metrics/properties/owner: "),
        (added(POINT, "unit", {"type": "string"}), "/items/properties/unit: "),
        (added(NODE, "tags", {"type": "array", "items": {"type": "string"}, "minItems": 1}), "/tags: "),
        (added(METRICS, "limits", {"type": "object", "minProperties": 1}), "/limits: "),
        (added(METRICS, "x", {"const": 1, "type": "string"}), "/x"),
        (
            changed(lambda _, schemas: schemas[POINT]["properties"]["value"].update(minimum=2, maximum=1)),
            "value",
        ),
        (
            changed(lambda _, schemas: schemas[POINT]["properties"]["value"].update(multipleOf=1024)),
            "cannot be met: ",
        ),
        (changed(lambda document, _: document.update(paths={})), "none of its 0 operations"),
        (changed(lambda document, _: document.update(openapi="3.0.3")), "#/openapi: "),
        (changed(lambda _, schemas: schemas.pop(POINT)), f"#/components/schemas/{POINT}"),
    ],
)
def test_what_cannot_be_served_stops_the_start_and_names_the_place(document: Document, says: str) -> None:
    assert says in refusal(document)


def test_what_cannot_be_served_but_is_optional_is_left_out_and_told() -> None:
    document = added(METRICS, "owner", {"type": "string"}, required=False)
    assert answer(document) == OURS
    (warning,) = warnings(document)
    assert "properties/owner" in warning
    assert "left out" in warning


# Documents with other operations


def with_others(document: Document) -> None:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in ("deployment_id", "model_id")
    ]
    content = {"application/json": {"schema": {"type": "object"}}}
    plain = {"responses": {"200": {"description": "x", "content": content}}}
    document["paths"] |= {
        "/v1/models": {"get": plain},
        "/v1/models/{model_id}/deployments/{deployment_id}/metrics": {"post": plain | {"parameters": parameters}},
        "/v1/loops/deployments/{deployment_id}": {"get": plain | {"parameters": parameters[:1]}},
        "/v1/loops/deployments/{deployment_id}/deactivate": {
            "post": {"parameters": parameters[:1], "responses": {"204": {"description": "x"}}}
        },
    }


def test_other_operations_are_skipped_and_listed(tmp_path: Path) -> None:
    file = tmp_path / "management.json"
    file.write_text(json.dumps(changed(lambda document, _: with_others(document))))
    mock = Mock(spec=file)
    routing = mock.app.state.routing
    assert [path for path in routing.served if path.endswith("metrics")] == [PATH]
    assert routing.skipped == [
        "GET /v1/loops/deployments/{deployment_id}: holds no series (an array of objects with a date-time and numbers)",
        "GET /v1/models: not under /v1/loops/ with a deployment_id or a run_id alone",
        "POST /v1/models/{model_id}/deployments/{deployment_id}/metrics: not under /v1/loops/ with a deployment_id or "
        "a run_id alone",
        "POST /v1/loops/deployments/{deployment_id}/deactivate: has no JSON answer 200",
    ]
    assert mock.post({}).status_code == 200
    assert mock.request("GET", "/v1/models").status_code == 404


def test_a_second_operation_with_series_is_served_from_its_own_schema() -> None:
    path = "/v1/loops/deployments/{deployment_id}/cpu"

    def change(document: Document, _: Document) -> None:
        operation = copy.deepcopy(document["paths"][PATH])
        operation["post"]["operationId"] = "cpu_only"
        schema = {"type": "object", "properties": {"cpu_usage": SERIES, "deployment_id": {"type": "string"}}}
        operation["post"]["responses"]["200"]["content"]["application/json"]["schema"] = schema
        document["paths"][path] = operation

    mock = Mock(spec=changed(change))
    assert mock.post({}, path=path).json() == {"cpu_usage": Mock().metrics()["cpu_usage"], "deployment_id": "single"}
    assert mock.metrics() == Mock().metrics()
