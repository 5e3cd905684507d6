"""Checks of values within one answer: bounds and units."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from .answer import TOP, Answer, Series, clock
from .check import Level, Subject, beyond, each_answer, fault, number
from .evidence import Evidence
from .violation import Violation

UNITS = Subject("units")
MUST, SHOULD = Level.MUST, Level.SHOULD
_UNIT = "documented by the vendor: the unit of the series"
_HAIR = 1e-6

BUSY = 0.5
LEAST_IN_USE_BYTES = 256 << 20
"""A process that computes on a GPU holds more than this on it and on its host: the runtime's context alone does."""
MOST_BYTES = 1 << 50
MOST_CORES = 1024
LITTLE = 30.0
"""How far concurrency may be from rate × latency: the usual slips are by 60 and by 1000."""
LEAST_DISK_BYTES = 1 << 30
"""No node with a GPU has a smaller disk: the runtime's libraries alone need more."""
LEAST_SERVED = 10
"""Points with requests that it takes to compare them."""


@UNITS.check(
    MUST,
    source="the meaning of the series: a count, a rate, a duration, a share",
    why="No value is negative. Requests, bytes, cores, milliseconds and fractions start at 0; a gap is a missing "
    "point, not −1.",
    good='{"value": 0.0}',
    bad='{"value": -1}',
)
@each_answer
def values_are_not_negative(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for series in answer.series:
        yield from beyond(series, lambda value, place: f"{place} is {number(value)}, below 0", "0 or more", least=0)


@UNITS.check(
    MUST,
    source="documented by the vendor: utilization is a fraction from 0 to 1",
    why="GPU and storage utilization are fractions, not percentages: 0.87 is 87 %. A client that multiplies by 100 "
    "shows 8,700 %.",
    good='{"value": 0.87}',
    bad='{"value": 87.0}',
)
@each_answer
def utilization_is_a_fraction(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for series in answer.series:
        if series.path[0] == "gpu_utilization" or series.path[-1] == "utilization":
            yield from beyond(
                series,
                lambda value, place: (
                    f"{place} is {number(value)}, above 1: utilization is a fraction from 0 to 1"
                    + (", this looks like percent" if 1.5 < value <= 100 else "")
                ),
                "0 to 1",
                most=1 + _HAIR,
            )


def _busy(answer: Answer, node: str | None) -> bool:
    """Whether any GPU of a node computes in this window."""
    return any(
        max(series.numbers, default=0) > BUSY for series in answer.named("gpu_utilization") if series.node == node
    )


def _too_small(series: Series, what: str) -> Iterator[Violation | int]:
    """A violation if memory in use is smaller at its greatest than a process that computes can have."""
    yield len(series.numbers)
    most = max(series.numbers, default=0)
    if 0 < most < LEAST_IN_USE_BYTES:
        guess = "MiB" if most < 4 << 20 else "KiB"
        message = (
            f"{series.title} never exceeds {number(most)} while a GPU of the node is busy; {what} is in bytes, and "
            f"this is less than 256 MiB, so it looks like {guess}"
        )
        place = series.place(series.values.index(most))
        yield fault(place, message, number(most), f"bytes, {LEAST_IN_USE_BYTES} or more")


def _small_disk(usage: Series, share: Series | None) -> Iterator[Violation | int]:
    """A violation if usage and utilization make a disk that no node has; a share below 1 % says too little."""
    shares = share.at if share else {}
    sizes = [
        (used / part, index)
        for index, (time, used) in enumerate(zip(usage.times_ms, usage.values, strict=True))
        if used and time is not None and 0.01 <= (part := shares.get(time) or 0.0) <= 1
    ]
    yield len(sizes)
    size, index = max(sizes, default=(0.0, 0))
    if sizes and size < LEAST_DISK_BYTES:
        message = (
            f"{usage.title} and its utilization make a disk of {number(size)} bytes; usage is in bytes, and this is "
            "less than 1 GiB, so it looks like MiB or KiB"
        )
        yield fault(usage.place(index), message, number(usage.values[index]), "bytes")


@UNITS.check(
    MUST,
    source=_UNIT,
    why="Memory and disk usage are in bytes. Where a GPU of the node is busy, a process computes on it, and that holds "
    "more than 256 MiB on the GPU and on the host: smaller values are in MiB or KiB. So is disk usage if it and its "
    "utilization make a disk smaller than 1 GiB. Beyond 1 PiB they are wrong too.",
    good='{"value": 67108864000}',
    bad='{"value": 64000}, while the GPU is 90 % busy',
)
@each_answer
def memory_is_in_bytes(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for series in answer.series:
        if series.path[0] in ("gpu_memory_usage_bytes", "cpu_memory_usage_bytes") or series.path[-1] == "usage_bytes":
            yield from beyond(
                series,
                lambda value, place: f"{place} is {number(value)} bytes, more than a PiB",
                "bytes",
                most=MOST_BYTES,
            )
        if series.path[0] == "cpu_memory_usage_bytes" and _busy(answer, series.node):
            yield from _too_small(series, "host memory")
        if series.path == ("ephemeral_storage", "usage_bytes"):
            yield from _small_disk(series, answer.of("ephemeral_storage.utilization", series.node))
        if series.path[0] == "gpu_memory_usage_bytes":
            rank = answer.by_key.get((series.node, ("gpu_utilization", *series.path[1:]), "value"))
            if rank and max(rank.numbers, default=0) > BUSY:
                yield from _too_small(series, "GPU memory")


@UNITS.check(
    MUST,
    source=_UNIT,
    why="CPU usage is in cores. No node has more than 1,024; larger values are thousandths of a core, or percent.",
    good='{"value": 19.4}',
    bad='{"value": 19400}',
)
@each_answer
def cpu_is_in_cores(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for series in answer.named("cpu_usage"):
        yield from beyond(
            series,
            lambda value, place: (
                f"{place} is {number(value)}; CPU usage is in cores and no node has more than {MOST_CORES}, "
                "so this looks like thousandths of a core"
            ),
            "cores",
            most=MOST_CORES,
        )


def is_in_the_usual_unit(evidence: Evidence, answer: Answer) -> bool:
    """Whether volumes are judged here: without a divisor or, if all answers with volumes have one, with it.

    What the divisor does to volumes has checks of its own, which say it better.
    """

    def divided(one: Answer) -> bool:
        return (one.asked("time_divisor_seconds") or 1) != 1

    return not divided(answer) or all(divided(one) for one in evidence.answers if one.of("inference_volume"))


@UNITS.check(
    MUST,
    source="documented by the vendor: latency in milliseconds, volume per second by default; Little's law",
    why="Requests in progress are rate × latency (Little's law). A mean concurrency that is 30 times too large or too "
    "small says that latency is in seconds instead of milliseconds, or that volume is per minute where per second was "
    "asked for.",
    good="4 requests a second, p50 2,000 ms, 8 in progress",
    bad="4 requests a second, p50 2.0, 8 in progress",
)
@each_answer
def latency_fits_concurrency(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    volume, concurrent = answer.of("inference_volume"), answer.of("concurrent_requests")
    median = answer.of("response_time_stats", quantity="p50")
    if not (volume and concurrent and median) or not is_in_the_usual_unit(evidence, answer):
        return
    divisor = answer.asked("time_divisor_seconds") or 1
    served = [
        (rate / divisor, middle, concurrent.at.get(time) or 0.0)
        for time, rate in volume.at.items()
        if rate and time <= evidence.settled_ms and (middle := median.at.get(time))
    ]
    if len(served) < LEAST_SERVED:
        return
    expected = fmean(rate * middle / 1000 for rate, middle, _ in served)
    seen = fmean(busy for _, _, busy in served)
    yield len(served)
    if max(seen, expected) < 0.2 or expected / LITTLE <= seen <= expected * LITTLE:
        return
    rate, middle = (fmean(values) for values in list(zip(*served, strict=True))[:2])
    message = (
        f"concurrent_requests is {number(seen)} on average, but inference_volume of {number(rate)} a second at a p50 "
        f"of {number(middle)} ms makes {number(expected)} in progress: one of them is in another unit"
    )
    if seen > expected * LITTLE:
        message += " (a latency in seconds would explain it)" if seen > expected * 200 else ""
    yield fault(median.pointer, message, number(seen), f"about {number(expected)}")


@UNITS.check(
    MUST,
    source="the meaning of the series: utilization is the share of one disk",
    why="Storage utilization is usage divided by the size of the node's disk, which is the same for all points of a "
    "node. Rounding to a hundredth is allowed.",
    good="usage 200 GB at 0.20, 400 GB at 0.40",
    bad="usage 200 GB at 0.20, 400 GB at 0.70",
)
@each_answer
def storage_utilization_fits_usage(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    for node in dict.fromkeys(series.node for series in answer.named("ephemeral_storage")):
        usage = answer.of("ephemeral_storage.usage_bytes", node)
        share = answer.of("ephemeral_storage.utilization", node)
        if not (usage and share):
            continue
        both = [(time, used, share.at[time]) for time, used in usage.at.items() if share.at.get(time) is not None]
        yield len(both)
        least, most = 0.0, float("inf")
        bounds: list[tuple[float, int]] = []
        for time, used, part in both:
            if used is None or part is None:
                continue
            low = used / (part + 0.006)
            high = used / (part - 0.006) if part > 0.006 else float("inf")
            bounds.append((low, time))
            if low > most * (1 + _HAIR) or high < least * (1 - _HAIR):
                size = bounds[0][0]
                where = f" of node {node}" if node else " at the top level"
                disk = f"a disk of {number(used / part)} bytes" if part else "no disk"
                message = (
                    f"ephemeral_storage{where}: at {clock(time)} a usage of {number(used)} bytes at a utilization of "
                    f"{number(part)} makes {disk}, other points make one of {number(size)} bytes: the utilization is "
                    "not usage divided by the size of one disk, rounding apart"
                )
                yield fault(share.place(share.times_ms.index(time)), message, number(part), f"{used / size:.2f}")
                break
            least, most = max(least, low), min(most, high)


@UNITS.check(
    SHOULD,
    source="documented by the vendor: the instance type in the listing; that the series obey it is inferred",
    why="A node uses no more cores and memory than the instance type of its deployment has, with a tenth to spare for "
    "the difference between nominal and real sizes. Judged where the provider lists the deployment.",
    good="128 cores listed, cpu_usage 19.4",
    bad="16 cores listed, cpu_usage 19.4",
)
@each_answer
def usage_fits_the_instance_type(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    facts = evidence.facts
    limits = {
        "cpu_usage": (facts.cores, "cores"),
        "cpu_memory_usage_bytes": (facts.memory_bytes, "bytes of host memory"),
        "gpu_memory_usage_bytes": (facts.gpu_memory_bytes, "bytes of GPU memory"),
    }
    for name, (limit, unit) in limits.items():
        if not limit:
            continue
        for series in answer.named(name):
            yield from beyond(
                series,
                lambda value, place, limit=limit, unit=unit: (  # type: ignore[misc]
                    f"{place} is {number(value)}, but the listed instance type has {number(limit)} {unit}"
                ),
                f"{number(limit)} or less",
                most=1.1 * limit,
            )


def owner(node: str | None) -> str:
    """A node in words."""
    return "the top level" if node == TOP else f"node {node}"
