"""Randomness without state: hashes of counters, so that any moment can be asked for first.

Everything here is a pure function of a 64-bit key and integers. Recipe: splitmix64's finaliser (Steele, Lea, Flood,
"Fast splittable pseudorandom number generators", OOPSLA 2014) over key + counter·golden ratio.
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

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
    reals: Reals = (bits >> _S11) * 2.0**-53
    return reals


@dataclass(frozen=True, slots=True)
class Happening:
    """The last event begun at or before each time."""

    number: Integers
    """Which event it is, counted from the epoch, shape (cells,)."""
    elapsed_s: Reals
    """Seconds since it began, shape (cells,)."""
    draws: Reals
    """Reals in [0, 1) that belong to the event, shape (labels, cells)."""


class Recurring:
    """Events k = …, 0, 1, 2, … that begin at k·period + jitter(k), |jitter| ≤ wobble·period, wobble < 1/2."""

    def __init__(self, event_key: int, period_s: int, labels: tuple[str, ...] = (), wobble: float = 0.3) -> None:
        """Events of a key, one every period_s on average, each with a draw for every label."""
        self.period_s = period_s
        self.wobble = wobble
        self._keys = np.array([key(event_key, label) for label in ("begins", *labels)], dtype=np.uint64)

    def at(self, times_s: Integers) -> Happening:
        """The last event begun at or before each time; times ascend, shape (cells,)."""
        near = times_s // self.period_s
        first, last = int(near[0]) - 1, int(near[-1]) + 1
        if last - first <= 3 * len(times_s):
            numbers = np.arange(first, last + 1)
        else:  # far apart times: only the events beside them
            numbers = np.unique(np.concatenate([near - 1, near, near + 1]))
        draws = uniform(words(self._keys, numbers))
        begins_s = (numbers + (2.0 * draws[0] - 1.0) * self.wobble) * self.period_s
        found = begins_s.searchsorted(times_s, side="right") - 1
        return Happening(numbers[found], times_s - begins_s[found], draws[1:].take(found, axis=1))
