"""Scenario files → scenarios. What cannot be played is refused with its place, the rule and a remedy."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

from ..contracts.plain_yaml import parse
from .scenario import Boot, Fault, InstanceType, Scenario, ScenarioError, Workload
from .scenario_sheet import DURATIONS, FIXTURES, Sheet, meant, read, seconds

FIRST = "healthy"
"""The scenario that examples show stands first."""
SUFFIXES = (".yaml", ".yml")

Sheets = Mapping[str, Sheet]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST_TIMES = 1000
"""So many times the usual rate or latency still are numbers that clients take."""

TAKES = {
    "slow-compute": ("factor",),
    "slow-data": ("busy", "nodes", "ranks"),
    "starved": ("busy",),
    "out-of-memory": ("down",),
    "node-loss": ("nodes",),
    "scaled-down": (),
    "leak": ("of", "share", "down"),
    "disk-growth": ("share",),
    "errors": ("share", "status"),
    "surge": ("factor",),
    "gaps": (),
    "end": ("status",),
    "never-starts": (),
}
"""What each kind of fault takes beside at, every and lasts."""
_NEEDS = {"gaps": ("every", "lasts"), "node-loss": ("nodes", "lasts"), "disk-growth": ("lasts",), "end": ("status",)}
_NEEDS |= {"errors": ("status", "share"), "scaled-down": ("lasts",), "leak": ("every",)}


def catalogue(extra: Sequence[Path] = ()) -> dict[str, Scenario]:
    """The scenarios that come with the package, then the user's own files or folders, by name.

    Raises:
        ScenarioError: a file cannot be read, or says something that cannot be played.
    """
    ours = _read_all([FIXTURES / "scenarios"])
    theirs = _read_all(extra)
    # What comes with the package stays what it is, whatever the user calls by the same name.
    scenarios = {name: _scenario(sheet, ours, ours) for name, sheet in ours.items()}
    return scenarios | {name: _scenario(sheet, ours | theirs, ours) for name, sheet in theirs.items()}


def files_in(place: Path) -> list[Path]:
    """The scenario files of a folder, or the one file that it is.

    Raises:
        ScenarioError: there is none in the folder.
    """
    if not place.is_dir():
        return [place]
    found = [path for path in place.iterdir() if path.suffix in SUFFIXES and not path.name.startswith(".")]
    if not found:
        raise ScenarioError(f"{place}: there is no {' or '.join(SUFFIXES)} file in it")
    return sorted(found, key=lambda path: (path.stem != FIRST, path))


def _read_all(places: Sequence[Path]) -> dict[str, Sheet]:
    sheets: dict[str, Sheet] = {}
    for place in places:
        for path in files_in(place):
            if not _NAME.fullmatch(path.stem):
                raise ScenarioError(
                    f"{path}: its name would be the deployment's id; rename it to letters, digits, dots, dashes and _"
                )
            known = sheets.setdefault(path.stem, read(path))
            if known.path.resolve() != path.resolve():
                raise ScenarioError(f"{path}: {known.path} is called {path.stem} as well; rename one of them")
            _check_faults(known)
    return sheets


@cache
def instance_types() -> Mapping[str, InstanceType]:
    """The kinds of node, by name."""
    entries, _ = parse((FIXTURES / "instance_types.yaml").read_bytes())
    return {name: InstanceType(name=name, **entry) for name, entry in entries.items()}


def _check_faults(sheet: Sheet) -> None:
    for number, fault in enumerate(sheet.entry.get("faults", ())):
        _check_fault(sheet, ["faults", number], fault)


def _check_fault(sheet: Sheet, place: list[str | int], fault: Mapping[str, Any]) -> None:
    kind = fault["kind"]
    for member in fault:
        if member not in ("kind", "at", "every", "lasts", *TAKES[kind]):
            takes = ", ".join(("at", "every", "lasts", *TAKES[kind]))
            raise sheet.error([*place, member], f"a fault of the kind {kind} does not take it; it takes {takes}")
    for member in _NEEDS.get(kind, ()):
        if member not in fault:
            raise sheet.error(place, f"a fault of the kind {kind} needs {member!r}")
    if "every" in fault:
        every_s = seconds(fault["every"])
        if seconds(fault.get("at", "0s")) >= every_s:
            raise sheet.error([*place, "at"], f"{fault['at']} is not before the next one, every {fault['every']}")
        if seconds(fault.get("lasts", "0s")) > every_s:
            raise sheet.error(
                [*place, "lasts"], f"{fault['lasts']} is longer than {fault['every']}, when it comes back"
            )
    if kind == "errors" and fault["status"] not in ("4xx", "5xx"):
        raise sheet.error([*place, "status"], f"{fault['status']!r} is not 4xx or 5xx")
    if kind == "end" and fault["status"] in ("4xx", "5xx"):
        raise sheet.error([*place, "status"], f"{fault['status']!r} is not PREEMPTED, FAILED or STOPPED")


def _extended(sheet: Sheet, sheets: Sheets, ours: Sheets, below: tuple[Sheet, ...] = ()) -> dict[str, Any]:
    """The entry of a scenario together with what it extends."""
    entry = dict(sheet.entry)
    name = entry.pop("extends", None)
    if name is None:
        return entry
    if name not in sheets:
        raise sheet.error(
            ["extends"],
            f"there is no scenario {name!r}" + meant(name, list(sheets)) + "; name a file of your own as well",
        )
    parent = sheets[name]
    # What comes with the package extends what comes with it, and a user's file may change what it is called after.
    if name in ours and (parent is sheet or ours.get(sheet.path.stem) is sheet):
        parent = ours[name]
    chain = (*below, sheet)
    if parent in chain:
        circle = " → ".join(one.path.stem for one in (*chain, parent))
        raise sheet.error(["extends"], f"goes round in a circle, {circle}: one of them must not extend")
    start = _extended(parent, sheets, ours, chain)
    merged = start | entry
    for member in ("workload", "boot"):
        if member in start and member in entry:
            merged[member] = start[member] | entry[member]
    merged["faults"] = [*start.get("faults", ()), *entry.get("faults", ())]
    return merged


def _in_seconds(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The members as the dataclasses have them: durations in seconds, and lists, all of them of numbers, as tuples."""
    found: dict[str, Any] = {}
    for member, value in entry.items():
        if member in DURATIONS:
            found[f"{member}_s"] = seconds(value)
        else:  # the schema takes 2.0 for an integer
            found[member] = tuple(map(int, value)) if isinstance(value, list) else value
    return found


