"""A scenario file as text → its members with their lines; what is wrong is told in words, with place and remedy."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from ..contracts.plain_yaml import Place, YamlError, parse
from .scenario import DAY_S, LONGEST_S, UNITS_S, ScenarioError

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

DURATIONS = frozenset(
    [
        "at",
        "every",
        "lasts",
        "down",
        "pending",
        "starting",
        "loading",
        "cycle",
        "lag",
        "checkpoint_every",
        "checkpoint_lasts",
        "dip_every",
    ]
)
"""Members that hold a duration."""


@dataclass(frozen=True, eq=False, slots=True)
class Sheet:
    """A scenario file as it was read: its entry, and the line on which each part of it stands."""

    path: Path
    entry: Mapping[str, Any]
    lines: Mapping[Place, int]

    def error(self, place: Sequence[str | int], what: str) -> ScenarioError:
        """What is wrong at a place, with the nearest line that is known."""
        known = next(
            tuple(place[:length]) for length in range(len(place), -1, -1) if tuple(place[:length]) in self.lines
        )
        name = ".".join(str(step) for step in place) or "the file"
        return ScenarioError(f"{self.path}:{self.lines[known]}: {name}: {what}")


def read(path: Path) -> Sheet:
    """One file, formed as the schema says.

    Raises:
        ScenarioError: it cannot be read, or says something that the schema does not know.
    """
    try:
        entry, lines = parse(path.read_bytes())
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from error
    except YamlError as error:
        raise ScenarioError(f"{path}:{error.line}: not YAML: {error.what}") from error
    sheet = Sheet(path, entry, lines)
    for broken in _schema().iter_errors(entry):
        raise sheet.error(*_in_words(list(broken.instance_path), broken))
    for place in lines:
        if place and place[-1] in DURATIONS:
            _check_duration(sheet, place)
    return sheet


def meant(said: str, known: Sequence[str]) -> str:
    """The end of a message: the known name that is nearest to what was said, or all of them."""
    near = get_close_matches(said, known, 1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"


def seconds(duration: str) -> int:
    """`40m` → 2400."""
    return int(duration[:-1]) * UNITS_S[duration[-1]]


@cache
def _text_of_schema() -> str:
    return (FIXTURES / "scenario.schema.json").read_text("utf-8")


@cache
def _schema() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(json.loads(_text_of_schema()))


def _check_duration(sheet: Sheet, place: Place) -> None:
    value: Any = sheet.entry
    for step in place:
        value = value[step]
    if isinstance(value, str) and seconds(value) > LONGEST_S:
        raise sheet.error(place, f"{value} is longer than {LONGEST_S // DAY_S}d, ten years")


def _in_words(place: list[str | int], broken: jsonschema_rs.ValidationError) -> tuple[list[str | int], str]:
    """A place, and what is wrong there and what would be right."""
    kind, details = broken.kind.name, broken.kind.as_dict()
    if kind == "additionalProperties":
        key = str(details["unexpected"][0])
        return [*place, key], f"there is no such member{meant(key, _members(place))}"
    if kind == "enum":
        return place, f"{broken.instance!r} is not one of {', '.join(map(str, details['options']))}" + meant(
            str(broken.instance), [str(option) for option in details["options"]]
        )
    if kind == "pattern" or (place and place[-1] in DURATIONS):
        return place, f"{broken.instance!r} is not a duration above zero; write for example 90s, 40m, 6h or 30d"
    if kind == "required":
        return place, f"{details['property']!r} is missing"
    if kind == "oneOf":
        return place, f"{broken.instance!r} is neither long-lived nor {{every: 6h}}"
    if not place and kind == "type":
        return place, "it holds no members; write for example extends: healthy and shows: one sentence"
    return place, broken.message


def _members(place: list[str | int]) -> list[str]:
    """The members that the schema knows at a place."""
    schema = json.loads(_text_of_schema())
    if place[:1] == ["faults"]:
        return list(schema["$defs"]["fault"]["properties"])
    for step in place:
        schema = schema["properties"].get(step, {"properties": {}})
    return list(schema.get("properties", {}))
