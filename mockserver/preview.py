"""A deployment's main series drawn as text, a line each, so that one sees at a glance what it is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from . import compute as _compute  # noqa: F401  registers the signals
from . import traffic as _traffic  # noqa: F401
from .job import TICK_S, Moments, Scope
from .noise import Integers, Reals
from .render import View, moments_of
from .scenario import Deployment
from .signal import REGISTRY
from .stamps import timestamp_text
from .world import World

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII = "_.:-=+*#"
ABSENT = " "
"""No point, or null."""
_POINTS = 1440
"""About so many points of a series are looked at."""

_TRAFFIC = (
    "inference_volume",
    "inference_volume_by_status.status_4xx",
    "inference_volume_by_status.status_5xx",
    "response_time_stats.p95",
)
_MANY_ERRORS = 0.25
_COLUMNS_S = (15, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400)


@dataclass(frozen=True, slots=True)
class _Line:
    """What one line shows: a value a point, shape (points,), NaN where there is none; and how full is full."""

    name: str
    values: Reals
    times_s: Integers
    full: float | None
    """None for the largest value seen."""
    said: Callable[[float], str]


def drawing(world: World, deployment: Deployment, window_s: int, columns: int, levels: str = BLOCKS) -> str:
    """The main series of a deployment over the last window_s seconds.

    Args:
        world: where it runs.
        deployment: which.
        window_s: how far back.
        columns: how many characters a series has at most; a column is a round length of time.
        levels: the characters from nothing to full.
    """
    end_ms = world.clock()
    step_s = max(1, round(window_s / _POINTS / TICK_S)) * TICK_S
    start_s = end_ms // 1000 - window_s
    members = {"start_epoch_millis": start_s * 1000, "end_epoch_millis": end_ms, "step_seconds": step_s}
    view = world.view(deployment, members)
    column_s = next(size_s for size_s in (*_COLUMNS_S, window_s) if size_s * columns >= window_s)
    columns = -(-window_s // column_s)
    left_s = end_ms // 1000 - columns * column_s
    now = timestamp_text(np.array([end_ms // 1000])).tobytes().decode()
    lines = [
        f"{deployment.id}: {deployment.scenario.shows}",
        f"{deployment.scenario.size}, {world.status(deployment, end_ms // 1000)} at {now}; "
        f"the last {_length(window_s)}, {_length(column_s)} a column",
        "",
    ]
    for line in _lines(view):
        means = _means(line.values, (line.times_s - left_s) / column_s, columns)
        there = line.values[~np.isnan(line.values)]
        full = line.full if line.full is not None else float(there.max(initial=0.0))
        said = f"{line.said(float(there.min()))} to {line.said(float(there.max()))}" if there.size else "nothing"
        lines.append(f"{line.name:<18} |{_bars(means, full, levels)}| {said}")
    return "\n".join(lines) + "\n"


def _lines(view: View) -> Iterator[_Line]:
    compute, traffic = moments_of(view)
    job, node = view.job, view.job.node_type
    for number, id_ in enumerate(job.node_ids):
        rows = _values(compute, "gpu_utilization", slice(number, number + 1))
        yield _Line(f"GPU busy {id_}", _mean(rows), compute.points, 1.0, _percent)
    for name, signal, most in (
        ("GPU memory", "gpu_memory_usage_bytes", node.gpu_memory_mib << 20),
        ("host memory", "cpu_memory_usage_bytes", node.memory_limit_mib << 20),
        ("CPU", "cpu_usage", node.millicpu_limit / 1000),
        ("disk", "ephemeral_storage.utilization", 1),
    ):
        rows = _values(compute, signal, slice(0, len(job.node_ids)))
        yield _Line(name, _mean(rows) / most, compute.points, 1.0, _percent)
    volume, refused, failed, p95 = (_values(traffic, name, slice(0, 0))[0] for name in _TRAFFIC)
    with np.errstate(invalid="ignore", divide="ignore"):
        bad = np.where(volume > 0, (refused + failed) / volume, np.nan)
    yield _Line("requests a second", volume, traffic.points, None, "{:.1f}".format)
    yield _Line("4xx and 5xx", bad, traffic.points, _MANY_ERRORS, _percent)
    yield _Line("p95 latency", p95, traffic.points, None, lambda value: f"{value / 1000:.2f} s")


def _values(moments: Moments, name: str, nodes: slice) -> Reals:
    """A signal in its own unit, shape (rows, points), NaN where there is no point or no value."""
    signal = REGISTRY[name]
    if not len(moments.points):
        return np.full((1, 0), np.nan)
    samples = signal.compute(moments, nodes)
    values = samples.values / 10.0**signal.form.decimals
    if samples.at is not None:
        values = values.take(samples.at, axis=1)
    if samples.null is not None:
        values = np.where(samples.null, np.nan, values)
    if samples.present is not None:
        there = samples.present
        if signal.scope is not Scope.DEPLOYMENT:
            there = np.repeat(there, len(values) // len(there), axis=0)
        values = np.where(there, values, np.nan)
    return values


def _mean(rows: Reals) -> Reals:
    """Of each point, over the rows that have it."""
    there = ~np.isnan(rows)
    count = there.sum(axis=0)
    total: Reals = np.where(there, rows, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _means(values: Reals, at: Reals, columns: int) -> Reals:
    """Of each column, over the points in it."""
    kept = ~np.isnan(values)
    column = np.clip(at[kept].astype(np.int64), 0, columns - 1)
    count = np.bincount(column, minlength=columns)
    total = np.bincount(column, values[kept], minlength=columns)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _bars(means: Reals, full: float, levels: str) -> str:
    share = np.nan_to_num(means / full if full else means * 0.0)
    level = np.clip(np.floor(share * len(levels)), 0, len(levels) - 1).astype(np.int64)
    return "".join(ABSENT if missing else levels[index] for index, missing in zip(level, np.isnan(means), strict=True))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _length(length_s: int) -> str:
    """21600 → `6 h`."""
    for unit, size_s in (("d", 86_400), ("h", 3600), ("min", 60)):
        if length_s >= size_s and length_s % size_s == 0:
            return f"{length_s // size_s} {unit}"
    return f"{length_s} s"
