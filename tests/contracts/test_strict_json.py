"""Strict JSON: everything Python's parser accepts wrongly or trips over is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from loopsmock.contracts.strict_json import MAX_DEPTH, JsonError, loads, quote, shorten

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_what_json_writes_is_read_back(value: Any, ascii_only: bool, indent: int | None) -> None:
    assert loads(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()) == value


@given(st.binary() | st.text(alphabet='[]{}",:\\u d8001eE+-.9 \n').map(str.encode))
@example(b"[1e400x]]]")
@example(b'{"a":1,"a":2}]}')
def test_any_bytes_give_a_value_that_can_be_written_or_a_json_error(body: bytes) -> None:
    try:
        value = loads(body)
    except JsonError as error:
        message = str(error)
    else:
        message = "none"
        assert json.loads(json.dumps(value, allow_nan=False, ensure_ascii=False).encode().decode()) == value
    assert 0 < len(message) < 200
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the text is empty"),
        (b" \r\n\t", "the text is empty"),
        (b'["\xff"]', "the text is not UTF-8 at byte 2"),
        (b'["\xed\xa0\x80"]', "the text is not UTF-8 at byte 2"),
        ("{}".encode("utf-16"), "the text is not UTF-8 at byte 0"),
        (b"\xef\xbb\xbf{}", "a byte order mark stands before the JSON text at byte 0"),
        (b'{"a": NaN}', "NaN is not a JSON number at line 1 column 7"),
        (b"[1,\n Infinity]", "Infinity is not a JSON number at line 2 column 2"),
        (b'["-Infinity", -Infinity]', "-Infinity is not a JSON number at line 1 column 15"),
        (b"[1e400]", "the number 1e400 is too large at line 1 column 2"),
        (b"[-1E+0400]", "the number -1E+0400 is too large at line 1 column 2"),
        (b'{"a": 1,\n "a": 2}', 'the member "a" stands twice in one object at line 2 column 2'),
        (b'{"x": "a", "b": {"a": {"a": 1}, "a": 2}}', 'the member "a" stands twice in one object at line 1 column 33'),
        (rb'{"a": 1, "\u0061": 2}', 'the member "a" stands twice in one object at line 1 column 10'),
        (rb'{"a": ["\ud800"]}', "a string or name holds half of a surrogate pair at /a/0"),
        (rb'"\uDFFF"', "a string or name holds half of a surrogate pair at the value itself"),
        (rb'{"\udc00\ud800": 1}', r"a string or name holds half of a surrogate pair at /\udc00\ud800"),
        (b"{} {}", "there is text after the value at line 1 column 4"),
        (b'{"a" 1}', "a colon is expected at line 1 column 6"),
        (b"[1 2]", "a comma or the end is expected at line 1 column 4"),
        (b"{a: 1}", "a member name in double quotes is expected at line 1 column 2"),
        (b'["abc', "a string does not end; it starts at line 1 column 2"),
        (b'["\t"]', "a control character stands in a string at line 1 column 3"),
        (b"[01]", "a comma or the end is expected at line 1 column 3"),
    ],
)
def test_refusals_say_what_is_wrong_and_where(body: bytes, message: str) -> None:
    with pytest.raises(JsonError) as caught:
        loads(body)
    assert str(caught.value) == message


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'["\\"[",{"b":'])
@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 60_000])
def test_deep_nesting_is_refused(opening: bytes, levels: int) -> None:
    with pytest.raises(JsonError, match="more than 64 levels of nesting at line 1 column"):
        loads(opening * levels)


def test_depth_64_is_read_and_brackets_in_strings_do_not_nest() -> None:
    assert loads(b"[" * 64 + b"]" * 64) == json.loads("[" * 64 + "]" * 64)
    assert loads(b'["' + b"[" * 100 + b'"]') == ["[" * 100]
    assert loads(b'["\\"' + b"{" * 100 + b'"]') == ['"' + "{" * 100]
    assert loads(b"[" + b"[]," * 100 + b"{}]") == [[]] * 100 + [{}]


def test_integers_of_more_than_400_digits_are_refused() -> None:
    assert loads(b"9" * 400) == 10**400 - 1
    assert loads(b"-" + b"9" * 400) == 1 - 10**400
    for digits in (401, 5000):
        with pytest.raises(JsonError, match=f"an integer of {digits} digits is too large"):
            loads(b'{"a": ' + b"1" + b"0" * (digits - 1) + b"}")


def test_small_and_long_fractions_are_read() -> None:
    assert loads(b"[1e-400, 1e0000, 1E+0001]") == [0.0, 1.0, 10.0]
    assert loads(b"0." + b"1" * 500) == pytest.approx(1 / 9)
    assert loads(b"1" * 200 + b".5e108") == pytest.approx(float("1" * 200 + "e108"))
    with pytest.raises(JsonError, match="too large"):
        loads(b"1" * 211 + b"e99")


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert loads(rb'["\ud83d\ude00", "\\ud800"]') == ["\U0001f600", "\\ud800"]


@given(st.text(), st.integers(10, 80))
def test_quoted_text_fits_one_line(text: str, limit: int) -> None:
    assert len(shorten(text, limit)) <= limit
    quoted = quote(text, limit)
    assert len(quoted) <= limit
    assert len(quoted.splitlines()) == 1
    if len(json.dumps(text)) <= limit:
        assert json.loads(quoted) == text
