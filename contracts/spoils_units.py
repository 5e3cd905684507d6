"""Faults of values within one answer: units, bounds, sizes."""

from __future__ import annotations

from typing import Any

from .answer import time_ms
from .spoil import Call, Spoil
from .spoil_change import Points, computes, lists, metrics, series, values

_FRACTION, _BYTES, _LATENCY = "utilization_is_a_fraction", "memory_is_in_bytes", "latency_fits_concurrency"
_SIZE, _NEGATIVE = "usage_fits_the_instance_type", "values_are_not_negative"
_MIB = 1 << 20
VOLUMES = ("inference_volume", "inference_volume_by_status")


def _times(factor: float, *names: str) -> Any:
    """A change of a unit: numbers times a factor."""
    return values(lambda value: value * factor, *names)


def _negative_gaps(points: Points, call: Call) -> None:
    for point in points:
        if (time_ms(point["timestamp"]) or 0) // 60_000 % 7 == 0:
            point["value"] = -1


def _restart_below_zero(points: Points, call: Call) -> None:
    for point in points:
        if (time_ms(point["timestamp"]) or 0) % 1_800_000 == 0:
            point["value"] = -point["value"]


def _volumes_by(seconds: float | None) -> Any:
    """A change of the volume where no divisor is asked for: per so many seconds, or per step."""

    def edit(found: dict[str, Any], call: Call) -> None:
        if call.asked("time") is not None:
            return
        for path, points in lists(found):
            for point in points if path[0] in VOLUMES else ():
                for name in point.keys() - {"timestamp"}:
                    point[name] *= seconds or call.asked("step") or 30

    return metrics(edit)


def _unrelated(found: dict[str, Any], call: Call) -> None:
    for compute in computes(found):
        for index, point in enumerate(compute["ephemeral_storage"]["utilization"]):
            point["value"] = round(0.3 + index % 5 / 10, 3)


def _other_disk(found: dict[str, Any], call: Call) -> None:
    """Utilization of a disk on which something else grows, so that the ratio drifts."""
    for compute in computes(found):
        for point in compute["ephemeral_storage"]["utilization"]:
            point["value"] = 0.2 + (time_ms(point["timestamp"]) or 0) % 3_600_000 / 3_600_000 / 10


SPOILS = (
    Spoil("minus-one-for-gaps", "A gap is a point with -1.", _NEGATIVE, series(_negative_gaps, "cpu_usage")),
    Spoil("below-zero-at-restarts", "A counter that starts anew gives a negative rate.", _NEGATIVE,
          series(_restart_below_zero, "inference_volume")),
    Spoil("gpu-percent", "GPU utilization is in percent.", _FRACTION, _times(100, "gpu_utilization")),
    Spoil("storage-percent", "Storage utilization is in percent.", _FRACTION, _times(100, "utilization")),
    Spoil("gpu-memory-mib", "GPU memory is in MiB.", _BYTES, _times(1 / _MIB, "gpu_memory_usage_bytes")),
    Spoil("host-memory-mib", "Host memory is in MiB.", _BYTES, _times(1 / _MIB, "cpu_memory_usage_bytes")),
    Spoil("storage-mib", "Storage usage is in MiB.", _BYTES, _times(1 / _MIB, "usage_bytes")),
    Spoil("memory-counted-up", "GPU memory is summed over the samples.", _BYTES,
          _times(1e5, "gpu_memory_usage_bytes")),
    Spoil("millicores", "CPU usage is in thousandths of a core.", "cpu_is_in_cores", _times(1000, "cpu_usage")),
    Spoil("cpu-percent", "CPU usage is in percent of a core.", _SIZE, _times(100, "cpu_usage")),
    Spoil("memory-in-bits", "Host memory is in bits.", _SIZE, _times(8, "cpu_memory_usage_bytes")),
    Spoil("latency-seconds", "Latency is in seconds.", _LATENCY, _times(1e-3, "response_time_stats")),
    Spoil("latency-micros", "Latency is in microseconds.", _LATENCY, _times(1e3, "response_time_stats")),
    Spoil("per-minute-by-default", "Volume is per minute unless asked otherwise.", _LATENCY, _volumes_by(60)),
    Spoil("per-step-by-default", "Volume is the number of requests in a step.", _LATENCY, _volumes_by(None)),
    Spoil("storage-unrelated", "Storage utilization has nothing to do with usage.", "storage_utilization_fits_usage",
          metrics(_unrelated)),
    Spoil("storage-other-disk", "Storage utilization is that of another disk.", "storage_utilization_fits_usage",
          metrics(_other_disk)),
)  # fmt: skip
"""Each is seen in one answer, in its values."""
