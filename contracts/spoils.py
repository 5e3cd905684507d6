"""All spoils: the faults that the suite must catch, and the liberties that it must leave alone."""

from __future__ import annotations

from .spoil import Spoil
from .spoils_benign import SPOILS as BENIGN
from .spoils_members import SPOILS as MEMBERS
from .spoils_nodes import SPOILS as NODES
from .spoils_protocol import SPOILS as PROTOCOL
from .spoils_queries import SPOILS as QUERIES
from .spoils_refusals import SPOILS as REFUSALS
from .spoils_schema import SPOILS as SCHEMA
from .spoils_time import SPOILS as TIME
from .spoils_traffic import SPOILS as TRAFFIC
from .spoils_units import SPOILS as UNITS

FAULTS: tuple[Spoil, ...] = (
    *SCHEMA, *PROTOCOL, *REFUSALS, *TIME, *UNITS, *NODES, *TRAFFIC, *QUERIES, *MEMBERS
)  # fmt: skip
SPOILS = (*FAULTS, *BENIGN)
"""In the order of the kill table."""
