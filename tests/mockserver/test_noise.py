"""Randomness without state: the published recipe, random access, ranges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopsmock.mockserver.noise import Recurring, Table, key, keys, words

MASK = 2**64 - 1
keys_64 = st.integers(0, MASK)
ticks = st.lists(st.integers(0, 2**40), min_size=1, max_size=30, unique=True).map(sorted)


def splitmix64(state: int) -> int:
    """The finaliser in plain Python."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)


def row(key_64: int) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    return np.array([key_64], dtype=np.uint64)


def array(values: list[int]) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.array(values, dtype=np.int64)


@given(st.lists(keys_64, min_size=1, max_size=4), ticks)
def test_words_are_splitmix64_of_key_and_counter(row_keys: list[int], counters: list[int]) -> None:
    found = words(np.array(row_keys, dtype=np.uint64), array(counters)).tolist()
    assert found == [[splitmix64((k + n * 0x9E3779B97F4A7C15) & MASK) for n in counters] for k in row_keys]


def test_the_first_numbers_of_the_published_generator() -> None:
    # splitmix64 seeded with 1234567, the sequence that other implementations print.
    assert words(row(1234567), array([1, 2, 3])).tolist() == [
        [6457827717110365317, 3203168211198807973, 9817491932198370423]
    ]


@given(st.lists(st.tuples(st.text(), st.integers()), min_size=2, max_size=6, unique=True))
def test_parts_that_differ_give_keys_that_differ(parts: list[tuple[str, int]]) -> None:
    assert len({key(*part) for part in parts}) == len(parts)
    assert keys(["a", "b"], *parts[0]).tolist() == [key(*parts[0], "a"), key(*parts[0], "b")]
    assert key("ab", "c") != key("a", "bc")
    assert key("1") != key(1)


def test_words_are_evenly_spread_and_independent() -> None:
    # As fractions: mean 1/2, and no correlation between rows, nor between neighbours in a row.
    found = words(keys(["a", "b", "c"], 7), np.arange(20_000)) * 2.0**-64
    assert 0.0 <= found.min() < 0.001
    assert 0.999 < found.max() <= 1.0
    assert np.abs(found.mean(axis=1) - 0.5).max() < 0.01
    assert np.abs(np.corrcoef(found) - np.eye(3)).max() < 0.03
    assert abs(np.corrcoef(found[0, 1:], found[0, :-1])[0, 1]) < 0.03


@given(keys_64, ticks, st.integers(15, 10_000))
def test_an_event_is_the_last_one_begun(key_64: int, times: list[int], period_s: int) -> None:
    events = Recurring(key_64, period_s, (1.0, 2.0), (0.25, 0.5))
    found = events.at(array(times))
    assert (found.passed >= 0).all()
    # Begun 0.3 periods too early or late at most, so the last one began no more than 1.6 periods ago; it lasts ≥ 1 s.
    assert (found.passed <= 1.6 * period_s + 1).all()
    for index, time in enumerate(times):
        alone = Recurring(key_64, period_s, (1.0, 2.0), (0.25, 0.5)).at(array([time]))
        assert alone.number[0] == found.number[index]
        assert alone.passed[0] == found.passed[index]
        assert alone.level[0] == found.level[index]
    assert ((found.level >= 0.25) & (found.level < 0.5)).all()


@pytest.mark.parametrize("period_s", [480, 2400])
def test_events_recur_once_a_period(period_s: int) -> None:
    times = np.arange(0, 1000 * period_s, 15, dtype=np.int64)
    numbers = Recurring(key("x"), period_s, (1.0, 2.0), (0.0, 1.0)).at(times).number
    assert (np.diff(numbers) >= 0).all()
    assert np.diff(numbers).max() == 1
    assert abs(len(np.unique(numbers)) - 1000) <= 1


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 3000)), min_size=1, max_size=8))
def test_a_table_gives_what_is_made_afresh(asked: list[tuple[int, int]]) -> None:
    def make(
        numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    ) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.uint64]]"]:
        return (words(row(5), numbers),)

    table = Table(make)
    for first, count in asked:
        (found,) = table.between(first, first + count)
        assert (found == make(np.arange(first, first + count))[0]).all()
