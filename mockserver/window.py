"""All time arithmetic: a request's members → the timestamps of its answer.

The grid is start + k·step with the start floored to the whole second and the end inclusive, as recorded on sibling
series of the vendor: 20 minutes at 30 s are 41 points.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

HOUR_MS = 3_600_000
MINUTE_MS = 60_000

# (longest range in ms, step in s), from the only step ladder the vendor publishes (sandbox metrics, official SDK).
STEP_LADDER = ((2 * HOUR_MS, 30), (24 * HOUR_MS, 60), (72 * HOUR_MS, 600))
COARSEST_STEP_S = 3600

# What the arithmetic holds: up to the year 9999, and products within 64 bits. The package's own contract declares the
# same bounds; another one (--spec) may declare none.
BOUNDS = {
    "start_epoch_millis": (0, 253_402_300_799_999),
    "end_epoch_millis": (0, 253_402_300_799_999),
    "step_seconds": (1, 1_000_000_000),
    "time_divisor_seconds": (1, 31_536_000),
}

Seconds = npt.NDArray[np.int64]


class WindowError(Exception):
    """A range, step or divisor that cannot be served; says which member breaks which rule."""

    def __init__(self, member: str, rule: str) -> None:
        super().__init__(f"{member}: {rule}")
        self.member = member
        self.rule = rule


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask for."""

    max_window_s: int = 7 * 86_400
    max_points: int = 11_000


@dataclass(frozen=True, slots=True)
class Window:
    """The points start_s + k·step_s for k in 0…count−1, in epoch seconds; count may be 0."""

    start_s: int
    step_s: int
    count: int

    def timestamps(self) -> Seconds:
        """The points in epoch seconds, ascending, shape (count,)."""
        return self.start_s + self.step_s * np.arange(self.count, dtype=np.int64)

    def between(self, first_s: int, last_s: int) -> "Window":
        """The points of this window with first_s ≤ t ≤ last_s, on the same grid."""
        skipped = min(max(0, -((self.start_s - first_s) // self.step_s)), self.count)
        kept = max(0, min(self.count, (last_s - self.start_s) // self.step_s + 1) - skipped)
        return Window(self.start_s + skipped * self.step_s, self.step_s, kept)

    def part(self, first: int, stop: int) -> "Window":
        """The points with the numbers first ≤ k < stop."""
        return Window(self.start_s + first * self.step_s, self.step_s, stop - first)


def derived_step_s(length_ms: int) -> int:
    """The ladder's step for a range of this length."""
    return next((step_s for longest_ms, step_s in STEP_LADDER if length_ms <= longest_ms), COARSEST_STEP_S)


def least_step_s(range_ms: int, max_points: int) -> int:
    """The smallest whole step with which a range of this length has at most max_points points."""
    return range_ms // (1000 * max_points) + 1


def check(members: Mapping[str, Any]) -> None:
    """Hold the members of a request that speak of time to BOUNDS, whatever the contract says of them.

    Raises:
        WindowError: one is not a whole number, or out of bounds.
    """
    for name, (least, most) in BOUNDS.items():
        value = members.get(name)
        if value is None:
            continue
        if type(value) is not int:
            raise WindowError(name, "must be an integer or null")
        if not least <= value <= most:
            raise WindowError(name, f"must be at least {least}" if value < least else f"must be at most {most}")


def resolve(members: Mapping[str, Any], now_ms: int, limits: Limits) -> Window:
    """Turn the time members of a request into its window.

    Args:
        members: start_epoch_millis, end_epoch_millis, step_seconds; null or absent means the default.
        now_ms: the clock, epoch milliseconds.
        limits: how much may be asked for.

    Raises:
        WindowError: a member is out of bounds, or the range is inverted, too long, or has too many points.
    """
    check(members)
    end_ms: int | None = members.get("end_epoch_millis")
    start_ms: int | None = members.get("start_epoch_millis")
    if start_ms is not None and end_ms is None and start_ms >= now_ms:
        raise WindowError(
            "start_epoch_millis", f"{start_ms} is not before now ({now_ms}), the end where end_epoch_millis is omitted"
        )
    if end_ms is None:
        end_ms = now_ms
    if start_ms is None:
        start_ms = max(0, end_ms - HOUR_MS)
    if start_ms >= end_ms:
        raise WindowError("start_epoch_millis", f"must be before end_epoch_millis, but {start_ms} ≥ {end_ms}")
    # Rounded down to the minute, so that a client that sends now − 7 d and no end is not refused for being slow.
    length_ms = (end_ms - start_ms) // MINUTE_MS * MINUTE_MS
    if length_ms > limits.max_window_s * 1000:
        raise WindowError(
            "start_epoch_millis",
            f"the range of {length_ms // 1000} s is longer than {limits.max_window_s} s; ask for a shorter one",
        )
    start_s = start_ms // 1000
    range_ms = end_ms - start_s * 1000
    step_s: int | None = members.get("step_seconds")
    if step_s is None:
        # A default is never refused: with a low point limit it is coarser than the ladder's.
        step_s = max(derived_step_s(length_ms), least_step_s(range_ms, limits.max_points))
    count = range_ms // (1000 * step_s) + 1
    if count > limits.max_points:
        raise WindowError(
            "step_seconds",
            f"{step_s} gives {count} points, more than {limits.max_points}; "
            f"step_seconds {least_step_s(range_ms, limits.max_points)} or more would do",
        )
    return Window(start_s, step_s, count)
