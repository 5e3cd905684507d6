"""What a validator found wrong, said to a person: which member, which rule, what was seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .strict_json import quote, shorten

if TYPE_CHECKING:
    import jsonschema_rs

_SEEN_LIMIT = 60
_TYPES = ("integer", "number", "string", "boolean", "array", "object", "null")
_FORMATS = {
    "date-time": "a date-time with a zone (RFC 3339)",
    "date": "a date such as 2026-01-31",
    "time": "a time with a zone (RFC 3339)",
    "uri": "an absolute URI",
    "email": "an e-mail address",
    "uuid": "a UUID",
}


class Finding(NamedTuple):
    """One broken rule.

    Args:
        path: the names and indices that lead to the value.
        member: the member of that value which is missing or not allowed, if the rule is about one.
        rule: the rule and what was seen, to be read after the member's name.
        seen: the value, described.
    """

    path: tuple[str | int, ...]
    member: str | None
    rule: str
    seen: str

    @property
    def name(self) -> str | None:
        """The member in the words of a programmer, `filters[0].name`; None for the body as a whole."""
        path = self.path if self.member is None else (*self.path, self.member)
        text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
        if not text:
            return None
        name = text.removeprefix(".")
        return shorten(name if name.isprintable() else json.dumps(name)[1:-1])


def describe(value: Any) -> str:
    """A value in at most 60 characters: its type, and itself where it is short enough to show."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {json.dumps(value)}"
    if isinstance(value, str):
        return f"the string {quote(value, _SEEN_LIMIT - 11)}"
    if isinstance(value, (int, float)):
        return f"the number {shorten(json.dumps(value), _SEEN_LIMIT - 11)}"
    return "an object" if isinstance(value, Mapping) else "an array"


def finding(error: jsonschema_rs.ValidationError) -> Finding:
    """The finding that an error of the validator stands for; of several alternatives, the one that was meant."""
    kind = error.kind.name
    values = error.kind.as_dict()
    seen = describe(error.instance)
    path = tuple(error.instance_path)
    if kind in ("anyOf", "oneOf"):
        return _of_alternatives(path, values["context"], seen)
    if kind == "required":
        return Finding(path, values["property"], "is required but missing", seen)
    if kind in ("additionalProperties", "unevaluatedProperties"):
        return Finding(path, values["unexpected"][0], "is not a member that is allowed here", seen)
    if kind == "propertyNames":
        name = values["error"]
        return Finding(path, None, f"has the member name {quote(name.instance, 30)}, which {finding(name).rule}", seen)
    if kind == "falseSchema" and error.schema_path[-1:] in (["additionalProperties"], ["unevaluatedProperties"]):
        return Finding(path, None, "must be an object without members", seen)
    sentence = _SENTENCES.get(kind)
    rule = sentence(values, error.instance, seen) if sentence else quote(error.message, 2 * _SEEN_LIMIT)[1:-1]
    return Finding(path, None, rule, seen)


def _of_alternatives(
    path: tuple[str | int, ...], branches: list[list[jsonschema_rs.ValidationError]], seen: str
) -> Finding:
    if sum(not branch for branch in branches) > 1:
        return Finding(path, None, f"must fit exactly one of the allowed forms; {seen} fits several", seen)
    types: list[str] = []
    rest: list[Finding] = []
    for branch in branches:
        at_top = [e for e in branch if e.kind.name == "type" and tuple(e.instance_path) == path]
        types += [name for error in at_top for name in error.kind.as_dict()["types"]]
        if branch and not at_top:
            rest.append(finding(branch[0]))
    if len(rest) == 1:  # the other alternatives are of another type: this one was meant
        return rest[0]
    if not rest and types:
        return Finding(path, None, f"must be {_type_names(types)}, not {seen}", seen)
    rules = "; ".join(shorten(f"{found.name or 'body'} {found.rule}", 80) for found in rest[:3])
    return Finding(path, None, f"fits none of the allowed forms ({rules})" if rules else "fits no allowed form", seen)


def _type_names(types: list[str]) -> str:
    ordered = [name for name in _TYPES if name in types]
    words = [name if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}" for name in ordered]
    if words == ["an object"]:
        return "a JSON object"
    return _either(words)


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _value(value: Any) -> str:
    return quote(value, 30) if isinstance(value, str) else shorten(json.dumps(value), 30)


def _bound(words: str) -> Callable[[Mapping[str, Any], Any, str], str]:
    return lambda values, instance, _: f"must be {words} {_value(values['limit'])}, not {_value(instance)}"


def _count(words: str, noun: str) -> Callable[[Mapping[str, Any], Any, str], str]:
    def sentence(values: Mapping[str, Any], instance: Any, _: str) -> str:
        limit = values["limit"]
        return f"must have {words} {limit} {noun}{'' if limit == 1 else 's'}, not {len(instance)}"

    return sentence


_SENTENCES: dict[str, Callable[[Mapping[str, Any], Any, str], str]] = {
    "type": lambda values, _, seen: f"must be {_type_names(list(values['types']))}, not {seen}",
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("more than"),
    "exclusiveMaximum": _bound("less than"),
    "multipleOf": lambda values, instance, _: (
        f"must be a multiple of {_value(values['multiple_of'])}, not {_value(instance)}"
    ),
    "minLength": _count("at least", "character"),
    "maxLength": _count("at most", "character"),
    "minItems": _count("at least", "item"),
    "maxItems": _count("at most", "item"),
    "minProperties": _count("at least", "member"),
    "maxProperties": _count("at most", "member"),
    "pattern": lambda values, _, seen: f"must match the pattern {quote(values['pattern'])}, not {seen}",
    "format": lambda values, _, seen: (
        f"must be {_FORMATS.get(values['format'], 'a valid ' + str(values['format']))}, not {seen}"
    ),
    "enum": lambda values, _, seen: (
        f"must be {shorten(_either([_value(option) for option in values['options']]), 120)}, not {seen}"
    ),
    "const": lambda values, _, seen: f"must be {_value(values['expected_value'])}, not {seen}",
    "uniqueItems": lambda *_: "must not hold the same item twice",
    "contains": lambda *_: "holds too few or too many items of the kind that is asked for",
    "not": lambda _values, _instance, seen: f"must not be what the contract rules out here; seen: {seen}",
    "falseSchema": lambda _values, _instance, seen: f"must not be there, but is {seen}",
    "additionalItems": lambda values, *_: f"must have at most {values['limit']} items",
    "unevaluatedItems": lambda *_: "has more items than are allowed",
    "contentEncoding": lambda values, _, seen: f"must be {values['content_encoding']} text, not {seen}",
    "contentMediaType": lambda values, _, seen: f"must hold {values['content_media_type']}, not {seen}",
}
