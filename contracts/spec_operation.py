"""One operation: what a request to it must be, and what a response of it must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from .spec_pointer import pointer_of
from .spec_schemas import Schemas
from .spec_sentences import describe, finding
from .strict_json import JsonError, JsonValue, loads, shorten
from .violation import Violation

_MAX_VIOLATIONS = 100


class RequestInvalid(Exception):
    """A request breaks the contract; the text is `member: rule`.

    Args:
        member: the member at fault, None for the body as a whole.
        rule: the rule and what was seen.
    """

    def __init__(self, member: str | None, rule: str) -> None:
        super().__init__(f"{member or 'body'}: {rule}")
        self.member = member
        self.rule = rule


@dataclass(frozen=True, slots=True)
class ResponseSpec:
    """A documented response.

    Args:
        media_types: the documented content types in lower case, without parameters; none means no body.
        schema_pointer: where the schema of its JSON content stands.
    """

    media_types: tuple[str, ...]
    schema_pointer: str | None


@dataclass(frozen=True, eq=False)
class Operation:
    """A path and a method.

    Args:
        path: the template, `/v1/x/{id}`.
        method: in upper case.
        operation_id: from the file, or made from method and path.
        pointer: where it stands in the file.
        path_parameters: the names in the template, in order.
        body_required: whether a request without a body is refused.
        request_pointer: where the schema of the JSON request body stands; None if none is declared.
        responses: by status, `200`, `4XX` or `default`.
        schemas: the schemas of the file.
    """

    path: str
    method: str
    operation_id: str
    pointer: str
    path_parameters: tuple[str, ...]
    body_required: bool
    request_pointer: str | None
    responses: Mapping[str, ResponseSpec]
    schemas: Schemas

    @property
    def request_schema(self) -> Mapping[str, Any] | None:
        """The schema of the JSON request body as it stands in the file; None if none is declared."""
        return None if self.request_pointer is None else _as_mapping(self.schemas.at(self.request_pointer))

    @property
    def schema_pointers(self) -> tuple[str, ...]:
        """Where the schemas of this operation stand, of the request first."""
        pointers = [self.request_pointer, *(response.schema_pointer for response in self.responses.values())]
        return tuple(dict.fromkeys(pointer for pointer in pointers if pointer is not None))

    def response_pointer(self, status: int) -> str | None:
        """Where the schema of the JSON response with this status stands; None if there is none."""
        response = self._response(status)
        return None if response is None else response.schema_pointer

    def response_schema(self, status: int) -> Mapping[str, Any] | None:
        """The schema of the JSON response as it stands in the file: of the status, its class, or the default."""
        pointer = self.response_pointer(status)
        return None if pointer is None else _as_mapping(self.schemas.at(pointer))

    def parse_request(self, body: bytes) -> dict[str, Any]:
        """Read a request body.

        Args:
            body: as it came; its content type does not matter.

        Returns:
            The object, with whole numbers such as 60.0 as int where an integer is declared. Members that are absent
            or null stay so. {} for an operation that declares no JSON body.

        Raises:
            RequestInvalid: the body breaks the contract; the first fault found, in own words.
        """
        empty = not body.strip(b" \t\n\r")
        if empty and self.body_required:
            remedy = "; send {} for the defaults" if self._accepts_empty_object else "; a JSON object is required"
            raise RequestInvalid(None, f"is empty{remedy}")
        if empty or self.request_pointer is None:
            return {}
        try:
            value = loads(body)
        except JsonError as error:
            raise RequestInvalid(None, f"is not valid JSON: {error}") from None
        if not isinstance(value, dict):
            raise RequestInvalid(None, f"must be a JSON object, not {describe(value)}")
        validator = self.schemas.validator(self.request_pointer)
        if not validator.is_valid(value):
            found = finding(next(iter(validator.iter_errors(value))))
            raise RequestInvalid(found.name, found.rule)
        for name in self._integer_members:
            number = value.get(name)
            if isinstance(number, float):
                value[name] = int(number)
        return value

    def response_violations(self, status: int, content_type: str | None, body: bytes) -> list[Violation]:
        """Judge a response by the contract.

        Args:
            status: the status code.
            content_type: the header as it came, None if absent.
            body: decoded of any content encoding.

        Returns:
            What is wrong, [] if nothing; at most 100 violations of the schema. The checks are `status_documented`,
            `content_type`, `strict_json` and `schema`.
        """
        return self.judge_response(status, content_type, body)[0]

    def judge_response(self, status: int, content_type: str | None, body: bytes) -> tuple[list[Violation], JsonValue]:
        """As `response_violations`, with the JSON value of the body; None where none is declared or it is not JSON."""
        response = self._response(status)
        if response is None:
            known = ", ".join(self.responses)
            message = f"the status {status} is not documented for {self.method} {self.path}; documented are {known}"
            return [Violation("status_documented", "", message, str(status))], None
        violations = list(_judge_content_type(response, content_type, body))
        if response.schema_pointer is None:
            return violations, None
        try:
            value = loads(body)
        except JsonError as error:
            seen = shorten(repr(body[:60])[2:-1])
            return [*violations, Violation("strict_json", "", f"the body is not strict JSON: {error}", seen)], None
        return [*violations, *self._judge_value(response.schema_pointer, value)], value

    def _judge_value(self, pointer: str, value: JsonValue) -> Iterator[Violation]:
        validator = self.schemas.validator(pointer)
        if validator.is_valid(value):
            return
        for found in map(finding, islice(validator.iter_errors(value), _MAX_VIOLATIONS)):
            yield Violation("schema", pointer_of(found.path, ""), f"{found.name or 'body'}: {found.rule}", found.seen)

    def _response(self, status: int) -> ResponseSpec | None:
        for key in (str(status), f"{status // 100}XX", "default"):
            if key in self.responses:
                return self.responses[key]
        return None

    @cached_property
    def _accepts_empty_object(self) -> bool:
        return self.request_pointer is not None and self.schemas.validator(self.request_pointer).is_valid({})

    @cached_property
    def _integer_members(self) -> tuple[str, ...]:
        schema = self.request_schema
        if schema is None:
            return ()
        properties = self.schemas.resolve(schema).get("properties", {})
        types = {name: _types(self.schemas, member) for name, member in properties.items()}
        return tuple(name for name, allowed in types.items() if "integer" in allowed and "number" not in allowed)


def _types(schemas: Schemas, schema: Mapping[str, Any] | bool, depth: int = 0) -> frozenset[str]:
    """The types that a schema names, itself or through its alternatives; empty if it names none."""
    resolved = schemas.resolve(schema)
    named = resolved.get("type", [])
    if named:
        return frozenset([named] if isinstance(named, str) else named)
    if depth < 8:
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in resolved:
                return frozenset().union(*(_types(schemas, branch, depth + 1) for branch in resolved[keyword]))
    return frozenset()


def _judge_content_type(response: ResponseSpec, content_type: str | None, body: bytes) -> Iterator[Violation]:
    if not response.media_types:
        if body:
            yield Violation("content_type", "", "a body came where none is documented", content_type or "")
        return
    documented = " or ".join(response.media_types)
    if content_type is None:
        yield Violation("content_type", "", f"the content type is missing; documented is {documented}")
        return
    sent = media_type(content_type)
    ranges = (sent, f"{sent.partition('/')[0]}/*", "*/*")
    if not any(allowed in ranges for allowed in response.media_types):
        message = f"the content type is {shorten(sent)}; documented is {documented}"
        yield Violation("content_type", "", message, shorten(content_type))


def media_type(content_type: str) -> str:
    """A content type in lower case without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _as_mapping(schema: Any) -> Mapping[str, Any]:
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    if not isinstance(schema, Mapping):
        raise TypeError("load() refuses schemas that are neither an object nor a boolean")
    return schema
