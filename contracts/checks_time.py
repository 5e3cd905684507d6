"""Checks of timestamps within one answer: form, order, window, step, grid."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .answer import Answer, Series, clock
from .check import Level, Look, Subject, each_answer, fault
from .evidence import Evidence, is_about_a_time
from .exchange import VALID
from .spec_pointer import join
from .strict_json import quote
from .violation import Violation

TIME = Subject("time")
MUST, SHOULD = Level.MUST, Level.SHOULD
_CLIENTS = "relied upon by every published client"
_RANGE = "documented by the vendor: the range that is asked for"
SLACK_MS = 1000
"""A start with milliseconds may be rounded down to the second."""
_SKEW_MS = 5_000


def _place(series: Series, index: int) -> str:
    return join(series.pointer, index, "timestamp")


def _name(series: Series) -> str:
    """A list of points in words; its quantities share the times, so none is named."""
    return series.title.replace(f".{series.quantity}", "") if series.quantity != "value" else series.title


@TIME.check(
    MUST,
    source="documented by the vendor: date-time; both official clients require a zone",
    why="A timestamp is RFC 3339 with a zone, Z or an offset. Without one, a client reads it in its own zone and shows "
    "everything hours off.",
    good="2026-12-01T05:03:00Z, 2026-11-30T22:03:00-07:00",
    bad="2026-12-01T05:03:00, 1796101380",
)
def timestamps_have_a_zone(evidence: Evidence) -> Iterator[Look]:
    counts = {id(answer.exchange): answer.points for answer in evidence.answers}
    for exchange in evidence.of(VALID):
        found = [
            fault(one.where, f"a timestamp is no RFC 3339 time with a zone (Z or an offset): {one.seen}", one.seen)
            for one in evidence.violations(exchange)
            if is_about_a_time(one)
        ]
        yield Look((exchange,), max(len(found), counts.get(id(exchange), 0)), tuple(found[:1]))


@TIME.check(
    MUST,
    source=_CLIENTS,
    why="The points of a series ascend in time. Clients take the last one as the newest and draw lines from each to "
    "the next.",
    good="05:01, 05:02, 05:03",
    bad="05:03, 05:02, 05:01",
)
@each_answer
def timestamps_ascend(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for series in answer.lists:
        times = series.times_ms
        yield max(0, len(times) - 1)
        back = [
            index
            for index, (earlier, later) in enumerate(pairwise(times), 1)
            if earlier is not None and later is not None and later < earlier
        ]
        if back:
            index = back[0]
            message = (
                f"{_name(series)}: the points are not in order of time; {series.stamps[index]} comes after "
                f"{series.stamps[index - 1]} ({len(back)} of the {len(times) - 1} points after the first are earlier "
                "than the one before)"
            )
            yield fault(_place(series, index), message, series.stamps[index], "a later time")


@TIME.check(
    MUST,
    source=_CLIENTS,
    why="A series has one point at a time. Two at the same time are counted twice by whoever sums them.",
    good="05:01, 05:02, 05:03",
    bad="05:01, 05:02, 05:02",
)
@each_answer
def timestamps_are_unique(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for series in answer.lists:
        known = [time for time in series.times_ms if time is not None]
        yield len(known)
        if len(set(known)) != len(known):
            seen: set[int] = set()
            for index, time in enumerate(series.times_ms):
                if time in seen:
                    message = f"{_name(series)}: the time {series.stamps[index]} stands there more than once"
                    yield fault(_place(series, index), message, series.stamps[index], "each time once")
                    break
                if time is not None:
                    seen.add(time)


@TIME.check(
    MUST,
    source=_RANGE,
    why="No point lies before the start or after the end that were asked for. A start with milliseconds may be rounded "
    "down to its second; whether a point at the very end is included is left open here.",
    good="asked 05:00 to 05:10: points from 05:00 to 05:10",
    bad="asked 05:00 to 05:10: a point at 05:11",
)
@each_answer
def points_are_in_the_window(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    start, end = answer.asked("start_epoch_millis"), answer.asked("end_epoch_millis")
    for series in answer.lists if (start, end) != (None, None) else ():
        yield len(series.times_ms)
        for index, time in enumerate(series.times_ms):
            early = time is not None and start is not None and time <= start - SLACK_MS
            late = time is not None and end is not None and time > end
            if early or late:
                edge, limit = ("before the start", start) if early else ("after the end", end)
                message = f"{_name(series)}: a point at {series.stamps[index]} lies {edge} that was asked for"
                yield fault(_place(series, index), f"{message}, {clock(limit or 0)}", series.stamps[index])
                break


@TIME.check(
    MUST,
    source="documented by the vendor: step_seconds is the resolution of the series",
    why="Neighbouring points are one step apart, or a multiple of it where points are missing. A client that sums "
    "rates multiplies by the step that it asked for.",
    good="step 60: 05:01, 05:02, 05:04",
    bad="step 60: 05:01:00, 05:01:30, 05:02:00",
)
@each_answer
def points_keep_the_step(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    step_s = answer.asked("step_seconds")
    if step_s is None:
        return
    exact = False
    for series in answer.lists:
        times = sorted(series.at)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        yield len(gaps)
        exact = exact or not gaps or step_s * 1000 in gaps
        wrong = next((gap for gap in gaps if gap % (step_s * 1000)), None)
        if wrong is not None:
            message = (
                f"{_name(series)}: neighbouring points are {wrong / 1000:g} s apart, but a step of {step_s} s was "
                "asked for"
            )
            yield fault(series.pointer, message, f"{wrong / 1000:g} s", f"{step_s} s or a multiple of it")
            return
    if not exact and answer.step_ms:
        message = (
            f"no two points are one step of {step_s} s apart; the nearest neighbours of all series are "
            f"{answer.step_ms // 1000} s apart, so the step was not honoured"
        )
        yield fault("/metrics", message, f"{answer.step_ms // 1000} s", f"{step_s} s")


@TIME.check(
    MUST,
    source="documented by the vendor: one range and resolution for all series",
    why="All series of an answer stand on one grid, so that points of different series meet at the same times. A "
    "client that joins CPU and GPU by time finds nothing where they do not.",
    good="cpu_usage and gpu_utilization both at 05:01:00, 05:02:00",
    bad="cpu_usage at 05:01:00, gpu_utilization at 05:01:30, with a step of 60 s",
)
@each_answer
def series_share_a_grid(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    step_ms = (answer.asked("step_seconds") or 0) * 1000 or answer.step_ms
    if step_ms is None:
        return
    first: tuple[Series, int] | None = None
    for series in answer.lists:
        for time in series.at:
            if first is None:
                first = series, time
            break
        phases = {(time - first[1]) % step_ms for time in series.at} if first else set()
        yield len(series.at)
        if first and phases - {0}:
            off = min(phases - {0})
            others = f"does not share the times of {_name(first[0])}"
            relation = "has points off its own grid" if series is first[0] else others
            message = f"{_name(series)} {relation}: they are off by {off / 1000:g} s on a grid of {step_ms / 1000:g} s"
            yield fault(series.pointer, message, f"{off / 1000:g} s off", "the same times, where there are points")
            return


@TIME.check(
    SHOULD,
    source="observed on sibling endpoints: points at start + k·step",
    why="The grid begins at the start that was asked for, rounded down to the second; it is not aligned to multiples "
    "of the step. Nobody documents it; a client that asks for 05:00:20 and expects points at 05:01:20 relies on it.",
    good="start 05:00:20, step 60: 05:00:20, 05:01:20",
    bad="start 05:00:20, step 60: 05:01:00, 05:02:00",
)
@each_answer
def the_grid_begins_at_the_start(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    start, step_s = answer.asked("start_epoch_millis"), answer.asked("step_seconds")
    if start is None or step_s is None or not answer.times_ms:
        return
    yield len(answer.times_ms)
    origin = start // 1000 * 1000
    off = next((time for time in answer.times_ms if (time - origin) % (step_s * 1000)), None)
    if off is not None:
        message = f"points do not stand at start + k·step: {clock(off)} is not {clock(origin)} + k · {step_s} s"
        yield fault("/metrics", message, clock(off), f"{clock(origin)} + k · {step_s} s")


@TIME.check(
    SHOULD,
    source="observed on sibling endpoints: 20 minutes at 30 s are 41 points",
    why="The end is inclusive: where it falls on the grid there is a point at it.",
    good="05:00 to 05:20 at 30 s: 41 points",
    bad="05:00 to 05:20 at 30 s: 40 points",
)
@each_answer
def the_end_is_included(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    start, end = answer.asked("start_epoch_millis"), answer.asked("end_epoch_millis")
    step_ms = (answer.asked("step_seconds") or 0) * 1000
    if start is None or end is None or not step_ms or not answer.times_ms or end > evidence.settled_ms:
        return
    last = end - (end - start // 1000 * 1000) % step_ms
    if last == end and len(answer.times_ms) > 1:
        yield 1
        if answer.times_ms[-1] == end - step_ms:
            message = f"the end {clock(end)} is a point of the grid, but the last point is one step earlier"
            yield fault("/metrics", message, clock(answer.times_ms[-1]), clock(end))


@TIME.check(
    SHOULD,
    source="assumption: nothing can be measured before it happens",
    why="No point lies in the future, even if the end that was asked for does. A dashboard that asks until midnight "
    "would draw what has not happened.",
    good="asked until 06:00 at 05:03: the last point is at 05:03 or before",
    bad="asked until 06:00 at 05:03: points up to 06:00",
)
@each_answer
def no_points_in_the_future(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    # The provider's clock is known by answers that end now: without an end, or with one that it has shown to be past.
    now = [one for one in evidence.answers if one.asked("end_epoch_millis") is None and one.times_ms]
    if not now or not answer.times_ms:
        return
    yield len(answer.times_ms)
    newest = max(now, key=lambda one: one.times_ms[-1])
    latest = newest.times_ms[-1]
    later_ms = max(0, answer.exchange.at_ms - newest.exchange.at_ms)
    step_ms = max(answer.step_ms or 0, newest.step_ms or 0, 60_000)
    if answer.times_ms[-1] > latest + step_ms + later_ms + _SKEW_MS:
        message = (
            f"there is a point at {clock(answer.times_ms[-1])}, in the future: answers that end now end at "
            f"{clock(latest)}"
        )
        yield fault("/metrics", message, quote(clock(answer.times_ms[-1])), f"no point after {clock(latest)}")
