"""Schemathesis on the operation of the metrics: the protocol half, for providers that one may fuzz."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .exchange import GENERATED, Exchange, Request, Response
from .plan import HOUR_MS, MINUTE_MS
from .sender import PLACEHOLDER, Sender, Stopped

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
        stopped: why the sender would send no more; "" if it did not refuse.
    """

    sent: int
    exchanges: tuple[Exchange, ...]
    errors: tuple[str, ...] = ()
    stopped: str = ""


def fuzz(
    document: Mapping[str, Any],
    sender: Sender,
    *,
    deployment_id: str,
    now_ms: int,
    cases: int,
    seed: int = 0,
    progress: Callable[[int], None] = lambda sent: None,
) -> Fuzzed:
    """Let schemathesis try examples, boundary values and, beyond them, random requests.

    It speaks to the sender as if that were an app in this process, so all bounds of the sender hold, and it never sees
    the key. A 400 is an answer to data that fits the schema too, since no schema can say that a start is before an end:
    that enough answers have points is for the plan of the suite to show. Authorization is left to the probes of the
    suite: a fake without accounts takes the random keys that schemathesis tries.

    Args:
        document: the contract.
        sender: reaches the provider.
        deployment_id: whose metrics to ask for.
        now_ms: the provider's now.
        cases: about how many requests to send.
        seed: of the random requests.
        progress: told how many requests were sent.

    Raises:
        KeyboardInterrupt: the user wants to stop.
    """
    import schemathesis
    from schemathesis.config import SchemathesisConfig
    from schemathesis.engine import events, from_schema

    config = SchemathesisConfig.from_dict(_configuration(deployment_id, now_ms, max(0, cases - COVERAGE), seed))
    schema = schemathesis.openapi.from_dict(dict(document), config=config).include(path=METRICS)
    bridge = Bridge(sender)
    schema.app = bridge
    before, kept, errors = sender.sent, list[Exchange](), list[str]()
    stream = from_schema(schema).execute()
    for event in stream:
        if isinstance(event, events.Interrupted) and not bridge.stopped:
            raise KeyboardInterrupt
        if isinstance(event, events.ScenarioFinished):
            kept.extend(_remarked(event.recorder, deployment_id, now_ms))
            progress(sender.sent - before)
        elif isinstance(event, (events.NonFatalError, events.FatalError)) and not bridge.stopped:
            errors.append(" ".join(str(event.info if isinstance(event, events.NonFatalError) else event).split())[:300])
        if bridge.stopped:
            stream.stop()
    return Fuzzed(sender.sent - before, tuple(_distinct(kept)), tuple(dict.fromkeys(errors)), bridge.stopped)


class Bridge:
    """A WSGI app that passes every request on to a sender."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self.stopped = ""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Send the request and give its response; what got none, or may not be sent, raises."""
        if self.stopped:
            raise Stopped(self.stopped)
        headers = {
            name.removeprefix("HTTP_").replace("_", "-"): value
            for name, value in environ.items()
            if name.startswith("HTTP_") and name != "HTTP_HOST"
        }
        if environ.get("CONTENT_TYPE"):
            headers["Content-Type"] = environ["CONTENT_TYPE"]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        request = Request("generated", environ["REQUEST_METHOD"], environ["REQUEST_URI"], body, GENERATED)
        try:
            exchange = self._sender.forward(request, tuple(headers.items()))
        except Stopped as error:
            self.stopped = str(error)
            raise
        if exchange.response is None:
            raise ConnectionError(exchange.failure)
        response = exchange.response
        # The body is decoded here already, and its length is not what the header said.
        left_out = ("content-encoding", "content-length", "transfer-encoding", "connection")
        kept = [(name, value) for name, value in response.headers if name.lower() not in left_out]
        start_response(f"{response.status} {_reason(response.status)}", kept)
        return [response.body]


def _reason(status: int) -> str:
    return http.client.responses.get(status, "Unknown")


def _configuration(deployment_id: str, now_ms: int, random_cases: int, seed: int) -> dict[str, Any]:
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
        "seed": seed,
        "continue-on-failure": True,
        "headers": {"Authorization": f"Bearer {PLACEHOLDER}"},
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


def _remarked(recorded: recorder.ScenarioRecorder, deployment_id: str, now_ms: int) -> Iterator[Exchange]:
    """The exchanges that a check of schemathesis failed on."""
    for id_, checks in recorded.checks.items():
        remarks = [
            f"{check.name}: {' '.join(check.failure_info.failure.message.split())}"[:400]
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
            path=path.path + (f"?{path.query}" if path.query else ""),
            body=sent.body or b"",
            probe=GENERATED,
            scheme="Bearer" if "authorization" in headers else None,
            content_type=next(iter(headers.get("content-type", [])), None),
            deployment_id=deployment_id,
        )
        response = came and Response(
            came.status_code,
            tuple((name, value) for name, values in came.headers.items() for value in values),
            came.content or b"",
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