def _scenario(sheet: Sheet, sheets: Sheets, ours: Sheets) -> Scenario:
    entry = _extended(sheet, sheets, ours)
    for member in ("instance_type", "nodes"):
        if member not in entry:
            raise sheet.error([], f"{member!r} is missing; name it, or a scenario to start from: extends: healthy")
    if entry["instance_type"] not in instance_types():
        what = f"there is no {entry['instance_type']!r}" + meant(entry["instance_type"], list(instance_types()))
        raise sheet.error(["instance_type"], what)
    node, nodes = instance_types()[entry["instance_type"]], int(entry["nodes"])
    faults = entry.get("faults", [])
    own = len(sheet.entry.get("faults", ()))
    for number, fault in enumerate(faults):
        for member, count, what in (("nodes", nodes, "node"), ("ranks", node.gpu_count, "rank")):
            for index in map(int, fault.get(member, ())):
                if index >= count:
                    place: list[str | int] = ["faults", number - len(faults) + own, member]
                    place = place if number >= len(faults) - own else []
                    raise sheet.error(place, f"there is no {what} {index}; there are 0 to {count - 1}")
    workload = Workload(**_in_seconds(entry.get("workload", {})))
    for member, value_s, least_s, why in (
        ("cycle", workload.cycle_s, 60, "shorter ones fall between the native samples"),
        ("dip_every", workload.dip_every_s, 180, "a dip lasts up to 80 s"),
        (
            "checkpoint_every",
            workload.checkpoint_every_s,
            2 * workload.checkpoint_lasts_s,
            "twice as long as one lasts",
        ),
    ):
        if value_s < least_s:
            raise sheet.error(["workload", member], f"{value_s}s is too short; write {least_s}s or more: {why}")
    played = tuple(Fault(**_in_seconds(fault)) for fault in faults)
    for kind in ("surge", "slow-compute"):
        times = prod(max(fault.factor, 1 / fault.factor) for fault in played if fault.kind == kind)
        if times > _MOST_TIMES:
            what = f"all {kind} faults together make {times:g} times as much; {_MOST_TIMES} is the most: lower a factor"
            raise sheet.error(["faults"], what)
    created = entry.get("created", "long-lived")
    return Scenario(
        name=sheet.path.stem,
        shows=entry["shows"],
        instance_type=node,
        nodes=nodes,
        recreated_every_s=None if created == "long-lived" else seconds(created["every"]),
        availability=entry.get("availability", "dedicated"),
        lag_s=seconds(entry["lag"]) if "lag" in entry else 0,
        boot=Boot(**_in_seconds(entry.get("boot", {}))),
        workload=workload,
        faults=played,
    )
