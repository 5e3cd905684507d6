"""One life of one deployment, and the moments of it that a request asks for."""

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .noise import Integers, Reals, Recurring, Words, key, keys, uniform, words
from .scenario import Deployment
from .window import Window

T = TypeVar("T")

TICK_S = 15
"""Native sampling: a value at t is that of the last tick at or before t."""


# Faults after which nodes are gone, and boot again.
STAGED = ("out-of-memory", "node-loss", "scaled-down", "leak", "end", "never-starts")


class Scope(IntEnum):
    """What one row of numbers belongs to."""

    DEPLOYMENT = 0
    NODE = 1
    RANK = 2


class Job:
    """A deployment of a seed in one life; everything about it that does not change from moment to moment."""

    def __init__(self, seed: int, deployment: Deployment, created_s: int) -> None:
        self.deployment = deployment
        self.scenario = deployment.scenario
        self.node_type = deployment.scenario.instance_type
        self.created_s = created_s
        self.node_ids = deployment.node_ids
        self.rank_names = deployment.rank_names
        self._parts = (seed, deployment.id)
        self.kept: dict[Any, Any] = {}
        """What modules keep of a job from request to request."""
        self._keys: dict[tuple[str, ...], Words] = {}
        self._node_keys: dict[str, Words] = {}
        self._rank_keys: dict[str, Words] = {}
        self._picks: dict[str, Reals] = {}
        workload = deployment.scenario.workload
        saving_s = workload.checkpoint_lasts_s * 0.8, workload.checkpoint_lasts_s * 1.2
        self.checkpoints = Recurring(
            self.key("checkpoints"), workload.checkpoint_every_s, saving_s, (0.03, 0.12), wobble=0.2
        )
        # Nothing of a checkpoint that began before this life lies on its disks.
        self.first_checkpoint = int(self.checkpoints.at(np.array([created_s])).number[0]) + 1
        self.dips = Recurring(self.key("dips"), workload.dip_every_s, (35, 80), (0.66, 0.94))
        trains_s = workload.cycle_s * workload.training_share
        self.cycles = Recurring(
            self.key("cycles"), workload.cycle_s, (trains_s * 0.9, trains_s * 1.1), (1.0, 1.0), wobble=0.12
        )
        staged = any(fault.kind in STAGED for fault in deployment.scenario.faults)
        self.steady_from_s = None if staged else created_s + deployment.scenario.boot.working_at_s
        """From when on all nodes work without a break; None where there are breaks."""

    def key(self, series: str) -> int:
        """The key of something the whole deployment shares."""
        return key(*self._parts, series)

    def keys(self, *series: str) -> Words:
        """The key of each of some deployment-wide series, shape (series,)."""
        if series not in self._keys:
            self._keys[series] = np.array([self.key(name) for name in series], dtype=np.uint64)
        return self._keys[series]

    def node_keys(self, series: str) -> Words:
        """A key a node, shape (nodes,)."""
        if series not in self._node_keys:
            self._node_keys[series] = keys(self.node_ids, *self._parts, series)
        return self._node_keys[series]

    def rank_keys(self, series: str) -> Words:
        """A key a rank, node by node, shape (nodes·ranks,)."""
        if series not in self._rank_keys:
            names = [f"{node}/{rank}" for node in self.node_ids for rank in self.rank_names]
            self._rank_keys[series] = keys(names, *self._parts, series)
        return self._rank_keys[series]

    def row_keys(self, series: str, scope: Scope, first_node: int, stop_node: int) -> Words:
        """A key for each row of a series that belongs to these nodes."""
        if scope is Scope.DEPLOYMENT:
            return self.keys(series)
        if scope is Scope.NODE:
            return self.node_keys(series)[first_node:stop_node]
        ranks = len(self.rank_names)
        return self.rank_keys(series)[first_node * ranks : stop_node * ranks]

    def pick(self, series: str, low: float, high: float) -> float:
        """A real in [low, high) that the deployment keeps all its life."""
        return float(self._picked(series, self.keys, low, high)[0, 0])

    def pick_nodes(self, series: str, low: float, high: float) -> Reals:
        """A real in [low, high) for each node, kept all its life; shape (nodes, 1)."""
        return self._picked(series, self.node_keys, low, high)

    def pick_ranks(self, series: str, low: float, high: float) -> Reals:
        """A real in [low, high) for each rank, kept all its life; shape (nodes·ranks, 1)."""
        return self._picked(series, self.rank_keys, low, high)

    def _picked(self, series: str, row_keys: Callable[[str], Words], low: float, high: float) -> Reals:
        if series not in self._picks:
            self._picks[series] = low + (high - low) * uniform(words(row_keys(series), np.zeros(1, dtype=np.int64)))
        return self._picks[series]


class Samples(NamedTuple):
    """Values of a signal for some rows (ranks, nodes, or the deployment)."""

    values: Integers
    """Whole numbers of the signal's smallest unit, shape (rows, cells)."""
    at: Integers | None
    """Which cell each point shows, shape (points,); None means one cell a point."""
    null: npt.NDArray[np.bool_] | None = None
    """Cells that have no value, shape (cells,); None where all have one."""
    present: npt.NDArray[np.bool_] | None = None
    """Points that exist, by the cell they were sampled in, shape (nodes or 1, cells); None where all do."""


class Moments:
    """The points of a window in a job's life, and the native samples (cells) that they show."""

    def __init__(self, job: Job, window: Window, settled_until_s: int | None = None) -> None:
        """Moments of `job` at the points of `window`; traffic after settled_until_s has not been ingested yet."""
        self.job = job
        self.window = window
        self.settled_until_s = settled_until_s
        self.points = window.timestamps()
        ticks = self.points // TICK_S
        self.at: Integers | None = None
        """Which cell each point shows, shape (points,); None means its own."""
        if window.step_s < TICK_S and len(ticks):
            self.at = ticks - ticks[0]
            ticks = np.arange(ticks[0], ticks[-1] + 1)
        self.ticks = ticks
        """Numbers of the cells, shape (cells,)."""
        self.times_s = ticks * TICK_S
        """When the cells were sampled, epoch seconds, shape (cells,)."""
        from_s = job.steady_from_s
        self.is_steady = from_s is not None and (not len(ticks) or int(ticks[0]) * TICK_S >= from_s)
        """Whether all nodes work without a break."""
        self._made: dict[Callable[..., Any], tuple[tuple[Any, ...], Any]] = {}

    def once(self, make: Callable[..., T], *args: Any) -> T:
        """make(self, *args), made once as long as it is asked for with the same arguments."""
        known = self._made.get(make)
        if known is None or known[0] != args:
            known = self._made[make] = (args, make(self, *args))
        made: T = known[1]
        return made
