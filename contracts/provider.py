"""The suite: finds deployments, sends the plan, and lets the checks judge what came back."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from . import plan
from .check import Check
from .checks import CHECKS, Result, Verdict, judge
from .evidence import Evidence
from .exchange import REFUSED, VALID, Exchange, Request
from .sender import Sender, Stopped
from .spec import Spec

RUNNING = "RUNNING"
_NO_ENTRY = {
    401: "is the key right?",
    403: "is the key right?",
    404: "are the deployment id and the URL right?",
}
_PLAUSIBLE_MS = (1_000_000_000_000, 4_102_444_800_000)
"""From 2001 to 2100: a clock that says something else is made up."""


@dataclass(frozen=True)
class Report:
    """What a run found.

    Args:
        target: the provider's URL.
        exchanges: all of them, in order.
        results: of every check that was chosen.
        stopped: why the run ended early; "" if it did not.
        strict: whether warnings fail.
        notes: what the reader should know.
    """

    target: str
    exchanges: tuple[Exchange, ...]
    results: tuple[Result, ...]
    stopped: str = ""
    strict: bool = False
    notes: tuple[str, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)

    def having(self, *verdicts: Verdict) -> list[Result]:
        """The results with one of these verdicts."""
        return [result for result in self.results if result.verdict in verdicts]

    @property
    def failed(self) -> list[Result]:
        """What fails the run."""
        return self.having(Verdict.FAIL, *([Verdict.WARN] if self.strict else []))

    @property
    def silent(self) -> list[Exchange]:
        """The exchanges in which no answer came."""
        return [exchange for exchange in self.exchanges if exchange.response is None]

    @property
    def tested(self) -> bool:
        """Whether anything held that was looked at: series, where the checks are about series."""
        if any(result.check.probe == VALID for result in self.results) and not self.counts["points"]:
            return False
        return bool(self.having(Verdict.PASS, Verdict.WARN))

    @property
    def exit_code(self) -> int:
        """0 all held, 1 a violation, 2 no verdict or nothing tested."""
        if self.failed:
            return 1
        return 2 if self.stopped or self.silent or not self.tested else 0

    @property
    def why_no_verdict(self) -> str:
        """Why the exit code is 2, for a person."""
        if self.stopped:
            return self.stopped
        if self.silent:
            one = self.silent[0]
            of = f"{len(self.silent)} of {len(self.exchanges)} requests"
            return f"{of} got no answer ({one.request.label}: {one.failure})"
        return "nothing was tested: no answer had a point" if not self.counts["points"] else "nothing was tested"


def counts_of(exchanges: Iterable[Exchange], evidences: Iterable[Evidence]) -> dict[str, int]:
    """How much there was to judge: requests, 200s, points, nodes and ranks."""
    answers = [answer for evidence in evidences for answer in evidence.answers]
    ids = [answer.exchange.request.deployment_id for answer in answers]
    ranks = {
        (id_, node, rank)
        for id_, answer in zip(ids, answers, strict=True)
        for node, maps in answer.rank_maps.items()
        for keys in maps.values()
        for rank in keys
        if node
    }
    sent = list(exchanges)
    return {
        "requests": len(sent),
        "deployments": len(set(ids)),
        "200s": sum(one.response is not None and one.response.status == 200 for one in sent),
        "points": sum(answer.points for answer in answers),
        "nodes": len({(id_, node) for id_, answer in zip(ids, answers, strict=True) for node in answer.node_ids}),
        "ranks": len(ranks),
    }


def report_on(
    spec: Spec,
    target: str,
    exchanges: Sequence[Exchange],
    checks: Sequence[Check] = tuple(CHECKS.values()),
    *,
    stopped: str = "",
    strict: bool = False,
    notes: Sequence[str] = (),
    generated: int = 0,
) -> Report:
    """Judge exchanges, those of each deployment together; what speaks of none is judged with the first.

    Args:
        spec: the contract.
        target: the provider's URL.
        exchanges: in the order in which they were made.
        checks: which checks to run.
        stopped: why the run ended early.
        strict: whether warnings fail.
        notes: what the reader should know.
        generated: how many generated requests were answered without a remark; they are not among the exchanges.
    """
    groups = _grouped(exchanges)
    evidences = [Evidence(spec, group, generated=0 if index else generated) for index, group in enumerate(groups)]
    results = [_merged(found) for found in zip(*(judge(one, checks) for one in evidences), strict=True)]
    counts = counts_of(exchanges, evidences)
    counts["generated"] = generated
    return Report(target, tuple(exchanges), tuple(results), stopped, strict, tuple(notes), counts)


def _grouped(exchanges: Sequence[Exchange]) -> list[list[Exchange]]:
    """The exchanges by deployment: the ids with valid requests make groups, all others join the first one."""
    ids = list(dict.fromkeys(one.request.deployment_id for one in exchanges if one.request.probe == VALID)) or [None]
    return [
        [
            one
            for one in exchanges
            if one.request.deployment_id == id_
            or (one.request.deployment_id not in ids and (id_ == ids[0] or one.request.deployment_id is None))
        ]
        for id_ in ids
    ]


_WORST = (
    Verdict.FAIL, Verdict.WARN, Verdict.NO_VERDICT, Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_CHECKED,
)  # fmt: skip


def _merged(found: Sequence[Result]) -> Result:
    """One result of a check from those of each deployment: the worst verdict, all that was seen."""
    verdict = min((result.verdict for result in found), key=_WORST.index)
    sightings = sorted((one for result in found for one in result.sightings), key=lambda one: one.size)
    return Result(found[0].check, verdict, sum(result.count for result in found), tuple(sightings))


def requests(deployment_id: str, now_ms: int, *, live: bool, seed: int, checks: Sequence[Check]) -> Iterator[Request]:
    """The requests about one deployment after the first, as far as the checks need them."""
    wanted = {check.probe for check in checks}
    if any(check.id == "refusals_have_their_status" for check in checks):
        wanted |= {check.probe for check in CHECKS.values()}
    if VALID in wanted:
        yield from plan.answers(deployment_id, now_ms)
    for request in plan.probes(deployment_id, now_ms, seed):
        if request.probe in wanted and (not live or request.probe in plan.PASSIVE):
            yield request


def discover(exchange: Exchange, spec: Spec) -> list[str]:
    """The ids of the running deployments in a listing, those with most nodes first; of all, if none is running.

    Raises:
        Stopped: the provider lists none, or not in the shape of the contract.
    """
    remedy = "; name one by --deployment-id"
    if exchange.response is None:
        raise Stopped(f"no deployments could be listed: {exchange.failure}{remedy}")
    evidence = Evidence(spec, [exchange])
    if exchange.response.status != 200 or evidence.violations(exchange):
        raise Stopped(
            f"GET {plan.LIST_PATH} got {exchange.response.status} and no listing that fits the contract{remedy}"
        )
    listed = evidence.value(exchange)["deployments"]
    running = [one for one in listed if one["status"]["name"] == RUNNING] or listed
    if not running:
        raise Stopped(f"the provider lists no deployment{remedy}")
    return [str(one["id"]) for one in sorted(running, key=lambda one: -one.get("node_count", 1))]


class Generate(Protocol):
    """Sends generated requests about a deployment, and adds what they show to the run."""

    def __call__(self, run: Run, deployment_id: str, now_ms: int) -> None:
        """Now is the provider's, epoch milliseconds."""


