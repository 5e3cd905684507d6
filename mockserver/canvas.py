"""A whole small answer as one buffer with blanks: static JSON is laid out once, numbers and timestamps are filled in.

The rows of a series mostly stand at equal distances, so a call into numpy fills many of them.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .datapoint import Datapoint
from .digits import Text
from .job import Job
from .layout import Row, steps
from .noise import Integers
from .shapes import Object, Series
from .stamps import WIDTH as STAMP_WIDTH

Bytes = npt.NDArray[np.uint8]

# numpy copies items of 16, 8 and 4 bytes quickly, and those of 20 bytes slowly.
_STAMP = ((0, 16), (16, 4))
_TIME = ((11, 8),)


@dataclass(frozen=True, slots=True)
class _Run:
    """Rows of a series that follow one another at one distance."""

    rows: slice
    offset: int
    distance: int

    def shape(self, points: int) -> tuple[int, int]:
        """Rows and points."""
        return self.rows.stop - self.rows.start, points

    def strides(self, blank: bytes) -> tuple[int, int]:
        """Bytes from row to row, and from datapoint to datapoint."""
        return self.distance, len(blank)


class Canvas:
    """An answer of a certain shape: so many points, these nodes, datapoints of these widths."""

    def __init__(self, root: Object, job: Job, points: int, datapoints: dict[Series, Datapoint]) -> None:
        """Lay the answer out."""
        self._points = points
        self._datapoints = datapoints
        placed: dict[Series, list[tuple[int, int]]] = {series: [] for series in datapoints}
        parts: list[bytes] = []
        size = 0
        for step in steps(root, job, tuple(range(len(job.node_ids)))):
            if isinstance(step, Row):
                placed[step.series].append((step.number, size))
                part = datapoints[step.series].blank * points
                part = part[:-1]
            else:
                part = step
            parts.append(part)
            size += len(part)
        self._blank = np.frombuffer(bytearray(b"".join(parts)), dtype=np.uint8)
        # The day and the blank that bears it, replaced as a whole: another thread may look at them at any time.
        self._dated = b"", self._blank
        self._runs = {series: _runs(places) for series, places in placed.items()}
        self._stamped = [
            (run.shape(points), run.strides(one.blank), run.offset + one.stamp_at)
            for series, one in datapoints.items()
            for run in self._runs[series]
        ]

    def filled(self, texts: dict[Series, list[tuple[Text, Integers | None]]], stamps: Text) -> memoryview:
        """A copy with the numbers and the timestamps in it.

        Args:
            texts: for each series and each of its numbers the text of rows × cells, and which cell each point shows.
            stamps: the text of the timestamps.
        """
        first_day, last_day = bytes(stamps[0])[:10], bytes(stamps[-1])[:10]
        if first_day == last_day:  # most windows lie within one day, the same as the window before
            day, blank = self._dated
            if day != first_day:
                blank = self._blank.copy()
                self._fill_stamps(blank, stamps, _STAMP)
                self._dated = first_day, blank
            out = blank.copy()
            self._fill_stamps(out, stamps, _TIME)
        else:
            out = self._blank.copy()
            self._fill_stamps(out, stamps, _STAMP)
        for series, columns in texts.items():
            datapoint = self._datapoints[series]
            for (text, at), offset in zip(columns, datapoint.offsets, strict=True):
                shown = text if at is None else text.take(at, axis=1)
                for run in self._runs[series]:
                    shape, strides = run.shape(self._points), run.strides(datapoint.blank)
                    np.ndarray(shape, text.dtype, out, run.offset + offset, strides)[...] = shown[run.rows]
        return out.data

    def _fill_stamps(self, out: Bytes, stamps: Text, parts: tuple[tuple[int, int], ...]) -> None:
        for at, size in parts:
            part = np.ndarray(self._points, f"V{size}", stamps, at, (STAMP_WIDTH,))
            for shape, strides, offset in self._stamped:
                np.ndarray(shape, part.dtype, out, offset + at, strides)[...] = part


@lru_cache(maxsize=4)
def canvas(root: Object, job: Job, points: int, datapoints: tuple[tuple[Series, Datapoint], ...]) -> Canvas:
    """The canvas of a shape; the last few are kept."""
    return Canvas(root, job, points, dict(datapoints))


def _runs(places: list[tuple[int, int]]) -> list[_Run]:
    """Group (row, offset) pairs into runs."""
    runs: list[_Run] = []
    first = 0
    for index in range(1, len(places) + 1):
        if index < len(places):
            (row, offset), (next_row, next_offset) = places[index - 1], places[index]
            distance = next_offset - offset
            begun = index - 1 == first
            if next_row == row + 1 and (begun or distance == places[first + 1][1] - places[first][1]):
                continue
        row, offset = places[first]
        distance = places[first + 1][1] - offset if index - first > 1 else 0
        runs.append(_Run(slice(row, row + index - first), offset, distance))
        first = index
    return runs
