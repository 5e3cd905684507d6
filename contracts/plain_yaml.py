"""YAML 1.2 → plain JSON values, and the line on which each of them stands."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

MAX_DEPTH = 200
MAX_VALUES = 1_000_000
"""With each alias counted as what it stands for: a few lines of them can mean billions."""

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

Place = tuple[str | int, ...]
"""Where a value stands: the keys and numbers that lead to it from the top."""


class YamlError(Exception):
    """A text that is not YAML, or that JSON could not say; `where` is `line 3 column 5`, or nothing is known of it."""

    def __init__(self, mark: Any, what: str) -> None:
        super().__init__(what)
        self.line: int = mark.line + 1 if mark else 1
        self.where = f"line {self.line} column {mark.column + 1}" if mark else ""
        self.what = " ".join(what.split())


def parse(body: bytes) -> tuple[Any, dict[Place, int]]:
    """The only document of a text, and the line of each value in it; of a member, the line of its key.

    Raises:
        YamlError: it is not YAML, holds a key twice, or something JSON cannot hold.
    """
    # The pure Python loader is the same language, ten times slower.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reader = _Reader(yaml.parse(body, Loader=loader))
    try:
        return reader.document(), reader.lines
    except yaml.MarkedYAMLError as error:
        raise YamlError(error.problem_mark, f"{error.problem}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise YamlError(None, f"the text is not YAML: {error}") from None


class _Reader:
    """Builds plain values from the parser's events, so that nothing of YAML 1.1's typing takes part."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.lines: dict[Place, int] = {}
        self._events = events
        self._anchors: dict[str, tuple[Any, int]] = {}
        """Each anchored value, and how many values are in it."""
        self._values = 0

    def document(self) -> Any:
        """The only document of the stream."""
        first = next(e for e in self._events if not isinstance(e, (yaml.StreamStartEvent, yaml.DocumentStartEvent)))
        if isinstance(first, yaml.StreamEndEvent):
            raise YamlError(None, "the file is empty")
        value = self._value(first, ())
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise YamlError(event.start_mark, "a second document starts here; one is expected")
        return value

    def _value(self, event: Any, place: Place) -> Any:
        value: Any
        if len(place) > MAX_DEPTH:
            raise YamlError(event.start_mark, f"more than {MAX_DEPTH} levels of nesting")
        self.lines.setdefault(place, event.start_mark.line + 1)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise YamlError(event.start_mark, f"the alias *{event.anchor} names nothing that is complete before it")
            value, size = self._anchors[event.anchor]
            self._values += size
            if self._values > MAX_VALUES:
                raise YamlError(event.start_mark, f"aliases make it more than {MAX_VALUES} values")
            return value
        before = self._values
        self._values += 1
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            value = self._mapping(place)
        else:
            value = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                value.append(self._value(item, (*place, len(value))))
        if event.anchor:
            self._anchors[event.anchor] = value, self._values - before
        return value

    def _mapping(self, place: Place) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise YamlError(key.start_mark, "a key must be a plain word or a string")
            if key.value == "<<" and key.implicit[0]:
                raise YamlError(key.start_mark, "merge keys (<<) are not part of YAML 1.2; write the members out")
            if key.value in members:
                raise YamlError(key.start_mark, f"the key {json.dumps(key.value)} stands twice in one object")
            member = (*place, key.value)
            begins: Any = key.start_mark
            self.lines[member] = begins.line + 1
            members[key.value] = self._value(next(self._events), member)
        return members


def _scalar(event: Any) -> Any:
    text: str = event.value
    plain, _ = event.implicit
    if not plain:
        if event.tag not in (None, "!", _STRING_TAG):
            raise YamlError(event.start_mark, f"the tag {event.tag} is not used here")
        return text
    for pattern, convert in _PLAIN:
        if pattern.fullmatch(text):
            value = convert(text)
            if isinstance(value, float) and not math.isfinite(value):
                raise YamlError(event.start_mark, f"JSON has no number {text}; quote it to make it a string")
            return value
    return text
