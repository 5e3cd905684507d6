"""Rows: demands on an answer, each a statistic with a target and a source; and the table of what was measured."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from .reading import Answer, Floats

SEEDS_INSIDE = 0.95
"""Share of seeds that must lie inside a target, unless the row says otherwise."""


@dataclass(frozen=True, slots=True)
class Range:
    """Where a statistic must lie, both ends included; NaN lies nowhere."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:g}"
        if not isfinite(self.high):
            return f"≥ {self.low:g}"
        return f"≤ {self.high:g}" if not isfinite(self.low) else f"{self.low:g}–{self.high:g}"

    def outside(self, values: Floats) -> Floats:
        """How far each value lies outside; negative within."""
        return np.maximum(self.low - values, values - self.high)


def at_least(low: float) -> Range:
    """low and more."""
    return Range(low, inf)


def at_most(high: float) -> Range:
    """high and less."""
    return Range(-inf, high)


NONE = Range(0.0, 0.0)
ALL = Range(1.0, 1.0)


def always(_: Answer) -> bool:
    """For every answer."""
    return True


@dataclass(frozen=True, slots=True)
class Row:
    """One demand on an answer: a statistic and where it must lie."""

    id: str
    statistic: str
    target: Range
    source: str
    measure: Callable[[Answer], Floats]
    """The statistic of each rank, node, hour or point that it applies to."""
    applies: Callable[[Answer], bool] = always
    seeds_inside: float = SEEDS_INSIDE

    def worst(self, answer: Answer) -> float:
        """The measured value that lies farthest outside; NaN where one could not be measured, or none was there."""
        values = self.measure(answer)
        if not values.size or np.isnan(values).any():
            return np.nan
        return float(values[self.target.outside(values).argmax()])

    def broken(self, answer: Answer) -> bool:
        """Whether the answer does not meet the demand."""
        return self.applies(answer) and self.worst(answer) not in self.target


@dataclass(frozen=True, slots=True)
class Measured:
    """What one row found on each seed of a scenario."""

    row: Row
    scenario: str
    worst: Floats

    @property
    def inside(self) -> int:
        """Number of seeds inside the target."""
        return sum(value in self.row.target for value in self.worst.tolist())

    @property
    def held(self) -> bool:
        """Whether enough seeds are inside."""
        return self.inside >= self.row.seeds_inside * len(self.worst) > 0

    def line(self) -> str:
        """One line of the table."""
        spread = " / ".join(f"{value:.4g}" for value in (self.worst.min(), np.median(self.worst), self.worst.max()))
        return (
            f"{self.row.id:<4} {self.scenario:<18} {self.row.statistic:<59} {self.row.target!s:<11} {spread:<32} "
            f"{self.inside:>2}/{len(self.worst):<3} {'held' if self.held else 'NOT HELD':<9} {self.row.source}"
        )


HEAD = (
    f"{'row':<4} {'scenario':<18} {'statistic, the worst of its ranks, nodes, hours or points':<59} {'target':<11} "
    f"{'measured min / median / max':<32} {'seeds':<6} {'':<9} source"
)


def table(measured: list[Measured]) -> str:
    """The table: row, scenario, statistic, target, measured min / median / max, seeds inside, source."""
    return "\n".join([HEAD, *(entry.line() for entry in measured)])
