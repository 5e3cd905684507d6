"""All series of some nodes, computed together and written as text, ready to be put into an answer."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .datapoint import Datapoint, datapoint
from .digits import Text, decimal_text
from .job import Job, Moments
from .noise import Integers
from .shapes import Quantity, Series
from .signal import Form
from .stamps import WIDTH as STAMP_WIDTH
from .stamps import timestamp_text

Mask = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

SLICE_BYTES = 192 * 1024
"""What a long row is cut into: fits a core's L2 cache beside what it is made of."""


class Written(NamedTuple):
    """A series whose numbers are text."""

    datapoint: Datapoint
    columns: list[tuple[Text, Integers | None]]
    """For each number the text of rows × cells, and which cell each point shows (None: its own)."""
    kept: Mask | None
    """Points that exist, where not all do, shape (rows, points)."""


@dataclass(frozen=True, slots=True)
class _Numbering:
    """The numbers of some series in a row, and which of them are of one form: those are written together."""

    quantities: tuple[Quantity, ...]
    alike: tuple[tuple[Form, tuple[int, ...]], ...]


@lru_cache(maxsize=64)
def _numbering(series: tuple[Series, ...]) -> _Numbering:
    quantities = tuple(quantity for one in series for quantity in one.quantities)
    alike: dict[Form, list[int]] = {}
    for number, quantity in enumerate(quantities):
        alike.setdefault(Form.INTEGER if quantity.integer else quantity.signal.form, []).append(number)
    return _Numbering(quantities, tuple((form, tuple(numbers)) for form, numbers in alike.items()))


def write(series: tuple[Series, ...], moments: Moments, nodes: slice, divisor: int) -> dict[Series, Written]:
    """Compute the samples of each series for some nodes and write their numbers."""
    numbering = _numbering(series)
    samples = [quantity.signal.compute(moments, nodes) for quantity in numbering.quantities]
    values = [
        _bounded(quantity, sample.values, divisor) if quantity.is_bounded or divisor != 1 else sample.values
        for quantity, sample in zip(numbering.quantities, samples, strict=True)
    ]
    texts: dict[int, Text] = {}
    for form, numbers in numbering.alike:
        largest = max(_largest(numbering.quantities[number], moments.job, divisor) for number in numbers)
        if len(numbers) == 1:
            texts[numbers[0]] = decimal_text(values[numbers[0]], form.decimals, largest)
            continue
        text = decimal_text(np.concatenate([values[number].ravel() for number in numbers]), form.decimals, largest)
        first = 0
        for number in numbers:
            texts[number] = text[first : first + values[number].size].reshape(values[number].shape)
            first += values[number].size
    written: dict[Series, Written] = {}
    number = 0
    for one in series:
        columns: list[tuple[Text, Integers | None]] = []
        kept: Mask | None = None
        for quantity in one.quantities:
            sample, text = samples[number], texts[number]
            exists = sample.present
            if sample.null is not None:
                if quantity.nullable:
                    text[:, sample.null] = np.void(b"null".rjust(text.itemsize))
                else:  # A number that must not be null cannot be told: the point is not there.
                    exists = ~sample.null[None, :] if exists is None else exists & ~sample.null
            if exists is not None and not exists.all():
                rows = np.repeat(exists, len(text) // len(exists), axis=0)
                rows = rows if moments.at is None else rows.take(moments.at, axis=1)
                kept = rows if kept is None else kept & rows
            columns.append((text, sample.at))
            number += 1
        written[one] = Written(datapoint(one, tuple([text.itemsize for text, _ in columns])), columns, kept)
    return written


@lru_cache(maxsize=1024)
def _largest(quantity: Quantity, job: Job, divisor: int) -> int:
    """No number of a quantity is larger, in the units in which it is written."""
    largest = quantity.signal.largest(job) * (divisor if quantity.signal.per_divisor else 1)
    unit = 10**quantity.signal.form.decimals
    if quantity.minimum is not None:
        largest = max(largest, math.ceil(quantity.minimum * unit))
    return largest // unit + 1 if quantity.integer else largest


def _bounded(quantity: Quantity, values: Integers, divisor: int) -> Integers:
    """Whole numbers of the quantity's smallest unit, within the contract's bounds."""
    unit = 10**quantity.signal.form.decimals
    if quantity.signal.per_divisor:
        values = values * divisor
    if quantity.minimum is not None:
        values = np.maximum(values, math.ceil(quantity.minimum * unit))
    if quantity.maximum is not None:
        values = np.minimum(values, math.floor(quantity.maximum * unit))
    return (values + unit // 2) // unit if quantity.integer else values


def shown(written: dict[Series, Written], cells: Integers) -> dict[Series, Written]:
    """The same numbers for other points: those that show these cells."""
    return {
        series: Written(
            one.datapoint,
            [(text, cells if at is None else at.take(cells)) for text, at in one.columns],
            None if one.kept is None else one.kept.take(cells, axis=1),
        )
        for series, one in written.items()
    }


def stamps(moments: Moments) -> Text:
    """The text of the points' timestamps."""
    return timestamp_text(moments.points)


def row(written: Written, number: int, moments: Moments) -> Iterator[bytes | memoryview]:
    """The datapoints of one row in pieces, with commas between them."""
    width, points = len(written.datapoint.blank), len(moments.points)
    template = moments.once(_templates).get(written.datapoint)
    if template is None:
        template = moments.once(_templates)[written.datapoint] = _template(moments, written.datapoint)
    step = SLICE_BYTES // width
    comma = False
    for first in range(0, points, step):
        part = slice(first, min(first + step, points))
        out = template[part].copy()
        for (text, at), offset in zip(written.columns, written.datapoint.offsets, strict=True):
            shown = text[number, part] if at is None else text[number].take(at[part])
            out[:, offset : offset + text.itemsize].view(text.dtype)[:, 0] = shown
        if written.kept is not None:
            out = out[written.kept[number, part]]
        if out.size:
            if comma:
                yield b","
            yield out.reshape(-1).data[:-1]
            comma = True


def _templates(moments: Moments) -> dict[Datapoint, Bytes]:
    return {}


def _template(moments: Moments, of: Datapoint) -> Bytes:
    """Datapoints with everything but the numbers, shape (points, width)."""
    template = np.empty((len(moments.points), len(of.blank)), dtype=np.uint8)
    template[...] = np.frombuffer(of.blank, dtype=np.uint8)
    text = moments.once(stamps)
    template[:, of.stamp_at : of.stamp_at + STAMP_WIDTH].view(text.dtype)[:, 0] = text
    return template
