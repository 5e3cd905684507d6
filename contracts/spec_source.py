"""The text of a specification → a document of plain JSON values, whatever YAML 1.1 would make of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from .strict_json import JsonError, loads

_MAX_DEPTH = 200

# The core schema of YAML 1.2: `on`, `1_000`, `12:30` and dates are strings, unlike in YAML 1.1.
_PLAIN: tuple[tuple[re.Pattern[str], Any], ...] = (
    (re.compile(r"null|Null|NULL|~|"), lambda _: None),
    (re.compile(r"true|True|TRUE"), lambda _: True),
    (re.compile(r"false|False|FALSE"), lambda _: False),
    (re.compile(r"[-+]?[0-9]{1,400}"), int),
    (re.compile(r"0o[0-7]{1,400}"), lambda text: int(text, 8)),
    (re.compile(r"0x[0-9a-fA-F]{1,300}"), lambda text: int(text, 16)),
    (re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"), float),
    (re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"), lambda _: math.inf),
)
_STRING_TAG = "tag:yaml.org,2002:str"


class SpecError(Exception):
    """A specification cannot be used; the message is one line, `FILE: PLACE: what is wrong`."""

    @classmethod
    def at(cls, file: str, place: str, what: str) -> SpecError:
        """Make the message.

        Args:
            file: the file, as the user named it.
            place: a JSON pointer such as `#/paths/~1v1~1x/post`, or line and column of a syntax error.
            what: what is wrong there.
        """
        return cls(" ".join(f"{file}: {place}: {what}".split()))


def read(source: Path | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Read a document: JSON or YAML from a file, or a copy of a mapping.

    Args:
        source: the file, or a mapping that JSON can hold (keys that are numbers become strings).

    Returns:
        The name to use in errors, and the document; `json.loads(json.dumps(document)) == document`.

    Raises:
        SpecError: the file cannot be read or parsed, holds a key twice, or something JSON cannot hold.
    """
    if isinstance(source, Mapping):
        name = "the given document"
        try:
            body = json.dumps(source, allow_nan=False, default=_as_dict).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise SpecError.at(name, "#", f"JSON cannot hold it: {error}") from None
        document = _parse_json(name, body)
    else:
        name = str(source)
        try:
            body = source.read_bytes()
        except OSError as error:
            raise SpecError.at(name, "#", f"the file cannot be read: {error.strerror or error}") from None
        is_json = body.lstrip().startswith(b"{") and source.suffix not in (".yaml", ".yml")
        document = _parse_json(name, body) if is_json or source.suffix == ".json" else _parse_yaml(name, body)
    if not isinstance(document, dict):
        raise SpecError.at(name, "#", "the document must be an object with the member openapi")
    return name, document


def _as_dict(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no JSON value")


def _parse_json(name: str, body: bytes) -> Any:
    try:
        return loads(body, max_depth=_MAX_DEPTH)
    except JsonError as error:
        raise SpecError.at(name, error.where or "#", error.what) from None


def _parse_yaml(name: str, body: bytes) -> Any:
    # The pure Python loader is the same language, ten times slower.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Yaml(name, yaml.parse(body, Loader=loader)).document()
    except yaml.MarkedYAMLError as error:
        raise SpecError.at(name, _mark(error.problem_mark), f"{error.problem}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError.at(name, "#", f"the text is not YAML: {error}") from None


def _mark(mark: Any) -> str:
    return f"line {mark.line + 1} column {mark.column + 1}" if mark else "#"


class _Yaml:
    """Builds plain values from the parser's events, so that nothing of YAML 1.1's typing takes part."""

    def __init__(self, name: str, events: Iterator[Any]) -> None:
        self._name = name
        self._events = events
        self._anchors: dict[str, Any] = {}

    def document(self) -> Any:
        """The only document of the stream."""
        first = next(e for e in self._events if not isinstance(e, (yaml.StreamStartEvent, yaml.DocumentStartEvent)))
        if isinstance(first, yaml.StreamEndEvent):
            raise SpecError.at(self._name, "#", "the file is empty")
        value = self._value(first, 0)
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise self._error(event, "a second document starts here; one is expected")
        return value

    def _value(self, event: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise self._error(event, f"more than {_MAX_DEPTH} levels of nesting")
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise self._error(event, f"the alias *{event.anchor} names nothing that is complete before it")
            return self._anchors[event.anchor]
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            value = self._mapping(depth)
        else:
            value = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                value.append(self._value(item, depth + 1))
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _mapping(self, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise self._error(key, "a key must be a plain word or a string")
            if key.value == "<<" and key.implicit[0]:
                raise self._error(key, "merge keys (<<) are not part of YAML 1.2; use $ref")
            if key.value in members:
                raise self._error(key, f"the key {json.dumps(key.value)} stands twice in one object")
            members[key.value] = self._value(next(self._events), depth + 1)
        return members

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        plain, _ = event.implicit
        if not plain:
            if event.tag not in (None, "!", _STRING_TAG):
                raise self._error(event, f"the tag {event.tag} is not used in OpenAPI")
            return text
        for pattern, convert in _PLAIN:
            if pattern.fullmatch(text):
                value = convert(text)
                if isinstance(value, float) and not math.isfinite(value):
                    raise self._error(event, f"JSON has no number {text}; quote it to make it a string")
                return value
        return text

    def _error(self, event: Any, what: str) -> SpecError:
        return SpecError.at(self._name, _mark(event.start_mark), what)
