"""Generated requests after the plan: schemathesis for the protocol, then Hypothesis for the series."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from .check import Check
from .checks_protocol import generated_requests_keep_the_protocol as protocol
from .exchange import VALID, Exchange, Request
from .explore import explore
from .fuzz import COVERAGE, fuzz
from .provider import Run
from .sender import Stopped


@dataclass(frozen=True)
class Generator:
    """Adds generated requests to a run.

    Args:
        cases: how many requests to send.
        progress: told how many were sent.
    """

    cases: int
    progress: Callable[[int], None] = lambda sent: None

    def __call__(self, run: Run, deployment_id: str, now_ms: int) -> None:
        """Send them, about half by each tool, and add to the run what they show."""
        sent = 0
        if any(check.id == protocol.__name__ for check in run.checks) and self.cases >= COVERAGE:
            sent = self._fuzz(run, deployment_id, now_ms)
        series: list[Check] = [check for check in run.checks if check.probe == VALID]
        if series and sent < self.cases:
            self._explore(run, series, deployment_id, now_ms, sent)

    def _fuzz(self, run: Run, deployment_id: str, now_ms: int) -> int:
        run.sender.limit = run.sender.sent + self.cases
        fuzzed = fuzz(
            run.spec.document,
            run.sender,
            deployment_id=deployment_id,
            now_ms=now_ms,
            cases=max(COVERAGE, self.cases // 2),
            seed=run.seed,
            progress=self.progress,
        )
        run.sender.exchanges.extend(fuzzed.exchanges)
        run.generated += fuzzed.sent - len(fuzzed.exchanges)
        run.notes.extend(f"schemathesis could not test: {error}" for error in fuzzed.errors)
        if fuzzed.stopped:
            raise Stopped(fuzzed.stopped)
        return fuzzed.sent

    def _explore(self, run: Run, checks: list[Check], deployment_id: str, now_ms: int, fuzzed: int) -> None:
        sender, cases = run.sender, self.cases - fuzzed
        sender.limit = sender.sent + cases
        kept, before = len(sender.exchanges), sender.sent

        def ask(request: Request) -> Exchange | None:
            with suppress(Stopped):
                self.progress(fuzzed + sender.sent - before)
                return sender.send(request)
            return None

        smallest = explore(
            run.spec, ask, checks, deployment_id=deployment_id, now_ms=now_ms, cases=cases, seed=run.seed
        )
        # Of thousands of answers only those that show something are kept: the smallest pair, and what got no answer.
        silent = [one for one in sender.exchanges[kept:] if one.response is None]
        sender.exchanges[kept:] = [*smallest, *silent[:2]]
        run.generated += sender.sent - before - len(smallest)
