"""A check: a statement about exchanges, where it is from, and the pure function that looks for its violations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from .answer import Answer, Series
from .evidence import Evidence
from .exchange import VALID, Exchange, Response
from .violation import Violation


class Level(StrEnum):
    """How much a check weighs."""

    MUST = "must"
    """Documented by the vendor, or relied upon by every published client: a violation fails the run."""
    SHOULD = "should"
    """Inferred: a violation warns, and fails with --strict."""


@dataclass(frozen=True)
class Look:
    """One look of a check.

    Args:
        exchanges: what was looked at.
        count: how many things (points, pairs of points, answers) it compared; 0 if there was nothing to compare.
        violations: what is wrong.
    """

    exchanges: tuple[Exchange, ...]
    count: int
    violations: tuple[Violation, ...] = ()


Looks = Callable[[Evidence], Iterator[Look]]


@dataclass(frozen=True)
class Check:
    """A check.

    Args:
        id: a statement.
        subject: the chapter it belongs to.
        level: how much it weighs.
        probe: the kind of request that it reads.
        source: where the rule is from.
        why: what it says, and what breaks where it does not hold.
        good: an example that holds.
        bad: one that does not.
        looks: every look at the evidence.
    """

    id: str
    subject: str
    level: Level
    probe: str
    source: str
    why: str
    good: str
    bad: str
    looks: Looks


class Subject:
    """A chapter of checks: its functions are registered by the decorators of this class, in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.checks: list[Check] = []

    def check(
        self, level: Level, *, source: str, why: str, good: str, bad: str, probe: str = VALID
    ) -> Callable[[Looks], Looks]:
        """Register a function over the whole evidence; its name is the id of the check."""

        def register(looks: Looks) -> Looks:
            self.checks.append(Check(looks.__name__, self.name, level, probe, source, why, good, bad, looks))
            return looks

        return register


def each_answer(function: Callable[[Evidence, Answer], Iterable[Violation | int]]) -> Looks:
    """A check that looks at one answer at a time.

    The function yields what is wrong and, as integers, how many things it has looked at.
    """

    def looks(evidence: Evidence) -> Iterator[Look]:
        for answer in evidence.answers:
            found = list(function(evidence, answer))
            wrong = tuple(one for one in found if isinstance(one, Violation))
            count = sum(one for one in found if isinstance(one, int))
            yield Look((answer.exchange,), max(count, len(wrong)), wrong)

    looks.__name__ = function.__name__
    return looks


def each_exchange(probe: str) -> Callable[[Callable[[Evidence, Exchange, Response], Iterable[Violation]]], Looks]:
    """A check that looks at one response to a probe at a time."""

    def decorate(function: Callable[[Evidence, Exchange, Response], Iterable[Violation]]) -> Looks:
        def looks(evidence: Evidence) -> Iterator[Look]:
            for exchange in evidence.of(probe):
                assert exchange.response is not None
                yield Look((exchange,), 1, tuple(function(evidence, exchange, exchange.response)))

        looks.__name__ = function.__name__
        return looks

    return decorate


def each_pair(
    related: Callable[[Answer, Answer], bool],
) -> Callable[[Callable[[Evidence, Answer, Answer], Iterable[Violation | int]]], Looks]:
    """A check that looks at two related answers at a time."""

    def decorate(function: Callable[[Evidence, Answer, Answer], Iterable[Violation | int]]) -> Looks:
        def looks(evidence: Evidence) -> Iterator[Look]:
            for one, other in evidence.pairs(related):
                found = list(function(evidence, one, other))
                wrong = tuple(item for item in found if isinstance(item, Violation))
                count = sum(item for item in found if isinstance(item, int))
                yield Look((one.exchange, other.exchange), max(count, len(wrong)), wrong)

        looks.__name__ = function.__name__
        return looks

    return decorate


def fault(where: str, message: str, seen: str = "", expected: str = "") -> Violation:
    """A violation by the check that is looking; `judge` adds the check's id."""
    return Violation("", where, message, seen, expected)


def beyond(
    series: Series,
    say: Callable[[float, str], str],
    expected: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
) -> Iterator[Violation | int]:
    """How many values of a series there are and, if some are out of bounds, one violation for the first of these.

    Args:
        series: the series.
        say: the message, from the first wrong value and where it stands in words.
        expected: what would be right.
        least: the lower bound.
        most: the upper bound.
    """
    numbers = series.numbers
    yield len(numbers)
    if not numbers or (min(numbers) >= least and max(numbers) <= most):
        return
    bad = [(i, value) for i, value in enumerate(series.values) if value is not None and not least <= value <= most]
    index, value = bad[0]
    message = say(value, f"{series.title} at {series.stamps[index]}")
    if len(bad) > 1:
        message += f" ({len(bad)} of its {len(numbers)} points are such)"
    yield fault(series.place(index), message, number(value), expected)


def number(value: float | None) -> str:
    """A value as people read it."""
    if value is None:
        return "null"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
