"""What a job does from moment to moment: its stages, its steps and pauses, and what goes wrong with all of it.

Every rank of every node, and the traffic, read the same Load: so they move together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .faults import NEVER, active, gaps, since_begun, since_created, until_next
from .job import Moments
from .noise import Integers, Reals
from .scenario import Fault, Scenario

Mask = npt.NDArray[np.bool_]
Factor = Reals | float

BUSY_LOST_S = 90.0
"""After a node is lost the others wait in a collective; then it times out and they rest."""
FAILING_S = 60.0
"""Requests in flight fail around a crash."""
CLIMB_S = 900.0
"""GPU memory climbs for so long before it runs out."""
WAKING_RATE = 0.1
"""Share of the usual requests while a deployment wakes."""
WAKING_LATENCY = 4.0
BETWEEN_SURGES = 0.12
"""How much longer requests take for each time more of them that come."""
SLOW_DATA_LATENCY = 1.25
STARVED_LATENCY = 1.4
STARVED_CPU = 1.9
EMPTY_DISK = 0.13
"""Share of the disk in use after a clean-up."""


@dataclass(slots=True)
class Load:
    """What the whole job does in each cell; arrays are of shape (cells,), those of nodes (nodes, cells)."""

    busy: Reals
    """Fraction of time the GPUs are busy, before a rank's own noise."""
    checkpoint: Integers
    """Number of the last checkpoint begun."""
    saved: Reals
    """How much of that checkpoint is written, 0 to 1."""
    rate: Factor = 1.0
    """How many times the usual requests come."""
    latency: Factor = 1.0
    """How many times the usual time they take."""
    client_errors: Factor = 0.0
    """Share of the requests that are refused."""
    server_errors: Factor = 0.0
    """Share of the requests that fail."""
    cpu: Factor = 1.0
    """How many times the usual CPU."""
    host_memory: Factor = 0.0
    """Share of the host's memory that leaked."""
    gpu_memory: Factor = 0.0
    """Share of the GPU's memory that leaked."""
    gpu_loaded: Factor = 1.0
    """How much of the usual GPU memory is filled yet, 0 to 1."""
    gpu_peak: Factor = 0.0
    """How far GPU memory is on its way to the limit, 0 to 1."""
    disk: Factor | None = None
    """Share of the disk in use, where a fault says it."""


@dataclass(slots=True)
class Presence:
    """Which points exist. Of shape (nodes, cells) or, for traffic, (cells,)."""

    host: Mask
    gpu_memory: Mask
    gpu_utilization: Mask
    traffic: Mask


def load(moments: Moments) -> Load:
    """The load of a job; see R1–R33 of the tests for what it must look like."""
    job = moments.job
    workload = job.scenario.workload
    saving = job.checkpoints.at(moments.times_s)
    if workload.kind == "training":
        dipping = job.dips.at(moments.times_s)
        busy = np.where(dipping.passed < 1.0, dipping.level, 1.0)
        np.copyto(busy, saving.level, where=saving.passed < 1.0)
    elif workload.kind == "rl":
        busy = np.where(job.cycles.at(moments.times_s).passed < 1.0, 1.0, 0.0)
    else:
        busy = np.zeros(len(moments.ticks))
    doing = Load(busy, saving.number, np.minimum(saving.passed, 1.0))
    doing.client_errors, doing.server_errors = workload.client_error_share, workload.server_error_share
    if not moments.is_steady:
        _stages(moments, doing)
    for fault in job.scenario.faults:
        effect = _EFFECTS.get(fault.kind)
        if effect:
            effect(moments, doing, fault)
    return doing


