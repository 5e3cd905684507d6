"""When the faults of a scenario happen: for each cell, how long ago the last one of its kind began."""

import numpy as np
import numpy.typing as npt

from .job import Moments
from .noise import Reals, Recurring
from .scenario import Fault

Mask = npt.NDArray[np.bool_]

NEVER = np.inf


def since_created(moments: Moments) -> Reals:
    """Seconds of the deployment's life, shape (cells,)."""
    seconds: Reals = (moments.times_s - moments.job.created_s).astype(np.float64)
    return seconds


def since_begun(moments: Moments, fault: Fault) -> Reals:
    """Seconds since the fault last began, NEVER where it has not begun in this life, shape (cells,)."""
    age_s = moments.once(since_created)
    if fault.every_s is None:
        begun_s = age_s - fault.at_s
        return np.where(begun_s >= 0, begun_s, NEVER)
    begun_s = ((moments.times_s - fault.at_s) % fault.every_s).astype(np.float64)
    return np.where(begun_s <= age_s, begun_s, NEVER)


def until_next(moments: Moments, fault: Fault) -> Reals:
    """Seconds until the fault begins again, NEVER where it does not, shape (cells,)."""
    if fault.every_s is None:
        left_s = fault.at_s - moments.once(since_created)
        return np.where(left_s > 0, left_s, NEVER)
    return ((fault.at_s - moments.times_s - 1) % fault.every_s + 1).astype(np.float64)


def active(moments: Moments, fault: Fault) -> Mask:
    """Where the fault lasts, shape (cells,)."""
    begun_s = since_begun(moments, fault)
    return begun_s < (NEVER if fault.lasts_s is None else fault.lasts_s)


def gaps(moments: Moments, fault: Fault, number: int) -> tuple[Mask, Reals]:
    """Where a gap is, and a draw in [0, 1) that says whose it is; both of shape (cells,)."""
    assert fault.every_s is not None and fault.lasts_s is not None
    length_s = fault.lasts_s * 0.6, fault.lasts_s * 1.4
    happening = Recurring(moments.job.key(f"gaps/{number}"), fault.every_s, length_s, (0.0, 1.0)).at(moments.times_s)
    return happening.passed < 1.0, happening.level
