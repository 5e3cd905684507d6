"""The requests of a run: few, and each for several checks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from .exchange import LISTING, Request

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
LIST_PATH = "/v1/loops/deployments"
FORM = "application/x-www-form-urlencoded"
PASSIVE = ("inverted_window", "text_for_a_number", "fraction", "broken_json")
"""Probes that may be sent to the real API: they name a deployment of the user's and are refused before any work."""
_NULLS: dict[str, int | None] = {
    "end_epoch_millis": None,
    "start_epoch_millis": None,
    "step_seconds": None,
    "time_divisor_seconds": None,
}


def path_of(deployment_id: str) -> str:
    """The path of a deployment's metrics."""
    return f"{LIST_PATH}/{quote(deployment_id, safe='')}/metrics"


def metrics_request(deployment_id: str, label: str, body: dict[str, Any] | bytes, **more: Any) -> Request:
    """A request for metrics.

    Args:
        deployment_id: whose.
        label: its name.
        body: the members, or the bytes as they are.
        more: further arguments of `Request`.
    """
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Request(label, "POST", path_of(deployment_id), content, deployment_id=deployment_id, **more)


def listing() -> Request:
    """The request that finds deployments."""
    return Request("listing", "GET", LIST_PATH, probe=LISTING, content_type=None)


def opening(deployment_id: str) -> Request:
    """The first request for metrics: its newest point is the `now` of the others."""
    return metrics_request(deployment_id, "defaults", {})


def answers(deployment_id: str, now_ms: int) -> Iterator[Request]:
    """Requests that the contract allows, about the past up to now.

    Args:
        deployment_id: whose metrics.
        now_ms: the provider's now; the windows end at its whole minute.
    """
    end = now_ms // MINUTE_MS * MINUTE_MS
    hour = {"start_epoch_millis": end - HOUR_MS, "end_epoch_millis": end}

    def ask(label: str, members: dict[str, Any], **more: Any) -> Request:
        return metrics_request(deployment_id, label, members, **more)

    yield ask("hour", {**hour, "step_seconds": 60})
    yield ask("the curl sample", _NULLS, content_type=FORM)
    yield ask("hour, divisor null", {**hour, "step_seconds": 60, "time_divisor_seconds": None})
    yield ask("hour, derived step", hour)
    yield ask("hour, per minute", {**hour, "step_seconds": 60, "time_divisor_seconds": 60})
    yield ask("hour, coarse", {**hour, "step_seconds": 300})
    yield ask(
        "half an hour of it",
        {"start_epoch_millis": end - 45 * MINUTE_MS, "end_epoch_millis": end - 15 * MINUTE_MS, "step_seconds": 60},
    )
    yield ask("three hours", {"start_epoch_millis": end - 3 * HOUR_MS, "end_epoch_millis": end, "step_seconds": 60})
    yield ask("a day, derived step", {"start_epoch_millis": end - 24 * HOUR_MS, "end_epoch_millis": end})
    yield ask("three days, derived step", {"start_epoch_millis": end - 72 * HOUR_MS, "end_epoch_millis": end})
    yield ask(
        "odd start and step",
        {"start_epoch_millis": end - 31 * MINUTE_MS + 7_437, "end_epoch_millis": end - 437, "step_seconds": 45},
    )
    yield ask("end only", {"end_epoch_millis": end - 30 * MINUTE_MS, "step_seconds": 60})
    yield ask("Api-Key scheme", {**hour, "step_seconds": 300, "time_divisor_seconds": 3600}, scheme="Api-Key")
    yield ask(
        "end in the future",
        {"start_epoch_millis": end - 10 * MINUTE_MS, "end_epoch_millis": end + HOUR_MS, "step_seconds": 60},
    )
    yield ask("hour again", {**hour, "step_seconds": 60})


def probes(deployment_id: str, now_ms: int, seed: int) -> Iterator[Request]:
    """Requests that must be refused.

    Args:
        deployment_id: whose metrics.
        now_ms: the provider's now.
        seed: chooses the id that no deployment has.
    """
    end = now_ms // MINUTE_MS * MINUTE_MS
    good = json.dumps({"step_seconds": 60}).encode()

    def probe(name: str, body: dict[str, Any] | bytes, **more: Any) -> Request:
        return metrics_request(deployment_id, name.replace("_", " "), body, probe=name, **more)

    yield probe("inverted_window", {"start_epoch_millis": end, "end_epoch_millis": end - HOUR_MS})
    yield probe("text_for_a_number", {"step_seconds": "60"})
    yield probe("fraction", {"step_seconds": 60.5})
    yield probe("broken_json", good[:-1])
    yield probe("no_key", good, scheme=None)
    yield probe("wrong_key", good, key="wrong")
    letters = random.Random(seed).choices("abcdefghjkmnpqrstuvwxyz23456789", k=12)
    unknown = f"none-{''.join(letters)}"
    yield metrics_request(unknown, "unknown deployment", good, probe="unknown_deployment")
    yield Request("wrong method", "GET", path_of(deployment_id), probe="wrong_method", content_type=None)