def presence(moments: Moments) -> Presence | None:
    """Which points exist; None where all do."""
    job = moments.job
    if moments.is_steady and not any(fault.kind == "gaps" for fault in job.scenario.faults):
        return None
    nodes, cells = len(job.node_ids), len(moments.ticks)
    boot, awake_s = job.scenario.boot, moments.once(awake)
    host = np.repeat((awake_s >= boot.pending_s)[None, :], nodes, axis=0)
    traffic = np.ones(cells, dtype=np.bool_)
    for number, fault in enumerate(job.scenario.faults):
        if fault.kind == "node-loss":
            host[list(fault.nodes or ())] &= ~active(moments, fault)
        elif fault.kind == "never-starts":
            traffic[:] = False
        elif fault.kind == "gaps":
            in_gap, draw = gaps(moments, fault, number)
            whose = np.floor(draw * (nodes + 1)).astype(np.int64)
            host &= ~(in_gap & (whose == np.arange(nodes)[:, None]))
            traffic &= ~(in_gap & (whose == nodes))
    memory = host & (awake_s >= boot.loading_at_s)
    return Presence(host, memory, memory & (awake_s >= boot.working_at_s), traffic)


def awake(moments: Moments) -> Reals:
    """Seconds since the nodes were asked for, less what a restart skips; negative where they are gone."""
    boot = moments.job.scenario.boot
    awake_s = moments.once(since_created).copy()
    for fault in moments.job.scenario.faults:
        begun_s = since_begun(moments, fault)
        if fault.kind in ("end", "never-starts"):
            awake_s[begun_s < NEVER] = -1.0
        elif fault.kind == "scaled-down":
            _restart(awake_s, begun_s, NEVER if fault.lasts_s is None else fault.lasts_s, 0)
        elif fault.kind in ("out-of-memory", "leak"):
            _restart(awake_s, begun_s, fault.down_s, boot.loading_at_s)
        elif fault.kind == "node-loss" and fault.lasts_s is not None:
            after = (begun_s >= fault.lasts_s) & (begun_s < NEVER)
            awake_s[after] = np.minimum(awake_s[after], begun_s[after] - fault.lasts_s + boot.loading_at_s)
    return awake_s


def status(moments: Moments) -> str:
    """How the deployment is listed at the last of these moments."""
    boot = moments.job.scenario.boot
    for fault in moments.job.scenario.faults:
        if fault.kind in ("end", "scaled-down", "never-starts") and active(moments, fault)[-1]:
            return {"end": fault.status, "scaled-down": "SCALED_TO_ZERO", "never-starts": "CREATED"}[fault.kind]
    return "RUNNING" if moments.once(awake)[-1] >= boot.working_at_s else "DEPLOYING"


def _restart(awake_s: Reals, begun_s: Reals, down_s: float, skipped_s: float) -> None:
    down = begun_s < down_s
    awake_s[down] = -1.0
    after = ~down & (begun_s < NEVER)
    awake_s[after] = np.minimum(awake_s[after], begun_s[after] - down_s + skipped_s)


def _stages(moments: Moments, doing: Load) -> None:
    """No work before it has begun, and GPU memory that fills first."""
    boot, awake_s = moments.job.scenario.boot, moments.once(awake)
    working = awake_s >= boot.working_at_s
    doing.busy *= working
    doing.rate = doing.rate * working.astype(np.float64)
    doing.gpu_loaded = np.clip((awake_s - boot.loading_at_s) / boot.loading_s, 0.02, 1.0)


def _slow_compute(moments: Moments, doing: Load, fault: Fault) -> None:
    # Waiting in collectives counts as busy: it shows in the time that requests take, hardly in utilization.
    slower = np.where(active(moments, fault), fault.factor, 1.0)
    doing.latency = doing.latency * slower
    doing.rate = doing.rate / slower


def _slow_data(moments: Moments, doing: Load, fault: Fault) -> None:
    slower = np.where(active(moments, fault), SLOW_DATA_LATENCY, 1.0)
    doing.latency = doing.latency * slower
    doing.rate = doing.rate / slower


def _starved(moments: Moments, doing: Load, fault: Fault) -> None:
    starving = active(moments, fault)
    doing.busy *= np.where(starving, fault.busy, 1.0)
    doing.cpu = doing.cpu * np.where(starving, STARVED_CPU, 1.0)
    slower = np.where(starving, STARVED_LATENCY, 1.0)
    doing.latency = doing.latency * slower
    doing.rate = doing.rate / slower


