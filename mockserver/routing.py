"""Contract → which of its operations are served, each with a plan that was tried out."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..contracts.spec import Operation, Spec, SpecError, load
from .errors import StartError
from .plan import NothingToServe, Plan, PlanError, compile_plan
from .render import whole
from .scenario import Deployment
from .window import BOUNDS
from .world import World

PREFIX = "/v1/loops/"
PARAMETER = "deployment_id"


@dataclass(slots=True)
class Routing:
    """What of a contract is served."""

    spec: Spec
    served: dict[str, dict[str, tuple[Operation, Plan]]] = field(default_factory=dict)
    """Path → method → operation and plan."""
    skipped: list[str] = field(default_factory=list)
    """Operations that are not, as `METHOD PATH: why`."""
    warnings: list[str] = field(default_factory=list)
    """Places of the contract that are served generically, left out, or not read."""


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
    if not routing.served:
        raise StartError(
            f"{source or 'openapi.yaml'}: none of its {len(spec.operations)} operations can be served; one is needed "
            f"under {PREFIX} with the path parameter {PARAMETER} and series in its answer"
        )
    return routing


def _route_one(routing: Routing, operation: Operation, world: World) -> None:
    name = f"{operation.method} {operation.path}"
    if not operation.path.startswith(PREFIX) or operation.path_parameters != (PARAMETER,):
        routing.skipped.append(f"{name}: not under {PREFIX} with the one path parameter {PARAMETER}")
        return
    schema, pointer = operation.response_schema(200), operation.response_pointer(200)
    if schema is None or pointer is None:
        routing.skipped.append(f"{name}: has no JSON answer 200")
        return
    try:
        plan = compile_plan(routing.spec, PARAMETER, schema, pointer)
    except NothingToServe:
        routing.skipped.append(f"{name}: has no series in its answer")
        return
    _try_out(operation, plan, pointer, world)
    routing.served.setdefault(operation.path, {})[operation.method] = operation, plan
    routing.warnings += [*plan.warnings, *_unread(operation)]


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


def _try_out(operation: Operation, plan: Plan, pointer: str, world: World) -> None:
    """Hold an answer of a few points to the schema it was planned from: what cannot be met is said at the start."""
    now_ms = world.clock()
    for deployment in _of_each_kind(world):
        view = world.view(deployment, {"start_epoch_millis": max(0, now_ms - 60_000), "end_epoch_millis": now_ms + 1})
        body = bytes(whole(plan, view))
        for violation in operation.response_violations(200, "application/json", body):
            raise PlanError(f"{pointer}: cannot be met: {violation.where}: {violation.message}")


def _of_each_kind(world: World) -> list[Deployment]:
    """A deployment that runs and one that does not: one has points, the other null and empty series."""
    found: dict[bool, Deployment] = {}
    for deployment in world.deployments.values():
        if len(found) < 2:
            found.setdefault(world.status(deployment) == "RUNNING", deployment)
    return list(found.values())
