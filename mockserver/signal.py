"""The registry of signals: a metric's name → how its values are computed. No JSON, no HTTP.

A signal is registered under the name that the contract gives its series (dotted below an object, with the quantity's
name behind it where a datapoint holds several). That is the only place where the name stands in code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .job import Moments, Samples
from .noise import Words

Compute = Callable[[Moments, slice], Samples]
"""(moments, which nodes) → samples with a row for each of those nodes, or for each of their ranks."""


class Scope(IntEnum):
    """What one row of a signal belongs to."""

    DEPLOYMENT = 0
    NODE = 1
    RANK = 2


@dataclass(frozen=True, slots=True)
class Signal:
    """How the values of one quantity come about; they are whole numbers of 10^−decimals."""

    name: str
    scope: Scope
    decimals: int
    compute: Compute
    per_divisor: bool = False
    """A volume: counted per time_divisor_seconds."""


REGISTRY: dict[str, Signal] = {}


def signal(
    name: str, scope: Scope, decimals: int, per_divisor: bool = False
) -> Callable[[Compute], Compute]:
    """Register the decorated function as the signal of that name."""

    def register(compute: Compute) -> Compute:
        REGISTRY[name] = Signal(name, scope, decimals, compute, per_divisor)
        return compute

    return register


def generic(name: str, scope: Scope, low: float, high: float, decimals: int) -> Signal:
    """A slow wander within [low, high], for a series that nobody registered."""

    def row_keys(moments: Moments, nodes: slice) -> Words:
        if scope is Scope.DEPLOYMENT:
            return moments.job.keys(name)
        if scope is Scope.NODE:
            return moments.job.node_keys(name)[nodes]
        ranks = len(moments.job.rank_names)
        return moments.job.rank_keys(name)[nodes.start * ranks : nodes.stop * ranks]

    def compute(moments: Moments, nodes: slice) -> Samples:
        share = 0.5 + 0.4 * moments.drift(row_keys(moments, nodes), 40)
        values = np.rint((low + (high - low) * share) * 10.0**decimals).astype(np.int64)
        return Samples(values, moments.at)

    return Signal(name, scope, decimals, compute)
