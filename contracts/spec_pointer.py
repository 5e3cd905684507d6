"""JSON pointers: how the contract names places in a document."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote


def escape(part: str) -> str:
    """One part of a pointer, with ~ and / written so that they do not divide it."""
    return part.replace("~", "~0").replace("/", "~1")


def unescape(part: str) -> str:
    """The name that a part of a pointer stands for."""
    return part.replace("~1", "/").replace("~0", "~")


def pointer_of(parts: Iterable[str | int], start: str = "#") -> str:
    """The pointer made of these parts; `start` is "#" for a document and "" for a body."""
    return start + "".join(f"/{escape(str(part))}" for part in parts)


def join(pointer: str, *parts: str | int) -> str:
    """The pointer to something further in."""
    return pointer_of(parts, pointer)


def parts_of(reference: str) -> tuple[str, ...]:
    """The parts of a local reference, `#/a/b` → a, b; percent-escapes as in any URI.

    Raises:
        ValueError: the reference does not start with `#/`.
    """
    if not reference.startswith("#/"):
        raise ValueError(f"only references within the document, #/…, are followed, not {reference}")
    return tuple(unescape(unquote(part)) for part in reference[2:].split("/"))
