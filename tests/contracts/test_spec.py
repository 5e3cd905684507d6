"""The contract's file: loading it, parsing requests by it, judging responses by it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopsmock.contracts.spec import Operation, RequestInvalid, Spec, SpecError, documented, load

OWN = load()
(METRICS,) = (operation for operation in OWN.operations if operation.method == "POST")
MEMBERS = ("start_epoch_millis", "end_epoch_millis", "step_seconds", "time_divisor_seconds")


def small(request: Any = None, response: Any = None, **schemas: Any) -> dict[str, Any]:
    """A document with one operation, POST /v1/things/{id}."""
    return {
        "openapi": "3.1.0",
        "paths": {
            "/v1/things/{id}": {
                "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                "post": {
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": {"type": "object"} if request is None else request}},
                    },
                    "responses": {
                        "200": {"description": "x", "content": {"application/json": {"schema": response or {}}}}
                    },
                },
            }
        },
        "components": {"schemas": schemas},
    }


def refusal(document: Mapping[str, Any]) -> str:
    with pytest.raises(SpecError) as caught:
        load(document)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix("the given document: ")


def broken_rule(schema: Mapping[str, Any], member: Any) -> str:
    operation = load(small({"type": "object", "properties": {"m": schema}})).operations[0]
    with pytest.raises(RequestInvalid) as caught:
        operation.parse_request(json.dumps({"m": member}).encode())
    assert str(caught.value) == f"{caught.value.member}: {caught.value.rule}"
    return str(caught.value)


# Loading


def test_the_own_contract_loads_and_survives_json() -> None:
    assert json.loads(json.dumps(OWN.document)) == OWN.document
    assert METRICS.path == "/v1/loops/deployments/{deployment_id}/metrics"
    assert (METRICS.method, METRICS.operation_id) == ("POST", "post_loops_deployments_metrics")
    assert METRICS.path_parameters == ("deployment_id",)
    assert METRICS.body_required
    assert METRICS.pointer == "#/paths/~1v1~1loops~1deployments~1{deployment_id}~1metrics/post"
    assert METRICS.request_pointer == f"{METRICS.pointer}/requestBody/content/application~1json/schema"
    assert METRICS.request_schema == {"$ref": "#/components/schemas/GetLoopsDeploymentMetricsRequestV1"}
    assert METRICS.response_schema(200) == {"$ref": "#/components/schemas/GetLoopsDeploymentMetricsResponseV1"}


def test_yaml_is_read_as_yaml_1_2(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(
        "openapi: 3.1.0\nx-a: {on: off, 200: 2026-01-31, true: 12:30, 1.0: 1_000, null: ~, 2026-01-01: 012}\n"
        'x-b: [1, -2.5, 1e3, 0x1f, 0o17, True, "1", !!str 2, &n {a: 1}, *n]\npaths: {}\n'
    )
    document = load(file).document
    assert document["x-a"] == {
        "on": "off", "200": "2026-01-31", "true": "12:30", "1.0": "1_000", "null": None, "2026-01-01": 12,
    }  # fmt: skip
    assert document["x-b"] == [1, -2.5, 1000.0, 31, 15, True, "1", "2", {"a": 1}, {"a": 1}]
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("c.yaml", "openapi: 3.1.0\npaths: {}\npaths: {}\n", 'line 3 column 1: the key "paths" stands twice'),
        ("c.yaml", "a: [1\nb: 2\n", "line 2 column"),
        ("c.yaml", "a: *b\n", "line 1 column 4: the alias *b names nothing"),
        ("c.yaml", "a: &b [*b]\n", "line 1 column 8: the alias *b names nothing"),
        ("c.yaml", "a: .nan\n", "line 1 column 4: JSON has no number .nan"),
        ("c.yaml", "a: !!binary aGk=\n", "line 1 column 4: the tag"),
        ("c.yaml", "[a]: 1\n", "line 1 column 1: a key must be"),
        ("c.yaml", "a: &b {}\nc: {<<: *b}\n", "line 2 column 5: merge keys"),
        ("c.yaml", "a: 1\n---\nb: 1\n", "line 2 column 1: a second document"),
        ("c.yaml", "[" * 300 + "]" * 300, "levels of nesting"),
        ("c.yaml", "a: \x00", "#: the text is not YAML"),
        ("c.yaml", "", "#: the file is empty"),
        ("c.yaml", "- 1\n", "#: the document must be an object"),
        ("c.json", '{"a": 1,\n "a": 2}', 'line 2 column 2: the member "a" stands twice'),
        ("c.json", "openapi: 3.1.0", "line 1 column 1: a value is expected"),
        ("c", '{"a": NaN}', "line 1 column 7: NaN is not a JSON number"),
    ],
)
def test_a_file_that_cannot_be_parsed_is_named_with_the_place(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(SpecError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_file_and_a_mapping_json_cannot_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none\.yaml: #: the file cannot be read"):
        load(tmp_path / "none.yaml")
    assert "JSON cannot hold it" in refusal({"openapi": object()})
    assert "stands twice" in refusal({"openapi": "3.1.0", "x-a": {200: 1, "200": 2}})


def test_json_and_yaml_and_a_mapping_give_the_same(tmp_path: Path) -> None:
    document = small()
    for name in ("c.json", "c.yaml", "c"):
        (tmp_path / name).write_text(json.dumps(document))
        assert load(tmp_path / name).document == load(document).document == document


def change(path: str, value: Any) -> dict[str, Any]:
    """The small document with one place changed; path is written with spaces."""
    document: Any = small()
    *parents, last = path.split(" ")
    node = document
    for part in parents:
        node = node[int(part)] if isinstance(node, list) else node[part]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return document  # type: ignore[no-any-return]


POST = "paths /v1/things/{id} post"
AT = "#/paths/~1v1~1things~1{id}"
JSON = "content application/json schema"
PARAMETER = "paths /v1/things/{id} parameters 0"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("openapi", "3.0.3", "#/openapi: '3.0.3' is not supported; only OpenAPI 3.1 is"),
        ("openapi", ..., "#/openapi: is missing; only OpenAPI 3.1 is"),
        ("openapi", 3.1, "#/openapi: 3.1 is not supported"),
        ("paths", ..., "#/paths: is missing or null"),
        ("paths", [], "#/paths: must be an object"),
        ("paths v1/x", {}, "#/paths/v1~1x: a path must start with a slash"),
        ("paths /v1/things/{id}", [], f"{AT}: must be an object"),
        ("paths /v1/things/{id} pots", {}, f"{AT}/pots: is not a method"),
        (POST, None, f"{AT}/post: is missing or null"),
        (f"{POST} respones", {}, f"{AT}/post/respones: is not a member"),
        (f"{POST} responses", ..., f"{AT}/post/responses: is missing or null"),
        (f"{POST} responses", {}, f"{AT}/post/responses: no response is documented"),
        (f"{POST} responses 2000", {}, f"{AT}/post/responses/2000: a status must be like 200"),
        (f"{POST} responses 200 contnet", {}, f"{AT}/post/responses/200/contnet: is not a member"),
        (f"{POST} responses 404", {"$ref": "#/components/responses/X"}, f"{AT}/post/responses/404: the $ref"),
        (f"{POST} responses 404", {"$ref": "other.yaml#/X"}, f"{AT}/post/responses/404: only references within"),
        (f"{POST} responses 404", {"$ref": 4}, f"{AT}/post/responses/404: a $ref must be a string"),
        (f"{POST} operationId", 7, f"{AT}/post/operationId: must be a string"),
        (f"{POST} requestBody required", "yes", f"{AT}/post/requestBody/required: must be true or false"),
        (f"{POST} requestBody content", ..., f"{AT}/post/requestBody: content is missing"),
        (f"{POST} requestBody content application/json", 1, f"{AT}/post/requestBody/content/application~1json: must"),
        ("paths /v1/things/{id} parameters", ..., f"{AT}/post: the path parameter id is not declared"),
        ("paths /v1/things/{id} parameters", {}, f"{AT}/parameters: must be a list"),
        (f"{PARAMETER} name", "di", f"{AT}/post: the path parameter id is not declared"),
        (f"{PARAMETER} in", "paht", f"{AT}/parameters/0: a parameter needs"),
        (f"{PARAMETER} required", ..., f"{AT}/parameters/0: the path parameter id must have required: true"),
        (
            f"{POST} parameters",
            [{"name": "x", "in": "path", "required": True}],
            f"{AT}/post/parameters/0: the path /v1/things/{{id}} has no {{x}}",
        ),
        (f"{POST} requestBody {JSON}", {"type": "objct"}, "/content/application~1json/schema/type: the schema is"),
        (f"{POST} requestBody {JSON}", 5, f"{AT}/post/requestBody/content/application~1json/schema: a schema must be"),
        (f"{POST} requestBody {JSON}", {"pattern": "("}, "schema/pattern: the schema is wrong"),
        (f"{POST} requestBody {JSON}", {"items": {"$ref": "#/x"}}, "schema/items: the $ref #/x leads nowhere"),
        (f"{POST} requestBody {JSON}", {"$ref": f"#/{POST}".replace(" ", "/")}, "schema: the $ref"),
        (f"{POST} requestBody {JSON}", {"$ref": f"{AT}/parameters/0/schema"}, "must write '{' as %7B"),
        (f"{POST} requestBody {JSON}", {"$ref": "http://127.0.0.1:9/x"}, "schema: only references within"),
        (f"{POST} requestBody {JSON}", {"$dynamicRef": "http://127.0.0.1:9/x"}, "schema is wrong: Resource"),
        ("components schemas A", {"$ref": "#/components/schemas/B"}, ""),
    ],
)  # fmt: skip
def test_a_slip_is_named_with_its_place(path: str, value: Any, message: str) -> None:
    document = change(path, value)
    if message:
        assert message in refusal(document)
    else:
        assert load(document)  # nothing uses that component


@pytest.mark.parametrize("path", ["/a/{}", "/a/{id}/{id}", "/a/{id", "/a/id}"])
def test_a_path_template_with_bad_braces_is_refused(path: str) -> None:
    document = small()
    document["paths"] = {path: document["paths"]["/v1/things/{id}"]}
    assert "braces" in refusal(document)


def test_two_operations_cannot_share_an_id() -> None:
    document = small()
    document["paths"]["/v1/others/{id}"] = copy.deepcopy(document["paths"]["/v1/things/{id}"])
    assert [operation.operation_id for operation in load(document).operations] == [
        "post_v1_things_id", "post_v1_others_id",
    ]  # fmt: skip
    for item in document["paths"].values():
        item["post"]["operationId"] = "same"
    assert f"#/paths/~1v1~1others~1{{id}}/post/operationId: same is taken by {AT}/post" in refusal(document)


def test_a_wrong_component_is_named_where_it_stands() -> None:
    document = small({"$ref": "#/components/schemas/A"}, A={"properties": {"z": {"minimum": "x"}}})
    assert "#/components/schemas/A/properties/z/minimum: the schema is wrong" in refusal(document)


# References


def test_references_of_parameters_bodies_and_responses_are_followed() -> None:
    document = small()
    item = document["paths"]["/v1/things/{id}"]
    document["components"] |= {
        "parameters": {"id": item["parameters"][0]},
        "requestBodies": {"b": item["post"]["requestBody"]},
        "responses": {"ok": item["post"]["responses"]["200"], "again": {"$ref": "#/components/responses/ok"}},
        "pathItems": {"p": item},
    }
    item["parameters"] = [{"$ref": "#/components/parameters/id"}]
    item["post"] |= {
        "requestBody": {"$ref": "#/components/requestBodies/b"},
        "responses": {"4XX": {"$ref": "#/components/responses/again"}},
    }
    document["paths"]["/v1/things/{id}"] = {"$ref": "#/components/pathItems/p"}
    operation = load(document).operations[0]
    assert operation.path_parameters == ("id",)
    assert operation.request_pointer == "#/components/requestBodies/b/content/application~1json/schema"
    assert operation.response_pointer(404) == "#/components/responses/ok/content/application~1json/schema"


def test_resolve_keeps_the_siblings_and_follows_chains() -> None:
    spec = load(
        small(
            A={
                "$ref": "#/components/schemas/B",
                "title": "a",
                "properties": {"x": {"type": "null"}},
                "required": ["x"],
            },
            B={"type": "object", "title": "b", "properties": {"x": {}, "y": {}}, "required": ["y", "x"]},
            T=True,
            F=False,
        )
    )
    assert spec.resolve({"$ref": "#/components/schemas/A", "description": "here"}) == {
        "type": "object", "title": "a", "description": "here", "required": ["y", "x"],
        "properties": {"x": {"type": "null"}, "y": {}},
    }  # fmt: skip
    assert spec.resolve({"type": "null"}) == {"type": "null"}
    assert spec.resolve({"$ref": "#/components/schemas/T"}) == spec.resolve(True) == {}
    assert spec.resolve({"$ref": "#/components/schemas/F"}) == spec.resolve(False) == {"not": {}}
    with pytest.raises(SpecError, match="#/components/schemas/Z leads nowhere"):
        spec.resolve({"$ref": "#/components/schemas/Z"})
    assert str(spec.error("#/x", "is\nwrong")) == "the given document: #/x: is wrong"
    with pytest.raises(SpecError, match="#/openapi: a schema must be"):
        spec.resolve({"$ref": "#/openapi"})


def test_circles_are_refused_and_recursion_is_not() -> None:
    circle = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}
    assert "#/components/schemas/" in refusal(small({"$ref": "#/components/schemas/A"}, **circle))
    with pytest.raises(SpecError, match=r"#/components/schemas/A: the \$ref leads back to itself"):
        load(small(**circle)).resolve({"$ref": "#/components/schemas/A"})
    document = small(responses={})
    document["components"]["responses"] = {"R": {"$ref": "#/components/responses/R"}}
    document["paths"]["/v1/things/{id}"]["post"]["responses"] = {"200": {"$ref": "#/components/responses/R"}}
    assert "#/components/responses/R: the $ref leads back to itself" in refusal(document)
    tree = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Tree"}}}
    operation = load(small({"$ref": "#/components/schemas/Tree"}, Tree=tree)).operations[0]
    assert operation.parse_request(b'{"next": {"next": {}}}') == {"next": {"next": {}}}
    with pytest.raises(RequestInvalid, match=r"^next.next: must be a JSON object, not the number 1$"):
        operation.parse_request(b'{"next": {"next": 1}}')


def test_references_into_other_schemas_and_names_with_escapes_work() -> None:
    schemas = {"a/b ~{c}": {"type": "integer"}, "L": {"allOf": [{"type": "string"}]}}
    properties = {
        "m": {"$ref": "#/components/schemas/a~1b%20~0%7Bc%7D"},
        "n": {"$ref": "#/components/schemas/L/allOf/0"},
        "$ref": {"$ref": "#/components/schemas/L"},
        "o": {"default": {"$ref": "no reference"}},
    }
    operation = load(small({"type": "object", "properties": properties}, **schemas)).operations[0]
    assert operation.parse_request(b'{"m": 1.0, "n": "x", "$ref": "y"}') == {"m": 1, "n": "x", "$ref": "y"}
    for body in (b'{"m": "x"}', b'{"n": 1}', b'{"$ref": 1}'):
        with pytest.raises(RequestInvalid):
            operation.parse_request(body)


# Requests


def allowed(member: str) -> st.SearchStrategy[int]:
    schema = OWN.document["components"]["schemas"]["GetLoopsDeploymentMetricsRequestV1"]["properties"][member]
    return st.integers(schema["minimum"], schema["maximum"])


@given(st.fixed_dictionaries({}, optional={member: st.none() | allowed(member) for member in MEMBERS}))
def test_a_right_request_comes_back_as_it_is(request_body: dict[str, int | None]) -> None:
    assert METRICS.parse_request(json.dumps(request_body).encode()) == request_body


@given(st.sampled_from(MEMBERS).flatmap(lambda member: st.tuples(st.just(member), allowed(member))))
def test_a_whole_float_becomes_an_int(case: tuple[str, int]) -> None:
    member, number = case
    value = METRICS.parse_request(json.dumps({member: float(number)}).encode())[member]
    assert value == number and type(value) is int


wrong = st.one_of(
    st.text(), st.booleans(), st.floats(0.1, 0.9), st.lists(st.integers(), max_size=2), st.integers(max_value=-1),
    st.just(10**20), st.dictionaries(st.text(), st.none(), max_size=2),
)  # fmt: skip


@given(st.sampled_from(MEMBERS), wrong)
def test_a_wrong_member_is_named_on_one_short_line(member: str, value: Any) -> None:
    with pytest.raises(RequestInvalid) as caught:
        METRICS.parse_request(json.dumps({member: value}).encode())
    assert caught.value.member == member
    assert str(caught.value).startswith(f"{member}: must be ") and len(str(caught.value)) < 200
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "body: is empty; send {} for the defaults"),
        (b" \n", "body: is empty; send {} for the defaults"),
        (b"[]", "body: must be a JSON object, not an array"),
        (b"null", "body: must be a JSON object, not null"),
        (b"true", "body: must be a JSON object, not the boolean true"),
        (b'"{}"', 'body: must be a JSON object, not the string "{}"'),
        (b'{"step_seconds": "60"}', 'step_seconds: must be an integer or null, not the string "60"'),
        (b'{"step_seconds": true}', "step_seconds: must be an integer or null, not the boolean true"),
        (b'{"step_seconds": 1.5}', "step_seconds: must be an integer or null, not the number 1.5"),
        (b'{"step_seconds": 0}', "step_seconds: must be at least 1, not 0"),
        (b'{"end_epoch_millis": 1e300}', "end_epoch_millis: must be at most 253402300799999, not 1e+300"),
        (b'{"start_epoch_millis": -1}', "start_epoch_millis: must be at least 0, not -1"),
        (b'{"a": 1, "a": 2}', 'body: is not valid JSON: the member "a" stands twice in one object at line 1 column 10'),
        (b'{"step_seconds": NaN}', "body: is not valid JSON: NaN is not a JSON number at line 1 column 18"),
        (b"step_seconds=60", "body: is not valid JSON: a value is expected at line 1 column 1"),
    ],
)
def test_refusals_of_requests(body: bytes, message: str) -> None:
    with pytest.raises(RequestInvalid) as caught:
        METRICS.parse_request(body)
    assert str(caught.value) == message


def test_what_was_seen_is_shortened() -> None:
    with pytest.raises(RequestInvalid) as caught:
        METRICS.parse_request(b'{"step_seconds": "' + b"x" * 5000 + b'"}')
    assert len(caught.value.rule.partition("not ")[2]) <= 60
    with pytest.raises(RequestInvalid) as caught:
        METRICS.parse_request(b'{"step_seconds": ' + b"1" * 399 + b"}")
    assert len(caught.value.rule) < 100


STRING_OR_NULL = {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "boolean"}, 1, "m: must be a boolean, not the number 1"),
        ({"type": ["object", "array"]}, None, "m: must be an array or an object, not null"),
        ({"exclusiveMinimum": 0}, 0, "m: must be more than 0, not 0"),
        ({"exclusiveMaximum": 1.5}, 2, "m: must be less than 1.5, not 2"),
        ({"multipleOf": 15}, 20, "m: must be a multiple of 15, not 20"),
        ({"minLength": 1}, "", "m: must have at least 1 character, not 0"),
        ({"maxLength": 2}, "abc", "m: must have at most 2 characters, not 3"),
        ({"minItems": 1}, [], "m: must have at least 1 item, not 0"),
        ({"maxItems": 1}, [1, 2], "m: must have at most 1 item, not 2"),
        ({"minProperties": 1}, {}, "m: must have at least 1 member, not 0"),
        ({"maxProperties": 0}, {"a": 1}, "m: must have at most 0 members, not 1"),
        ({"pattern": "^[a-z]+$"}, "A", 'm: must match the pattern "^[a-z]+$", not the string "A"'),
        ({"format": "uuid"}, "x", 'm: must be a UUID, not the string "x"'),
        ({"format": "ipv4"}, "x", 'm: must be a valid ipv4, not the string "x"'),
        ({"enum": [1, "b", None]}, 2, 'm: must be 1, "b" or null, not the number 2'),
        ({"const": "x"}, [], 'm: must be "x", not an array'),
        ({"uniqueItems": True}, [1, 1], "m: must not hold the same item twice"),
        ({"contains": {"type": "string"}}, [1], "m: holds too few or too many items of the kind that is asked for"),
        ({"not": {"type": "string"}}, "a", 'm: must not be what the contract rules out here; seen: the string "a"'),
        (False, 1, "m: must not be there, but is the number 1"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "m"),
        ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], "m: has more items than are allowed"),
        ({"items": {"type": "string"}}, ["a", 5], "m[1]: must be a string, not the number 5"),
        ({"required": ["k"]}, {}, "m.k: is required but missing"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "m.b: is required but missing"),
        ({"additionalProperties": False}, {"k": 1}, "m: must be an object without members"),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"k": 1}, "m.k: is not a member that is allowed"),
        ({"unevaluatedProperties": False}, {"k": 1}, "m.k: is not a member that is allowed"),
        (
            {"propertyNames": {"maxLength": 2}}, {"abc": 1},
            'm: has the member name "abc", which must have at most 2 characters, not 3',
        ),
        (STRING_OR_NULL, "x", 'm: must be an integer or null, not the string "x"'),
        (STRING_OR_NULL, 2, "m: must be at least 3, not 2"),
        ({"oneOf": [{}, {"type": "string"}]}, "s", 'm: must fit exactly one of the allowed forms; the str'),
        (
            {"anyOf": [{"minimum": 3}, {"multipleOf": 2}]}, 1,
            "m: fits none of the allowed forms (m must be at least 3, not 1; m must be a multiple of 2, not 1)",
        ),
        ({"contentMediaType": "application/json", "contentEncoding": "base64"}, "%", ""),
    ],
)  # fmt: skip
def test_every_keyword_gives_a_sentence(schema: Any, value: Any, message: str) -> None:
    if not message:
        operation = load(small({"type": "object", "properties": {"m": schema}})).operations[0]
        assert operation.parse_request(json.dumps({"m": value}).encode()) == {"m": value}  # only an annotation
    else:
        assert broken_rule(schema, value).startswith(message)


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "integer"}, int),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, int),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, int),
        ({"allOf": [{"type": "integer"}]}, int),
        ({"$ref": "#/components/schemas/I"}, int),
        ({"type": "number"}, float),
        ({"type": ["integer", "number"]}, float),
        ({}, float),
        (True, float),
    ],
)
def test_only_declared_integers_become_int(schema: Any, kind: type) -> None:
    document = small({"type": "object", "properties": {"m": schema}}, I={"type": "integer"})
    assert type(load(document).operations[0].parse_request(b'{"m": 60.0}')["m"]) is kind


def test_operations_without_a_body_or_with_an_optional_one() -> None:
    document = small()
    item = document["paths"]["/v1/things/{id}"]
    item["get"] = {"responses": item["post"]["responses"]}
    item["post"]["requestBody"]["required"] = False
    post, get = load(document).operations
    assert (get.method, get.body_required, get.request_schema, get.request_pointer) == ("GET", False, None, None)
    assert get.parse_request(b"") == get.parse_request(b"not json") == {}
    assert post.parse_request(b"") == {}
    with pytest.raises(RequestInvalid):
        post.parse_request(b"[]")
    needed = load(small({"type": "object", "required": ["a"]})).operations[0]
    with pytest.raises(RequestInvalid, match="body: is empty; a JSON object is required"):
        needed.parse_request(b"")


# Responses


def response(**changed: Any) -> dict[str, Any]:
    point = {"value": 1.0, "timestamp": "2026-08-01T00:00:00Z"}
    storage = {"usage_bytes": [point], "utilization": []}
    compute = {
        "gpu_memory_usage_bytes": {"0": [point]}, "gpu_utilization": {}, "cpu_usage": [point],
        "cpu_memory_usage_bytes": [], "ephemeral_storage": storage,
    }  # fmt: skip
    metrics = {
        "inference_volume": [], "concurrent_requests": [], "inference_volume_by_status": [],
        "response_time_stats": [{"timestamp": "2026-08-01T00:00:00+02:00", "p50": None}],
        "per_node_metrics": [{"node_id": "g00r0", **compute}], **compute,
    }  # fmt: skip
    return {"deployment_id": "a", "metrics": metrics | changed}


def judge(body: Any, operation: Operation = METRICS) -> list[tuple[str, str, str]]:
    found = operation.response_violations(200, "application/json", json.dumps(body).encode())
    return [(violation.check, violation.where, violation.message) for violation in found]


def test_a_right_response_and_unknown_members_pass() -> None:
    assert judge(response()) == []
    assert judge(response(new_series=[1]) | {"x": 1}) == []


@pytest.mark.parametrize(
    "timestamp", ["yesterday", "2026-08-01T00:00:00", "2026-08-01", "2026-13-01T00:00:00Z", "1785542400", ""]
)
def test_bad_timestamps_are_refused(timestamp: str) -> None:
    message = f'must be a date-time with a zone (RFC 3339), not the string "{timestamp}"'
    assert judge(response(cpu_usage=[{"value": 1.0, "timestamp": timestamp}])) == [
        ("schema", "/metrics/cpu_usage/0/timestamp", f"metrics.cpu_usage[0].timestamp: {message}")
    ]


def test_schema_violations_name_their_places() -> None:
    assert judge(response(gpu_utilization={"a/b": [{"value": None, "timestamp": "2026-08-01T00:00:00Z"}]})) == [
        ("schema", "/metrics/gpu_utilization/a~1b/0/value",
         "metrics.gpu_utilization.a/b[0].value: must be a number, not null"),
    ]  # fmt: skip
    body = response()
    del body["metrics"]["concurrent_requests"]
    assert judge(body) == [("schema", "/metrics", "metrics.concurrent_requests: is required but missing")]
    many = response(cpu_usage=[{"value": "1", "timestamp": 0}] * 500)
    assert len(judge(many)) == 100


@pytest.mark.parametrize(
    ("status", "content_type", "body", "checks"),
    [
        (200, "application/json; charset=utf-8", b"{}", ["schema", "schema"]),
        (200, "Application/JSON", b'{"a": NaN}', ["strict_json"]),
        (200, "text/html", b"<html>", ["content_type", "strict_json"]),
        (200, None, b"", ["content_type", "strict_json"]),
        (418, "application/json", b"{}", ["status_documented"]),
        (404, "application/json", b'{"code": "NOT_FOUND", "message": "no"}', []),
        (429, "application/json", b'{"error": "slow down", "retry_after": 1.5}', []),
        (429, "application/json", b'{"code": "A", "message": "b"}', ["schema", "schema"]),
        (503, "application/json", b'{"code": "A", "message": "b"}', []),
        (503, "application/json", b'{"code": "A"}', ["schema"]),
    ],
)
def test_checks_of_responses(status: int, content_type: str | None, body: bytes, checks: list[str]) -> None:
    assert [found.check for found in METRICS.response_violations(status, content_type, body)] == checks


def test_the_exact_status_comes_before_its_class_and_the_default() -> None:
    document = small()
    form = {"application/json": {"schema": {"type": "string"}}}
    document["paths"]["/v1/things/{id}"]["post"]["responses"] |= {
        "404": {"description": "x", "content": form},
        "4XX": {"description": "x", "content": {"text/*": {}}},
        "default": {"description": "x"},
    }
    operation = load(document).operations[0]
    assert operation.response_schema(404) == {"type": "string"}
    assert operation.response_pointer(404) == f"{AT}/post/responses/404/content/application~1json/schema"
    assert operation.response_schema(400) is None
    assert operation.response_pointer(400) is None
    assert operation.response_schema(500) is None
    assert operation.response_violations(400, "text/plain; charset=utf-8", b"x") == []
    assert [v.check for v in operation.response_violations(400, "image/png", b"x")] == ["content_type"]
    assert [v.check for v in operation.response_violations(500, "text/plain", b"x")] == ["content_type"]
    assert operation.response_violations(500, None, b"") == []


@given(st.integers(100, 599), st.none() | st.text(max_size=30), st.binary(max_size=200))
def test_any_response_is_judged_without_an_error(status: int, content_type: str | None, body: bytes) -> None:
    found = METRICS.response_violations(status, content_type, body)
    assert found and all(violation.message for violation in found)


# What the vendor documents


def types(spec: Spec, name: str) -> dict[str, Any]:
    """The member names of a component with their types; a series is written as the name of its datapoint."""

    def kind(schema: Any) -> Any:
        if "$ref" in schema:
            return schema["$ref"].rpartition("/")[2]
        if "anyOf" in schema:
            return " or ".join(kind(branch) for branch in schema["anyOf"])
        if schema["type"] == "array":
            return [kind(schema["items"])]
        if schema["type"] == "object":
            return {"*": kind(schema["additionalProperties"])}
        return schema["type"]

    return {
        member: kind(schema) for member, schema in spec.document["components"]["schemas"][name]["properties"].items()
    }


POINTS = ["TrainingJobMetricV1"]
COMPUTE = {
    "gpu_memory_usage_bytes": {"*": POINTS}, "gpu_utilization": {"*": POINTS}, "cpu_usage": POINTS,
    "cpu_memory_usage_bytes": POINTS, "ephemeral_storage": "StorageMetricsV1",
}  # fmt: skip
NULLABLE, OWNER, INSTANCE = ["string", "null"], "UserV1", "InstanceTypeV1"
DOCUMENTED = {
    "GetLoopsDeploymentMetricsRequestV1": {member: ["integer", "null"] for member in MEMBERS},
    "GetLoopsDeploymentMetricsResponseV1": {"deployment_id": "string", "metrics": "LoopsDeploymentMetricsV1"},
    "LoopsDeploymentMetricsV1": {
        "inference_volume": POINTS, "concurrent_requests": POINTS, "response_time_stats": ["ResponseTimeDatapointV1"],
        "inference_volume_by_status": ["InferenceVolumeByStatusDatapointV1"],
        "per_node_metrics": ["LoopsDeploymentNodeMetricsV1"], **COMPUTE,
    },
    "LoopsDeploymentNodeMetricsV1": {"node_id": "string", **COMPUTE},
    "StorageMetricsV1": {"usage_bytes": POINTS, "utilization": POINTS},
    "TrainingJobMetricV1": {"value": "number", "timestamp": "string"},
    "ResponseTimeDatapointV1": {"timestamp": "string"} | {name: ["number", "null"] for name in ("p50", "p95", "p99")},
    "InferenceVolumeByStatusDatapointV1": {"timestamp": "string"}
    | dict.fromkeys(("status_2xx", "status_4xx", "status_5xx"), "number"),
    "ListLoopsDeploymentsResponseV1": {"deployments": ["LoopsDeploymentV1"]},
    "GetLoopsDeploymentResponseV1": {"deployment": "LoopsDeploymentV1"},
    "GetLoopsRunResponseV1": {"run": "LoopsRunV1"},
    "LoopsDeploymentV1": dict.fromkeys(("id", "base_model", "base_url", "created_at", "availability_model"), "string")
    | {"active_run_id": NULLABLE, "latest_run_id": NULLABLE, "status": "LoopsDeploymentStatusV1", "user": OWNER,
       "instance_type": INSTANCE, "node_count": "integer", "sampler": "LoopsSamplerV1 or null"},
    "LoopsRunV1": dict.fromkeys(("id", "session_id", "name", "base_model", "base_url", "created_at"), "string")
    | {"deployment_id": NULLABLE, "status": "LoopsRunStatusV1", "user": OWNER, "sampler": "LoopsSamplerV1 or null"},
    "LoopsSamplerV1": dict.fromkeys(
        ("id", "base_url", "base_model", "created_at", "model_id", "deployment_id"), "string"
    ) | {"status": "LoopsSamplerStatusV1", "user": OWNER, "instance_type": "InstanceTypeV1 or null",
       "node_count": "integer"},
    "LoopsDeploymentStatusV1": {"name": "string"},
    "LoopsRunStatusV1": {"name": "string"},
    "LoopsSamplerStatusV1": {"name": "string"},
    "UserV1": {"email": NULLABLE},
    "InstanceTypeV1": {"id": "string", "name": "string", "gpu_type": NULLABLE}
    | dict.fromkeys(("memory_limit_mib", "millicpu_limit", "gpu_count"), "integer")
    | {"gpu_memory_limit_mib": ["integer", "null"]},
}  # fmt: skip
OPTIONAL = {
    "GetLoopsDeploymentMetricsRequestV1": set(MEMBERS),
    "ResponseTimeDatapointV1": {"p50", "p95", "p99"},
    "LoopsDeploymentV1": {"active_run_id", "latest_run_id", "availability_model", "node_count", "sampler"},
    "LoopsRunV1": {"deployment_id", "sampler"},
    "LoopsSamplerV1": {"instance_type", "node_count"},
    "UserV1": {"email"},
}


def test_the_documented_part_has_the_vendors_names_and_types() -> None:
    spec = load(documented(OWN.document))
    schemas = spec.document["components"]["schemas"]
    assert set(schemas) == set(DOCUMENTED)
    for name, members in DOCUMENTED.items():
        assert types(spec, name) == members
        assert set(schemas[name].get("required", [])) == set(members) - OPTIONAL.get(name, set())
        for schema in schemas[name]["properties"].values():
            assert not {"minimum", "maximum", "x-ours", "x-inferred"} & set(schema)
    (operation,) = (operation for operation in spec.operations if operation.method == "POST")
    assert all(list(each.responses) == ["200"] for each in spec.operations)
    assert operation.parse_request(b'{"step_seconds": -1}') == {"step_seconds": -1}
    assert "x-ours" not in json.dumps(spec.document) and "x-inferred" not in json.dumps(spec.document)


def without_marks(node: Any) -> Any:
    if isinstance(node, dict):
        return {name: without_marks(value) for name, value in node.items() if name not in ("x-ours", "x-inferred")}
    return [without_marks(item) for item in node] if isinstance(node, list) else node


def test_the_documented_part_leaves_the_response_schemas_and_the_document_as_they_are() -> None:
    before = copy.deepcopy(OWN.document)
    left = documented(OWN.document)["components"]["schemas"]
    assert OWN.document == before
    for name in set(DOCUMENTED) - {"GetLoopsDeploymentMetricsRequestV1"}:
        assert left[name] == without_marks(OWN.document["components"]["schemas"][name])


def test_markers_of_every_form() -> None:
    marked = {
        "x-ours": ["a", "b/c", "l/0", "s/x~1y"],
        "a": 1,
        "b": {"c": 1, "d": 2},
        "l": [1, 2, {"x-ours": True}, {"x-ours": ["m"], "m": 1, "n": {"x-inferred": 1, "k": 1}}],
        "s": {"x/y": 1, "z": {"x-ours": True}},
        "properties": {"x-ours": {"type": "string"}},
    }
    assert documented(marked) == {
        "b": {"d": 2},
        "l": [2, {"n": {"k": 1}}],
        "s": {},
        "properties": {"x-ours": {"type": "string"}},
    }


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        (["b/nope"], "#/p/x-ours: names b/nope, which is not there"),
        (["l/7"], "#/p/x-ours: names l/7"),
        ("b", "#/p/x-ours: must be true or a list"),
        ([400], "#/p/x-ours: must be true or a list"),
        (False, "#/p/x-ours: must be true or a list"),
    ],
)
def test_a_marker_that_names_nothing_is_refused(marker: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        documented({"p": {"x-ours": marker, "b": {}, "l": [1]}})
    assert message in str(caught.value)