def _out_of_memory(moments: Moments, doing: Load, fault: Fault) -> None:
    begun_s, left_s = since_begun(moments, fault), until_next(moments, fault)
    doing.gpu_peak = np.maximum(doing.gpu_peak, np.clip(1.0 - left_s / CLIMB_S, 0.0, 1.0))
    doing.server_errors = np.where(left_s <= FAILING_S, 0.3, np.where(begun_s < FAILING_S, 0.9, doing.server_errors))
    doing.rate = np.where(begun_s < FAILING_S, 0.3, doing.rate)


def _node_loss(moments: Moments, doing: Load, fault: Fault) -> None:
    lost, begun_s = active(moments, fault), since_begun(moments, fault)
    doing.busy[lost & (begun_s >= BUSY_LOST_S)] = 0.0
    doing.server_errors = np.where(lost & (begun_s < FAILING_S), 0.5, doing.server_errors)
    doing.rate = np.where(lost & (begun_s >= FAILING_S), 0.0, doing.rate)


def _scaled_down(moments: Moments, doing: Load, fault: Fault) -> None:
    if fault.lasts_s is None:
        return
    asked_s = since_begun(moments, fault) - fault.lasts_s
    waking = (asked_s >= 0) & (asked_s < moments.job.scenario.boot.working_at_s)
    doing.rate = np.where(waking, WAKING_RATE, doing.rate)
    doing.latency = np.where(waking, WAKING_LATENCY, doing.latency)


def _leak(moments: Moments, doing: Load, fault: Fault) -> None:
    begun_s = since_begun(moments, fault)
    leaking_s = np.where(begun_s < NEVER, np.maximum(begun_s - fault.down_s, 0.0), 0.0)
    leaked = leaking_s * (fault.share / 3600)
    if fault.of == "host":
        doing.host_memory = doing.host_memory + leaked
    else:
        doing.gpu_memory = doing.gpu_memory + leaked


def _disk_growth(moments: Moments, doing: Load, fault: Fault) -> None:
    assert fault.lasts_s is not None
    grown = np.where(active(moments, fault), since_begun(moments, fault) / fault.lasts_s, 0.0)
    disk = EMPTY_DISK + (fault.share - EMPTY_DISK) * grown
    doing.disk = disk if doing.disk is None else np.maximum(doing.disk, disk)


def _errors(moments: Moments, doing: Load, fault: Fault) -> None:
    if fault.status == "4xx":
        doing.client_errors = np.where(active(moments, fault), fault.share, doing.client_errors)
    else:
        doing.server_errors = np.where(active(moments, fault), fault.share, doing.server_errors)


def _surge(moments: Moments, doing: Load, fault: Fault) -> None:
    surging = active(moments, fault)
    doing.rate = doing.rate * np.where(surging, fault.factor, 1.0)
    doing.latency = doing.latency * np.where(surging, _surge_latency(fault), 1.0)


def _surge_latency(fault: Fault) -> float:
    return 1.0 + BETWEEN_SURGES * max(0.0, fault.factor - 1.0)


# The other kinds say which points exist: presence and awake.
_EFFECTS: dict[str, Callable[[Moments, Load, Fault], None]] = {
    "slow-compute": _slow_compute,
    "slow-data": _slow_data,
    "starved": _starved,
    "out-of-memory": _out_of_memory,
    "node-loss": _node_loss,
    "scaled-down": _scaled_down,
    "leak": _leak,
    "disk-growth": _disk_growth,
    "errors": _errors,
    "surge": _surge,
}


def most(scenario: Scenario) -> tuple[float, float]:
    """How many times the usual rate and the usual latency a scenario's faults can bring at most."""
    rate = latency = 1.0
    for fault in scenario.faults:
        if fault.kind == "slow-compute":
            rate, latency = rate / min(1.0, fault.factor), latency * max(1.0, fault.factor)
        elif fault.kind == "surge":
            rate, latency = rate * max(1.0, fault.factor), latency * _surge_latency(fault)
        elif fault.kind in _SLOWER:
            latency *= _SLOWER[fault.kind]
    return rate, latency


_SLOWER = {"slow-data": SLOW_DATA_LATENCY, "starved": STARVED_LATENCY, "scaled-down": WAKING_LATENCY}
