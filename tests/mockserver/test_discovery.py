"""Deployments and runs as they are found: what is listed, what a contract makes of it, what agrees with the series."""

import copy
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from loopsmock.mockserver import StartError
from loopsmock.mockserver.facts import SAMPLER_STATUS
from loopsmock.mockserver.record import compile_record
from loopsmock.mockserver.schema import NothingToServe

from ..support import BEARER, HOUR_MS, NOW_MS, SPEC, Mock, error_of

Document = dict[str, Any]
LIST = "/v1/loops/deployments"
MOCK = Mock()


def get(mock: Mock, path: str) -> Any:
    response = mock.request("GET", path)
    assert response.status_code == 200, response.text[:300]
    return response.json()


def changed(change: Callable[[Document], object]) -> Document:
    document = copy.deepcopy(SPEC.document)
    change(document["components"]["schemas"])
    return document


def test_every_answer_is_as_the_contract_has_it() -> None:
    for operation in SPEC.operations:
        if operation.method == "GET":
            path = operation.path.format(deployment_id="wide", run_id="run-wide")
            body = MOCK.request("GET", path).content
            assert operation.response_violations(200, "application/json", body) == []


def test_one_world_answers_list_deployment_and_run() -> None:
    listed = get(MOCK, LIST)["deployments"]
    assert [deployment["id"] for deployment in listed] == list(MOCK.app.state.world.deployments)
    for deployment in listed:
        assert get(MOCK, f"{LIST}/{deployment['id']}")["deployment"] == deployment
        run = get(MOCK, f"/v1/loops/runs/{deployment['latest_run_id']}")["run"]
        assert run["deployment_id"] == deployment["id"]
        assert deployment["active_run_id"] in (None, run["id"])
    assert get(MOCK, LIST + "?scope=org")["deployments"] == listed


