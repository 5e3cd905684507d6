"""Plan + signals → the bytes of an answer, piece by piece; no object per datapoint is ever made.

A datapoint has a fixed width within one answer, so a series is a byte matrix: a template that holds all static JSON
and the timestamps, and the text of the numbers written into its columns. A small answer is painted for all nodes at
once; a large one node by node, row by row, slice by slice, so that memory stays flat.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .digits import Text, decimal_text
from .job import Job, Moments, Samples
from .layout import Row, rows, steps
from .noise import Integers
from .plan import Constant, Plan, Quantity, Series, Timestamp
from .signal import Scope
from .stamps import WIDTH as STAMP_WIDTH
from .stamps import timestamp_text
from .window import Window

Piece = bytes | memoryview
Bytes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

SLICE_BYTES = 192 * 1024
"""What a long series is cut into: fits a core's L2 cache beside what it is made of."""
NODE_POINTS = 4096
"""Nodes are computed together while a series of theirs has up to this many points in all."""
TYPICAL_BYTES = 60
"""Of a datapoint."""


@dataclass(frozen=True, slots=True)
class View:
    """What of a deployment's life an answer shows. Equal views give equal bytes."""

    job: Job
    compute: Window
    """The points that compute series have."""
    traffic: Window
    """The points that traffic series have."""
    settled_until_s: int | None = None
    """Traffic sampled after this has not been ingested yet; None means that all has."""
    divisor: int = 1
    """Unit of time of the request volumes, seconds."""


def pieces(plan: Plan, view: View) -> Iterator[Piece]:
    """The answer's bytes in order. A piece is never changed after it was handed out."""
    painter = _Painter(view)
    for step in steps(plan.root, view.job, view.compute.count > 0):
        if isinstance(step, bytes):
            yield step
        elif view.traffic.count or step.series.scope is not Scope.DEPLOYMENT:
            yield from painter.row(step)


def estimated_bytes(plan: Plan, view: View) -> int:
    """About how long the answer is."""
    return rows(plan.root, view.job, view.compute.count > 0) * view.traffic.count * TYPICAL_BYTES


@dataclass(frozen=True, slots=True)
class _Column:
    """The text of one quantity: rows × cells, which cell each point shows, and where in a datapoint it stands."""

    text: Text
    at: Integers | None
    offset: int


class _Block:
    """Some rows of a series, ready to be painted."""

    def __init__(self, template: Bytes, columns: list[_Column], kept: Mask | None) -> None:
        """A block of columns over a template of shape (points, width); kept marks the points that exist."""
        self.template = template
        self.columns = columns
        self.kept = kept
        self.rows = len(columns[0].text)
        self.is_small = self.rows * template.size <= 2 * SLICE_BYTES
        self.painted: tuple[memoryview, int] | None = None

    def row(self, number: int) -> Iterator[Piece]:
        """One row's datapoints with commas between them."""
        points, width = self.template.shape
        if self.is_small:
            if self.painted is None:
                out = self.paint(slice(0, self.rows), slice(0, points))
                self.painted = memoryview(out.reshape(-1)), out.size // self.rows
            flat, length = self.painted
            if length:
                yield flat[number * length : (number + 1) * length - 1]
            return
        step = SLICE_BYTES // width
        comma: Piece = b""
        for first in range(0, points, step):
            out = self.paint(slice(number, number + 1), slice(first, min(points, first + step)))
            if out.size:
                yield comma
                yield memoryview(out.reshape(-1))[:-1]
                comma = b","

    def paint(self, rows: slice, part: slice) -> Bytes:
        """The datapoints of these rows and points, each with a comma behind it; shape (rows, points, width)."""
        template = self.template[part]
        out = np.empty((rows.stop - rows.start, *template.shape), dtype=np.uint8)
        out[...] = template
        for column in self.columns:
            text = column.text[rows]
            text = text[:, part] if column.at is None else text.take(column.at[part], axis=1)
            end = column.offset + text.itemsize
            out[..., column.offset : end].view(text.dtype)[..., 0] = text
        return out if self.kept is None else out[:, self.kept[part]]


