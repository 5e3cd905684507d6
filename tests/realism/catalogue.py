"""The table: which rows each scenario must meet, which of them make it what it is, and what it could be taken for.

Written by hand from what each scenario is meant to be, not read from its file.
"""

from dataclasses import dataclass

import numpy as np

from . import failures, lives, readouts, rules, slowdowns, statistics, workloads
from .reading import Answer, Floats
from .rows import Range, Row

Rows = tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """What is demanded of one scenario."""

    own: Rows
    """The rows that make it what it is: one of them must be broken by whatever it could be taken for."""
    also: Rows
    """What else must hold."""
    alike: tuple[str, ...] = ()
    """What it could be taken for, beside `healthy`."""

    @property
    def rows(self) -> Rows:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self.own, *self.also)))


def _of(rows: Rows, *ids: str) -> Rows:
    """Those with these ids."""
    found = tuple(row for row in rows if row.id in ids)
    assert {row.id for row in found} == set(ids)
    return found


def _beginning(rows: Rows, *beginnings: str) -> Rows:
    """Those whose id and statistic begin so."""
    found = tuple(row for row in rows if f"{row.id} {row.statistic}".startswith(beginnings))
    assert len(found) >= len(beginnings)
    return found


def _but(rows: Rows, *beginnings: str) -> Rows:
    """Without those whose id and statistic begin so."""
    return tuple(row for row in rows if row not in _beginning(rows, *beginnings))


def _size(nodes: int, ranks: int) -> Rows:
    """As many nodes and ranks as this deployment has."""

    def ranks_seen(answer: Answer) -> Floats:
        return np.array([len(node.utilization) for node in answer.nodes], dtype=float)

    return (
        Row("C10", "nodes", Range(nodes, nodes), "topology", lambda answer: np.array([float(len(answer.nodes))])),
        Row("C10", "ranks of a node", Range(ranks, ranks), "topology", ranks_seen),
    )


_R, _C = statistics.ROWS, rules.ROWS
# What holds whatever happens: C1, C2, C5 beside another window; C3–C12 with points missing, traffic or not.
_EVER = (*rules.BESIDE, rules.STRAY, *_but(_C, "C3", "C6 concurrency", "C9", "C10", "C11"))
_NODES = (*_of(_R, "R7", "R8"), *_of(_C, "C9", "C10"), *_beginning(_C, "C11 points"), rules.LISTED)
_WHOLE = _of(_C, "C3")
_LAW = _beginning(_C, "C6 concurrency /")
_PHASES = _beginning(_C, "C11 steps")
_TRAFFIC = (*_of(_R, "R22"), *_LAW)
_GPU_MEMORY = _of(_R, "R5", "R6")
_HOST = _of(_R, "R9", "R10")
_ERRORS = _of(_R, "R24")
_STATUS = lives.statuses()
_ALL_GPUS_WORK = _of(_R, "R1", "R2", "R3", "R4")
_HEALTHY = (*_ALL_GPUS_WORK, *_GPU_MEMORY, *_HOST, *_ERRORS)
# One deployment, all points there: what a trainer at work must meet but for how busy it is.
_STEADY = (*_EVER, *_WHOLE, *_NODES, *_TRAFFIC, *_STATUS, *_PHASES)
# A deployment whose nodes come and go.
_BROKEN = (*_EVER, *_NODES, *_TRAFFIC, *_PHASES)

