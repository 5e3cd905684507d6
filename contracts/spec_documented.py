"""What is left of the contract when all that this project added is taken away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .spec_pointer import pointer_of, unescape
from .spec_source import SpecError

_Path = tuple[str, ...]


def documented(document: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a contract that the vendor documents.

    Args:
        document: a loaded contract. `x-ours: true` marks the object that holds it as this project's own;
            `x-ours: [a, b/c]` marks the members a, and c within b, beside it. A number picks a list's item;
            a slash within a name is written ~1.

    Returns:
        A copy without what is marked and without the keys `x-ours` and `x-inferred`.

    Raises:
        SpecError: a marker has another form or names a member that is not there.
    """
    return _strip_object(document, (), [])


def _strip_object(members: Mapping[str, Any], at: _Path, ours: list[_Path]) -> dict[str, Any]:
    ours = ours + _marked(members, at)
    kept = {}
    for name, value in members.items():
        if name == "x-ours" and _is_marker(value):
            continue
        inner = [path[1:] for path in ours if path[0] == name]
        if () in inner or name == "x-inferred" or _is_ours(value):
            continue
        kept[name] = _strip(value, (*at, name), inner)
    return kept


def _strip(value: Any, at: _Path, ours: list[_Path]) -> Any:
    if isinstance(value, Mapping):
        return _strip_object(value, at, ours)
    if isinstance(value, list):
        kept = []
        for index, item in enumerate(value):
            inner = [path[1:] for path in ours if path[0] == str(index)]
            if () not in inner and not _is_ours(item):
                kept.append(_strip(item, (*at, str(index)), inner))
        return kept
    return value


def _is_marker(value: Any) -> bool:
    # A schema may describe a member that is called x-ours; its value is an object, a marker's is not.
    return not isinstance(value, Mapping)


def _is_ours(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("x-ours") is True


def _marked(members: Mapping[str, Any], at: _Path) -> list[_Path]:
    marker = members.get("x-ours", [])
    if marker is True or not _is_marker(marker):
        return []
    place = pointer_of((*at, "x-ours"))
    if not isinstance(marker, list) or not all(isinstance(item, str) and item for item in marker):
        raise SpecError.at("the contract", place, "must be true or a list of names of members beside it")
    paths = [tuple(unescape(part) for part in item.split("/")) for item in marker]
    for path in paths:
        node: Any = members
        for part in path:
            if isinstance(node, Mapping) and part in node:
                node = node[part]
            elif isinstance(node, list) and part.isdecimal() and int(part) < len(node):
                node = node[int(part)]
            else:
                raise SpecError.at("the contract", place, f"names {'/'.join(path)}, which is not there")
    return paths
