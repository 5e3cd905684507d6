"""Faults of time within one answer: timestamps, order, window, step, grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .answer import clock, time_ms
from .plan import HOUR_MS
from .spoil import LONG, Call, Change, Reply, Spoil
from .spoil_change import Points, lists, metrics, reply, request, series

_ZONE, _ASCEND = "timestamps_have_a_zone", "timestamps_ascend"
_WINDOW, _STEP = "points_are_in_the_window", "points_keep_the_step"


def stamped(write: Callable[[str], str]) -> Change:
    """A change of the text of every timestamp."""

    def edit(points: Points, call: Call) -> None:
        for point in points:
            point["timestamp"] = write(point["timestamp"])

    return series(edit)


def later(points: Points, by_ms: int) -> None:
    """Move points in time."""
    for point in points:
        point["timestamp"] = clock((time_ms(point["timestamp"]) or 0) + by_ms)


def step_ms(call: Call) -> int:
    """The step that is asked for; 30 s where none is."""
    return (call.asked("step") or 30) * 1000


def _swap_two(points: Points, call: Call) -> None:
    if len(points) > 3:
        points[-2], points[-1] = points[-1], points[-2]


def _repeat_edges_of_chunks(points: Points, call: Call) -> None:
    points[:] = [again for index, one in enumerate(points) for again in ([one] if index % 50 else [one, dict(one)])]


def _one_before(points: Points, call: Call) -> None:
    if points:
        first = dict(points[0])
        later([first], -step_ms(call))
        points.insert(0, first)


def _one_after(points: Points, call: Call) -> None:
    if points:
        last = dict(points[-1])
        later([last], step_ms(call))
        points.append(last)


def _without(*names: str) -> Change:
    """A change that ignores members of the requests for metrics that are right."""

    def edit(call: Call) -> None:
        if call.is_for_metrics and call.is_plain and call.span_ms >= 0:
            call.ask(**dict.fromkeys((name for name in names if name in call.members), None))

    return request(edit)


def stepped(step: Callable[[int], int]) -> Change:
    """A change of the step that is asked for."""

    def edit(call: Call) -> None:
        asked = call.asked("step")
        if asked is not None:
            call.ask(step_seconds=step(asked))

    return request(edit)


def _jitter(found: dict[str, Any], call: Call) -> None:
    for _, points in lists(found):
        for point in points[1:-1:2]:
            later([point], 1000)


def _half_a_step_off(points: Points, call: Call) -> None:
    del points[-1:]
    later(points, step_ms(call) // 2)


def _edges(start: Callable[[int, int], int], end: Callable[[int, int], int] = lambda end, step: end) -> Change:
    """A change of the edges that are asked for, by the edge and the step in ms."""

    def edit(call: Call) -> None:
        first, last, step = call.asked("start"), call.asked("end"), call.asked("step")
        if first is not None and last is not None and step is not None and first < last:
            call.ask(start_epoch_millis=start(first, step * 1000), end_epoch_millis=end(last, step * 1000))

    return request(edit)


def _fill_the_future(came: Reply, call: Call) -> None:
    if came.status != 200 or not call.is_for_metrics:
        return
    end, value = call.asked("end"), came.value
    for _, points in lists(value["metrics"]):
        while end is not None and points and (time_ms(points[-1]["timestamp"]) or 0) + step_ms(call) <= end:
            _one_after(points, call)
    came.say(200, value)


def _local_time(points: Points, call: Call) -> None:
    later(points, -7 * HOUR_MS)


SPOILS = (
    Spoil("naive", "Timestamps have no zone.", _ZONE, stamped(lambda stamp: stamp.removesuffix("Z"))),
    Spoil("digits", "Timestamps are epoch seconds as text.", _ZONE,
          stamped(lambda stamp: str((time_ms(stamp) or 0) // 1000))),
    Spoil("zone-by-name", "The zone stands there as a word.", _ZONE,
          stamped(lambda stamp: stamp.removesuffix("Z") + " UTC")),
    Spoil("offset-without-colon", "The zone is +0000.", _ZONE, stamped(lambda stamp: stamp.replace("Z", "+0000"))),
    Spoil("descending", "The newest point comes first.", _ASCEND, series(lambda points, call: points.reverse())),
    Spoil("newest-two-swapped", "The newest two points are in the wrong order.", _ASCEND, series(_swap_two)),
    Spoil("chunk-edges-twice", "Where two chunks meet, a point stands there twice.", "timestamps_are_unique",
          series(_repeat_edges_of_chunks)),
    Spoil("one-step-early", "There is a point one step before the start.", _WINDOW, series(_one_before)),
    Spoil("one-step-late", "There is a point one step after the end.", _WINDOW,
          series(_one_after, "cpu_memory_usage_bytes")),
    Spoil("start-ignored", "The start is ignored: all ranges are an hour.", _WINDOW, _without("start_epoch_millis")),
    Spoil("window-ignored", "The window is ignored: all ranges are the last hour.", _WINDOW,
          _without("start_epoch_millis", "end_epoch_millis")),
    Spoil("local-time", "Timestamps are in the server's own time, but say Z.", _WINDOW, series(_local_time),
          deployment=LONG),
    Spoil("grid-down-to-the-epoch", "The start is rounded down to a multiple of the step since 1970.", _WINDOW,
          _edges(lambda start, step: start // step * step)),
    Spoil("grid-up-from-the-epoch", "The start is rounded up to a multiple of the step since 1970.",
          "the_grid_begins_at_the_start", _edges(lambda start, step: -(-start // step) * step)),
    Spoil("step-ignored", "The step is ignored: it is always 30 s.", _STEP, stepped(lambda step: 30)),
    Spoil("step-doubled", "The step is twice as long.", _STEP, stepped(lambda step: 2 * step)),
    Spoil("least-step-60", "A step below 60 s is raised to 60 s.", _STEP, stepped(lambda step: max(60, step))),
    Spoil("scrape-times", "Points stand at the times of scrapes, a second off.", _STEP, metrics(_jitter)),
    Spoil("cpu-half-a-step-off", "CPU usage stands half a step beside all other series.", "series_share_a_grid",
          series(_half_a_step_off, "cpu_usage")),
    Spoil("traffic-half-a-step-off", "Traffic stands half a step beside the compute series.", "series_share_a_grid",
          series(_half_a_step_off, "inference_volume", "concurrent_requests", "response_time_stats",
                 "inference_volume_by_status")),
    Spoil("end-exclusive", "The end is exclusive.", "the_end_is_included",
          _edges(lambda start, step: start, lambda end, step: end - 1)),
    Spoil("future-filled", "The last value is repeated into the future, up to the end that is asked for.",
          "no_points_in_the_future", reply(_fill_the_future)),
)  # fmt: skip
"""Each is seen in one answer, in its timestamps."""