CASES = {
    "healthy": Case((*_HEALTHY, *_size(2, 8)), _STEADY, ("single", "wide")),
    "single": Case((*_HEALTHY, *_size(1, 1)), _STEADY, ("wide",)),
    "wide": Case((*_HEALTHY, *_size(16, 8)), _STEADY, ("single",)),
    "rl-sync": Case(
        workloads.rollouts(Range(0.55, 0.80)),
        (*_STEADY, *_of(_R, "R4"), *_GPU_MEMORY, *_ERRORS),
        ("rl-async", "checkpoint-stalls", "idle"),
    ),
    "rl-async": Case(
        workloads.rollouts(Range(0.05, 0.40)),
        (*_STEADY, *_of(_R, "R4"), *_GPU_MEMORY, *_ERRORS),
        ("rl-sync", "checkpoint-stalls"),
    ),
    "idle": Case(
        workloads.IDLE,
        (*_EVER, *_WHOLE, *_NODES, *_STATUS, *_GPU_MEMORY, *_of(_R, "R10"), *lives.AT_ZERO[1:]),
        ("scaled-to-zero", "cold", "rl-sync"),
    ),
    "straggler-compute": Case(
        slowdowns.SLOW_COMPUTE,
        (*_STEADY, *_of(_R, "R3"), *_GPU_MEMORY, *_HOST, *_ERRORS),
        ("traffic-surge", "straggler-data", "dataloader-bound"),
    ),
    "straggler-data": Case(
        slowdowns.SLOW_DATA,
        (*_STEADY, *_GPU_MEMORY, *_HOST, *_ERRORS),
        ("dataloader-bound", "straggler-compute", "node-dropout"),
    ),
    "dataloader-bound": Case(
        slowdowns.STARVED,
        (*_STEADY, *_of(_R, "R3"), *_of(_R, "R4"), slowdowns.NO_STRAGGLER, *_GPU_MEMORY, *_of(_R, "R10"), *_ERRORS),
        ("straggler-data", "straggler-compute", "idle"),
    ),
    "checkpoint-stalls": Case(
        workloads.CHECKPOINTS,
        (*_STEADY, *_of(_R, "R4"), *_GPU_MEMORY, *_ERRORS),
        ("rl-sync", "rl-async"),
    ),
    "oom-restart": Case(failures.OUT_OF_MEMORY, _BROKEN, ("node-dropout", "scale-from-zero", "memory-leak")),
    "node-dropout": Case(failures.NODE_LOSS, _BROKEN, ("oom-restart", "gappy", "straggler-data")),
    "scaled-to-zero": Case(
        lives.AT_ZERO,
        (*_EVER, *lives.statuses("SCALED_TO_ZERO")),
        ("idle", "cold", "preempted", "failed", "scale-from-zero"),
    ),
    "scale-from-zero": Case(
        lives.WAKES,
        (*_BROKEN, *lives.statuses("SCALED_TO_ZERO")),
        ("brand-new", "oom-restart", "scaled-to-zero"),
    ),
    "brand-new": Case(
        lives.BRAND_NEW, (*_BROKEN, *_STATUS, *_of(_R, "R24")), ("scale-from-zero", "failed", "preempted")
    ),
    "memory-leak": Case(failures.LEAK, (*_BROKEN, *_ERRORS), ("disk-filling", "oom-restart")),
    "disk-filling": Case(failures.DISK, (*_STEADY, *_HEALTHY), ("memory-leak", "checkpoint-stalls")),
    "error-burst": Case(
        failures.bursts_of("status_5xx", "status_4xx", 0.02),
        (*_STEADY, *_ALL_GPUS_WORK, *_GPU_MEMORY, *_HOST),
        ("client-errors", "oom-restart"),
    ),
    "client-errors": Case(
        failures.bursts_of("status_4xx", "status_5xx", 0.001),
        (*_STEADY, *_ALL_GPUS_WORK, *_GPU_MEMORY, *_HOST),
        ("error-burst",),
    ),
    "traffic-surge": Case(
        slowdowns.SURGES,
        (*_but(_STEADY, "C11 steps"), *_ALL_GPUS_WORK, *_GPU_MEMORY, *_HOST, *_ERRORS),
        ("straggler-compute", "error-burst"),
    ),
    "preempted": Case(
        (*lives.ends(Range(30, 360)), lives.ends_as("PREEMPTED")),
        (*_BROKEN, *lives.statuses("PREEMPTED")),
        ("failed", "scaled-to-zero", "cold", "brand-new"),
    ),
    "failed": Case(
        (*lives.ends(Range(1, 30)), lives.ends_as("FAILED")),
        (*_BROKEN, *lives.statuses("FAILED")),
        ("preempted", "scaled-to-zero", "cold", "brand-new"),
    ),
    "lagging": Case(readouts.LAGGING, (*_BROKEN, *_HEALTHY), ("gappy", "failed", "preempted")),
    "gappy": Case(readouts.GAPPY, (*_BROKEN, *_of(_R, "R6"), *_ERRORS), ("lagging", "node-dropout", "oom-restart")),
    "cold": Case(lives.COLD, (*_EVER, *lives.statuses("CREATED")), ("scaled-to-zero", "idle", "failed")),
}
