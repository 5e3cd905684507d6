"""Response schema → plan: which series stands where in the answer. This is how the contract drives the mock.

The walk recognises shapes, not names: an array of objects with a date-time is a series, a map of series is per GPU
rank, an array of objects that hold series is per node. Names matter in one place only: each number is bound to the
signal registered under the end of its path (`a.b` binds …/a/b), and to a generic signal where there is none.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import compute as _compute  # noqa: F401  registers the signals
from . import traffic as _traffic  # noqa: F401
from .job import Scope
from .schema import NothingToServe, PlanError, Resolver, Schema, below, bound, constant, opening, types_of
from .shapes import Constant, Id, Node, Object, PerNode, Plan, Quantity, RankMap, Series, Timestamp
from .signal import REGISTRY, Signal, generic


@dataclass(frozen=True, slots=True)
class _Place:
    pointer: str
    path: tuple[str, ...]
    scope: Scope
    home: int = 0
    """How much of the path leads to the node, or to what stands at the top for the leader."""

    @property
    def own(self) -> tuple[str, ...]:
        """The path within the node, or within what stands for the leader."""
        return self.path[self.home :]

    def member(self, name: str) -> "_Place":
        return _Place(below(self.pointer, name), (*self.path, name), self.scope, self.home)

    def below(self, keyword: str, scope: Scope | None = None) -> "_Place":
        home = len(self.path) if scope is Scope.NODE else self.home
        return _Place(f"{self.pointer}/{keyword}", self.path, self.scope if scope is None else scope, home)


def compile_plan(contract: Resolver, parameter: str, schema: Schema, pointer: str) -> Plan:
    """Compile the plan of a response schema.

    Args:
        contract: follows references.
        parameter: the path parameter that names the deployment; a string of that name is its id.
        schema: the response's schema.
        pointer: where it stands in the contract, for messages.

    Raises:
        NothingToServe: there is no series in it.
        PlanError: a required part of it cannot be served.
    """
    compiler = _Compiler(contract, parameter)
    place = _Place(pointer, (), Scope.DEPLOYMENT)
    if not compiler.holds_series(schema):
        raise NothingToServe(f"{pointer}: holds no series (an array of objects with a date-time and numbers)")
    root = compiler.node(schema, place)
    if not isinstance(root, Object):
        raise PlanError(f"{pointer}: the answer must be an object with named members")
    return Plan(root, tuple(compiler.known.values()), compiler.warnings)


class _Compiler:
    def __init__(self, contract: Resolver, parameter: str) -> None:
        self.resolve = contract.resolve
        self.parameter = parameter
        self.warnings: list[str] = []
        self.quantities: dict[tuple[Any, ...], Quantity] = {}
        self.generics: dict[tuple[Any, ...], Signal] = {}
        self.known: dict[tuple[Quantity | Timestamp | Constant, ...], Series] = {}
        self.of_nodes: set[tuple[str, ...]] = set()
        """Paths within a node that lead to a number of the node's own."""

    def node(self, raw: Schema, place: _Place) -> Node:
        schema = self.resolve(raw)
        if self.is_series(schema):
            return self.series(self.resolve(schema["items"]), place)
        if self.holds_nodes(schema):
            if place.scope is not Scope.DEPLOYMENT:
                raise PlanError(f"{place.pointer}: an array of objects with series inside another one")
            entry = self.node(schema["items"], place.below("items", Scope.NODE))
            if not isinstance(entry, Object):
                raise PlanError(f"{place.pointer}/items: each node needs an object with named members")
            return PerNode(entry)
        values = schema.get("additionalProperties")
        if isinstance(values, Mapping) and self.is_series(self.resolve(values)):
            items = self.resolve(self.resolve(values)["items"])
            return RankMap(self.series(items, place.below("additionalProperties", Scope.RANK)))
        if schema.get("properties"):
            return self.object(schema, place)
        return self.id(schema, place) or Constant(b"", json.dumps(constant(schema, place.pointer)))

    def id(self, schema: Schema, place: _Place) -> Id | None:
        """A string that names the node it stands in, or the deployment."""
        if "string" not in types_of(schema) or schema.keys() & {"const", "enum", "format"}:
            return None
        if place.scope is Scope.NODE or place.path[-1:] == (self.parameter,):
            return Id(place.scope)
        return None

    def object(self, schema: Schema, place: _Place) -> Object:
        members: dict[str, Node] = {}
        required = schema.get("required", ())
        names = list(schema["properties"])
        nodes = [name for name in names if self.holds_nodes(schema["properties"][name])]
        if nodes and place.scope is Scope.DEPLOYMENT:
            place = replace(place, home=len(place.path))
        # The nodes first: what stands beside them and has the name of something of theirs is the leader's.
        for name in sorted(names, key=lambda name: name not in nodes):
            try:
                members[name] = self.node(schema["properties"][name], place.member(name))
            except PlanError as error:
                if name in required:
                    raise
                self.warnings.append(f"{error}; it is optional and left out")
        return Object(tuple((name, members[name]) for name in names if name in members))

    def series(self, item: Schema, place: _Place) -> Series:
        required = item.get("required", ())
        parts: list[Quantity | Timestamp | Constant] = []
        stamp = self.timestamp_member(item)
        first = True
        for name, raw in item["properties"].items():
            schema, here, named = self.resolve(raw), place.below("items").member(name), opening(name)
            if name == stamp:
                parts.append(Timestamp(named))
            elif types_of(schema) & {"number", "integer"}:
                parts.append(self.quantity(name, schema, here, place if first else None))
                first = False
            else:
                try:
                    parts.append(Constant(named, json.dumps(constant(schema, here.pointer))))
                except PlanError as error:
                    if name in required:
                        raise
                    self.warnings.append(f"{error}; it is optional and left out")
        quantities = tuple(part for part in parts if isinstance(part, Quantity))
        series = Series(tuple(parts), quantities, max(quantity.signal.scope for quantity in quantities))
        return self.known.setdefault(tuple(parts), series)

    def quantity(self, name: str, schema: Schema, place: _Place, of_series: _Place | None) -> Quantity:
        types = types_of(schema)
        minimum, maximum = bound(schema, "minimum"), bound(schema, "maximum")
        integer = "integer" in types and "number" not in types
        found = _registered(place.path, place.scope) or (of_series and _registered(of_series.path, place.scope))
        if not found:
            low = minimum if minimum is not None else min(0.0, maximum if maximum is not None else 0.0)
            high = maximum if maximum is not None else low + (100.0 if integer else 1.0)
            scope = Scope.NODE if place.scope is Scope.DEPLOYMENT and place.own in self.of_nodes else place.scope
            if scope is Scope.NODE:
                self.of_nodes.add(place.own)
            kind = ".".join(place.own), scope, low, high
            found = self.generics.setdefault((*kind, integer), generic(*kind, integer=integer))
            self.warnings.append(f"{place.pointer}: no signal is registered for it; served with a generic one")
        # Places that show the same numbers in the same way share one quantity, and so their series.
        same = name, id(found), integer, "null" in types, minimum, maximum
        quantity = Quantity(opening(name), found, integer, "null" in types, minimum, maximum)
        return self.quantities.setdefault(same, quantity)

    def holds_nodes(self, raw: Schema) -> bool:
        schema = self.resolve(raw)
        return "array" in types_of(schema) and not self.is_series(schema) and self.holds_series(schema)

    def is_series(self, schema: Schema) -> bool:
        if "array" not in types_of(schema) or not isinstance(schema.get("items"), Mapping):
            return False
        item = self.resolve(schema["items"])
        numbers = (types_of(self.resolve(raw)) & {"number", "integer"} for raw in item.get("properties", {}).values())
        return self.timestamp_member(item) is not None and any(numbers)

    def timestamp_member(self, item: Schema) -> str | None:
        for name, raw in item.get("properties", {}).items():
            if self.resolve(raw).get("format") == "date-time":
                return str(name)
        return None

    def holds_series(self, raw: Schema, depth: int = 0) -> bool:
        schema = self.resolve(raw)
        if depth > 16:  # a schema that contains itself
            return False
        return self.is_series(schema) or any(
            self.holds_series(child, depth + 1) for child in _children(schema) if isinstance(child, Mapping)
        )


def _children(schema: Schema) -> Iterator[Any]:
    yield from schema.get("properties", {}).values()
    yield schema.get("items")
    yield schema.get("additionalProperties")


def _registered(path: tuple[str, ...], scope: Scope) -> Signal | None:
    """The signal whose name is the longest end of the path, if rows of it fit the place."""
    for length in range(len(path), 0, -1):
        found = REGISTRY.get(".".join(path[-length:]))
        if found is not None:
            return found if _fits(found.scope, scope) else None
    return None


def _fits(rows: Scope, place: Scope) -> bool:
    # At the top a node's signal stands for the leader's.
    return rows == place or (rows is Scope.NODE and place is Scope.DEPLOYMENT)
