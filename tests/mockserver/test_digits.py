"""Whole numbers as decimal text, held against decimal arithmetic of the standard library."""

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopsmock.mockserver.digits import decimal_text

numbers = st.one_of(st.integers(0, 20), st.integers(0, 10**6), st.integers(0, 2**62)).flatmap(
    lambda most: st.lists(st.integers(0, most), min_size=1, max_size=20)
)


def written(values: list[int], decimals: int) -> list[str]:
    text = decimal_text(np.array([values], dtype=np.int64), decimals, max(values))
    assert text.shape == (1, len(values))
    return [bytes(item).decode() for item in text[0].tolist()]


@given(numbers, st.integers(0, 12))
def test_the_text_is_the_number(values: list[int], decimals: int) -> None:
    texts = written(values, decimals)
    assert len({len(text) for text in texts}) == 1, "all of one width"
    for value, text in zip(values, texts, strict=True):
        shown = text.lstrip(" ")
        assert Decimal(shown) == Decimal(value).scaleb(-decimals)
        # Strict JSON: no leading zeros; a float wherever there are decimals, an integer where there are none.
        assert isinstance(json.loads(shown), float if decimals else int)
        assert len(shown.partition(".")[2]) == decimals


@pytest.mark.parametrize("decimals", range(13))
@pytest.mark.parametrize("digits", range(18))
def test_powers_of_ten_and_their_neighbours(decimals: int, digits: int) -> None:
    for value in (10**digits - 1, 10**digits, 10**digits + 1):
        (text,) = written([value], decimals)
        assert Decimal(text.strip()) == Decimal(value).scaleb(-decimals)
        (_, beside) = written([0, value], decimals)
        assert beside.strip() == text.strip()


def test_rows_stay_rows() -> None:
    text = decimal_text(np.array([[1, 20], [300, 4000]]), 1, 4000)
    shown = [[bytes(item).decode().strip() for item in row] for row in text.tolist()]
    assert shown == [["0.1", "2.0"], ["30.0", "400.0"]]


@given(numbers, st.integers(0, 12), st.integers(0, 2**62))
def test_the_width_depends_on_the_largest_alone(values: list[int], decimals: int, largest: int) -> None:
    largest = max(largest, *values)
    one, other = (decimal_text(np.array(part), decimals, largest) for part in (values, values[:1]))
    assert one.itemsize == other.itemsize
    assert bytes(one[0]) == bytes(other[0])
