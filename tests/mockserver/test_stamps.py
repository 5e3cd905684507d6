"""Epoch seconds as RFC 3339 text, held against the standard library."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopsmock.mockserver.stamps import WIDTH, timestamp_text

LAST_S = 253_402_300_799


def written(points_s: list[int]) -> list[str]:
    text = timestamp_text(np.array(points_s, dtype=np.int64))
    assert text.dtype.itemsize == WIDTH
    return [bytes(item).decode() for item in text.tolist()]


def expected(points_s: list[int]) -> list[str]:
    return [datetime.fromtimestamp(point, UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(WIDTH, "0") for point in points_s]


@given(st.lists(st.integers(0, LAST_S), min_size=1, max_size=30).map(sorted))
def test_any_ascending_seconds(points_s: list[int]) -> None:
    assert written(points_s) == expected(points_s)


steps_s = st.sampled_from([1, 15, 59, 60, 3600, 86_399, 86_400, 100_000])


@given(st.integers(0, LAST_S - 10**8), steps_s, st.integers(1, 500))
def test_a_regular_grid(start_s: int, step_s: int, count: int) -> None:
    points_s = list(range(start_s, start_s + step_s * count, step_s))
    assert written(points_s) == expected(points_s)


def test_nothing_at_all() -> None:
    assert written([]) == []


@pytest.mark.parametrize(
    ("second", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_796_101_380, "2026-12-01T05:03:00Z"),
        (LAST_S, "9999-12-31T23:59:59Z"),
    ],
)
def test_instants(second: int, text: str) -> None:
    assert written([second]) == [text]
