"""Checks between answers: what one query shows, another must show as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any

from .answer import Answer, Key, Series, clock, title
from .check import Level, Look, Subject, each_answer, each_pair, fault, number
from .evidence import Evidence
from .exchange import TIME_MEMBERS
from .violation import Violation

QUERIES = Subject("queries")
MUST, SHOULD = Level.MUST, Level.SHOULD
_ONE_VALUE = "the meaning of a time series: a past point has one value"
_DIVISOR = "documented by the vendor: time_divisor_seconds is the unit of time of request-volume metrics"
_LADDER = ((7_200_000, 30_000), (86_400_000, 60_000), (259_200_000, 600_000))
_COARSEST_MS = 3_600_000
_HOUR_MS = 3_600_000
_TOLERANCE = 1e-9

Times = tuple[int | None, ...]

VOLUME, BY_STATUS = "inference_volume", "inference_volume_by_status"


def _window(answer: Answer) -> tuple[Any, ...]:
    return answer.members.get("start_epoch_millis"), answer.members.get("end_epoch_millis")


def _divisor(answer: Answer) -> int:
    return answer.asked("time_divisor_seconds") or 1


def _explicit(*answers: Answer) -> bool:
    """Whether each window is written out: one that ends now moves between two requests."""
    return all(None not in _window(answer) for answer in answers)


def _end(*answers: Answer) -> bool:
    """Whether the end of each window is written out."""
    return all(answer.asked("end_epoch_millis") is not None for answer in answers)


def _same_deployment(one: Answer, other: Answer) -> bool:
    return one.exchange.request.deployment_id == other.exchange.request.deployment_id


def _same_text(one: Answer, other: Answer) -> bool:
    return one.exchange.request.written == other.exchange.request.written and _explicit(one, other)


def _same_but_for_nulls(one: Answer, other: Answer) -> bool:
    return one.members == other.members and one.exchange.request.written != other.exchange.request.written


def _same_request(one: Answer, other: Answer) -> bool:
    return _same_deployment(one, other) and _same_text(one, other)


def _null_or_omitted(one: Answer, other: Answer) -> bool:
    return _same_deployment(one, other) and _same_but_for_nulls(one, other)


def _other_window(one: Answer, other: Answer) -> bool:
    return (
        _same_deployment(one, other)
        and one.step_ms is not None
        and one.step_ms == other.step_ms
        and _divisor(one) == _divisor(other)
        and not (_same_text(one, other) or _same_but_for_nulls(one, other))
    )


def _other_step(one: Answer, other: Answer) -> bool:
    return (
        _same_deployment(one, other)
        and None not in (one.step_ms, other.step_ms)
        and one.step_ms != other.step_ms
        and _divisor(one) == _divisor(other)
    )


def _other_divisor(one: Answer, other: Answer) -> bool:
    return _same_deployment(one, other) and _divisor(one) != _divisor(other)


def _shared(one: Answer, other: Answer) -> Iterator[tuple[Key, Series, Series]]:
    """The series that both answers have, and that have points in both."""
    for key, series in one.by_key.items():
        also = other.by_key.get(key)
        if also is not None:
            yield key, series, also


def _differ(first: float | None, second: float | None, relative: float = _TOLERANCE) -> bool:
    if first is None or second is None:
        return first is not second
    return abs(first - second) > relative * max(abs(first), abs(second))


@lru_cache(maxsize=256)
def _overlap(one: Times, other: Times, settled_ms: int, settled: bool) -> tuple[list[int], list[int]]:
    """The indices, in each, of the times that both have, among those that are settled or among those that are not."""
    second = {time: index for index, time in enumerate(other)}
    here = [
        index
        for index, time in enumerate(one)
        if time is not None and time in second and (time <= settled_ms) == settled
    ]
    return here, [second[one[index]] for index in here]


def _compare(
    evidence: Evidence, one: Answer, other: Answer, because: str, *, settled: bool = True, skip: tuple[str, ...] = ()
) -> Iterator[Violation | int]:
    """Compare the values of both answers at the times they share, before or after what is settled."""
    count, wrong, differing, compared, first = 0, 0, 0, 0, None
    for key, series, also in _shared(one, other):
        if key[1][0] in skip:
            continue
        compared += 1
        here, there = _overlap(series.times_ms, also.times_ms, evidence.settled_ms, settled)
        values, theirs = [series.values[index] for index in here], [also.values[index] for index in there]
        count += len(here)
        if values != theirs:
            found = [index for index, pair in enumerate(zip(values, theirs, strict=True)) if _differ(*pair)]
            wrong += len(found)
            differing += bool(found)
            if found and not first:
                index = found[0]
                first = also, there[index], values[index], theirs[index]
    yield count
    if first:
        series, index, value, second = first
        time = series.times_ms[index] or 0
        message = (
            f"{series.title} at {clock(time)} is {number(value)} in one answer and {number(second)} in the other, "
            f"{because} ({wrong} of the {count} points that both have differ, in {differing} of {compared} series)"
        )
        yield fault(series.place(index), message, number(second), number(value))


@QUERIES.check(
    MUST,
    source=_ONE_VALUE,
    why="The same request for a past window, asked twice, gets the same points. Those of the last five minutes are "
    "left out: they may still be arriving.",
    good="05:00 is 0.87 in both answers",
    bad="05:00 is 0.87, then 0.31",
)
@each_pair(_same_request)
def the_same_request_gets_the_same_points(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    yield from _compare(evidence, one, other, "though the same window was asked for twice")


@QUERIES.check(
    SHOULD,
    source="inferred: samples may lag one to three minutes behind",
    why="The points of the last five minutes repeat as well. A server whose samples still arrive may change them, so "
    "this only warns; a client that alerts on the newest point wants to know.",
    good="05:02 is 0.87 in both answers, at 05:03",
    bad="05:02 is 0.0, then 0.87, at 05:03",
)
@each_pair(_same_request)
def the_newest_points_repeat(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    because = "though the same window was asked for twice within seconds"
    yield from _compare(evidence, one, other, because, settled=False)


@QUERIES.check(
    MUST,
    source="documented by the vendor: every member may be null or left out",
    why="A member that is null means the same as one that is left out. The official Python client leaves unset members "
    "out, the vendor's cURL sample sends null.",
    good='{"step_seconds": null} like {}',
    bad='{"step_seconds": null} gives another step than {}',
)
@each_pair(_null_or_omitted)
def null_means_left_out(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    # Windows that end now move between two requests, so where there are few points one may see a step alone.
    plenty = None not in (one.step_ms, other.step_ms) or max(len(one.times_ms), len(other.times_ms)) > 10
    if one.step_ms != other.step_ms and (plenty or _explicit(one, other)):
        yield 1
        steps = " and ".join(f"{(step or 0) / 1000:g} s" for step in (one.step_ms, other.step_ms))
        message = f"two requests that differ only in null against left out get other steps, {steps}"
        yield fault("/metrics", message, steps, "the same step")
        return
    yield from _compare(evidence, one, other, "though the requests differ only in null against left out")


@QUERIES.check(
    MUST,
    source=_ONE_VALUE,
    why="A point has the same value in every window at the same step: in a part of the range, in a longer one, in one "
    "that begins elsewhere. Dashboards that move their window every minute draw one curve from many answers.",
    good="05:00 is 0.87 in the answers for 04:00–05:03 and 04:30–05:00",
    bad="0.87 in the one, 0.31 in the other",
)
@each_pair(_other_window)
def the_window_changes_no_value(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    yield from _compare(evidence, one, other, "in another window at the same step")


@QUERIES.check(
    SHOULD,
    source="observed on sibling endpoints: points are samples at their time",
    why="A point has the same value at every step: a coarser step shows fewer points, not other ones. A server that "
    "averages over the step is within the documents, and is only warned.",
    good="05:00 is 0.87 at 60 s and at 300 s",
    bad="0.87 at 60 s, 0.79 at 300 s",
)
@each_pair(_other_step)
def the_step_changes_no_value(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    yield from _compare(evidence, one, other, "at another step")


@QUERIES.check(
    SHOULD,
    source="inferred: whether a sample exists does not depend on who asks",
    why="A time at which one window shows a point of a series shows it in every window whose grid has that time: "
    "nothing is cut off from long ranges, and no node vanishes from short ones.",
    good="04:10 to 05:00 in the answers for 04:00–05:03 and 02:00–05:03",
    bad="the answer for 02:00–05:03 begins at 04:03",
)
@each_pair(lambda one, other: _same_deployment(one, other) and _end(one, other))
def windows_show_the_same_points(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    grids = [_grid(answer, evidence.settled_ms) for answer in (one, other)]
    times = set(grids[0]) & set(grids[1])
    # By list of points, not by quantity: a quantile that is left out everywhere is not there to be compared.
    lists = [{series.key[:2]: series for series in answer.lists} for answer in (one, other)]
    count = 0
    for key in {**lists[0], **lists[1]}:
        first, second = (found[key].at if key in found else {} for found in lists)
        shown = times & (first.keys() | second.keys())
        count += len(shown)
        missing = sorted(time for time in shown if (time in first) != (time in second))
        if missing:
            time = missing[0]
            has, lacks = (one, other) if time in first else (other, one)
            message = (
                f"{title((*key, 'value'))} has a point at {clock(time)} in the answer for {_asked(has)}, but not in "
                f"that for {_asked(lacks)}, which includes this time ({len(missing)} of {len(shown)} points are such)"
            )
            yield fault("/metrics", message, "no point", "the same points")
            break
    yield count


def _grid(answer: Answer, settled_ms: int) -> range:
    """The times that belong to an answer's window and grid, up to what is settled; without the very end."""
    start, end, step = answer.asked("start_epoch_millis"), answer.asked("end_epoch_millis"), answer.step_ms
    if end is None or step is None or not answer.times_ms:
        return range(0)
    # How far a window without a start goes back is documented nowhere: at least as far as its points.
    start = answer.times_ms[0] if start is None else start
    first = answer.times_ms[0] - (answer.times_ms[0] - start // 1000 * 1000) // step * step
    return range(first, min(end, settled_ms + 1), step)


def _asked(answer: Answer) -> str:
    start, end = (answer.asked(name) for name in TIME_MEMBERS[:2])
    window = f"{'any start' if start is None else clock(start)} to {clock(end or 0)}"
    return f"{window} at {(answer.step_ms or 0) / 1000:g} s"


def _scaled(evidence: Evidence, one: Answer, other: Answer, name: str) -> Iterator[Violation | int]:
    if _divisor(one) > _divisor(other):
        one, other = other, one
    times = _divisor(other) / _divisor(one)
    for key, series, also in _shared(one, other):
        if key[1][0] != name:
            continue
        count, wrong = 0, None
        for time, value in series.at.items():
            second = also.at.get(time)
            if value is None or second is None or time > evidence.settled_ms:
                continue
            count += 1
            if wrong is None and _differ(value * times, second, 1e-3) and abs(value * times - second) > 1e-5 * times:
                wrong = time, value, second
        yield count
        if wrong:
            time, value, second = wrong
            message = (
                f"{series.title} at {clock(time)} is {number(value)} with a time divisor of {_divisor(one)} s and "
                f"{number(second)} with one of {_divisor(other)} s, which should be {times:g} times as much"
            )
            yield fault(also.place(also.times_ms.index(time)), message, number(second), number(value * times))
            return


@QUERIES.check(
    MUST,
    source=_DIVISOR,
    why="time_divisor_seconds is the unit of time of inference_volume, and one second without it: 60 gives requests a "
    "minute, sixty times as many as requests a second.",
    good="4.0 without it, 240.0 with 60",
    bad="4.0 without it, 4.0 with 60",
)
@each_pair(_other_divisor)
def the_divisor_scales_volume(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    yield from _scaled(evidence, one, other, VOLUME)


@QUERIES.check(
    SHOULD,
    source="inferred: the volume by status is a request-volume metric too",
    why="The divisor scales the volume of the status classes as it scales the volume, so that the classes still sum to "
    "it.",
    good="2xx is 3.8 without it, 228.0 with 60",
    bad="2xx is 3.8 in both",
)
@each_pair(_other_divisor)
def the_divisor_scales_statuses(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    yield from _scaled(evidence, one, other, BY_STATUS)


@QUERIES.check(
    MUST,
    source=_DIVISOR,
    why="The divisor touches request volumes only: latency, concurrency and all compute series are the same whatever "
    "it is.",
    good="p50 is 1800 in both",
    bad="p50 is 1800 without it, 30 with 60",
)
@each_pair(lambda one, other: _other_divisor(one, other) and one.step_ms == other.step_ms)
def the_divisor_leaves_the_rest(evidence: Evidence, one: Answer, other: Answer) -> Iterator[Violation | int]:
    divisors = f"a time divisor of {_divisor(one)} s in the one and of {_divisor(other)} s in the other"
    because = f"with {divisors}, which may scale request volumes only"
    yield from _compare(evidence, one, other, because, skip=(VOLUME, BY_STATUS))


@QUERIES.check(
    SHOULD,
    source="documented for siblings: the last hour; an assumption here",
    why="Without a start, the window is the hour before the end, and the end is now if it is left out too.",
    good="{}: 121 points from 04:03 to 05:03 at 30 s",
    bad="{}: 5 minutes, or a day",
)
@each_answer
def the_default_window_is_an_hour(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    if answer.asked("start_epoch_millis") is not None or len(answer.times_ms) < 2:
        return
    yield 1
    end = answer.asked("end_epoch_millis") or answer.times_ms[-1]
    length, slack = end - answer.times_ms[0], max(2 * (answer.step_ms or 0), 300_000)
    if length > _HOUR_MS + slack or (length < _HOUR_MS - slack and _older(evidence, answer.times_ms[0])):
        message = f"without a start, the points cover {length / 60_000:.0f} minutes before the end, not an hour"
        yield fault("/metrics", message, f"{length / 60_000:.0f} minutes", "60 minutes")


def _older(evidence: Evidence, time_ms: int) -> bool:
    """Whether any answer has points well before a time: if none has, the deployment may be no older."""
    return any(answer.times_ms and answer.times_ms[0] < time_ms - 600_000 for answer in evidence.answers)


def _derived(evidence: Evidence) -> list[tuple[int, int, Answer]]:
    """Length of the window and step, in ms, of each answer whose step the server chose."""
    return [
        (_length(answer), answer.step_ms, answer)
        for answer in evidence.answers
        if answer.asked("step_seconds") is None and answer.step_ms is not None
    ]


def _length(answer: Answer) -> int:
    start, end = (answer.asked(name) for name in TIME_MEMBERS[:2])
    if start is not None and end is not None:
        return end - start
    return answer.exchange.at_ms - start if start is not None else _HOUR_MS


@QUERIES.check(
    MUST,
    source="documented by the vendor: a step is derived from the range so that large windows return fewer points",
    why="Without step_seconds the step grows with the range, so that long ranges do not return every point.",
    good="an hour at 30 s, three days at 600 s",
    bad="an hour at 30 s, three days at 30 s",
)
def long_windows_get_a_coarser_step(evidence: Evidence) -> Iterator[Look]:
    ordered = sorted(_derived(evidence), key=lambda one: one[0])
    for (short, fine, one), (long, coarse, other) in combinations(ordered, 2):
        if long < 24 * short:
            continue
        found: Mapping[str, str] = {}
        if coarse <= fine:
            message = (
                f"without step_seconds, {long / _HOUR_MS:g} h come at a step of {coarse // 1000} s and "
                f"{short / _HOUR_MS:g} h at {fine // 1000} s: the step does not grow with the window"
            )
            found = {"message": message, "seen": f"{coarse // 1000} s", "expected": f"more than {fine // 1000} s"}
        yield Look((one.exchange, other.exchange), 1, (fault("/metrics", **found),) if found else ())


@QUERIES.check(
    SHOULD,
    source="documented for a sibling: 30 s up to 2 h, 60 s up to a day, 600 s up to 3 days, 3600 s beyond",
    why="The step that the server derives is that of the only ladder the vendor publishes.",
    good="an hour at 30 s, a day at 60 s",
    bad="an hour at 15 s",
)
@each_answer
def the_derived_step_is_on_the_ladder(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    if answer.asked("step_seconds") is not None or answer.step_ms is None:
        return
    yield 1
    length = _length(answer) // 60_000 * 60_000
    expected = next((step for longest, step in _LADDER if length <= longest), _COARSEST_MS)
    if answer.step_ms != expected:
        message = (
            f"without step_seconds, {length / _HOUR_MS:.3g} h come at a step of {answer.step_ms / 1000:g} s; siblings "
            f"of the endpoint take {expected // 1000} s"
        )
        yield fault("/metrics", message, f"{answer.step_ms / 1000:g} s", f"{expected // 1000} s")
