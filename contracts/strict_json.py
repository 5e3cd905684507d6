"""JSON as RFC 8259 has it: what Python's `json` lets through or trips over is refused with its place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, NoReturn, TypeAlias

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"

MAX_DEPTH = 64
MAX_DIGITS = 400

# A string that never ends matches up to the end of the text, so that no input makes the search quadratic.
_STRING = r'"(?:[^"\\]+|\\.?)*+"?'
_TOKEN = re.compile(rf'{_STRING}|[\[\]{{}}]|[^\s\[\]{{}},:"]+', re.DOTALL)
_STRING_BYTES = re.compile(_STRING.encode(), re.DOTALL)
_NAME_END = re.compile(r"[ \t\n\r]*:")
_DIGITS = bytes.maketrans(b"123456789E", b"000000000e")
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # read as signed bytes: +1 and -1

_MEANINGS = {
    "Expecting value": "a value is expected",
    "Extra data": "there is text after the value",
    "Unterminated string starting at": "a string does not end; it starts",
    "Expecting property name enclosed in double quotes": "a member name in double quotes is expected",
    "Illegal trailing comma before end of object": "a comma stands before the end of an object",
    "Illegal trailing comma before end of array": "a comma stands before the end of an array",
    "Expecting ':' delimiter": "a colon is expected",
    "Expecting ',' delimiter": "a comma or the end is expected",
    "Invalid control character at": "a control character stands in a string",
    "Invalid \\escape": "a string holds an escape that does not exist",
    "Invalid \\uXXXX escape": "a string holds an incomplete \\u escape",
}


class JsonError(ValueError):
    """The bytes are not strict JSON.

    Args:
        what: what is wrong.
        where: its place, `line 1 column 5` or `byte 7`; "" when it is the body as a whole.
    """

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"{what} at {where}" if where else what)
        self.what = what
        self.where = where


class _Refused(Exception):
    """Raised by a hook, which knows the token but not its place."""

    def __init__(self, what: str, token: str, *, is_name: bool = False) -> None:
        super().__init__(what)
        self.what, self.token, self.is_name = what, token, is_name


def loads(body: bytes, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """Parse one JSON text.

    Args:
        body: UTF-8 without a byte order mark.
        max_depth: how many arrays and objects may stand within each other.

    Raises:
        JsonError: not UTF-8, not JSON, a duplicate member, a number beyond the range of a float or of more than
            400 digits, NaN or Infinity, a lone surrogate, or nesting too deep.
    """
    if body.startswith(b"\xef\xbb\xbf"):
        raise JsonError("a byte order mark stands before the JSON text", "byte 0")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonError("the text is not UTF-8", f"byte {error.start}") from None
    if not text.strip(" \t\n\r"):
        raise JsonError("the text is empty")
    if body.count(b"[") + body.count(b"{") > max_depth:
        _refuse_depth(body, text, max_depth)
    decoder = _CAREFUL if _may_hold_large_number(body) else _FAST
    try:
        value: JsonValue = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise JsonError(_MEANINGS.get(error.msg, error.msg), _line_column(text, error.pos)) from None
    except _Refused as refused:
        raise JsonError(refused.what, _find(text, refused)) from None
    if _SURROGATE_ESCAPE.search(body):
        _refuse_surrogates(value)
    return value


def shorten(text: str, limit: int = 60) -> str:
    """The text itself, or as much of its beginning as fits `limit` characters with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quote(text: str, limit: int = 60) -> str:
    """The text in double quotes, shortened, on one line, free of control characters."""
    start = text[:limit]
    escaped = json.dumps(start, ensure_ascii=not start.isprintable())[1:-1]
    return f'"{shorten(escaped, limit - 2)}"'


def _may_hold_large_number(body: bytes) -> bool:
    """Only three digits of exponent or 200 digits in a row can be too much: all else skips the slow hooks."""
    digits = body.translate(_DIGITS, b"+")
    return b"e000" in digits or b"0" * 200 in digits


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        last = {name: index for index, (name, _) in enumerate(pairs)}
        twice = next(name for index, (name, _) in enumerate(pairs) if last[name] != index)
        raise _Refused(f"the member {quote(twice)} stands twice in one object", twice, is_name=True)
    return members


def _constant(token: str) -> NoReturn:
    raise _Refused(f"{token} is not a JSON number", token)


def _float(token: str) -> float:
    number = float(token)
    if not math.isfinite(number):
        raise _Refused(f"the number {shorten(token, 30)} is too large", token)
    return number


def _int(token: str) -> int:
    digits = len(token) - token.startswith("-")
    if digits > MAX_DIGITS:
        raise _Refused(f"an integer of {digits} digits is too large; {MAX_DIGITS} digits are the most", token)
    return int(token)


def _decoder(parse_float: Callable[[str], float] | None, parse_int: Callable[[str], int] | None) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_object, parse_constant=_constant, parse_float=parse_float, parse_int=parse_int
    )


_FAST = _decoder(None, None)
_CAREFUL = _decoder(_float, _int)


def _refuse_depth(body: bytes, text: str, max_depth: int) -> None:
    """Measure the nesting before the parser recurses into it; brackets within strings do not count."""
    structure = body
    if b"\\" in body:
        structure = _STRING_BYTES.sub(b"", body)
    structure = structure.translate(None, _NOT_STRUCTURE).replace(b'""', b"")
    if b'"' in structure:
        structure = _STRING_BYTES.sub(b"", structure)
    steps = memoryview(structure.translate(_STEPS)).cast("b")
    if max(accumulate(steps), default=0) <= max_depth:
        return
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > max_depth:
            raise JsonError(f"more than {max_depth} levels of nesting", _line_column(text, token.start()))


def _refuse_surrogates(value: JsonValue) -> None:
    """Refuse strings and names that no UTF-8 text can hold, such as one made from the escape \\ud800."""
    for pointer, text in _strings(value, ""):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise JsonError("a string or name holds half of a surrogate pair", pointer or "the value itself") from None


def _strings(value: JsonValue, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for name, member in value.items():
            place = f"{pointer}/{name.encode(errors='backslashreplace').decode()}"
            yield place, name
            yield from _strings(member, place)


def _find(text: str, refused: _Refused) -> str:
    """The place of the token that a hook refused: of a name, where one object has it for the second time."""
    open_objects: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        word, at = token[0], token.start()
        if word in "[{":
            open_objects.append(set())
        elif word in "]}":
            if open_objects:  # what stands behind the place need not be JSON
                open_objects.pop()
        elif not refused.is_name:
            if word.startswith(refused.token):
                return _line_column(text, at)
        elif word[0] == '"' and _NAME_END.match(text, token.end()) and json.loads(word) == refused.token:
            if refused.token in open_objects[-1]:
                return _line_column(text, at)
            open_objects[-1].add(refused.token)
    return ""


def _line_column(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1} column {at - text.rfind(chr(10), 0, at)}"
