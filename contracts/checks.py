"""All checks, and what they say about a set of exchanges: no network, no server, no order of events.

The same exchanges get the same results, whether they were just made or are read from a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .check import Check, Level
from .checks_nodes import NODES
from .checks_protocol import PROTOCOL
from .checks_queries import QUERIES
from .checks_refusals import REFUSALS
from .checks_time import TIME
from .checks_traffic import TRAFFIC
from .checks_units import UNITS
from .evidence import Evidence
from .exchange import Exchange
from .violation import Violation

SUBJECTS = (PROTOCOL, TIME, UNITS, NODES, TRAFFIC, QUERIES, REFUSALS)
CHECKS: dict[str, Check] = {check.id: check for subject in SUBJECTS for check in subject.checks}
"""By id, in the order in which they are reported: what explains a fault best stands before what follows from it."""


class Verdict(StrEnum):
    """What became of a check."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    NOT_APPLICABLE = "not applicable"
    """What it needs was asked for, but the series are empty."""
    NOT_CHECKED = "not checked"
    """What it needs was not asked for."""
    NO_VERDICT = "no verdict"
    """What it needs was asked for, but no answer came."""


@dataclass(frozen=True)
class Sighting:
    """One violation and the exchanges that show it."""

    violation: Violation
    exchanges: tuple[Exchange, ...]

    @property
    def size(self) -> int:
        """Bytes to look at."""
        return sum(exchange.size for exchange in self.exchanges)


@dataclass(frozen=True)
class Result:
    """What one check found.

    Args:
        check: the check.
        verdict: what became of it.
        count: how many things it compared.
        sightings: its violations, the one with the smallest exchanges first.
    """

    check: Check
    verdict: Verdict
    count: int
    sightings: tuple[Sighting, ...] = ()


def judge(evidence: Evidence, checks: Iterable[Check] = CHECKS.values()) -> list[Result]:
    """Let the checks look at the evidence, in their order."""
    return [_judged(evidence, check) for check in checks]


def _judged(evidence: Evidence, check: Check) -> Result:
    looks = list(check.looks(evidence))
    count = sum(look.count for look in looks)
    sightings = [
        Sighting(replace(violation, check=check.id), look.exchanges) for look in looks for violation in look.violations
    ]
    if sightings:
        verdict = Verdict.FAIL if check.level == Level.MUST else Verdict.WARN
    elif count:
        verdict = Verdict.PASS
    elif any(one.response is None and one.request.probe == check.probe for one in evidence.exchanges):
        verdict = Verdict.NO_VERDICT
    elif looks:
        verdict = Verdict.NOT_APPLICABLE
    else:
        verdict = Verdict.NOT_CHECKED
    return Result(check, verdict, count, tuple(sorted(sightings, key=lambda one: one.size)))


def chosen(only: Sequence[str], skip: Sequence[str]) -> list[Check]:
    """The checks to run, in their order.

    Args:
        only: ids; none means all.
        skip: ids to leave out.

    Raises:
        ValueError: an id does not exist, or nothing is left; the message names the nearest.
    """
    for id_ in (*only, *skip):
        if id_ not in CHECKS:
            raise ValueError(f"there is no check {id_!r}{nearest(id_)}; `loopsmock explain` lists all.")
    kept = [check for id_, check in CHECKS.items() if (not only or id_ in only) and id_ not in skip]
    if not kept:
        raise ValueError("no check is left to run.")
    return kept


def nearest(id_: str) -> str:
    """A hint at the check that was meant, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(id_, CHECKS, 1)
    return f"; did you mean {close[0]}?" if close else ""
