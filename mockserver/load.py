"""What a job does from moment to moment: steps, shared dips, checkpoints."""

from dataclasses import dataclass

import numpy as np

from .job import Moments
from .noise import Integers, Reals


@dataclass(frozen=True, slots=True)
class Load:
    """What the whole job does in each cell: every rank of every node, and the traffic, read this one."""

    busy: Reals
    """Fraction of time the GPUs are busy, before a rank's own noise, shape (cells,)."""
    checkpoint: Integers
    """Number of the last checkpoint begun, shape (cells,)."""
    saved: Reals
    """How much of that checkpoint is written, 0 to 1, shape (cells,)."""


def load(moments: Moments) -> Load:
    """The load of a training job; see R1–R4 of the tests for what it must look like."""
    saving, dipping = moments.job.checkpoints.at(moments.times_s), moments.job.dips.at(moments.times_s)
    busy = np.where(dipping.passed < 1.0, dipping.level, 1.0)
    np.copyto(busy, saving.level, where=saving.passed < 1.0)
    return Load(busy, saving.number, np.minimum(saving.passed, 1.0))
