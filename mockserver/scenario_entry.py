"""A scenario → the text of a file that says all of it, and what is to be known of it before it is played."""

from collections.abc import Iterator
from typing import Any

import yaml

from .scenario import DAY_S, UNITS_S, Fault, Scenario
from .scenario_file import TAKES
from .scenario_sheet import DURATIONS

_SEEN_S = 23 * DAY_S
"""What a long-lived deployment did so long after its creation is never seen: it is 30 days old, windows last 7."""


def text(scenario: Scenario) -> str:
    """The scenario as a file that extends nothing and leaves nothing to a default."""
    workload, boot = scenario.workload, scenario.boot
    recreated_s = scenario.recreated_every_s
    entry: dict[str, Any] = {
        "shows": scenario.shows,
        "instance_type": scenario.instance_type.name,
        "nodes": scenario.nodes,
        "availability": scenario.availability,
        "created": "long-lived" if recreated_s is None else {"every": duration(recreated_s)},
    }
    if scenario.lag_s:
        entry["lag"] = duration(scenario.lag_s)
    entry["boot"] = _members(boot, boot.__slots__)
    entry["workload"] = _members(workload, workload.__slots__)
    if scenario.faults:
        entry["faults"] = [_fault(fault) for fault in scenario.faults]
    return yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=110)


def duration(length_s: int) -> str:
    """2400 → `40m`."""
    unit, size_s = next((unit, size_s) for unit, size_s in UNITS_S.items() if length_s % size_s == 0)
    return f"{length_s // size_s}{unit}"


def notes(scenario: Scenario) -> Iterator[tuple[Fault, str]]:
    """Faults that nobody will see, and what to do about it."""
    life_s = scenario.recreated_every_s
    for fault in scenario.faults:
        if fault.every_s is not None:
            continue
        if life_s is not None and fault.at_s >= life_s:
            yield fault, f"it never begins: every life ends after {duration(life_s)}; make `at` earlier than that"
        elif life_s is None and fault.lasts_s is not None and fault.at_s + fault.lasts_s < _SEEN_S:
            yield (
                fault,
                "it is over for good, since the deployment was created 30 days ago or earlier; to see it again and "
                "again, add to the fault every: 1h, or to the scenario created: {every: 6h}",
            )


def _members(part: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The members of a part under the names that files have for them."""
    found: dict[str, Any] = {}
    for name in names:
        value, bare = getattr(part, name), name.removesuffix("_s")
        if value is None or (name == "at_s" and not value):
            continue
        found[bare] = duration(value) if bare in DURATIONS else list(value) if isinstance(value, tuple) else value
    return found


def _fault(fault: Fault) -> dict[str, Any]:
    named = _members(fault, fault.__slots__)
    return {name: named[name] for name in ("kind", "at", "every", "lasts", *TAKES[fault.kind]) if name in named}
