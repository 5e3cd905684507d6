"""Epoch seconds → RFC 3339 text, for a whole window at once."""

from functools import cache

import numpy as np
import numpy.typing as npt

from .window import Seconds

WIDTH = 20
"""Bytes of `2026-12-01T05:03:00Z`."""

DAY_S = 86_400
_ROW = np.dtype({"names": ["date", "minute", "second"], "formats": ["S10", "S7", "S3"], "offsets": [0, 10, 17]})


@cache
def _minutes() -> npt.NDArray[np.bytes_]:
    return np.array([f"T{minute // 60:02d}:{minute % 60:02d}:" for minute in range(1440)], dtype="S7")


@cache
def _seconds() -> npt.NDArray[np.bytes_]:
    return np.array([f"{second:02d}Z" for second in range(60)], dtype="S3")


def timestamp_text(points_s: Seconds) -> npt.NDArray[np.void]:
    """The text of ascending epoch seconds up to the year 9999, shape (points,), WIDTH bytes each."""
    text = np.empty(len(points_s), dtype=_ROW)
    day = points_s // DAY_S
    second = points_s - day * DAY_S
    if len(day):
        first, last = int(day[0]), int(day[-1])
        if last - first < len(day):
            dates = np.datetime_as_string(np.arange(first, last + 1).astype("datetime64[D]")).astype("S10")
            text["date"] = dates[day - first]
        else:  # less than a point a day
            text["date"] = np.datetime_as_string(day.astype("datetime64[D]")).astype("S10")
    minute = second // 60
    text["minute"] = _minutes()[minute]
    text["second"] = _seconds()[second - minute * 60]
    return text.view(f"V{WIDTH}")
