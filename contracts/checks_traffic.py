"""Checks of the traffic within one answer: sums and quantiles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .answer import QUANTILES, STATUSES, Answer
from .check import Level, Subject, each_answer, fault, number
from .checks_units import is_in_the_usual_unit
from .evidence import Evidence
from .violation import Violation

TRAFFIC = Subject("traffic")
MUST, SHOULD = Level.MUST, Level.SHOULD


@TRAFFIC.check(
    SHOULD,
    source="inferred from the names: both are request volume",
    why="At each time the volume is the sum of the volumes of the status classes, within a thousandth. The classes 1xx "
    "and 3xx are not told, so a server that counts them is only warned.",
    good="volume 4.0; 2xx 3.8, 4xx 0.2, 5xx 0.0",
    bad="volume 4.0; 2xx 4.0, 4xx 0.2, 5xx 0.0",
)
@each_answer
def volume_is_sum_of_statuses(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    volume = answer.of("inference_volume")
    classes = [answer.of("inference_volume_by_status", quantity=name) for name in STATUSES]
    if volume is None or any(one is None for one in classes) or not is_in_the_usual_unit(evidence, answer):
        return
    count = 0
    for index, (time, total) in enumerate(zip(volume.times_ms, volume.values, strict=True)):
        parts = [one.at.get(time) for one in classes if one and time is not None]
        if total is None or len(parts) != len(STATUSES):
            continue
        known = [part for part in parts if part is not None]
        if len(known) != len(parts):
            continue
        count += 1
        if abs(total - sum(known)) > 1e-3 * max(abs(total), abs(sum(known))) + 1e-9:
            message = (
                f"at {volume.stamps[index]} inference_volume is {number(total)}, but the status classes sum to "
                f"{number(sum(known))} ({' + '.join(map(number, known))})"
            )
            yield fault(volume.place(index), message, number(total), number(sum(known)))
            break
    yield count


@TRAFFIC.check(
    MUST,
    source="the meaning of quantiles",
    why="p50 ≤ p95 ≤ p99 at each time, where they are not null.",
    good="p50 1800, p95 2600, p99 3100",
    bad="p50 1800, p95 2600, p99 2500",
)
@each_answer
def quantiles_are_ordered(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    found = [answer.of("response_time_stats", quantity=name) for name in QUANTILES]
    present = [(name, one) for name, one in zip(QUANTILES, found, strict=True) if one is not None]
    for (low, lower), (high, higher) in pairwise(present):
        count = 0
        for index, (below, above) in enumerate(zip(lower.values, higher.values, strict=True)):
            if below is None or above is None:
                continue
            count += 1
            if below > above:
                message = f"at {lower.stamps[index]} {low} is {number(below)} ms, above {high} with {number(above)} ms"
                yield fault(higher.place(index), message, number(above), f"{number(below)} or more")
                break
        yield count


@TRAFFIC.check(
    SHOULD,
    source="observed on sibling endpoints: null where nothing was served",
    why="Quantiles are numbers where requests were served and null where none were: a latency of nothing is neither 0 "
    "nor the last one known.",
    good="volume 0.0, p50 null; volume 4.0, p50 1800",
    bad="volume 0.0, p50 0",
)
@each_answer
def quantiles_go_with_requests(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    volume = answer.of("inference_volume")
    for name in QUANTILES if volume else ():
        series = answer.of("response_time_stats", quantity=name)
        if series is None or volume is None:
            continue
        count = 0
        for index, (time, value) in enumerate(zip(series.times_ms, series.values, strict=True)):
            rate = volume.at.get(time) if time is not None else None
            if rate is None or (time or 0) > evidence.settled_ms:
                continue
            count += 1
            if (value is None) != (rate == 0):
                message = (
                    f"at {series.stamps[index]} inference_volume is {number(rate)} but {name} is {number(value)}: "
                    + (
                        "requests were served, so there is a latency"
                        if rate
                        else "nothing was served, so there is none"
                    )
                )
                yield fault(series.place(index), message, number(value), "a number" if rate else "null")
                break
        yield count