@dataclass
class Run:
    """One run against a provider.

    Args:
        spec: the contract.
        sender: reaches the provider.
        checks: which checks to run.
        deployment_ids: whose metrics to ask for; none means those that are found.
        every: whether to check every running deployment that is found.
        seed: chooses ids that do not exist.
        strict: whether warnings fail.
        planned: most requests of the plan for one deployment; of a live provider, for all of them.
        generate: sends generated requests after the plan, where that is allowed.
        generated: how many of these were answered without a remark.
        notes: what the reader should know.
    """

    spec: Spec
    sender: Sender
    checks: Sequence[Check] = tuple(CHECKS.values())
    deployment_ids: Sequence[str] = ()
    every: bool = False
    seed: int = 0
    strict: bool = False
    planned: int = 25
    generate: Generate | None = None
    generated: int = 0
    notes: list[str] = field(default_factory=list)

    def report(self) -> Report:
        """Send the plan and judge it; what was sent before the run ended early is judged too."""
        stopped = ""
        try:
            self._send()
        except Stopped as error:
            stopped = str(error)
        return self.judged(stopped)

    def judged(self, stopped: str = "") -> Report:
        """What the checks say of all that was sent so far."""
        return report_on(
            self.spec,
            self.sender.shown_url,
            self.sender.exchanges,
            self.checks,
            stopped=stopped,
            strict=self.strict,
            notes=self.notes,
            generated=self.generated,
        )

    def _send(self) -> None:
        live, sender = self.sender.bounds.live, self.sender
        sender.limit = self.planned
        ids, smallest = list(self.deployment_ids), self.deployment_ids[0] if self.deployment_ids else ""
        if not ids:
            listing = sender.send(plan.listing())
            if listing.response and listing.response.status != 404:
                self._enter(listing)
            found = discover(listing, self.spec)
            ids, smallest = found if self.every else found[:1], found[-1]
        elif not live:
            sender.send(plan.listing())
        now_ms = 0
        for number, id_ in enumerate(ids):
            if number and not live:
                sender.limit = sender.sent + self.planned
            opening = sender.send(plan.opening(id_))
            self._enter(opening)
            now_ms = self.now_ms(opening)
            for request in requests(id_, now_ms, live=live, seed=self.seed, checks=self.checks):
                sender.send(request)
        if self.generate:
            self.generate(self, smallest, now_ms)

    def _enter(self, exchange: Exchange) -> None:
        """Stop where the key or the id opens nothing: that is a mistake of whoever ordered the run, not a violation."""
        status = exchange.response.status if exchange.response else 0
        if status not in _NO_ENTRY or (status != 404 and self._opens(replace(exchange.request, scheme="Api-Key"))):
            return
        self.sender.exchanges[:] = [
            replace(one, request=replace(one.request, probe=REFUSED))
            if one.response and one.response.status == status
            else one
            for one in self.sender.exchanges
        ]
        raise Stopped(f"the first request got {status}: {_NO_ENTRY[status]}")

    def _opens(self, request: Request) -> bool:
        """Whether a request is answered: a key that opens by one scheme is right."""
        response = self.sender.send(request).response
        return response is not None and response.status == 200

    def now_ms(self, exchange: Exchange) -> int:
        """The provider's now: its newest point, or this machine's clock where it has none."""
        newest = Evidence(self.spec, [exchange]).newest_ms
        here_ms = time.time_ns() // 1_000_000
        if newest is None:
            return here_ms
        if not _PLAUSIBLE_MS[0] <= newest <= _PLAUSIBLE_MS[1]:
            self.notes.append(
                "the newest point is before 2001 or after 2100; windows are taken from this machine's clock"
            )
            return here_ms
        apart_s = (here_ms - newest) / 1000
        if abs(apart_s) > 600:
            direction = "behind" if apart_s > 0 else "ahead of"
            apart = (
                f"{abs(apart_s) / 86_400:,.0f} days" if abs(apart_s) > 172_800 else f"{abs(apart_s) / 3600:.1f} hours"
            )
            self.notes.append(
                f"the newest point of {exchange.request.deployment_id} is {apart} {direction} this machine's clock; "
                "windows are taken from there"
            )
        return newest
