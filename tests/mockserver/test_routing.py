"""What a contract leaves out of the request: said at the start, not ignored in silence."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from ..support import NOW_MS, PATH, SPEC, Mock

Document = dict[str, Any]
NAME = "GetLoopsDeploymentMetricsRequestV1"
VALUES = {
    "start_epoch_millis": NOW_MS - 60_000,
    "end_epoch_millis": NOW_MS - 60_000,
    "step_seconds": 60,
    "time_divisor_seconds": 60,
}
MEMBERS = list(VALUES)


def mock(change: Callable[[Document], object]) -> Mock:
    """A mock of our contract after a change of its request schema."""
    document = copy.deepcopy(SPEC.document)
    change(document["components"]["schemas"][NAME])
    return Mock(spec=document)


def warnings(mocked: Mock) -> list[str]:
    found: list[str] = mocked.app.state.routing.warnings
    return found


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_that_is_renamed_is_warned_of(name: str) -> None:
    def rename(schema: Document) -> None:
        schema["properties"]["renamed"] = schema["properties"].pop(name)

    renamed = mock(rename)
    (warning,) = warnings(renamed)
    assert warning.startswith(f"#/components/schemas/{NAME}: ")
    assert [member in warning for member in MEMBERS] == [member == name for member in MEMBERS]
    # As the warning says: the new name does nothing, though the old one would.
    assert renamed.post({"renamed": VALUES[name]}).content == renamed.post({}).content
    assert Mock().post({name: VALUES[name]}).content != Mock().post({}).content


def test_all_that_are_missing_stand_in_one_warning() -> None:
    (warning,) = warnings(mock(lambda schema: schema.pop("properties")))
    assert [member for member in MEMBERS if member in warning] == MEMBERS


def test_an_operation_without_a_body_is_warned_of_where_it_stands() -> None:
    document = copy.deepcopy(SPEC.document)
    item = document["paths"][PATH]
    item["get"] = {name: value for name, value in item.pop("post").items() if name != "requestBody"}
    (warning,) = warnings(Mock(spec=document))
    assert warning.startswith("#/paths/~1v1~1loops~1deployments~1{deployment_id}~1metrics/get: ")


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_members_that_stand_in_parts_of_the_schema_are_found(keyword: str) -> None:
    def split(schema: Document) -> None:
        schema[keyword] = [{"properties": schema.pop("properties")}]

    assert warnings(mock(split)) == []
