"""Faults in what the members of a request do: divisor, derived step, default window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .plan import HOUR_MS, MINUTE_MS
from .spoil import Ask, Call, Change, Reply, Spoil
from .spoil_change import lists, metrics, newest_ms, request

_SCALES, _STATUSES, _REST = "the_divisor_scales_volume", "the_divisor_scales_statuses", "the_divisor_leaves_the_rest"
_LONG, _LADDER, _DEFAULT = (
    "long_windows_get_a_coarser_step", "the_derived_step_is_on_the_ladder", "the_default_window_is_an_hour"
)  # fmt: skip
_VOLUMES = ("inference_volume", "inference_volume_by_status")


def _by_divisor(factor: Callable[[int], float], *names: str) -> Change:
    """A change of traffic, where a divisor is asked for, by a factor that depends on it."""

    def edit(found: dict[str, Any], call: Call) -> None:
        divisor = call.asked("time")
        for path, points in lists(found) if divisor else ():
            for point in points if path[0] in names else ():
                for name, value in point.items():
                    if name != "timestamp" and value is not None:
                        point[name] = value * factor(divisor or 1)

    return metrics(edit)


def _derived(step: Callable[[float], int]) -> Change:
    """A change of the derived step, by the length of the window in seconds."""

    def edit(call: Call) -> None:
        if call.is_for_metrics and call.asked("step") is None and call.span_ms >= 0 and call.is_plain:
            call.ask(step_seconds=step((call.span_ms or HOUR_MS) / 1000))

    return request(edit)


def _default(length_ms: int, step: int) -> Change:
    """A change of the length of a window without a start."""

    async def change(call: Call, ask: Ask) -> Reply:
        came = await ask(call)
        if came.status == 200 and call.is_for_metrics and call.asked("start") is None:
            end = call.asked("end") or newest_ms(came.value["metrics"])
            call.ask(start_epoch_millis=end - length_ms, end_epoch_millis=end, step_seconds=call.asked("step") or step)
            came = await ask(call)
        return came

    return change


SPOILS = (
    Spoil("divisor-ignored", "The divisor is ignored.", _SCALES, _by_divisor(lambda divisor: 1 / divisor, *_VOLUMES)),
    Spoil("divisor-inverted", "Volume is divided by the divisor.", _SCALES,
          _by_divisor(lambda divisor: divisor**-2, *_VOLUMES)),
    Spoil("divisor-twice", "The divisor is applied twice.", _SCALES, _by_divisor(lambda divisor: divisor, *_VOLUMES)),
    Spoil("divisor-up-to-a-minute", "A divisor beyond a minute is a minute.", _SCALES,
          _by_divisor(lambda divisor: min(1, 60 / divisor), *_VOLUMES)),
    Spoil("divisor-on-classes-only", "The divisor scales the status classes only.", _SCALES,
          _by_divisor(lambda divisor: 1 / divisor, _VOLUMES[0])),
    Spoil("divisor-on-volume-only", "The divisor scales the volume, not the status classes.", _STATUSES,
          _by_divisor(lambda divisor: 1 / divisor, _VOLUMES[1])),
    Spoil("divisor-on-latency", "The divisor scales latency too.", _REST,
          _by_divisor(lambda divisor: divisor, "response_time_stats")),
    Spoil("divisor-on-concurrency", "The divisor scales concurrency too.", _REST,
          _by_divisor(lambda divisor: divisor, "concurrent_requests")),
    Spoil("constant-step", "The derived step is always 300 s.", _LONG, _derived(lambda length: 300)),
    Spoil("hundred-points", "The derived step is a hundredth of the window.", _LADDER,
          _derived(lambda length: round(length / 100))),
    Spoil("fine-step", "The derived step is half as long as at siblings.", _LADDER,
          _derived(lambda length: 15 if length <= 7200 else 30 if length <= 86400 else 300)),
    Spoil("default-of-a-day", "Without a start, the window is a day.", _DEFAULT, _default(24 * HOUR_MS, 60)),
    Spoil("default-of-minutes", "Without a start, the window is five minutes.", _DEFAULT, _default(5 * MINUTE_MS, 30)),
)  # fmt: skip
"""Each is seen in requests with and without a member."""
