"""The registry of signals: a metric's name → how its values are computed. No JSON, no HTTP.

A signal is registered under the name that the contract gives its series (dotted below an object, with the quantity's
name behind it where a datapoint holds several). That is the only place where the name stands in code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from .job import Job, Moments, Samples, Scope
from .load import presence
from .noise import uniform, words
from .streams import SPAN_TICKS

Compute = Callable[[Moments, slice], Samples]
"""(moments, which nodes) → samples with a row for each of those nodes, or for each of their ranks."""


class Form(Enum):
    """How numbers of a kind are written: digits behind the dot, and a name that keeps kinds of other size apart."""

    BYTES = 1, "bytes"
    COUNT = 1, "count"
    PERCENT = 2, "hundredths"
    MILLISECONDS = 3, "milliseconds to the microsecond"
    CORES = 4, "cores"
    SHARE = 6, "share"
    RATE = 6, "rate"
    INTEGER = 0, "integer"

    @property
    def decimals(self) -> int:
        """Digits behind the dot."""
        return self.value[0]


@dataclass(frozen=True, slots=True)
class Signal:
    """How the values of one quantity come about; they are whole numbers of 10^−decimals."""

    name: str
    scope: Scope
    form: Form
    largest: Callable[[Job], int]
    """No value in a job's life is larger."""
    compute: Compute
    per_divisor: bool = False
    """A volume: counted per time_divisor_seconds."""


REGISTRY: dict[str, Signal] = {}


def signal(
    name: str, scope: Scope, form: Form, largest: Callable[[Job], int], per_divisor: bool = False
) -> Callable[[Compute], Compute]:
    """Register the decorated function as the signal of that name."""

    def register(compute: Compute) -> Compute:
        REGISTRY[name] = Signal(name, scope, form, largest, compute, per_divisor)
        return compute

    return register


def generic(name: str, scope: Scope, low: float, high: float, *, integer: bool) -> Signal:
    """Steps within [low, high], a new one every ten minutes, for a series that nobody registered.

    It has points where a node runs, or where traffic is counted.
    """
    form = Form.INTEGER if integer else Form.CORES

    def compute(moments: Moments, nodes: slice) -> Samples:
        keys = moments.job.row_keys(name, scope, nodes.start, nodes.stop)
        share = 0.1 + 0.8 * uniform(words(keys, moments.ticks // SPAN_TICKS))
        values = np.rint((low + (high - low) * share) * 10.0**form.decimals).astype(np.int64)
        found = moments.once(presence)
        if found is None:
            return Samples(values, moments.at)
        there = found.traffic[None, :] if scope is Scope.DEPLOYMENT else found.host[nodes]
        return Samples(values, moments.at, present=there)

    return Signal(name, scope, form, lambda job: int(high * 10**form.decimals) + 1, compute)
