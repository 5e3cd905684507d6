"""As much of a body as a person wants to see: the surroundings of one place, free of control characters."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .answer import clock, time_ms
from .exchange import Exchange
from .spec_pointer import join, unescape
from .strict_json import JsonError, loads, shorten
from .violation import Violation

MOST = 2000
"""Characters of one excerpt."""
_WIDTH = 84
_BESIDE = 2
_NOWHERE = object()
_PLACE = re.compile(r"line (\d+) column (\d+)\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an excerpt.

    Args:
        text: printable characters only.
        here: whether this is the place that the excerpt is about.
    """

    text: str
    here: bool = False


def visible(text: str) -> str:
    """The text with each character that does not print as an escape: it moves no cursor and colours nothing."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def one_line(body: bytes, limit: int = 160) -> str:
    """A body on one line, shortened; bytes that are not UTF-8 as escapes."""
    return shorten(visible(body[: limit * 4].decode("utf-8", "backslashreplace")), limit)


def excerpts(exchanges: Sequence[Exchange], violation: Violation) -> list[list[Line]]:
    """What the responses that show a violation hold at its place.

    Args:
        exchanges: those that show it together.
        violation: its place is one in the body of any of them; in the others, the same node and time are looked up.

    Returns:
        One list of lines an exchange, of at most `MOST` characters.
    """
    bodies = [exchange.response.body if exchange.response else b"" for exchange in exchanges]
    values = [_parsed(body) for body in bodies]
    where = violation.where
    source = next((value for value in reversed(values) if _tells_of(violation, value)), None)
    if source is None and values:
        source = values[-1]
    return [
        _around(body, value, where if value is source else _alike(source, where, value))
        for body, value in zip(bodies, values, strict=True)
    ]


def _tells_of(violation: Violation, value: Any) -> bool:
    """Whether the point at the place of a violation has the time that its message names."""
    for part in _parts(violation.where):
        value = _step(value, part)
        if isinstance(value, dict) and isinstance(stamp := value.get("timestamp"), str):
            at = time_ms(stamp)
            return stamp in violation.message or (at is not None and clock(at) in violation.message)
    return False


def _parsed(body: bytes) -> Any:
    try:
        return loads(body)
    except JsonError as error:
        return error


def _around(body: bytes, value: Any, where: str) -> list[Line]:
    """The surroundings of a place in a body, or of what is wrong with it as JSON."""
    if isinstance(value, JsonError):
        return list(_text_around(body, value))
    lines = deque(_walk(value, _parts(where), "", ""))
    size = sum(len(line.text) + 1 for line in lines)
    while size > MOST and len(lines) > 1:
        at = next(index for index, line in enumerate(lines) if line.here)
        farthest = lines.popleft() if at > len(lines) // 2 else lines.pop()
        size -= len(farthest.text) + 1
    return list(lines)


def _text_around(body: bytes, error: JsonError) -> Iterator[Line]:
    """Of a body that is no JSON, its beginning or the place at which it stops being JSON."""
    text = body.decode("utf-8", "backslashreplace")
    at = 0
    if found := _PLACE.search(error.where):
        line, column = int(found[1]), int(found[2])
        at = sum(len(one) + 1 for one in text.split("\n", line - 1)[: line - 1]) + column - 1
    start = max(at - MOST // 8, 0)
    shown = visible(text[start : start + MOST // 4])
    for index in range(0, len(shown), _WIDTH):
        yield Line(("…" if start and not index else "") + shown[index : index + _WIDTH])
    if start + MOST // 4 < len(text):
        yield Line("…")


def _walk(value: Any, parts: Sequence[str], indent: str, label: str) -> Iterator[Line]:
    """A value on the way to a place, with what stands beside it."""
    child = _step(value, parts[0]) if parts else _NOWHERE
    brief = _brief(value)
    if child is _NOWHERE or (len(brief) <= _WIDTH and "…" not in brief):
        yield Line(f"{indent}{label}{brief}", here=True)
        return
    deeper = indent + "  "
    yield Line(f"{indent}{label}{'{' if isinstance(value, dict) else '['}")
    if isinstance(value, dict):
        names = list(value)
        at = names.index(parts[0])
        if at:
            yield Line(deeper + _left_out(names[:at]))
        yield from _walk(child, parts[1:], deeper, f"{_brief(parts[0])}: ")
        if names[at + 1 :]:
            yield Line(deeper + _left_out(names[at + 1 :]))
    else:
        at = int(parts[0])
        first, last = max(at - _BESIDE, 0), min(at + _BESIDE + 1, len(value))
        if first:
            yield Line(f"{deeper}… {first} more")
        for index in range(first, last):
            if index == at:
                yield from _walk(value[index], parts[1:], deeper, "")
            else:
                yield Line(deeper + _brief(value[index]))
        if last < len(value):
            yield Line(f"{deeper}… {len(value) - last} more")


def _left_out(names: Sequence[str]) -> str:
    return shorten("… " + visible(", ".join(names[:20])), _WIDTH)


def _brief(value: Any) -> str:
    """A value on one line: as JSON if it is small, else what it is made of."""
    if isinstance(value, (dict, list)):
        inside = list(value.values()) if isinstance(value, dict) else value
        if len(inside) > 12 or any(isinstance(one, (dict, list)) and one for one in inside):
            if isinstance(value, dict):
                return "{" + _left_out(list(value)) + "}"
            return f"[… {len(value)} items]"
    return shorten(visible(json.dumps(value, ensure_ascii=False)), _WIDTH)


def _parts(where: str) -> list[str]:
    return [unescape(part) for part in where.split("/")[1:]]


def _step(value: Any, part: str) -> Any:
    """What one part of a pointer leads to; _NOWHERE if nothing is there."""
    if isinstance(value, dict):
        return value.get(part, _NOWHERE)
    if isinstance(value, list) and part.isascii() and part.isdigit() and int(part[:9]) < len(value):
        return value[int(part[:9])]
    return _NOWHERE


def _alike(source: Any, where: str, other: Any) -> str:
    """The pointer to what another body has for the same nodes and times, as far as it has them."""
    found = ""
    for part in _parts(where):
        source = _step(source, part)
        if isinstance(other, list) and isinstance(source, dict):
            for name in ("timestamp", "node_id"):
                if name in source:
                    same = (i for i, one in enumerate(other) if isinstance(one, dict) and one.get(name) == source[name])
                    part = str(next(same, "none"))
                    break
        other = _step(other, part)
        if other is _NOWHERE:
            break
        found = join(found, part)
    return found
