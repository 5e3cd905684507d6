"""Request volume, concurrency and latency of the whole deployment, obeying Little's law (C6) and R22, R24.

Counts per native sample come first; rates, statuses, concurrency and quantiles are read off them.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .job import TICK_S, Job, Moments, Samples, Scope
from .load import Mask, load, most, presence
from .noise import Integers
from .signal import Form, signal
from .streams import drifting, every_tick, slow, tick_bits

COARSE = every_tick("traffic/coarse", Scope.DEPLOYMENT)
FINE = every_tick("traffic/fine", Scope.DEPLOYMENT)
RATE = drifting("traffic/rate", Scope.DEPLOYMENT)
LATENCY = drifting("traffic/latency", Scope.DEPLOYMENT)
SPREAD = drifting("traffic/spread", Scope.DEPLOYMENT)

# Latency is lognormal within a cell: quantiles 50, 95 and 99 of the standard normal distribution.
_Z = np.array([[0.0], [1.645], [2.326]])


@dataclass(frozen=True, slots=True)
class Traffic:
    """What was served in each cell."""

    rates: Integers
    """Millionths of a request a second: answered well, refused, failed; shape (3, cells)."""
    idle: npt.NDArray[np.bool_] | None
    """Cells in which nothing was served, shape (cells,); None where there is none."""
    quantiles: Integers
    """p50, p95, p99 in microseconds, shape (3, cells)."""
    concurrency: Integers
    """Tenths of requests in progress, always whole ones, shape (cells,)."""


def _most_rate(job: Job) -> int:
    """Millionths of a request a second: what the factors below can make of the workload's rate, and one more."""
    return int((job.scenario.workload.requests_per_second * 1.3 * most(job.scenario)[0] + 1) * 1e6)


def _most_us(job: Job) -> int:
    """p99 in microseconds: p50 · 1.3 at the most, times the widest spread."""
    return int(job.scenario.workload.p50_ms * 1000 * 1.3 * most(job.scenario)[1] * math.exp(2.326 * 0.57)) + 1


def _most_concurrency(job: Job) -> int:
    """Tenths of requests in progress: rate × mean latency, rounded up."""
    return int(_most_rate(job) * _most_us(job) * 1e-12 + 1) * 10


def served(moments: Moments, first_node: int, stop_node: int) -> Traffic:
    """The traffic of a training job; see C5–C7, R22, R24 of the tests for what it must look like."""
    job, doing = moments.job, moments.once(load)
    busy = doing.busy
    workload = job.scenario.workload
    bits = moments.once(tick_bits, first_node, stop_node)
    # Four draws a cell from the first word, two finer ones from the second.
    a, b, c, d = bits[COARSE][0].astype("<u8", copy=False).view("<u2").reshape(-1, 4).T * 2.0**-16
    e, f = bits[FINE][0].astype("<u8", copy=False).view("<u4").reshape(-1, 2).T * 2.0**-32
    wander = moments.once(slow, first_node, stop_node).drifts
    rate = workload.requests_per_second * job.pick("traffic/size", 0.85, 1.15)
    expected = (0.08 + 0.92 * busy) * (1.0 + 0.12 * wander[RATE][0])
    expected *= (0.95 + 0.1 * a) * (rate * TICK_S * doing.rate)
    # Dithered rounding keeps the mean: ⌊x + u⌋ is x on average.
    requests = np.floor(expected + b)
    if moments.settled_until_s is not None:
        requests[moments.times_s > moments.settled_until_s] = 0.0
    refused = np.floor(requests * doing.client_errors + c)
    failed = np.minimum(np.floor(requests * doing.server_errors + e), requests - refused)
    rates = np.rint(np.array([requests - refused - failed, refused, failed]) * (1e6 / TICK_S)).astype(np.int64)
    p50_us = (1.0 + 0.06 * wander[LATENCY][0]) * (1.2 - 0.2 * busy)
    p50_us *= (0.98 + 0.04 * d) * (workload.p50_ms * 1000 * doing.latency)
    log_sd = 0.5 + 0.07 * wander[SPREAD][0]
    mean_us = p50_us * np.exp(log_sd * log_sd * 0.5)
    concurrency = np.floor(requests * mean_us * (1e-6 / TICK_S) + f).astype(np.int64)
    quantiles = np.rint(p50_us * np.exp(_Z * log_sd)).astype(np.int64)
    idle = requests == 0.0
    return Traffic(rates, idle if idle.any() else None, quantiles, concurrency * 10)


def _shown(moments: Moments, values: Integers, null: Mask | None = None) -> Samples:
    found = moments.once(presence)
    return Samples(values, moments.at, null, None if found is None else found.traffic[None, :])


def _rate(moments: Moments, nodes: slice, status: int) -> Samples:
    return _shown(moments, moments.once(served, nodes.start, nodes.stop).rates[status : status + 1])


def _quantile(moments: Moments, nodes: slice, number: int) -> Samples:
    traffic = moments.once(served, nodes.start, nodes.stop)
    return _shown(moments, traffic.quantiles[number : number + 1], traffic.idle)


@signal("inference_volume", Scope.DEPLOYMENT, Form.RATE, _most_rate, per_divisor=True)
def inference_volume(moments: Moments, nodes: slice) -> Samples:
    """Requests a second: the sum of what is reported by status."""
    return _shown(moments, moments.once(served, nodes.start, nodes.stop).rates.sum(axis=0, keepdims=True))


@signal("inference_volume_by_status.status_2xx", Scope.DEPLOYMENT, Form.RATE, _most_rate, per_divisor=True)
def status_2xx(moments: Moments, nodes: slice) -> Samples:
    """Requests a second that were answered well."""
    return _rate(moments, nodes, 0)


@signal("inference_volume_by_status.status_4xx", Scope.DEPLOYMENT, Form.RATE, _most_rate, per_divisor=True)
def status_4xx(moments: Moments, nodes: slice) -> Samples:
    """Requests a second that were refused."""
    return _rate(moments, nodes, 1)


@signal("inference_volume_by_status.status_5xx", Scope.DEPLOYMENT, Form.RATE, _most_rate, per_divisor=True)
def status_5xx(moments: Moments, nodes: slice) -> Samples:
    """Requests a second that failed."""
    return _rate(moments, nodes, 2)


@signal("concurrent_requests", Scope.DEPLOYMENT, Form.COUNT, _most_concurrency)
def concurrent_requests(moments: Moments, nodes: slice) -> Samples:
    """Requests in progress: rate × mean latency, dithered to whole numbers."""
    return _shown(moments, moments.once(served, nodes.start, nodes.stop).concurrency[None, :])


@signal("response_time_stats.p50", Scope.DEPLOYMENT, Form.MILLISECONDS, _most_us)
def p50(moments: Moments, nodes: slice) -> Samples:
    """Median response time, milliseconds."""
    return _quantile(moments, nodes, 0)


@signal("response_time_stats.p95", Scope.DEPLOYMENT, Form.MILLISECONDS, _most_us)
def p95(moments: Moments, nodes: slice) -> Samples:
    """95th percentile of the response time, milliseconds."""
    return _quantile(moments, nodes, 1)


@signal("response_time_stats.p99", Scope.DEPLOYMENT, Form.MILLISECONDS, _most_us)
def p99(moments: Moments, nodes: slice) -> Samples:
    """99th percentile of the response time, milliseconds."""
    return _quantile(moments, nodes, 2)
