"""What a plan asks a JSON schema: which types, which bound, which value where no code knows one."""

import json
from collections.abc import Mapping
from typing import Any, Protocol

from .errors import StartError

Schema = Mapping[str, Any]


class PlanError(StartError):
    """A schema that cannot be served; says where in the contract and why."""


class NothingToServe(PlanError):
    """The schema holds nothing that is known here: it belongs to an operation of another kind."""


class Resolver(Protocol):
    """What a plan needs of a contract."""

    def resolve(self, schema: Schema) -> Schema:
        """The schema with its own `$ref` followed."""
        ...


def types_of(schema: Schema) -> set[str]:
    """The JSON types a schema allows, also where they stand in anyOf or oneOf."""
    kind = schema.get("type")
    if kind is None:
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        return {name for branch in branches for name in types_of(branch)}
    return set(kind) if isinstance(kind, list) else {kind}


def bound(schema: Schema, keyword: str) -> float | None:
    """`minimum` or `maximum`, also where it stands in anyOf or oneOf."""
    branches = (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ()))
    return next((branch[keyword] for branch in branches if keyword in branch), None)


def constant(schema: Schema, pointer: str) -> Any:
    """The value that a schema names itself.

    Args:
        schema: resolved.
        pointer: where it stands, for the message.

    Raises:
        PlanError: it names none and null is not allowed.
    """
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    for keyword in ("enum", "examples"):
        if schema.get(keyword):
            return schema[keyword][0]
    if "null" in types_of(schema):
        return None
    raise PlanError(f"{pointer}: cannot be served: it has no const, default, enum or examples to answer with")


def opening(member: str) -> bytes:
    """A member's name as JSON and a colon."""
    return json.dumps(member).encode() + b":"


def below(pointer: str, member: str) -> str:
    """The pointer to a member's schema."""
    return f"{pointer}/properties/{member.replace('~', '~0').replace('/', '~1')}"
