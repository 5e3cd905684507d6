"""Scenario files → scenarios. A file that is no good is refused with its place, the rule and a remedy."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from .scenario import Boot, Fault, InstanceType, Scenario, ScenarioError, Workload

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

FIRST = "healthy"
"""The scenario that examples show stands first."""

_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATIONS = {"at", "every", "lasts", "down", "pending", "starting", "loading", "cycle", "lag"}
_DURATIONS |= {"checkpoint_every", "checkpoint_lasts", "dip_every"}

# What each kind of fault takes beside at, every and lasts.
_TAKES = {
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
_NEEDS = {"gaps": ("every", "lasts"), "node-loss": ("nodes", "lasts"), "disk-growth": ("lasts",), "end": ("status",)}
_NEEDS |= {"errors": ("status", "share"), "scaled-down": ("lasts",), "leak": ("every",)}


@dataclass(frozen=True, slots=True)
class _File:
    """A scenario file as it was read: its entry, and the line on which each part of it stands."""

    path: Path
    entry: Mapping[str, Any]
    lines: Mapping[tuple[str | int, ...], int]

    def error(self, place: Sequence[str | int], what: str) -> ScenarioError:
        """What is wrong at a place, with the nearest line that is known."""
        known = next(
            tuple(place[:length]) for length in range(len(place), -1, -1) if tuple(place[:length]) in self.lines
        )
        name = ".".join(str(step) for step in place) or "the file"
        return ScenarioError(f"{self.path}:{self.lines[known]}: {name}: {what}")


def catalogue(extra: Sequence[Path] = ()) -> dict[str, Scenario]:
    """The scenarios that come with the package, then the user's own files or folders, by name.

    Raises:
        ScenarioError: a file cannot be read, or says something that cannot be played.
    """
    ours = _read_all([FIXTURES / "scenarios"])
    theirs = _read_all(extra)
    # What comes with the package stays what it is, whatever the user calls by the same name.
    scenarios = {name: _scenario(name, ours) for name in ours}
    return scenarios | {name: _scenario(name, ours | theirs) for name in theirs}


def _read_all(places: Sequence[Path]) -> dict[str, "_File"]:
    files: dict[str, _File] = {}
    for place in places:
        found = sorted(place.glob("*.yaml"), key=lambda path: (path.stem != FIRST, path)) if place.is_dir() else [place]
        if not found:
            raise ScenarioError(f"{place}: there is no .yaml file in it")
        for path in found:
            files[path.stem] = _read(path)
    return files


@cache
def instance_types() -> Mapping[str, InstanceType]:
    """The kinds of node, by name."""
    entries = yaml.load((FIXTURES / "instance_types.yaml").read_bytes(), yaml.CSafeLoader)
    return {name: InstanceType(name=name, **entry) for name, entry in entries.items()}


@cache
def _schema() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(json.loads((FIXTURES / "scenario.schema.json").read_text("utf-8")))


def _read(path: Path) -> _File:
    try:
        text = path.read_bytes()
        node = yaml.compose(text, yaml.CSafeLoader)
        entry: Any = yaml.load(text, yaml.CSafeLoader)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ScenarioError(f"{path}:{line}: not YAML: {error.problem or error}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ScenarioError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    file = _File(path, entry, dict(_lines(node, ())) if node else {(): 1})
    for broken in _schema().iter_errors(entry):
        raise file.error(*_in_words(list(broken.instance_path), broken))
    for number, fault in enumerate(entry.get("faults", ())):
        _check_fault(file, ["faults", number], fault)
    return file


def _lines(node: yaml.Node, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, key.value), key.start_mark.line + 1
            for found, line in _lines(value, (*place, key.value)):
                if found != (*place, key.value):
                    yield found, line
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _lines(value, (*place, number))


def _in_words(place: list[str | int], broken: jsonschema_rs.ValidationError) -> tuple[list[str | int], str]:
    """A place, and what is wrong there and what would be right."""
    kind, details = broken.kind.name, broken.kind.as_dict()
    if kind == "additionalProperties":
        key = str(details["unexpected"][0])
        return [*place, key], f"there is no such member{_meant(key, _members(place))}"
    if kind == "enum":
        return place, f"{broken.instance!r} is not one of {', '.join(map(str, details['options']))}" + _meant(
            str(broken.instance), [str(option) for option in details["options"]]
        )
    if kind == "pattern" or (place and place[-1] in _DURATIONS):
        return place, f"{broken.instance!r} is not a duration above zero; write for example 90s, 40m, 6h or 30d"
    if kind == "required":
        return place, f"{details['property']!r} is missing"
    if kind == "oneOf":
        return place, f"{broken.instance!r} is neither long-lived nor {{every: 6h}}"
    return place, broken.message


def _members(place: list[str | int]) -> list[str]:
    """The members that the schema knows at a place."""
    schema = json.loads((FIXTURES / "scenario.schema.json").read_text("utf-8"))
    if place[:1] == ["faults"]:
        return list(schema["$defs"]["fault"]["properties"])
    for step in place:
        schema = schema["properties"].get(step, {"properties": {}})
    return list(schema.get("properties", {}))


def _meant(said: str, known: Sequence[str]) -> str:
    near = get_close_matches(said, known, 1)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"


def _check_fault(file: _File, place: list[str | int], fault: Mapping[str, Any]) -> None:
    kind = fault["kind"]
    for member in fault:
        if member not in ("kind", "at", "every", "lasts", *_TAKES[kind]):
            takes = ", ".join(("at", "every", "lasts", *_TAKES[kind]))
            raise file.error([*place, member], f"a fault of the kind {kind} does not take it; it takes {takes}")
    for member in _NEEDS.get(kind, ()):
        if member not in fault:
            raise file.error(place, f"a fault of the kind {kind} needs {member!r}")
    if "every" in fault:
        every_s = seconds(fault["every"])
        if seconds(fault.get("at", "0s")) >= every_s:
            raise file.error([*place, "at"], f"{fault['at']} is not before the next one, every {fault['every']}")
        if seconds(fault.get("lasts", "0s")) > every_s:
            raise file.error([*place, "lasts"], f"{fault['lasts']} is longer than {fault['every']}, when it comes back")
    if kind == "errors" and fault["status"] not in ("4xx", "5xx"):
        raise file.error([*place, "status"], f"{fault['status']!r} is not 4xx or 5xx")
    if kind == "end" and fault["status"] in ("4xx", "5xx"):
        raise file.error([*place, "status"], f"{fault['status']!r} is not PREEMPTED, FAILED or STOPPED")


def seconds(duration: str) -> int:
    """`40m` → 2400."""
    return int(duration[:-1]) * _UNIT_S[duration[-1]]


def _extended(name: str, files: Mapping[str, _File], below: tuple[str, ...] = ()) -> dict[str, Any]:
    """The entry of a scenario together with what it extends."""
    file = files[name]
    entry = dict(file.entry)
    parent = entry.pop("extends", None)
    if parent is None:
        return entry
    if parent in (*below, name):
        circle = " → ".join((*below, name, parent))
        raise file.error(["extends"], f"goes round in a circle, {circle}: one of them must not extend")
    if parent not in files:
        raise file.error(["extends"], f"there is no scenario {parent!r}" + _meant(parent, list(files)))
    start = _extended(parent, files, (*below, name))
    merged = start | entry
    for member in ("workload", "boot"):
        if member in start and member in entry:
            merged[member] = start[member] | entry[member]
    merged["faults"] = [*start.get("faults", ()), *entry.get("faults", ())]
    return merged


def _in_seconds(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        (f"{member}_s" if member in _DURATIONS else member): (
            seconds(value) if member in _DURATIONS else tuple(value) if isinstance(value, list) else value
        )
        for member, value in entry.items()
    }


def _scenario(name: str, files: Mapping[str, _File]) -> Scenario:
    file = files[name]
    entry = _extended(name, files)
    for member in ("instance_type", "nodes"):
        if member not in entry:
            raise file.error([], f"{member!r} is missing; name it, or a scenario to start from: extends: healthy")
    if entry["instance_type"] not in instance_types():
        what = f"there is no {entry['instance_type']!r}" + _meant(entry["instance_type"], list(instance_types()))
        raise file.error(["instance_type"], what)
    node, nodes = instance_types()[entry["instance_type"]], entry["nodes"]
    faults = entry.get("faults", [])
    own = len(file.entry.get("faults", ()))
    for number, fault in enumerate(faults):
        for member, count, what in (("nodes", nodes, "node"), ("ranks", node.gpu_count, "rank")):
            for index in fault.get(member, ()):
                if index >= count:
                    place: list[str | int] = ["faults", number - len(faults) + own, member]
                    place = place if number >= len(faults) - own else []
                    raise file.error(place, f"there is no {what} {index}; there are 0 to {count - 1}")
    created = entry.get("created", "long-lived")
    return Scenario(
        name=name,
        shows=entry["shows"],
        instance_type=node,
        nodes=nodes,
        recreated_every_s=None if created == "long-lived" else seconds(created["every"]),
        availability=entry.get("availability", "dedicated"),
        lag_s=seconds(entry["lag"]) if "lag" in entry else 0,
        boot=Boot(**_in_seconds(entry.get("boot", {}))),
        workload=Workload(**_in_seconds(entry.get("workload", {}))),
        faults=tuple(Fault(**_in_seconds(fault)) for fault in faults),
    )
