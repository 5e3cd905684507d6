"""What the fake deployments are: scenarios read from fixtures/scenarios, and deployments that play them.

Frozen values only. How a scenario looks as numbers is for the signals to say.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from .errors import StartError

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
DAY_S = 86_400

_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": DAY_S}


class ScenarioError(StartError):
    """A scenario file that cannot be played."""


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One kind of node."""

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


@dataclass(frozen=True, slots=True)
class Workload:
    """What the trainer does all day."""

    checkpoint_every_s: int
    dip_every_s: int
    requests_per_second: float
    p50_ms: float


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a deployment consists of and does."""

    name: str
    shows: str
    instance_type: InstanceType
    nodes: int
    recreated_every_s: int | None
    """A new life begins at each multiple of this since the epoch; None for a long-lived deployment."""
    workload: Workload

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


def seconds(duration: str) -> int:
    """`40m` → 2400."""
    return int(duration[:-1]) * _UNIT_S[duration[-1]]


@cache
def instance_types() -> Mapping[str, InstanceType]:
    """The kinds of node, by name."""
    entries = yaml.load((FIXTURES / "instance_types.yaml").read_bytes(), yaml.CSafeLoader)
    return {name: InstanceType(name=name, **entry) for name, entry in entries.items()}


@cache
def _schema() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(json.loads((FIXTURES / "scenario.schema.json").read_text("utf-8")))


def read(file: Path) -> Scenario:
    """Read one scenario file.

    Raises:
        ScenarioError: it cannot be read, or breaks the scenario schema.
    """
    try:
        entry: Any = yaml.load(file.read_bytes(), yaml.CSafeLoader)
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ScenarioError(f"{file}: not YAML: {' '.join(str(error).split())}") from error
    for broken in _schema().iter_errors(entry):
        place = ".".join(str(step) for step in broken.instance_path) or "the file"
        raise ScenarioError(f"{file}: {place}: {broken.message}")
    if entry["instance_type"] not in instance_types():
        known = ", ".join(instance_types())
        raise ScenarioError(f"{file}: instance_type: {entry['instance_type']!r} is not one of {known}")
    created, workload = entry.get("created", "long-lived"), entry["workload"]
    return Scenario(
        name=file.stem,
        shows=entry["shows"],
        instance_type=instance_types()[entry["instance_type"]],
        nodes=entry["nodes"],
        recreated_every_s=None if created == "long-lived" else seconds(created["every"]),
        workload=Workload(
            checkpoint_every_s=seconds(workload.get("checkpoint_every", "40m")),
            dip_every_s=seconds(workload.get("dip_every", "8m")),
            requests_per_second=workload["requests_per_second"],
            p50_ms=workload["p50_ms"],
        ),
    )


def catalogue(extra: Sequence[Path] = ()) -> dict[str, Scenario]:
    """The scenarios that come with the package, then the user's own files or folders, by name."""
    scenarios: dict[str, Scenario] = {}
    for place in (FIXTURES / "scenarios", *extra):
        for file in sorted(place.glob("*.yaml")) if place.is_dir() else [place]:
            scenarios[file.stem] = read(file)
    return scenarios


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
