"""Randomness without state: hashes of counters, so that any moment can be asked for first.

Everything here is a pure function of a 64-bit key and integers. Recipe: splitmix64's finaliser (Steele, Lea, Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014) over key + counter·golden ratio.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
AnyArray = npt.NDArray[Any]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S11 = (np.uint64(bits) for bits in (27, 30, 31, 11))


def key(*parts: str | int) -> int:
    """A 64-bit key of its parts; parts that differ anywhere give unrelated keys."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "little")


def keys(names: list[str], *parts: str | int) -> Words:
    """One key a name, shape (len(names),)."""
    return np.array([key(*parts, name) for name in names], dtype=np.uint64)


def words(row_keys: Words, counters: Integers) -> Words:
    """64 random bits for each key and counter, shape (keys, counters)."""
    x: Words = counters.astype(np.uint64)
    x *= _GOLDEN
    x = x + row_keys.reshape(-1, 1)
    shifted = x >> _S30
    x ^= shifted
    x *= _MIX_1
    np.right_shift(x, _S27, out=shifted)
    x ^= shifted
    x *= _MIX_2
    np.right_shift(x, _S31, out=shifted)
    x ^= shifted
    return x


def uniform(bits: Words) -> Reals:
    """Random bits → reals in [0, 1), of the same shape."""
    reals: Reals = np.multiply(bits >> _S11, 2.0**-53, dtype=np.float64)
    return reals


class Table:
    """Arrays made of numbers in a row, kept for the neighbourhood asked for last: windows move, but seldom far."""

    MARGIN = 64
    MOST = 2048
    """So many numbers are kept; more of them are made for one use."""

    def __init__(self, make: Callable[[Integers], tuple[AnyArray, ...]]) -> None:
        """Keep what `make` makes: arrays whose last axis is the numbers', each value a function of its number alone."""
        self._make = make
        # One value, replaced as a whole: another thread may look at it at any time.
        self._kept: tuple[int, int, tuple[AnyArray, ...]] = (0, 0, ())

    def between(self, first: int, stop: int) -> tuple[AnyArray, ...]:
        """The arrays of the numbers first ≤ k < stop."""
        if stop - first > self.MOST:
            return self._make(np.arange(first, stop))
        begin, end, arrays = self._kept
        if first < begin or end < stop:
            begin, end = first - self.MARGIN, stop + self.MARGIN
            arrays = self._make(np.arange(begin, end))
            self._kept = begin, end, arrays
        return tuple(array[..., first - begin : stop - begin] for array in arrays)


@dataclass(frozen=True, slots=True)
class Happening:
    """The last event begun at or before each time; all of shape (cells,)."""

    number: Integers
    """Which event it is, counted from the epoch."""
    passed: Reals
    """How much of it has passed by then: 0 where it begins, 1 and more where it is over."""
    level: Reals
    """A value that belongs to the event."""


class Recurring:
    """Events k = …, 0, 1, 2, … that begin at k·period + jitter(k), |jitter| ≤ wobble·period, wobble < 1/2."""

    def __init__(
        self,
        event_key: int,
        period_s: int,
        lasts_s: tuple[float, float],
        level: tuple[float, float],
        wobble: float = 0.3,
    ) -> None:
        """Events of a key, one every period_s on average, each with a length and a level from these ranges."""
        self._period_s = period_s
        self._lasts_s = lasts_s
        self._level = level
        self._wobble = wobble
        self._keys = np.array([key(event_key, draw) for draw in ("begins", "lasts", "level")], dtype=np.uint64)
        self._table = Table(self._events)

    def at(self, times_s: Integers) -> Happening:
        """The last event begun at or before each time; times ascend, shape (cells,)."""
        first, stop = int(times_s[0]) // self._period_s - 1, int(times_s[-1]) // self._period_s + 2
        if stop - first <= 3 * len(times_s) + Table.MARGIN:
            numbers, begins_s, lasts_s, level = self._table.between(first, stop)
        else:  # far apart times: only the events beside them
            near = times_s // self._period_s
            numbers, begins_s, lasts_s, level = self._events(np.unique(np.concatenate([near - 1, near, near + 1])))
        found = begins_s.searchsorted(times_s, side="right") - 1
        passed = (times_s - begins_s.take(found)) / lasts_s.take(found)
        return Happening(numbers.take(found), passed, level.take(found))

    def _events(self, numbers: Integers) -> tuple[Integers, Reals, Reals, Reals]:
        draws = uniform(words(self._keys, numbers))
        begins_s = (numbers + (2.0 * draws[0] - 1.0) * self._wobble) * self._period_s
        (shortest, longest), (low, high) = self._lasts_s, self._level
        return numbers, begins_s, shortest + (longest - shortest) * draws[1], low + (high - low) * draws[2]
