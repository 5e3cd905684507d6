"""The bytes of one datapoint: static JSON with blanks for the numbers and the timestamp."""

from functools import lru_cache
from typing import NamedTuple

from .shapes import Quantity, Series, Timestamp
from .stamps import WIDTH as STAMP_WIDTH


class Datapoint(NamedTuple):
    """A datapoint with blanks, and a comma behind it."""

    blank: bytes
    offsets: tuple[int, ...]
    """Where the numbers stand."""
    stamp_at: int
    """Where the timestamp stands."""


@lru_cache(maxsize=1024)
def datapoint(series: Series, widths: tuple[int, ...]) -> Datapoint:
    """The datapoint of a series whose numbers have these widths."""
    blank, stamp_at = b"", 0
    offsets: list[int] = []
    for part in series.parts:
        blank += (b"," if blank else b"{") + part.opening
        if isinstance(part, Quantity):
            offsets.append(len(blank))
            blank += b" " * widths[len(offsets) - 1]
        elif isinstance(part, Timestamp):
            stamp_at = len(blank) + 1
            blank += b'"' + b" " * STAMP_WIDTH + b'"'
        else:
            blank += part.json.encode()
    return Datapoint(blank + b"},", tuple(offsets), stamp_at)