def test_statuses_change_with_the_clock_and_nothing_else_does() -> None:
    seen = set[str]()
    still: dict[str, Any] = {}
    for quarter in range(48):
        mock = Mock(clock=lambda at=NOW_MS + quarter * HOUR_MS // 4: at)
        for deployment in get(mock, LIST)["deployments"]:
            name = deployment["status"]["name"]
            seen.add(name)
            assert deployment["sampler"]["status"]["name"] == SAMPLER_STATUS[name]
            for changing in ("status", "active_run_id", "created_at", "sampler"):
                del deployment[changing]
            assert still.setdefault(deployment["id"], deployment) == deployment
    assert seen >= {"RUNNING", "DEPLOYING", "SCALED_TO_ZERO", "FAILED", "PREEMPTED", "CREATED"}


def test_created_at_is_where_the_series_begin() -> None:
    created = get(MOCK, f"{LIST}/brand-new")["deployment"]["created_at"]
    points = MOCK.metrics("brand-new", start_epoch_millis=NOW_MS - 12 * HOUR_MS, step_seconds=15)["inference_volume"]
    assert points[0]["timestamp"][:19] == created[:19]


def test_another_seed_has_other_people() -> None:
    emails = [
        {deployment["user"]["email"] for deployment in get(Mock(seed=seed), LIST)["deployments"]} for seed in (0, 1)
    ]
    assert len(emails[0]) > 20
    assert len(emails[0] & emails[1]) < 5
    for email in emails[0] | emails[1]:
        assert email.rpartition("@")[2] in ("example.com", "example.org", "example.net")


def test_with_any_id_deployment_and_run_of_any_id_are_found() -> None:
    mock = Mock(any_id=True)
    deployment = get(mock, f"{LIST}/q%20w")["deployment"]
    assert deployment["id"] == "q w"
    run = get(mock, "/v1/loops/runs/run-q%20w")["run"]
    assert (run["id"], run["deployment_id"]) == (deployment["latest_run_id"], "q w")
    assert "q w" not in [listed["id"] for listed in get(mock, LIST)["deployments"]]


@pytest.mark.parametrize("id_", ["nope", "run-nope", "run-", "healthy", "run-" + "x" * 5000])
def test_an_unknown_run_is_404_that_names_one(id_: str) -> None:
    message = error_of(MOCK.request("GET", f"/v1/loops/runs/{id_}"), 404, "NOT_FOUND")
    assert "run-healthy of healthy" in message
    assert len(message) < 400


def test_an_unknown_deployment_is_404_and_a_missing_key_403() -> None:
    assert "no deployment 'nope'" in error_of(MOCK.request("GET", f"{LIST}/nope"), 404, "NOT_FOUND")
    for path in (LIST, f"{LIST}/healthy", "/v1/loops/runs/run-healthy"):
        error_of(MOCK.request("GET", path, headers={}), 403, "PERMISSION_DENIED")
        response = MOCK.request("POST", path, b"{}", BEARER)
        assert response.headers["allow"] == "GET"
        assert "use GET" in error_of(response, 405, "METHOD_NOT_ALLOWED")


# What a contract makes of it


def test_a_member_that_the_contract_lacks_is_not_answered() -> None:
    def drop(schemas: Document) -> None:
        for name in ("node_count", "sampler"):
            del schemas["LoopsDeploymentV1"]["properties"][name]
        del schemas["InstanceTypeV1"]["properties"]["gpu_type"]
        schemas["InstanceTypeV1"]["required"].remove("gpu_type")

    deployment = get(Mock(spec=changed(drop)), f"{LIST}/healthy")["deployment"]
    assert "node_count" not in deployment
    assert "sampler" not in deployment
    assert "gpu_type" not in deployment["instance_type"]
    assert deployment["instance_type"]["gpu_count"] == 8


def test_a_required_member_that_nobody_knows_stops_the_start() -> None:
    def add(schemas: Document) -> None:
        schemas["LoopsRunV1"]["properties"]["color"] = {"type": "string"}
        schemas["LoopsRunV1"]["required"].append("color")

    with pytest.raises(StartError, match=r"LoopsRunV1|run/properties/color.*no const, default, enum or examples"):
        Mock(spec=changed(add))


def test_a_member_that_nobody_knows_is_its_constant_or_left_out() -> None:
    def add(schemas: Document) -> None:
        schemas["LoopsRunV1"]["properties"] |= {
            "color": {"type": "string"}, "size": {"type": "integer", "default": 7}, "kind": {"enum": ["a", "b"]},
        }  # fmt: skip

    mock = Mock(spec=changed(add))
    run = get(mock, "/v1/loops/runs/run-healthy")["run"]
    assert "color" not in run
    assert (run["size"], run["kind"]) == (7, "a")
    warnings = mock.app.state.routing.warnings
    assert any("/color" in warning and "left out" in warning for warning in warnings)
    assert any("/size: nothing is known of it; it is always 7" in warning for warning in warnings)


def test_a_value_that_the_contract_forbids_stops_the_start() -> None:
    def narrow(schemas: Document) -> None:
        schemas["LoopsDeploymentV1"]["properties"]["node_count"]["type"] = "string"

    with pytest.raises(StartError, match=r"cannot be met.*node_count"):
        Mock(spec=changed(narrow))


def test_a_get_without_a_known_member_is_skipped() -> None:
    document = changed(lambda schemas: schemas["GetLoopsRunResponseV1"]["properties"].update(it=schemas["UserV1"]))
    schema = document["components"]["schemas"]["GetLoopsRunResponseV1"]
    del schema["properties"]["run"]
    schema["required"] = ["it"]
    mock = Mock(spec=document)
    assert "/v1/loops/runs/{run_id}" not in mock.app.state.routing.served
    assert any(line.startswith("GET /v1/loops/runs/{run_id}: ") for line in mock.app.state.routing.skipped)
    assert mock.request("GET", "/v1/loops/runs/run-healthy").status_code == 404


def test_a_record_is_filled_by_name_through_lists_and_nullable_objects() -> None:
    class Plain:
        def resolve(self, schema: Any) -> Any:
            return schema

    thing = {"properties": {"a": {"type": "integer"}}}
    schema = {
        "properties": {
            "one": {"anyOf": [{"type": "null"}, thing]},
            "many": {"type": "array", "items": thing},
            "free": {"type": "object"},
        }
    }
    known = {"one": {"a": 1, "b": 2}, "many": [{"a": 1, "b": 2}], "free": {"x": 1}, "more": 1}
    record = compile_record(Plain(), schema, "#", known)
    assert record.fill(known) == {"one": {"a": 1}, "many": [{"a": 1}], "free": {"x": 1}}
    assert record.fill({"one": None, "many": [], "free": {}}) == {"one": None, "many": [], "free": {}}
    assert not record.warnings
    with pytest.raises(NothingToServe, match="none of its members is known"):
        compile_record(Plain(), {"properties": {"z": {}}}, "#", known)


def test_the_statuses_are_the_contracts() -> None:
    schemas = SPEC.document["components"]["schemas"]
    assert set(SAMPLER_STATUS) == set(schemas["LoopsDeploymentStatusV1"]["properties"]["name"]["enum"])
    sampler = jsonschema_rs.validator_for(schemas["LoopsSamplerStatusV1"])
    assert all(sampler.is_valid({"name": name}) for name in SAMPLER_STATUS.values())
