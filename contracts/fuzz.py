"""Schemathesis on the operation of the metrics: the protocol half, for providers that one may fuzz."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .exchange import GENERATED, Exchange, Request, Response
from .plan import HOUR_MS, MINUTE_MS
from .secret import Key

if TYPE_CHECKING:
    from schemathesis.engine import recorder

METRICS = "/v1/loops/deployments/{deployment_id}/metrics"
COVERAGE = 75
"""About how many requests the phases of examples and of boundary values make of this operation."""
_KEPT = 20
_STEPS = [1, 20, 30, 45, 60, 61, 90, 120, 300, 600, 900, 1800, 3600, 86_400]
_DIVISORS = [1, 2, 60, 3600, 86_400, 31_536_000]


@dataclass(frozen=True)
class Fuzzed:
    """What schemathesis made of a provider.

    Args:
        sent: how many requests it sent.
        exchanges: those that it remarks on, at most 20.
        errors: what kept it from testing, in its own words.
    """

    sent: int
    exchanges: tuple[Exchange, ...]
    errors: tuple[str, ...] = ()


def fuzz(
    document: Mapping[str, Any],
    base_url: str,
    key: Key,
    *,
    deployment_id: str,
    now_ms: int,
    cases: int,
    seed: int,
    timeout_s: float,
    spacing_s: float = 0.0,
    app: Any = None,
    progress: Callable[[int], None] = lambda sent: None,
) -> Fuzzed:
    """Let schemathesis try examples, boundary values and, beyond them, random requests.

    A 400 is an answer to data that fits the schema too, since no schema can say that a start is before an end: that
    enough answers have points is for the plan of the suite to show. Authorization is left to the probes of the suite:
    a fake without accounts takes the random keys that schemathesis tries.

    Args:
        document: the contract.
        base_url: the provider's URL, a path prefix included.
        key: what opens it.
        deployment_id: whose metrics to ask for.
        now_ms: the provider's now.
        cases: about how many requests to send.
        seed: of the random requests.
        timeout_s: longest wait for one answer.
        spacing_s: least time between two requests, on average.
        app: an ASGI app to call in this process instead of the URL.
        progress: told how many requests were sent.
    """
    import schemathesis
    from schemathesis.config import SchemathesisConfig
    from schemathesis.engine import events, from_schema

    configuration = _configuration(base_url, key, deployment_id, now_ms, max(0, cases - COVERAGE), seed, timeout_s)
    if spacing_s:
        configuration["rate-limit"] = f"{max(1, int(60 / spacing_s))}/m"
    config = SchemathesisConfig.from_dict(configuration)
    schema = schemathesis.openapi.from_dict(dict(document), config=config).include(path=METRICS)
    schema.app = app
    sent, kept, errors = 0, list[Exchange](), list[str]()
    with _without_proxy(base_url):
        for event in from_schema(schema).execute():
            if isinstance(event, events.ScenarioFinished):
                sent += len(event.recorder.interactions)
                kept.extend(_remarked(event.recorder, deployment_id, key, now_ms))
                progress(sent)
            elif isinstance(event, (events.NonFatalError, events.FatalError)):
                errors.append(key.scrub(" ".join(str(event).split()))[:300])
    return Fuzzed(sent, tuple(_distinct(kept)), tuple(dict.fromkeys(errors)))


def _configuration(
    base_url: str, key: Key, deployment_id: str, now_ms: int, random_cases: int, seed: int, timeout_s: float
) -> dict[str, Any]:
    end = now_ms // MINUTE_MS * MINUTE_MS
    starts = [end - HOUR_MS * hours + odd for hours, odd in ((168, 0), (72, 123), (24, 0), (3, 999), (2, 0), (1, 500))]
    ends = [end - MINUTE_MS * minutes + odd for minutes, odd in ((55, 1), (30, 0), (10, 500), (1, 0), (0, 0), (-60, 0))]
    values: dict[str, list[Any]] = {
        "starts": starts,
        "ends": ends,
        "steps": _STEPS,
        "divisors": _DIVISORS,
        "deployments": [deployment_id],
    }
    members = {
        "body.start_epoch_millis": ("starts", 0.9),
        "body.end_epoch_millis": ("ends", 0.9),
        "body.step_seconds": ("steps", 0.7),
        "body.time_divisor_seconds": ("divisors", 0.7),
        "path.deployment_id": ("deployments", 0.95),
    }
    return {
        "base-url": base_url,
        "seed": seed,
        "request-timeout": timeout_s,
        "continue-on-failure": True,
        "headers": {"Authorization": key.authorization("Bearer")},
        "generation": {
            "max-examples": max(1, random_cases),
            "unique-inputs": True,
            "deterministic": True,
            "database": "none",
            "no-shrink": True,
        },
        # The contract names no links: nothing says what follows from an answer.
        "phases": {"stateful": {"enabled": False}, "fuzzing": {"enabled": random_cases > 0}},
        "checks": {
            "ignored_auth": {"enabled": False},
            "positive_data_acceptance": {"expected-statuses": ["2xx", 400, 404]},
            "missing_required_header": {"expected-statuses": [401, 403]},
        },
        "dictionaries": {name: {"values": listed} for name, listed in values.items()},
        "parameters": {
            name: {"dictionary": dictionary, "probability": share} for name, (dictionary, share) in members.items()
        },
    }


def _remarked(recorded: recorder.ScenarioRecorder, deployment_id: str, key: Key, now_ms: int) -> Iterator[Exchange]:
    """The exchanges that a check of schemathesis failed on."""
    for id_, checks in recorded.checks.items():
        remarks = [
            key.scrub(f"{check.name}: {' '.join(check.failure_info.failure.message.split())}"[:400])
            for check in checks
            if check.failure_info is not None
        ]
        interaction = recorded.interactions.get(id_)
        if not remarks or interaction is None:
            continue
        sent, came = interaction.request, interaction.response
        path = urlsplit(sent.uri)
        headers = {name.lower(): values for name, values in sent.headers.items()}
        request = Request(
            label="generated",
            method=sent.method,
            path=key.scrub(path.path + (f"?{path.query}" if path.query else "")),
            body=key.scrub_bytes(sent.body or b""),
            probe=GENERATED,
            scheme="Bearer" if "authorization" in headers else None,
            content_type=next(iter(headers.get("content-type", [])), None),
            deployment_id=deployment_id,
        )
        response = came and Response(
            came.status_code,
            tuple((name, key.scrub(value)) for name, values in came.headers.items() for value in values),
            key.scrub_bytes(came.content or b""),
        )
        yield Exchange(request, response or None, "" if came else "no answer", now_ms, remarks=tuple(remarks))


def _distinct(exchanges: list[Exchange]) -> Iterator[Exchange]:
    """The smallest exchange of each remark: schemathesis shows one fault by many requests."""
    seen: set[str] = set()
    for exchange in sorted(exchanges, key=lambda one: one.size):
        kinds = {remark.partition(":")[0] for remark in exchange.remarks}
        status = exchange.response.status if exchange.response else 0
        names = {f"{kind} {status}" for kind in kinds}
        if names - seen and len(seen) < _KEPT:
            seen |= names
            yield exchange


@contextmanager
def _without_proxy(base_url: str) -> Iterator[None]:
    """Reach the host directly: what schemathesis sends by obeys the proxies of the environment."""
    before = os.environ.get("NO_PROXY")
    os.environ["NO_PROXY"] = ",".join(filter(None, [before, urlsplit(base_url).hostname]))
    try:
        yield
    finally:
        if before is None:
            del os.environ["NO_PROXY"]
        else:
            os.environ["NO_PROXY"] = before
