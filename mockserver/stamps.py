"""Epoch seconds → RFC 3339 text, for a whole window at once."""

from datetime import date
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from .window import Seconds

WIDTH = 20
"""Bytes of `2026-12-01T05:03:00Z`."""

DAY_S = 86_400
_EPOCH = date(1970, 1, 1).toordinal()
_ROW = np.dtype({"names": ["date", "minute", "second"], "formats": ["S10", "S7", "S3"], "offsets": [0, 10, 17]})


@lru_cache(maxsize=1024)
def _date(day: int) -> bytes:
    """Days since the epoch → `2026-12-01`."""
    return date.fromordinal(_EPOCH + day).isoformat().encode()


@cache
def _minutes() -> npt.NDArray[np.bytes_]:
    return np.array([f"T{minute // 60:02d}:{minute % 60:02d}:" for minute in range(1440)], dtype="S7")


@cache
def _seconds() -> npt.NDArray[np.bytes_]:
    return np.array([f"{second:02d}Z" for second in range(60)], dtype="S3")


def timestamp_text(points_s: Seconds) -> npt.NDArray[np.void]:
    """The text of ascending epoch seconds up to the year 9999, shape (points,), WIDTH bytes each."""
    text = np.empty(len(points_s), dtype=_ROW)
    days = points_s // DAY_S
    seconds = points_s - days * DAY_S
    if len(days):
        first, last = int(days[0]), int(days[-1])
        if first == last:
            text["date"] = _date(first)
        elif last - first < len(days):
            text["date"] = np.array([_date(day) for day in range(first, last + 1)]).take(days - first)
        else:  # less than a point a day
            text["date"] = [_date(day) for day in days.tolist()]
    minutes = seconds // 60
    text["minute"] = _minutes().take(minutes)
    text["second"] = _seconds().take(seconds - minutes * 60)
    return text.view(f"V{WIDTH}")
