"""Amounts as people write them on a command line: 10s, 64MiB, 0.5/s."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0}
_BYTES = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_RATES = {"/s": 1.0, "": 1.0, "/m": 1 / 60, "/min": 1 / 60}
_AMOUNT = re.compile(r"\s*([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([a-z/]*)\s*\Z", re.IGNORECASE | re.ASCII)


def seconds_of(text: str) -> float:
    """`10s`, `500ms`, `2m` or `10` → seconds, more than 0.

    Raises:
        ValueError: it is not such a text; the message says what to write.
    """
    return _read(text, _SECONDS, "10s, 500ms or 2m")


def bytes_of(text: str) -> int:
    """`64MiB`, `100MB` or `65536` → bytes, more than 0.

    Raises:
        ValueError: it is not such a text; the message says what to write.
    """
    return int(_read(text, _BYTES, "64MiB, 500kB or 65536"))


def per_second_of(text: str) -> float:
    """`0.5/s`, `30/m` or `0.5` → requests a second, more than 0.

    Raises:
        ValueError: it is not such a text; the message says what to write.
    """
    return _read(text, _RATES, "0.5/s or 30/m")


def amount(size: int) -> str:
    """Bytes as people write them: 64 MiB, 1.5 KiB, 10 bytes."""
    for unit, bytes_ in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_:
            return f"{size / bytes_:.3g} {unit}"
    return f"{size} bytes"


def _read(text: str, units: Mapping[str, float], examples: str) -> float:
    found = _AMOUNT.match(text)
    unit = units.get(found[2].lower()) if found else None
    if not found or unit is None or not float(found[1]) * unit > 0:
        raise ValueError(f"{text!r} is not an amount above 0; write for example {examples}.")
    return float(found[1]) * unit
