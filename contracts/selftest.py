"""The suite judged by faults that are known: each must be caught by the check that is for it, no liberty by any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from .check import Check
from .checks import CHECKS, Verdict
from .provider import Report, Run
from .secret import LOOPBACK_KEY, Key
from .sender import Bounds, Sender
from .spec import Spec
from .spoil import BENIGN, IDLE, LONG, PAIR, RANKS, SINGLE, App, Spoil, Spoiled
from .spoil_change import as_it_is
from .spoils import SPOILS

DEPLOYMENTS = {SINGLE: "single", LONG: "single", PAIR: "healthy", RANKS: "healthy", IDLE: "scale-from-zero"}
"""By what a spoil needs, a deployment that has it."""
KILLED, LATE, ESCAPED = "killed", "wrong check first", "escaped"
QUIET, FALSE_ALARM = "quiet", "false alarm"
NO_EFFECT, UNFINISHED = "changed nothing", "no verdict"


@dataclass(frozen=True)
class Outcome:
    """What the suite said of one spoil.

    Args:
        spoil: the spoil; one that changes nothing for the provider as it is.
        found: ids of the checks that failed or warned, in their order.
        counts: how much there was to judge.
        changed: how many requests and replies the spoil has changed.
        exit_code: of the run.
        plain: whether plain schemathesis failed; None where it was not asked.
    """

    spoil: Spoil
    found: tuple[str, ...]
    counts: Mapping[str, int]
    changed: int
    exit_code: int
    plain: bool | None = None

    @property
    def first(self) -> str:
        """The check that a reader of the report sees first; "" if none complained."""
        return self.found[0] if self.found else ""

    @property
    def verdict(self) -> str:
        """What to make of it, in two words."""
        if self.spoil.change is not as_it_is and not self.changed:
            return NO_EFFECT
        if self.spoil.kind == BENIGN:
            return FALSE_ALARM if self.found else UNFINISHED if self.exit_code else QUIET
        if not self.found:
            return ESCAPED
        return KILLED if self.first in self.spoil.killers else LATE

    @property
    def ok(self) -> bool:
        """Whether the suite did what it must."""
        return self.verdict in (KILLED, QUIET)


Plain = Callable[[App], bool]


def selftest(
    provider: App,
    spec: Spec,
    *,
    spoils: Sequence[Spoil] = SPOILS,
    deployments: Mapping[str, str] = DEPLOYMENTS,
    checks: Sequence[Check] = tuple(CHECKS.values()),
    plain: Plain | None = None,
    progress: Callable[[Outcome], None] = lambda outcome: None,
) -> list[Outcome]:
    """Run the suite against a good provider, then against each spoil of it, all in this process.

    If the suite complains about the provider as it is, the spoils would prove nothing, and none is run.

    Args:
        provider: an ASGI app that does everything right.
        spec: the contract.
        spoils: faults and liberties.
        deployments: ids by what a spoil needs, as in DEPLOYMENTS.
        checks: the checks of the suite.
        plain: whether plain schemathesis fails on an app; None leaves that column out.
        progress: told of each outcome.
    """
    outcomes: list[Outcome] = []
    good = [as_is(need) for need in dict.fromkeys(spoil.deployment for spoil in spoils)]
    for spoil in [*good, *spoils]:
        if spoil not in good and not all(outcome.ok for outcome in outcomes[: len(good)]):
            break
        outcome = tried(provider, spec, spoil, deployments, checks, plain)
        outcomes.append(outcome)
        progress(outcome)
    return outcomes


def as_is(need: str) -> Spoil:
    """The spoil that changes nothing, for deployments that have what others need."""
    return Spoil(f"as it is, {need}", "Nothing is changed.", "", as_it_is, BENIGN, need)


def tried(
    provider: App,
    spec: Spec,
    spoil: Spoil,
    deployments: Mapping[str, str] = DEPLOYMENTS,
    checks: Sequence[Check] = tuple(CHECKS.values()),
    plain: Plain | None = None,
) -> Outcome:
    """Run the suite against one spoil; the arguments are those of `selftest`."""
    spoiled = Spoiled(provider, spoil)
    report = _report(spoiled, spec, deployments[spoil.deployment], checks)
    found = tuple(result.check.id for result in report.having(Verdict.FAIL, Verdict.WARN))
    failed = plain(Spoiled(provider, spoil)) if plain else None
    return Outcome(spoil, found, report.counts, spoiled.changed, report.exit_code, failed)


def _report(app: App, spec: Spec, deployment_id: str, checks: Sequence[Check]) -> Report:
    with sender_to(app) as sender:
        return Run(spec, sender, checks, [deployment_id]).report()


def sender_to(app: App, **bounds: Any) -> Sender:
    """A sender to an app in this process."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return Sender("http://selftest", Key(LOOPBACK_KEY), Bounds(**bounds), transport=transport)


def table(outcomes: Sequence[Outcome]) -> str:
    """The outcomes as plain text, one line each, and the totals."""
    rows = [("kind", "name", "first check", "verdict", *_plain(outcomes[:1], "schemathesis"), "what the server does")]
    rows += [
        (one.spoil.kind, one.spoil.name, one.first or "—", one.verdict if one.ok else f"{one.verdict}!", *_said(one),
         one.spoil.says)
        for one in outcomes
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([*lines, "", *_totals(outcomes)])


def _plain(outcomes: Sequence[Outcome], title: str) -> tuple[str, ...]:
    return (title,) if outcomes and outcomes[0].plain is not None else ()


def _said(outcome: Outcome) -> tuple[str, ...]:
    return () if outcome.plain is None else ("fails",) if outcome.plain else ("passes",)


def _totals(outcomes: Sequence[Outcome]) -> Iterator[str]:
    faults = [one for one in outcomes if one.spoil.kind != BENIGN]
    benign = [one for one in outcomes if one.spoil.kind == BENIGN]
    yield f"{sum(one.ok for one in faults)} of {len(faults)} faults killed, each by the check that is for it"
    yield f"{sum(not one.ok for one in benign)} false alarms on {len(benign)} servers that are right"
    if any(one.plain is not None for one in outcomes):
        caught = sum(bool(one.plain) for one in faults)
        alarms = sum(bool(one.plain) for one in benign)
        yield f"plain schemathesis: {caught} of {len(faults)} faults, {alarms} false alarms"
    wrong = [one for one in outcomes if not one.ok]
    for one in wrong:
        wanted = " or ".join(filter(None, one.spoil.killers)) or "none"
        yield f"{one.verdict}: {one.spoil.name}: complained: {', '.join(one.found) or 'none'}; must be first: {wanted}"
