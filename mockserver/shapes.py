"""What a plan consists of: which series stands where in an answer. Values only; plan.py makes them of a schema."""

from dataclasses import dataclass, field

from .job import Scope
from .signal import Signal


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """One number member of a datapoint."""

    opening: bytes
    """The member's name as JSON and a colon."""
    signal: Signal
    integer: bool
    nullable: bool
    minimum: float | None
    maximum: float | None

    @property
    def is_bounded(self) -> bool:
        """Whether its values must be changed to fit the contract."""
        return self.integer or self.minimum is not None or self.maximum is not None


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """An array of datapoints. Places that show the same numbers in the same form share one Series object."""

    parts: tuple["Quantity | Timestamp | Constant", ...]
    """The members of a datapoint in the order of the schema."""
    quantities: tuple["Quantity", ...]
    """Those of them that are numbers."""
    scope: Scope
    """What one row of the series belongs to."""


@dataclass(frozen=True, slots=True)
class Timestamp:
    """The date-time member of a datapoint."""

    opening: bytes
    """The member's name as JSON and a colon."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A member with the same JSON value everywhere."""

    opening: bytes
    """The member's name as JSON and a colon."""
    json: str


@dataclass(frozen=True, slots=True)
class Id:
    """The id of the node, or of the deployment that was asked for."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class RankMap:
    """An object with a series for each GPU rank of a node."""

    series: Series


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    """An object with these members, in order."""

    members: tuple[tuple[str, "Node"], ...]


@dataclass(frozen=True, slots=True)
class PerNode:
    """An array with an object for each node."""

    entry: Object


Node = Series | RankMap | PerNode | Object | Id | Constant


@dataclass(slots=True)
class Plan:
    """What an operation answers with."""

    root: Object
    series: tuple[Series, ...]
    """All series of it, each once."""
    warnings: list[str] = field(default_factory=list)
    """Places of the contract that are served generically or not at all."""