class _Painter:
    def __init__(self, view: View) -> None:
        self.compute = Moments(view.job, view.compute, view.settled_until_s)
        self.traffic = Moments(view.job, view.traffic, view.settled_until_s) if view.traffic != view.compute else self.compute
        self.divisor = view.divisor
        self.nodes = len(view.job.node_ids)
        self.ranks = len(view.job.rank_names)
        self.at_once = max(1, NODE_POINTS // max(1, view.compute.count))
        self.stamps: dict[Moments, npt.NDArray[np.void]] = {}
        self.templates: dict[tuple[Moments, bytes], Bytes] = {}
        self.blocks: dict[Series, tuple[int, _Block]] = {}

    def row(self, row: Row) -> Iterator[Piece]:
        """The datapoints of one row, without the brackets."""
        series = row.series
        first = row.node - row.node % self.at_once
        # The leader's block serves the top of the answer and, later, its own place among the nodes.
        known = self.blocks.get(series)
        if known is None or known[0] != first:
            nodes = slice(first, min(first + self.at_once, self.nodes))
            known = self.blocks[series] = first, self.block(series, nodes)
        return known[1].row((row.node - first) * (self.ranks if series.scope is Scope.RANK else 1) + row.rank)

    def block(self, series: Series, nodes: slice) -> _Block:
        """Compute the samples of a series for some nodes and put their text in columns."""
        moments = self.traffic if series.scope is Scope.DEPLOYMENT else self.compute
        quantities = series.quantities
        samples = [quantity.signal.compute(moments, nodes) for quantity in quantities]
        texts = self.texts(quantities, samples)
        row, offsets = _datapoint(series, [text.itemsize for text in texts])
        columns = [_Column(text, sample.at, at) for text, sample, at in zip(texts, samples, offsets, strict=False)]
        kept: Mask | None = None
        for quantity, sample in zip(quantities, samples, strict=True):
            # A number that must not be null cannot be told: the point is not there.
            if sample.null is not None and not quantity.nullable:
                exists = ~(sample.null if sample.at is None else sample.null[sample.at])
                kept = exists if kept is None else kept & exists
        return _Block(self.template(moments, row, offsets[-1]), columns, kept)

    def texts(self, quantities: tuple[Quantity, ...], samples: list[Samples]) -> list[Text]:
        """The numbers of each quantity as the contract wants them written; those of one form are written together."""
        numbers = [self.numbers(quantity, sample.values) for quantity, sample in zip(quantities, samples, strict=True)]
        rows = len(numbers[0])
        forms = {_decimals(quantity) for quantity in quantities}
        texts: dict[int, Text] = {}
        for decimals in forms:
            alike = [number for number, quantity in enumerate(quantities) if _decimals(quantity) == decimals]
            stacked = numbers[0] if len(quantities) == 1 else np.concatenate([numbers[number] for number in alike])
            written = decimal_text(stacked, decimals)
            for place, number in enumerate(alike):
                texts[number] = written[place * rows : (place + 1) * rows]
        for number, sample in enumerate(samples):
            if sample.null is not None and sample.null.any():
                texts[number][:, sample.null] = np.void(b"null".rjust(texts[number].itemsize))
        return [texts[number] for number in range(len(quantities))]

    def numbers(self, quantity: Quantity, values: Integers) -> Integers:
        """Whole numbers of 10^−decimals within the contract's bounds."""
        unit = 10**quantity.signal.decimals
        if quantity.signal.per_divisor and self.divisor != 1:
            values = values * self.divisor
        if quantity.minimum is not None or quantity.maximum is not None:
            low = None if quantity.minimum is None else math.ceil(quantity.minimum * unit)
            high = None if quantity.maximum is None else math.floor(quantity.maximum * unit)
            values = values.clip(low, high)
        return (values + unit // 2) // unit if quantity.integer else values

    def template(self, moments: Moments, row: bytes, stamp_at: int) -> Bytes:
        """Rows with everything but the numbers, shape (points, width)."""
        if (moments, row) not in self.templates:
            if moments not in self.stamps:
                self.stamps[moments] = timestamp_text(moments.points)
            template = np.empty((len(moments.points), len(row)), dtype=np.uint8)
            template[...] = np.frombuffer(row, dtype=np.uint8)
            stamps = self.stamps[moments]
            template[:, stamp_at : stamp_at + STAMP_WIDTH].view(stamps.dtype)[:, 0] = stamps
            self.templates[moments, row] = template
        return self.templates[moments, row]


def _datapoint(series: Series, widths: list[int]) -> tuple[bytes, list[int]]:
    """A datapoint with blanks for its numbers (of these widths) and timestamp, and where those stand, timestamp last."""
    row, stamp_at = b"", 0
    offsets: list[int] = []
    for part in series.parts:
        row += (b"," if row else b"{") + part.opening
        if isinstance(part, Quantity):
            offsets.append(len(row))
            row += b" " * widths[len(offsets) - 1]
        elif isinstance(part, Timestamp):
            stamp_at = len(row) + 1
            row += b'"' + b" " * STAMP_WIDTH + b'"'
        else:
            row += part.json.encode()
    return row + b"},", [*offsets, stamp_at]


def _decimals(quantity: Quantity) -> int:
    """Digits behind the dot: none only where the contract wants an integer."""
    return 0 if quantity.integer else quantity.signal.decimals
