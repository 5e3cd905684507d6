"""Response schema → record: how what is known of deployments and runs becomes an answer without series.

Names bind here: a member takes the fact of its name, and a member that no fact has takes the value that its schema
names (const, default, enum, examples) or null.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .schema import NothingToServe, PlanError, Resolver, Schema, below, constant

Facts = Mapping[str, Any]
Fill = Callable[[Any], Any]
"""A fact → what stands in the answer for it."""


@dataclass(frozen=True, slots=True)
class Record:
    """What an operation answers with."""

    fill: Fill
    """All facts → the answer as JSON values."""
    warnings: list[str] = field(default_factory=list)
    """Members of the contract that no fact is known for."""


def compile_record(contract: Resolver, schema: Schema, pointer: str, known: Facts) -> Record:
    """Compile the record of a response schema.

    Args:
        contract: follows references.
        schema: the response's schema.
        pointer: where it stands in the contract, for messages.
        known: facts like those that the record will be filled with; their names count, not their values.

    Raises:
        NothingToServe: no member of it is a fact.
        PlanError: a required member has neither a fact nor a value of its own.
    """
    resolved = contract.resolve(schema)
    if not resolved.get("properties", {}).keys() & known.keys():
        raise NothingToServe(f"{pointer}: none of its members is known; known are {', '.join(known)}")
    compiler = _Compiler(contract)
    return Record(compiler.value(resolved, pointer, known), compiler.warnings)


class _Compiler:
    def __init__(self, contract: Resolver) -> None:
        self.resolve = contract.resolve
        self.warnings: list[str] = []

    def value(self, raw: Schema, pointer: str, known: Any) -> Fill:
        schema = self.resolve(raw)
        if isinstance(known, Mapping):
            if schema.get("properties"):
                return self.object(schema, pointer, known)
            for keyword in ("anyOf", "oneOf"):  # how an object that may be null is written
                for position, branch in enumerate(schema.get(keyword, ())):
                    if self.resolve(branch).get("properties"):
                        return self.value(branch, f"{pointer}/{keyword}/{position}", known)
        if isinstance(known, list) and known and isinstance(schema.get("items"), Mapping):
            item = self.value(schema["items"], f"{pointer}/items", known[0])
            return lambda facts: [item(fact) for fact in facts]
        return lambda fact: fact

    def object(self, schema: Schema, pointer: str, known: Facts) -> Fill:
        fills: dict[str, Fill] = {}
        constants: dict[str, Any] = {}
        for name, raw in schema["properties"].items():
            place = below(pointer, name)
            if name in known:
                fills[name] = self.value(raw, place, known[name])
                continue
            try:
                constants[name] = constant(self.resolve(raw), place)
                self.warnings.append(f"{place}: nothing is known of it; it is always {constants[name]!r}")
            except PlanError as error:
                if name in schema.get("required", ()):
                    raise
                self.warnings.append(f"{error}; it is optional and left out")
        names = [name for name in schema["properties"] if name in fills or name in constants]

        def fill(facts: Any) -> dict[str, Any] | None:
            if facts is None:
                return None
            return {name: fills[name](facts[name]) if name in fills else constants[name] for name in names}

        return fill
