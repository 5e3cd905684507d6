"""Request volume, concurrency and latency of the whole deployment, obeying Little's law (C6) and R22, R24.

Counts per native sample come first; rates, statuses, concurrency and quantiles are read off them.
"""

from dataclasses import dataclass

import numpy as np

from .job import TICK_S, Moments, Samples
from .load import load
from .noise import Integers, Reals, uniforms, words
from .signal import Scope, signal

# Quantiles of the standard normal distribution: latency is lognormal within a sample.
_Z95, _Z99 = 1.645, 2.326


@dataclass(frozen=True, slots=True)
class Traffic:
    """What was served in each cell; all of shape (cells,)."""

    ok: Integers
    client_errors: Integers
    server_errors: Integers
    p50_ms: Reals
    log_sd: Reals


def _served(moments: Moments) -> Traffic:
    job, busy = moments.job, moments.once(load).busy
    workload = job.scenario.workload
    rate = workload.requests_per_second * job.pick("traffic/size", 0.85, 1.15)
    draws = words(np.concatenate([job.keys("traffic/a"), job.keys("traffic/b")]), moments.ticks)
    a, b, c, d = ((draws[0] >> np.uint64(shift) & np.uint64(0xFFFF)) * 2.0**-16 for shift in (0, 16, 32, 48))
    e = (draws[1] >> np.uint64(11)) * 2.0**-53
    wander = moments.drift(np.concatenate([job.keys("traffic/rate"), job.keys("latency"), job.keys("spread")]), 40)
    expected = rate * TICK_S * (0.08 + 0.92 * busy) * (1.0 + 0.12 * wander[0]) * (0.95 + 0.1 * a)
    # Dithered rounding keeps the mean: ⌊x + u⌋ is x on average.
    requests = np.floor(expected + b).astype(np.int64)
    if moments.settled_until_s is not None:
        requests[moments.times_s > moments.settled_until_s] = 0
    client_errors = np.minimum(np.floor(requests * 0.006 + c).astype(np.int64), requests)
    server_errors = np.minimum(np.floor(requests * 0.0002 + e).astype(np.int64), requests - client_errors)
    p50_ms = workload.p50_ms * (1.0 + 0.06 * wander[1]) * (0.98 + 0.04 * d) * (1.2 - 0.2 * busy)
    return Traffic(
        requests - client_errors - server_errors, client_errors, server_errors, p50_ms, 0.5 + 0.07 * wander[2]
    )


def _micro_rate(counts: Integers) -> Integers:
    return np.rint(counts * (1e6 / TICK_S)).astype(np.int64)


def _one_row(moments: Moments, values: Integers) -> Samples:
    return Samples(values[None, :], moments.at)


@signal("inference_volume", Scope.DEPLOYMENT, decimals=6, per_divisor=True)
def inference_volume(moments: Moments, _: slice) -> Samples:
    """Requests a second: the sum of what is reported by status."""
    served = moments.once(_served)
    return _one_row(moments, sum(map(_micro_rate, (served.ok, served.client_errors, served.server_errors))))


@signal("inference_volume_by_status.status_2xx", Scope.DEPLOYMENT, decimals=6, per_divisor=True)
def status_2xx(moments: Moments, _: slice) -> Samples:
    """Requests a second that were answered well."""
    return _one_row(moments, _micro_rate(moments.once(_served).ok))


@signal("inference_volume_by_status.status_4xx", Scope.DEPLOYMENT, decimals=6, per_divisor=True)
def status_4xx(moments: Moments, _: slice) -> Samples:
    """Requests a second that were refused."""
    return _one_row(moments, _micro_rate(moments.once(_served).client_errors))


@signal("inference_volume_by_status.status_5xx", Scope.DEPLOYMENT, decimals=6, per_divisor=True)
def status_5xx(moments: Moments, _: slice) -> Samples:
    """Requests a second that failed."""
    return _one_row(moments, _micro_rate(moments.once(_served).server_errors))


@signal("concurrent_requests", Scope.DEPLOYMENT, decimals=1)
def concurrent_requests(moments: Moments, _: slice) -> Samples:
    """Requests in progress: rate × mean latency, dithered to whole numbers."""
    served = moments.once(_served)
    requests = served.ok + served.client_errors + served.server_errors
    mean_s = served.p50_ms * np.exp(served.log_sd**2 / 2) / 1000
    dither = uniforms(moments.job.keys("concurrent_requests"), moments.ticks)[0]
    return _one_row(moments, np.floor(requests / TICK_S * mean_s + dither).astype(np.int64) * 10)


def _quantile(moments: Moments, z: float) -> Samples:
    served = moments.once(_served)
    values = np.rint(served.p50_ms * np.exp(z * served.log_sd) * 1000).astype(np.int64)
    return Samples(values[None, :], moments.at, null=served.ok + served.client_errors + served.server_errors == 0)


@signal("response_time_stats.p50", Scope.DEPLOYMENT, decimals=3)
def p50(moments: Moments, _: slice) -> Samples:
    """Median response time, milliseconds."""
    return _quantile(moments, 0.0)


@signal("response_time_stats.p95", Scope.DEPLOYMENT, decimals=3)
def p95(moments: Moments, _: slice) -> Samples:
    """95th percentile of the response time, milliseconds."""
    return _quantile(moments, _Z95)


@signal("response_time_stats.p99", Scope.DEPLOYMENT, decimals=3)
def p99(moments: Moments, _: slice) -> Samples:
    """99th percentile of the response time, milliseconds."""
    return _quantile(moments, _Z99)
