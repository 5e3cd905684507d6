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
    lasts_s = 50.0 + 25.0 * saving.draws[0]
    in_dip = dipping.elapsed_s < 35.0 + 45.0 * dipping.draws[0]
    busy = np.where(in_dip, 0.94 - 0.28 * dipping.draws[1], 1.0)
    saved = np.minimum(saving.elapsed_s / lasts_s, 1.0)
    np.copyto(busy, 0.03 + 0.09 * saving.draws[1], where=saved < 1.0)
    return Load(busy, saving.number, saved)
