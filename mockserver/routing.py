"""Contract → which of its operations are served, each with a plan or record that was tried out."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..contracts.spec import Operation, Spec, SpecError, load
from .errors import StartError
from .facts import run_id
from .plan import compile_plan
from .record import Record, compile_record
from .render import whole
from .scenario import Deployment
from .schema import NothingToServe, PlanError, Schema
from .shapes import Plan
from .window import BOUNDS
from .world import World

PREFIX = "/v1/loops/"
METRICS = ("deployment_id",)
"""The path parameters of an operation whose answer holds series."""
DISCOVERY: tuple[tuple[str, ...], ...] = ((), ("deployment_id",), ("run_id",))
"""The path parameters of an operation that tells of deployments and runs."""

Served = Plan | Record


@dataclass(slots=True)
class Routing:
    """What of a contract is served."""

    spec: Spec
    served: dict[str, dict[str, tuple[Operation, Served]]] = field(default_factory=dict)
    """Path → method → operation, and its plan where it answers with series, else its record."""
    skipped: list[str] = field(default_factory=list)
    """Operations that are not, as `METHOD PATH: why`."""
    warnings: list[str] = field(default_factory=list)
    """Places of the contract that are served generically, left out, or not read."""

    @property
    def metrics(self) -> tuple[Operation, ...]:
        """The operations that answer with series."""
        found = (pair for methods in self.served.values() for pair in methods.values())
        return tuple(operation for operation, served in found if isinstance(served, Plan))


def route(source: Path | Mapping[str, Any] | None, world: World) -> Routing:
    """Read a contract and plan its operations.

    Args:
        source: an OpenAPI file or document; None is the package's own openapi.yaml.
        world: what the plans are tried out on.

    Raises:
        StartError: the contract is broken, asks for something that cannot be served, or nothing of it is ours.
    """
    try:
        spec = load(source)
    except SpecError as error:
        raise StartError(str(error)) from error
    routing = Routing(spec)
    for operation in spec.operations:
        _route_one(routing, operation, world)
    if not routing.metrics:
        raise StartError(
            f"{source or 'openapi.yaml'}: none of its {len(spec.operations)} operations is one for metrics; one is "
            f"needed under {PREFIX} with the path parameter {METRICS[0]} and series in its answer"
        )
    return routing


def _route_one(routing: Routing, operation: Operation, world: World) -> None:
    name = f"{operation.method} {operation.path}"
    if not operation.path.startswith(PREFIX) or operation.path_parameters not in DISCOVERY:
        routing.skipped.append(f"{name}: not under {PREFIX} with a deployment_id or a run_id alone")
        return
    schema, pointer = operation.response_schema(200), operation.response_pointer(200)
    if schema is None or pointer is None:
        routing.skipped.append(f"{name}: has no JSON answer 200")
        return
    try:
        # A list of deployments has the shape of series, so names decide first: a record has a member that is known.
        found = _record(routing, operation, schema, pointer, world) or _plan(routing, operation, schema, pointer, world)
    except NothingToServe as error:
        routing.skipped.append(f"{name}: {str(error).removeprefix(f'{pointer}: ')}")
        return
    routing.served.setdefault(operation.path, {})[operation.method] = operation, found
    routing.warnings += found.warnings


def _record(routing: Routing, operation: Operation, schema: Schema, pointer: str, world: World) -> Record | None:
    """The record of an operation that tells of deployments or runs; None where it does not."""
    ids = {"deployment_id": next(iter(world.deployments)), "run_id": run_id(next(iter(world.deployments)))}
    facts = world.facts({name: ids[name] for name in operation.path_parameters}, stand_in=True)
    try:
        record = compile_record(routing.spec, schema, pointer, facts)
    except NothingToServe:
        return None
    if operation.method != "GET":
        raise NothingToServe(
            f"{pointer}: answers with {', '.join(facts)}, but not to a GET: nothing can be changed here"
        )
    _try_out(operation, json.dumps(record.fill(facts)).encode(), pointer)
    return record


def _plan(routing: Routing, operation: Operation, schema: Schema, pointer: str, world: World) -> Plan:
    """The plan of an operation that answers with series."""
    if operation.path_parameters != METRICS:
        raise NothingToServe(f"{pointer}: is not of one {METRICS[0]}, and has no member that is known")
    plan = compile_plan(routing.spec, METRICS[0], schema, pointer)
    plan.warnings += _unread(operation)
    now_ms = world.clock()
    for deployment in _of_each_kind(world):
        view = world.view(deployment, {"start_epoch_millis": max(0, now_ms - 60_000), "end_epoch_millis": now_ms + 1})
        _try_out(operation, bytes(whole(plan, view)), pointer)
    return plan


def _try_out(operation: Operation, body: bytes, pointer: str) -> None:
    """Hold an answer to the schema it was made from: what cannot be met is said at the start."""
    for violation in operation.response_violations(200, "application/json", body):
        raise PlanError(f"{pointer}: cannot be met: {violation.where}: {violation.message}")


def _unread(operation: Operation) -> Iterator[str]:
    """A warning where the request lacks members that are read: what stands there instead is ignored."""
    schema, pointer, declared = operation.request_schema, operation.pointer, set[str]()
    if schema is not None and operation.request_pointer is not None:
        _, pointer = operation.schemas.follow(schema, operation.request_pointer)
        declared = set(_members(operation, schema))
    missing = [name for name in BOUNDS if name not in declared]
    if missing:
        yield f"{pointer}: the request lacks {', '.join(missing)}; the default is taken, whatever stands there instead"


def _members(operation: Operation, raw: Any, depth: int = 0) -> Iterator[str]:
    schema = operation.schemas.resolve(raw)
    yield from schema.get("properties", {})
    if depth < 16:  # a schema that contains itself
        for keyword in ("allOf", "anyOf", "oneOf"):
            for branch in schema.get(keyword, ()):
                yield from _members(operation, branch, depth + 1)


def _of_each_kind(world: World) -> list[Deployment]:
    """A deployment that runs and one that does not: one has points, the other null and empty series."""
    found: dict[bool, Deployment] = {}
    for deployment in world.deployments.values():
        if len(found) < 2:
            found.setdefault(world.status(deployment, world.clock() // 1000) == "RUNNING", deployment)
    return list(found.values())
