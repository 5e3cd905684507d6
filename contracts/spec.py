"""openapi.yaml → operations that parse requests and judge responses.

The one face of the contract's file: everything else asks it. What cannot be used in a file is a SpecError that
names the place, when it is loaded and not at the first request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .spec_documented import documented
from .spec_operation import Operation, RequestInvalid
from .spec_reader import read_operations
from .spec_schemas import Schemas
from .spec_source import SpecError, read

__all__ = ["Operation", "RequestInvalid", "Spec", "SpecError", "documented", "load"]

_OWN = Path(__file__).parent.parent / "openapi.yaml"


@dataclass(frozen=True, eq=False)
class Spec:
    """A contract.

    Args:
        document: the file as plain JSON values.
        operations: one for each path and method, in the order of the file.
        schemas: the document's schemas, compiled when they are first used.
    """

    document: dict[str, Any]
    operations: tuple[Operation, ...]
    schemas: Schemas

    def resolve(self, schema: Mapping[str, Any] | bool) -> Mapping[str, Any]:
        """Follow the local `$ref` of a schema; members beside it stand.

        Raises:
            SpecError: a reference leads nowhere, or in a circle.
        """
        return self.schemas.resolve(schema)

    def error(self, place: str, what: str) -> SpecError:
        """An error to raise about a place in this file, for those who cannot serve what stands there."""
        return self.schemas.error(place, what)


def load(source: Path | Mapping[str, Any] | None = None) -> Spec:
    """Load an OpenAPI 3.1 document.

    Args:
        source: a YAML or JSON file, or the document itself; without it, the package's own openapi.yaml.

    Raises:
        SpecError: the file cannot be read, is not OpenAPI 3.1, or holds something that cannot be used.
    """
    file, document = read(_OWN if source is None else source)
    schemas = Schemas(file, document)
    operations = read_operations(document, schemas)
    schemas.check(pointer for operation in operations for pointer in operation.schema_pointers)
    return Spec(document, operations, schemas)
