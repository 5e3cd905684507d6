"""The arithmetic of time: windows, default steps, limits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopsmock.mockserver.window import BOUNDS, Limits, Window, WindowError, check, resolve

from ..support import DAY_MS, HOUR_MS, NOW_MS, SPEC

MINUTE_MS = 60_000
OURS = Limits()
NO_LIMITS = Limits(max_window_s=10**9, max_points=10**9)
LATEST_MS = BOUNDS["end_epoch_millis"][1]

windows = st.builds(Window, st.integers(-50, 50), st.integers(1, 20), st.integers(0, 20))


def over(length_ms: int, step_s: int | None = None, limits: Limits = OURS) -> Window:
    """The window of this length that ends now."""
    members = {"start_epoch_millis": NOW_MS - length_ms, "end_epoch_millis": NOW_MS, "step_seconds": step_s}
    return resolve(members, NOW_MS, limits)


def refusal(limits: Limits = OURS, **members: Any) -> WindowError:
    with pytest.raises(WindowError) as caught:
        resolve(members, NOW_MS, limits)
    assert str(caught.value) == f"{caught.value.member}: {caught.value.rule}"
    return caught.value


@pytest.mark.parametrize("members", [{}, dict.fromkeys(BOUNDS), {"end_epoch_millis": NOW_MS}])
def test_by_default_it_is_the_last_hour_at_30_seconds(members: dict[str, int | None]) -> None:
    window = resolve(members, NOW_MS, OURS)
    assert (window.start_s, window.step_s, window.count) == ((NOW_MS - HOUR_MS) // 1000, 30, 121)


@pytest.mark.parametrize(
    ("length_ms", "step_s", "count"),
    [
        (1, 30, 1),
        (20 * MINUTE_MS, 30, 41),
        (2 * HOUR_MS, 30, 241),
        (2 * HOUR_MS + MINUTE_MS, 60, 122),
        (24 * HOUR_MS, 60, 1441),
        (24 * HOUR_MS + MINUTE_MS, 600, 145),
        (3 * DAY_MS, 600, 433),
        (3 * DAY_MS + MINUTE_MS, 3600, 73),
        (7 * DAY_MS, 3600, 169),
    ],
)
def test_the_default_step_follows_the_length(length_ms: int, step_s: int, count: int) -> None:
    window = over(length_ms)
    assert (window.step_s, window.count) == (step_s, count)


@pytest.mark.parametrize("late_ms", [0, 1, 999, 59_999])
def test_a_week_up_to_now_is_not_refused_for_being_slow(late_ms: int) -> None:
    window = resolve({"start_epoch_millis": NOW_MS - 7 * DAY_MS - late_ms}, NOW_MS, OURS)
    assert window.step_s == 3600
    assert refusal(start_epoch_millis=NOW_MS - 7 * DAY_MS - MINUTE_MS).member == "start_epoch_millis"


def test_a_step_of_one_second() -> None:
    assert over(2 * HOUR_MS, 1).count == 7_201
    error = refusal(start_epoch_millis=NOW_MS - 4 * HOUR_MS, step_seconds=1)
    assert error.member == "step_seconds"
    assert error.rule == "1 gives 14401 points, more than 11000; step_seconds 2 or more would do"


@given(
    start_ms=st.integers(0, LATEST_MS),
    length_ms=st.integers(1, 400 * DAY_MS),
    step_s=st.integers(1, 10**9),
    now_ms=st.integers(0, LATEST_MS),
)
def test_points_are_the_floored_start_and_steps_up_to_the_end(
    start_ms: int, length_ms: int, step_s: int, now_ms: int
) -> None:
    end_ms = min(start_ms + length_ms, LATEST_MS)
    members = {"start_epoch_millis": start_ms, "end_epoch_millis": end_ms, "step_seconds": step_s}
    if start_ms == end_ms:
        members["start_epoch_millis"] = start_ms = start_ms - 1
    window = resolve(members, now_ms, NO_LIMITS)
    assert 0 <= start_ms - window.start_s * 1000 < 1000
    last_ms = (window.start_s + (window.count - 1) * window.step_s) * 1000
    assert window.step_s == step_s
    assert window.count >= 1
    assert last_ms <= end_ms < last_ms + step_s * 1000


@given(length_ms=st.integers(MINUTE_MS, 7 * DAY_MS), max_points=st.integers(1, 3000), odd_ms=st.integers(0, 999))
def test_the_step_that_is_named_would_do_and_the_next_smaller_would_not(
    length_ms: int, max_points: int, odd_ms: int
) -> None:
    limits = Limits(max_points=max_points)
    members = {"start_epoch_millis": NOW_MS - odd_ms - length_ms, "end_epoch_millis": NOW_MS - odd_ms}
    if resolve(members | {"step_seconds": 1}, NOW_MS, NO_LIMITS).count > max_points:
        error = refusal(limits, **members, step_seconds=1)
        assert error.member == "step_seconds"
        named = int(error.rule.split("step_seconds ")[1].split()[0])
        assert resolve(members | {"step_seconds": named}, NOW_MS, limits).count <= max_points
        assert named > 1
        assert refusal(limits, **members, step_seconds=named - 1).member == "step_seconds"
    # What is left to the server is never refused for its own choice.
    assert resolve(members, NOW_MS, limits).count <= max_points


@given(length_ms=st.integers(1, 30 * DAY_MS), max_window_s=st.integers(1, 20 * 86_400))
def test_a_range_longer_than_the_limit_is_refused(length_ms: int, max_window_s: int) -> None:
    limits = Limits(max_window_s=max_window_s)
    is_longer = length_ms // MINUTE_MS * MINUTE_MS > max_window_s * 1000
    if is_longer:
        error = refusal(limits, start_epoch_millis=NOW_MS - length_ms)
        assert error.member == "start_epoch_millis"
        assert f"longer than {max_window_s} s" in error.rule
    else:
        assert over(length_ms, limits=limits).count >= 1


@pytest.mark.parametrize("ahead_ms", [0, 1, HOUR_MS])
def test_a_start_that_is_not_before_now_needs_an_end(ahead_ms: int) -> None:
    error = refusal(start_epoch_millis=NOW_MS + ahead_ms)
    assert (error.member, "now" in error.rule) == ("start_epoch_millis", True)
    members = {"start_epoch_millis": NOW_MS + ahead_ms, "end_epoch_millis": NOW_MS + ahead_ms + 1}
    assert resolve(members, NOW_MS, OURS).count == 1


@pytest.mark.parametrize("start_ms", [NOW_MS, NOW_MS + 1])
def test_a_range_must_not_be_empty_or_inverted(start_ms: int) -> None:
    assert "before end_epoch_millis" in refusal(start_epoch_millis=start_ms, end_epoch_millis=NOW_MS).rule


def test_an_end_soon_after_the_epoch_has_a_shorter_hour_before_it() -> None:
    assert resolve({"end_epoch_millis": 60_000}, NOW_MS, OURS) == Window(0, 30, 3)
    assert refusal(end_epoch_millis=0).member == "start_epoch_millis"


@given(windows, st.integers(-100, 500), st.integers(-100, 500))
def test_between_keeps_the_points_in_a_range(window: Window, first_s: int, last_s: int) -> None:
    kept = window.between(first_s, last_s)
    assert kept.timestamps().tolist() == [t for t in window.timestamps().tolist() if first_s <= t <= last_s]
    assert kept.step_s == window.step_s


@given(windows, st.data())
def test_a_part_is_a_slice(window: Window, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, window.count))
    stop = data.draw(st.integers(first, window.count))
    assert window.part(first, stop).timestamps().tolist() == window.timestamps().tolist()[first:stop]


def test_timestamps() -> None:
    assert Window(10, 5, 4).timestamps().tolist() == [10, 15, 20, 25]
    assert Window(10, 5, 0).timestamps().shape == (0,)


@pytest.mark.parametrize("name", list(BOUNDS))
def test_bounds_hold_whatever_the_contract_says(name: str) -> None:
    least, most = BOUNDS[name]
    for value in (least, most, None):
        check({name: value})
    broken: list[Any] = [least - 1, most + 1, -(10**30), 10**30, True, 1.5, "1", [1]]
    for value in broken:
        with pytest.raises(WindowError) as caught:
            check({name: value})
        assert caught.value.member == name


def test_the_own_contract_declares_the_same_bounds() -> None:
    declared = SPEC.document["components"]["schemas"]["GetLoopsDeploymentMetricsRequestV1"]["properties"]
    assert {name: (schema["minimum"], schema["maximum"]) for name, schema in declared.items()} == BOUNDS
