"""The schemas of one document: looked up by pointer, followed through `$ref`, compiled once each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .spec_pointer import join, parts_of, pointer_of
from .spec_source import SpecError

if TYPE_CHECKING:
    import jsonschema_rs

# Where JSON Schema 2020-12 keeps schemas: as a value, in a list, under names of their own.
_ONE = frozenset(
    [
        "additionalProperties",
        "items",
        "contains",
        "propertyNames",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
        "contentSchema",
    ]
)
_LIST = frozenset(["allOf", "anyOf", "oneOf", "prefixItems"])
_NAMED = frozenset(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"])
_NOT_IN_URI = re.compile(r"[^\w\-.~!$&'()*+,;=:@/?%#]", re.ASCII)


class Schemas:
    """Everything about the schemas of one document.

    Args:
        file: the name of the document in errors.
        document: the document, plain JSON values.
    """

    def __init__(self, file: str, document: Mapping[str, Any]) -> None:
        self._file = file
        self._document = document
        self._references: dict[str, tuple[str, ...]] = {}
        self._validators: dict[str, jsonschema_rs.Draft202012Validator] = {}

    def error(self, place: str, what: str) -> SpecError:
        """An error that names the document and the place."""
        return SpecError.at(self._file, place, what)

    def at(self, reference: str, place: str = "#") -> Any:
        """What a local reference points to.

        Raises:
            SpecError: it leads nowhere or out of the document; the error names `place`, where it stands.
        """
        try:
            parts = parts_of(reference)
        except ValueError as error:
            raise self.error(place, str(error)) from None
        node: Any = self._document
        for part in parts:
            if isinstance(node, Mapping) and part in node:
                node = node[part]
            elif isinstance(node, list) and part.isdecimal() and int(part) < len(node):
                node = node[int(part)]
            else:
                raise self.error(place, f"the $ref {reference} leads nowhere")
        return node

    def follow(self, node: Any, place: str) -> tuple[Any, str]:
        """Follow the `$ref` of anything but a schema: its members beside `$ref` only describe it.

        Returns:
            What the reference leads to, and its pointer.
        """
        seen = [place]
        while isinstance(node, Mapping) and "$ref" in node:
            reference = self._reference(node, seen[-1])
            node = self.at(reference, seen[-1])
            self._refuse_circle(reference, seen)
        return node, seen[-1]

    def resolve(self, schema: Mapping[str, Any] | bool) -> Mapping[str, Any]:
        """Follow the `$ref` of a schema; members beside it stand, `properties` and `required` join the target's.

        Returns:
            A schema without `$ref` at its top; what is further in is as it was.

        Raises:
            SpecError: a reference leads nowhere, or in a circle.
        """
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        merged: Mapping[str, Any] = schema
        seen: list[str] = []
        while "$ref" in merged:
            reference = self._reference(merged, seen[-1] if seen else "#")
            target = self.at(reference, seen[-1] if seen else reference)
            self._refuse_circle(reference, seen)
            beside = {name: value for name, value in merged.items() if name != "$ref"}
            if isinstance(target, bool):
                target = {} if target else {"not": {}}
            if not isinstance(target, Mapping):
                raise self.error(reference, "a schema must be an object or a boolean")
            merged = {**target, **beside}
            if "properties" in target and "properties" in beside:
                merged["properties"] = {**target["properties"], **beside["properties"]}
            if "required" in target and "required" in beside:
                merged["required"] = list(dict.fromkeys([*target["required"], *beside["required"]]))
        return merged

    def check(self, pointers: Iterable[str]) -> None:
        """Follow all references of these schemas and compile them, to find what is wrong with them now.

        Raises:
            SpecError: a reference leads nowhere or in a circle, or a schema does not compile.
        """
        roots = list(dict.fromkeys(pointers))
        if roots:
            self._compile({"allOf": [{"$ref": _uri(pointer)} for pointer in roots]}, roots)

    def validator(self, pointer: str) -> jsonschema_rs.Draft202012Validator:
        """The compiled schema at the pointer, with formats asserted; the same object each time.

        Raises:
            SpecError: as `check`.
        """
        if pointer not in self._validators:
            self._validators[pointer] = self._compile({"$ref": _uri(pointer)}, [pointer])
        return self._validators[pointer]

    def _compile(self, root: dict[str, Any], pointers: list[str]) -> jsonschema_rs.Draft202012Validator:
        import jsonschema_rs  # 40 ms that a command which loads no contract need not wait for

        reached = self._reach(pointers)
        try:
            return jsonschema_rs.Draft202012Validator(
                {**root, **self._embed(reached)}, validate_formats=True, retriever=_retrieve_nothing
            )
        except jsonschema_rs.ValidationError as error:
            place = pointer_of(error.instance_path) if error.instance_path else pointers[0]
            raise self.error(place, f"the schema is wrong: {error.message}") from None
        except (jsonschema_rs.ReferencingError, ValueError) as error:
            raise self.error(pointers[0], f"the schema does not compile: {error}") from None

    def _reach(self, pointers: list[str]) -> list[str]:
        """The pointers and all that they lead to through references, each once."""
        reached = dict.fromkeys(pointers)
        waiting = list(pointers)
        while waiting:
            pointer = waiting.pop()
            if pointer not in self._references:
                self._references[pointer] = tuple(self._direct_references(pointer))
            for reference in self._references[pointer]:
                if reference not in reached:
                    reached[reference] = None
                    waiting.append(reference)
        return list(reached)

    def _direct_references(self, pointer: str) -> Iterator[str]:
        for schema, place in self._subschemas(self.at(pointer), pointer):
            if "$ref" in schema:
                self.follow(schema, place)  # refuses what leads nowhere or in a circle
                reference = self._reference(schema, place)
                if wrong := _NOT_IN_URI.search(reference):
                    raise self.error(place, f"the $ref {reference} must write {wrong[0]!r} as {quote(wrong[0])}")
                yield pointer_of(parts_of(reference))

    def _subschemas(self, schema: Any, place: str) -> Iterator[tuple[Mapping[str, Any], str]]:
        """A schema and all schemas within it, each with its pointer; data such as `default` is passed by."""
        if isinstance(schema, bool):
            return
        if not isinstance(schema, Mapping):
            raise self.error(place, "a schema must be an object or a boolean")
        yield schema, place
        for keyword, value in schema.items():
            at = join(place, keyword)
            if keyword in _ONE:
                yield from self._subschemas(value, at)
            elif keyword in _LIST and isinstance(value, list):
                for index, item in enumerate(value):
                    yield from self._subschemas(item, join(at, index))
            elif keyword in _NAMED and isinstance(value, Mapping):
                for name, item in value.items():
                    yield from self._subschemas(item, join(at, name))

    def _embed(self, pointers: list[str]) -> dict[str, Any]:
        """A document that holds just these places of the whole one, so that a large one compiles fast."""
        places = {parts_of(pointer) for pointer in pointers}
        embedded: dict[str, Any] = {}
        for parts in places:
            if any(parts[:length] in places for length in range(1, len(parts))):
                continue  # it comes with the place around it
            node = embedded
            for part in parts[:-1]:
                node = node.setdefault(part, {})
            node[parts[-1]] = self.at(pointer_of(parts))
        return embedded

    def _reference(self, node: Mapping[str, Any], place: str) -> str:
        reference = node["$ref"]
        if not isinstance(reference, str):
            raise self.error(place, "a $ref must be a string")
        return reference

    def _refuse_circle(self, reference: str, seen: list[str]) -> None:
        pointer = pointer_of(parts_of(reference))
        if pointer in seen:
            raise self.error(pointer, "the $ref leads back to itself")
        seen.append(pointer)


def _uri(pointer: str) -> str:
    return "#" + quote(pointer[1:], safe="/~")


def _retrieve_nothing(uri: str) -> Any:
    raise ValueError(f"{uri} lies outside the document, and nothing is fetched")
