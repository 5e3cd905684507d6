"""Whole numbers → decimal text, for whole matrices at once.

The text is made of groups of four characters that come out of lookup tables, so a number costs a few table reads.
It is padded with spaces on the left, which JSON allows before a value; leading zeros it would not.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .noise import Integers

Text = npt.NDArray[np.void]
"""One number each; the item size is its width in bytes."""
Group = npt.NDArray[np.uint32]

_TEN_THOUSAND = 10_000


def _packed(texts: list[str]) -> Group:
    return np.frombuffer("".join(texts).encode(), dtype=np.uint32)


def _four_digits(shown: int) -> Group:
    """0 to 9999 with leading zeros, then again with spaces for them, the last `shown` digits always being there."""
    numbers = np.arange(_TEN_THOUSAND)[:, None]
    powers = np.array([1000, 100, 10, 1])
    zeros = (numbers // powers % 10 + ord("0")).astype(np.uint8)
    spaces = np.where((numbers < powers) & (powers >= 10**shown), np.uint8(ord(" ")), zeros)
    return np.concatenate([zeros, spaces]).view(np.uint32)[:, 0]


@cache
def _fraction_groups() -> Group:
    """Four digits behind the dot: zeros in either half."""
    return _four_digits(4)


@cache
def _whole_groups() -> Group:
    """Four digits before the dot with others behind them: nothing at all in place of zero."""
    return _four_digits(0)


@cache
def _last_whole_groups() -> Group:
    """The last four digits before the dot: zero is shown."""
    return _four_digits(1)


@cache
def _dot_groups(decimals: int) -> Group:
    """Three digits with the dot before the last `decimals`: first with leading zeros, then without."""
    left = 3 - decimals
    texts = [f"{number:03d}" for number in range(1000)]
    zeros = [f"{text[:left]}.{text[left:]}" for text in texts]
    spaces = [f"{text[:left].lstrip('0') or '0':>{left}}.{text[left:]}" if left else f".{text}" for text in texts]
    return _packed(zeros + spaces)


@cache
def _shape(digits: int, decimals: int) -> tuple[int, ...]:
    """How many digits each group has, from the right, for numbers of so many digits; 3: the group with the dot."""
    shape = [4] * (decimals // 4)
    if decimals:
        shape.append(3)
    # At least one digit must stand before the dot.
    while sum(shape) < max(digits, decimals + 1):
        shape.append(4)
    return tuple(shape)


def decimal_text(values: Integers, decimals: int, largest: int) -> Text:
    """The text of values·10^−decimals, right-aligned.

    Args:
        values: not negative, at least one, of any shape.
        decimals: digits behind the dot; 0 writes no dot at all.
        largest: no value is larger; the width depends on it alone, not on the values that happen to be there.

    Returns:
        An array of the same shape, all texts of one width.
    """
    shape = _shape(len(str(largest)), decimals)
    least = int(values.min()) if len(shape) > 2 else 0
    groups = np.empty((*values.shape, len(shape)), dtype=np.uint32)
    rest: npt.NDArray[np.unsignedinteger[Any]] = values.astype(np.uint64 if sum(shape) > 9 else np.uint32)
    passed = 0
    for position, digits in enumerate(shape):
        if position == len(shape) - 1:
            group, padded = rest, True
        else:
            higher = rest // 10**digits
            group, rest = rest - higher * 10**digits, higher
            padded = least < 10 ** (passed + digits)
        table = _table(digits, passed, decimals)
        half = table.size // 2
        if not padded:
            column = table.take(group)
        elif position == len(shape) - 1:
            column = table[half:].take(group)
        else:  # spaces where nothing stands before this group
            column = table.take(group + (rest == 0) * group.dtype.type(half))
        groups[..., len(shape) - 1 - position] = column
        passed += digits
    text: Text = groups.view(f"V{4 * len(shape)}")[..., 0]
    return text


def _table(digits: int, passed: int, decimals: int) -> Group:
    """Texts of a group: with leading zeros in the first half, with spaces for them in the second.

    Args:
        digits: how many the group has; 3 means the group with the dot.
        passed: digits that stand behind the group.
        decimals: digits that stand behind the dot.
    """
    if digits == 3:
        return _dot_groups(decimals - passed)
    if passed + digits <= decimals:
        return _fraction_groups()
    return _last_whole_groups() if passed <= decimals else _whole_groups()
