"""R11–R13 and R17: what a trainer does all day, where it is not plain training."""

import numpy as np

from .reading import Answer, Floats
from .rows import NONE, Range, Row, at_least, at_most
from .statistics import of_memory_share, of_utilization
from .stretches import busy, inner, memories, on, points, utilizations

RESTING = 0.05
"""Utilization below which a rank does nothing."""
STALLED = 0.5
"""Mean utilization below which all ranks wait at once; the short dips of training stay far above."""
LEAST_PERIODS = 5
A_CHECKPOINT = 0.005
"""Least share of the disk that a checkpoint takes."""


def _memory_while_resting(answer: Answer) -> Floats:
    """Range of each rank's memory, over the GPU's, while the rank rests."""
    found = []
    for held, rank in zip(memories(answer), utilizations(answer), strict=False):
        resting = held[rank < RESTING]
        found.append(np.ptp(resting) / answer.asked.node_type.gpu_memory_bytes if resting.size else np.nan)
    return np.array(found, dtype=np.float64)


def _periods_s(answer: Answer) -> Floats:
    """Seconds from one beginning of work to the next."""
    works = busy(answer) > STALLED
    begins = np.flatnonzero(works[1:] & ~works[:-1])
    return np.diff(begins).astype(np.float64) * answer.asked.step_s


def _period(answer: Answer) -> Floats:
    periods_s = _periods_s(answer)
    return np.array([np.median(periods_s)]) if periods_s.size >= LEAST_PERIODS else np.zeros(0)


def _variation_of_period(answer: Answer) -> Floats:
    periods_s = _periods_s(answer)
    return np.array([periods_s.std() / periods_s.mean()]) if periods_s.size >= LEAST_PERIODS else np.zeros(0)


def _stalls(answer: Answer) -> list[slice]:
    return inner(busy(answer) < STALLED)


def _minutes_between_stalls(answer: Answer) -> Floats:
    begins = np.array([one.start for one in _stalls(answer)], dtype=np.float64)
    return np.diff(begins) * answer.asked.step_s / 60


def _seconds_stalled(answer: Answer) -> Floats:
    return np.array([one.stop - one.start for one in _stalls(answer)], dtype=np.float64) * answer.asked.step_s


def _busy_in_stalls(answer: Answer) -> Floats:
    level = busy(answer)
    return np.array([np.median(level[one]) for one in _stalls(answer)], dtype=np.float64)


def _rises_in_stalls(answer: Answer) -> Floats:
    """How far each disk fills in each stall, from the least in it, as a share of the disk."""
    grid, found = answer.asked.grid(), []
    for node in answer.nodes:
        used = on(node.disk_utilization, grid)
        for one in _stalls(answer):
            during = used[one.start - 1 : one.stop + 1]
            found.append(during[-1] - during.min())
    return np.array(found, dtype=np.float64)


def _falls_beside_stalls(answer: Answer) -> Floats:
    """Falls of each disk's use that do not go with a stall, or free less than one checkpoint."""
    grid, found = answer.asked.grid(), []
    near = np.zeros(grid.size, dtype=np.bool_)
    for one in _stalls(answer):
        near[max(0, one.start - 2) : one.stop + 2] = True
    edge = points(120, answer)
    near[:edge] = near[-edge:] = True
    for node in answer.nodes:
        change = np.diff(on(node.disk_utilization, grid))
        found.append(np.count_nonzero((change < 0) & (~near[1:] | (change > -A_CHECKPOINT))))
    return np.array(found, dtype=np.float64)


ROLLOUTS = "rollouts take 70–78 % of a step where it is synchronous"


def rollouts(share: Range) -> tuple[Row, ...]:
    """R11 and R12 of a trainer that waits for rollouts this share of the time."""
    return (
        Row(
            "R11",
            "utilization of a rank: share of time < 0.05",
            share,
            ROLLOUTS,
            of_utilization(lambda values: (values < RESTING).mean()),
        ),
        Row("R11", "GPU memory of a resting rank: range / capacity", at_most(0.03), "proposal", _memory_while_resting),
        Row("R12", "seconds from work to work: median", Range(60, 3600), ROLLOUTS, _period),
        Row("R12", "seconds from work to work: variation", Range(0.05, 0.40), "proposal", _variation_of_period),
    )


IDLE = (
    Row(
        "R13",
        "utilization of a rank: share of exact zeros",
        at_least(0.95),
        "Acme, idle GPUs",
        of_utilization(lambda values: (values == 0).mean()),
    ),
    Row(
        "R13",
        "GPU memory of a rank: median / NVML total",
        Range(0.55, 0.96),
        "model loaded",
        of_memory_share(np.median),
    ),
)
CHECKPOINTS = (
    Row("R17", "minutes from stall to stall", Range(10, 180), "checkpoints; proposal", _minutes_between_stalls),
    Row("R17", "seconds that a stall lasts", Range(5, 120), "checkpoints; proposal", _seconds_stalled),
    Row("R17", "utilization in a stall: median", at_most(0.2), "proposal", _busy_in_stalls),
    Row("R17", "disk of a node: rise in a stall / size", at_least(A_CHECKPOINT), "proposal", _rises_in_stalls),
    Row("R17", "disk of a node: falls but for clean-ups", NONE, "proposal", _falls_beside_stalls),
)
