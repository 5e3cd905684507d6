"""A document's paths → operations; a slip of the pen becomes an error that names its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .spec_operation import Operation, ResponseSpec, media_type
from .spec_pointer import join
from .spec_schemas import Schemas

_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_PATH_ITEM = frozenset(["$ref", "summary", "description", "servers", "parameters"])
_OPERATION = frozenset(
    [
        "tags",
        "summary",
        "description",
        "externalDocs",
        "operationId",
        "parameters",
        "requestBody",
        "responses",
        "callbacks",
        "deprecated",
        "security",
        "servers",
    ]
)
_RESPONSE = frozenset(["description", "headers", "content", "links"])
_REQUEST_BODY = frozenset(["description", "content", "required"])
_MEDIA_TYPE = frozenset(["schema", "example", "examples", "encoding"])
_STATUS = re.compile(r"[1-5](?:[0-9]{2}|XX)|default")
_TEMPLATE_NAME = re.compile(r"\{([^{}]*)\}")


def read_operations(document: Mapping[str, Any], schemas: Schemas) -> tuple[Operation, ...]:
    """All operations of a document, in its order.

    Raises:
        SpecError: the document is not OpenAPI 3.1 or is not formed as that asks.
    """
    return _Reader(schemas).operations(document)


class _Reader:
    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._ids: dict[str, str] = {}

    def operations(self, document: Mapping[str, Any]) -> tuple[Operation, ...]:
        version = document.get("openapi")
        if not isinstance(version, str) or not re.fullmatch(r"3\.1\.\d+(?:-.+)?", version):
            found = "is missing" if version is None else f"{version!r} is not supported"
            raise self._schemas.error("#/openapi", f'{found}; only OpenAPI 3.1 is, written "3.1.0" with quotes')
        paths = self._object(document.get("paths"), "#/paths")
        operations: list[Operation] = []
        for path, item in paths.items():
            if path.startswith("x-"):
                continue
            place = join("#/paths", path)
            if not path.startswith("/"):
                raise self._schemas.error(place, "a path must start with a slash")
            operations += self._path_item(path, *self._schemas.follow(item, place))
        return tuple(operations)

    def _path_item(self, path: str, item: Any, place: str) -> list[Operation]:
        members = self._object(item, place, _PATH_ITEM.union(_METHODS), "method")
        shared = self._parameters(members, place)
        return [
            self._operation(path, method, members[method], join(place, method), shared)
            for method in members
            if method in _METHODS
        ]

    def _operation(self, path: str, method: str, value: Any, place: str, shared: dict[str, str]) -> Operation:
        members = self._object(value, place, _OPERATION)
        names = self._path_parameters(path, shared | self._parameters(members, place), place)
        required, request_pointer = self._request_body(members, place)
        return Operation(
            path=path,
            method=method.upper(),
            operation_id=self._operation_id(members, method, path, place),
            pointer=place,
            path_parameters=names,
            body_required=required,
            request_pointer=request_pointer,
            responses=self._responses(members, place),
            schemas=self._schemas,
        )

    def _operation_id(self, members: Mapping[str, Any], method: str, path: str, place: str) -> str:
        name = members.get("operationId", "_".join(re.findall(r"\w+", f"{method} {path}")))
        if not isinstance(name, str) or not name:
            raise self._schemas.error(join(place, "operationId"), "must be a string that is not empty")
        if name in self._ids:
            raise self._schemas.error(join(place, "operationId"), f"{name} is taken by {self._ids[name]}")
        self._ids[name] = place
        return name

    def _parameters(self, members: Mapping[str, Any], place: str) -> dict[str, str]:
        """The parameters in the path that are declared here: name → place."""
        place = join(place, "parameters")
        listed = members.get("parameters", [])
        if not isinstance(listed, list):
            raise self._schemas.error(place, "must be a list")
        found: dict[str, str] = {}
        for index, item in enumerate(listed):
            parameter, at = self._schemas.follow(item, join(place, index))
            parameter = self._object(parameter, at)
            name, where = parameter.get("name"), parameter.get("in")
            if not isinstance(name, str) or where not in ("path", "query", "header", "cookie"):
                raise self._schemas.error(at, "a parameter needs a name, and an in of path, query, header or cookie")
            if where == "path":
                if parameter.get("required") is not True:
                    raise self._schemas.error(at, f"the path parameter {name} must have required: true")
                found[name] = join(place, index)
        return found

    def _path_parameters(self, path: str, declared: Mapping[str, str], place: str) -> tuple[str, ...]:
        names = tuple(_TEMPLATE_NAME.findall(path))
        if "" in names or len(set(names)) != len(names) or set("{}") & set(_TEMPLATE_NAME.sub("", path)):
            raise self._schemas.error(place, f"the path {path} has names in braces that are empty, doubled or unclosed")
        for name in names:
            if name not in declared:
                raise self._schemas.error(place, f"the path parameter {name} is not declared under parameters")
        for name, at in declared.items():
            if name not in names:
                raise self._schemas.error(at, f"the path {path} has no {{{name}}}")
        return names

    def _request_body(self, members: Mapping[str, Any], place: str) -> tuple[bool, str | None]:
        if "requestBody" not in members:
            return False, None
        value, at = self._schemas.follow(members["requestBody"], join(place, "requestBody"))
        body = self._object(value, at, _REQUEST_BODY)
        required = body.get("required", False)
        if not isinstance(required, bool):
            raise self._schemas.error(join(at, "required"), "must be true or false")
        if "content" not in body:
            raise self._schemas.error(at, "content is missing")
        _, pointer = self._content(body, at)
        return required, pointer

    def _responses(self, members: Mapping[str, Any], place: str) -> dict[str, ResponseSpec]:
        place = join(place, "responses")
        found: dict[str, ResponseSpec] = {}
        for status, item in self._object(members.get("responses"), place).items():
            if status.startswith("x-"):
                continue
            at = join(place, status)
            if not _STATUS.fullmatch(status):
                raise self._schemas.error(at, "a status must be like 200, 4XX or default")
            value, at = self._schemas.follow(item, at)
            found[status] = ResponseSpec(*self._content(self._object(value, at, _RESPONSE), at))
        if not found:
            raise self._schemas.error(place, "no response is documented")
        return found

    def _content(self, members: Mapping[str, Any], place: str) -> tuple[tuple[str, ...], str | None]:
        """The media types in lower case, and where the schema of the JSON one stands."""
        place = join(place, "content")
        pointer = None
        content = self._object(members.get("content", {}), place)
        for name, value in content.items():
            media = self._object(value, join(place, name), _MEDIA_TYPE)
            if media_type(name) == "application/json" and "schema" in media:
                pointer = join(place, name, "schema")
        return tuple(media_type(name) for name in content), pointer

    def _object(
        self, value: Any, place: str, known: frozenset[str] | None = None, noun: str = "member"
    ) -> Mapping[str, Any]:
        if value is None:
            raise self._schemas.error(place, "is missing or null")
        if not isinstance(value, Mapping):
            raise self._schemas.error(place, "must be an object")
        for name in value if known is not None else ():
            if name not in (known or ()) and not name.startswith("x-"):
                raise self._schemas.error(join(place, name), f"is not a {noun} that OpenAPI 3.1 knows here")
        return value
