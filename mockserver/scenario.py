"""What the fake deployments are. Frozen values only: how a scenario looks as numbers is for the signals to say."""

from collections.abc import Mapping
from dataclasses import dataclass

from .errors import StartError

DAY_S = 86_400
UNITS_S = {"d": DAY_S, "h": 3600, "m": 60, "s": 1}
"""Units of the durations that people write, the largest first."""
LONGEST_S = 3650 * DAY_S


class ScenarioError(StartError):
    """A scenario that cannot be played."""


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One kind of node, with at most eight GPUs."""

    name: str
    gpu_type: str
    gpu_count: int
    gpu_memory_mib: int
    """What NVML reports for one GPU."""
    gpu_memory_limit_mib: int
    """Nominal, for the whole node."""
    millicpu_limit: int
    memory_limit_mib: int
    disk_bytes: int

    def many(self, nodes: int) -> str:
        """So many nodes of this kind, for people: `2 × 8 H100`."""
        return f"{nodes} × {self.gpu_count} {self.gpu_type}"


@dataclass(frozen=True, slots=True)
class Workload:
    """What the trainer does all day."""

    kind: str = "training"
    cycle_s: int = 360
    training_share: float = 0.26
    checkpoint_every_s: int = 2400
    checkpoint_lasts_s: int = 62
    dip_every_s: int = 480
    requests_per_second: float = 6.0
    p50_ms: float = 900.0
    client_error_share: float = 0.006
    server_error_share: float = 0.0002


@dataclass(frozen=True, slots=True)
class Boot:
    """The stages from nothing to work, seconds each."""

    pending_s: int = 90
    """Nothing is there."""
    starting_s: int = 120
    """Nodes have CPU and disk."""
    loading_s: int = 240
    """GPU memory fills."""

    @property
    def loading_at_s(self) -> int:
        """When GPU memory begins to fill."""
        return self.pending_s + self.starting_s

    @property
    def working_at_s(self) -> int:
        """When work begins."""
        return self.pending_s + self.starting_s + self.loading_s


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong, when, for how long, how often and where."""

    kind: str
    at_s: int = 0
    every_s: int | None = None
    lasts_s: int | None = None
    nodes: tuple[int, ...] | None = None
    ranks: tuple[int, ...] | None = None
    factor: float = 1.5
    busy: float = 0.65
    share: float = 0.1
    status: str = "5xx"
    of: str = "host"
    down_s: int = 300


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a deployment consists of and does."""

    name: str
    shows: str
    instance_type: InstanceType
    nodes: int
    recreated_every_s: int | None = None
    """A new life begins at each multiple of this since the epoch; None for a long-lived deployment."""
    availability: str = "dedicated"
    lag_s: int = 0
    boot: Boot = Boot()
    workload: Workload = Workload()
    faults: tuple[Fault, ...] = ()

    @property
    def size(self) -> str:
        """Its nodes and their GPUs, for people: `2 × 8 H100`."""
        return self.instance_type.many(self.nodes)

    def created_s(self, now_s: int) -> int:
        """When the life that lasts at now began: recurring on the epoch, so that every server agrees on it."""
        if self.recreated_every_s is not None:
            return now_s // self.recreated_every_s * self.recreated_every_s
        return (now_s - 30 * DAY_S) // (90 * DAY_S) * (90 * DAY_S)


@dataclass(frozen=True, slots=True)
class Deployment:
    """A scenario played under an id."""

    id: str
    scenario: Scenario

    @property
    def node_ids(self) -> list[str]:
        """The nodes, leader first."""
        return [f"g00r{number}" for number in range(self.scenario.nodes)]

    @property
    def rank_names(self) -> list[str]:
        """The GPU ranks of each node."""
        return [str(rank) for rank in range(self.scenario.instance_type.gpu_count)]


def deployments(scenarios: Mapping[str, Scenario], played: Mapping[str, str] | None = None) -> dict[str, Deployment]:
    """Every scenario under its own name, and those of `played` (id → scenario name) beside them.

    Raises:
        ScenarioError: there is no scenario of that name.
    """
    found = {name: Deployment(name, scenario) for name, scenario in scenarios.items()}
    for id_, name in (played or {}).items():
        if name not in scenarios:
            raise ScenarioError(f"--deployment {id_}={name}: no scenario {name!r}; there are {', '.join(scenarios)}")
        found[id_] = Deployment(id_, scenarios[name])
    return found
