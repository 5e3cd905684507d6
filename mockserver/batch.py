"""All series of some nodes, computed and written together, painted as bytes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .digits import Text, decimal_text
from .job import Moments, Samples
from .layout import Row
from .noise import Integers
from .plan import Quantity, Series, Timestamp
from .signal import Form
from .stamps import WIDTH as STAMP_WIDTH
from .stamps import timestamp_text

Piece = bytes | memoryview
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

SLICE_BYTES = 192 * 1024
"""What a long row is cut into: fits a core's L2 cache beside what it is made of."""


@dataclass(slots=True)
class _Written:
    """A series whose numbers are text: its form (a datapoint with blanks), and the text for each blank."""

    form: bytes
    offsets: list[int]
    """Where in a datapoint the numbers stand, and at last the timestamp."""
    columns: list[tuple[Text, Integers | None]]
    """For each number the text of rows × cells, and which cell each point shows."""
    kept: Mask | None
    """Points that exist, where not all do, shape (points,)."""
    rows: int


class Batch:
    """Some series of some nodes, computed and ready to be painted."""

    def __init__(self, series: tuple[Series, ...], moments: Moments, nodes: slice, divisor: int) -> None:
        """Compute and write the series for some nodes at some moments."""
        self.nodes = nodes
        self._moments = moments
        self._written = _write(series, moments, nodes, divisor)

    def painted(self) -> dict[Series, list[Piece]]:
        """The datapoints of all rows with commas between them; series of one form are painted together."""
        by_form: dict[bytes, list[Series]] = {}
        for series, written in self._written.items():
            by_form.setdefault(written.form, []).append(series)
        rows: dict[Series, list[Piece]] = {}
        everything = slice(0, len(self._moments.points))
        for alike in by_form.values():
            counts = [self._written[series].rows for series in alike]
            out = _blank(self._written[alike[0]], self._moments, sum(counts), everything)
            first = 0
            for series, count in zip(alike, counts, strict=True):
                rows[series] = _cut(_fill(out[first : first + count], self._written[series], slice(0, count), everything))
                first += count
        return rows

    def slices(self, row: Row) -> Iterator[Piece]:
        """The datapoints of one row in pieces, with commas between them."""
        written, points = self._written[row.series], len(self._moments.points)
        number = row.number - self.nodes.start * (written.rows // max(1, self.nodes.stop - self.nodes.start))
        step = SLICE_BYTES // len(written.form)
        comma = False
        for first in range(0, points, step):
            part = slice(first, min(first + step, points))
            blank = _blank(written, self._moments, 1, part)
            for piece in _cut(_fill(blank, written, slice(number, number + 1), part)):
                if piece:
                    if comma:
                        yield b","
                    yield piece
                    comma = True


def _blank(written: _Written, moments: Moments, rows: int, part: slice) -> Bytes:
    """Datapoints with everything but the numbers, shape (rows, points, width)."""
    template = moments.once(_templates).get(written.form)
    if template is None:
        template = moments.once(_templates)[written.form] = _template(moments, written.form, written.offsets[-1])
    template = template[part]
    out = np.empty((rows, *template.shape), dtype=np.uint8)
    out[...] = template
    return out


def _templates(moments: Moments) -> dict[bytes, Bytes]:
    return {}


def _template(moments: Moments, form: bytes, stamp_at: int) -> Bytes:
    template = np.empty((len(moments.points), len(form)), dtype=np.uint8)
    template[...] = np.frombuffer(form, dtype=np.uint8)
    stamps = moments.once(_stamps)
    template[:, stamp_at : stamp_at + STAMP_WIDTH].view(stamps.dtype)[:, 0] = stamps
    return template


def _stamps(moments: Moments) -> npt.NDArray[np.void]:
    return timestamp_text(moments.points)


def _cut(datapoints: Bytes) -> list[Piece]:
    """Rows of datapoints as bytes, without the last comma."""
    length = datapoints.shape[1] * datapoints.shape[2]
    flat = memoryview(datapoints.reshape(-1))
    return [flat[first : first + length - 1] for first in range(0, len(flat), length)] if length else [b""] * len(datapoints)


def _fill(out: Bytes, written: _Written, rows: slice, part: slice) -> Bytes:
    """Write the numbers of these rows and points into their blanks; the points that exist."""
    for (text, at), offset in zip(written.columns, written.offsets, strict=False):
        shown = text[rows, part] if at is None else text[rows].take(at[part], axis=1)
        out[..., offset : offset + text.itemsize].view(text.dtype)[..., 0] = shown
    return out if written.kept is None else out[:, written.kept[part]]


def _write(series: tuple[Series, ...], moments: Moments, nodes: slice, divisor: int) -> dict[Series, _Written]:
    """Compute the samples of each series and write their numbers as text; numbers of one kind are written together."""
    samples: list[Samples] = []
    kinds: dict[Form, list[tuple[int, Integers]]] = {}
    for one in series:
        for quantity in one.quantities:
            sample = quantity.signal.compute(moments, nodes)
            kinds.setdefault(_form_of(quantity), []).append((len(samples), _numbers(quantity, sample.values, divisor)))
            samples.append(sample)
    texts: dict[int, Text] = {}
    for form, numbered in kinds.items():
        if len(numbered) == 1:
            texts[numbered[0][0]] = decimal_text(numbered[0][1], form.decimals)
            continue
        text = decimal_text(np.concatenate([numbers.ravel() for _, numbers in numbered]), form.decimals)
        first = 0
        for number, numbers in numbered:
            texts[number] = text[first : first + numbers.size].reshape(numbers.shape)
            first += numbers.size
    written: dict[Series, _Written] = {}
    first = 0
    for one in series:
        own = range(first, first + len(one.quantities))
        datapoint, offsets = _datapoint(one, tuple(texts[number].itemsize for number in own))
        kept: Mask | None = None
        for number, quantity in zip(own, one.quantities, strict=True):
            null, at = samples[number].null, samples[number].at
            if null is None or not null.any():
                continue
            if quantity.nullable:
                texts[number][:, null] = np.void(b"null".rjust(texts[number].itemsize))
            else:  # A number that must not be null cannot be told: the point is not there.
                exists = ~(null if at is None else null[at])
                kept = exists if kept is None else kept & exists
        written[one] = _Written(datapoint, offsets, [(texts[number], samples[number].at) for number in own], kept, len(texts[first]))
        first += len(one.quantities)
    return written


def _numbers(quantity: Quantity, values: Integers, divisor: int) -> Integers:
    """Whole numbers of the quantity's smallest unit, within the contract's bounds."""
    unit = 10**quantity.signal.form.decimals
    if quantity.signal.per_divisor and divisor != 1:
        values = values * divisor
    if quantity.minimum is not None or quantity.maximum is not None:
        low = None if quantity.minimum is None else math.ceil(quantity.minimum * unit)
        high = None if quantity.maximum is None else math.floor(quantity.maximum * unit)
        values = values.clip(low, high)
    return (values + unit // 2) // unit if quantity.integer else values


def _form_of(quantity: Quantity) -> Form:
    return Form.INTEGER if quantity.integer else quantity.signal.form


@lru_cache(maxsize=1024)
def _datapoint(series: Series, widths: tuple[int, ...]) -> tuple[bytes, list[int]]:
    """A datapoint with blanks for its numbers (of these widths) and timestamp, and where those stand, timestamp last."""
    form, stamp_at = b"", 0
    offsets: list[int] = []
    for part in series.parts:
        form += (b"," if form else b"{") + part.opening
        if isinstance(part, Quantity):
            offsets.append(len(form))
            form += b" " * widths[len(offsets) - 1]
        elif isinstance(part, Timestamp):
            stamp_at = len(form) + 1
            form += b'"' + b" " * STAMP_WIDTH + b'"'
        else:
            form += part.json.encode()
    return form + b"},", [*offsets, stamp_at]
