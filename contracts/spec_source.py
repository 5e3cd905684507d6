"""The text of a specification → a document of plain JSON values, from JSON or YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .plain_yaml import MAX_DEPTH, YamlError, parse
from .strict_json import JsonError, loads


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
        return loads(body, max_depth=MAX_DEPTH)
    except JsonError as error:
        raise SpecError.at(name, error.where or "#", error.what) from None


def _parse_yaml(name: str, body: bytes) -> Any:
    try:
        return parse(body)[0]
    except YamlError as error:
        raise SpecError.at(name, error.where or "#", error.what) from None
