"""A request and its response, as they were on the wire, as values: no network and no key in them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .strict_json import JsonError, loads

Headers = tuple[tuple[str, str], ...]

TIME_MEMBERS = ("start_epoch_millis", "end_epoch_millis", "step_seconds", "time_divisor_seconds")
VALID = "valid"
LISTING = "listing"
GENERATED = "generated"
REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Request:
    """A request, without its key.

    Args:
        label: its name in the plan, `hour`.
        method: in upper case.
        path: what follows the provider's URL, quoted.
        body: as sent.
        probe: `valid` for a request for metrics that the contract allows, `listing` for one that looks deployments up,
            `generated` for one that a fuzzer made, `refused` for a first request that opened nothing, and the name of
            the probe for one that a provider must refuse.
        scheme: of the Authorization header; None sends no such header.
        content_type: of the body; None sends none.
        deployment_id: whose metrics are asked for, None where none are.
        key: `right`, or `wrong` to send one that opens nothing.
    """

    label: str
    method: str
    path: str
    body: bytes = b""
    probe: str = VALID
    scheme: str | None = "Bearer"
    content_type: str | None = "application/json"
    deployment_id: str | None = None
    key: str = "right"

    @property
    def members(self) -> dict[str, Any]:
        """The members of the body that are not null; {} if it is no JSON object."""
        return {name: value for name, value in self.written.items() if value is not None}

    @property
    def written(self) -> dict[str, Any]:
        """The members of the body as they stand there; {} if it is no JSON object."""
        try:
            value = loads(self.body or b"{}")
        except JsonError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True)
class Response:
    """A response.

    Args:
        status: the status code.
        headers: as they came, in order.
        body: decoded of any content encoding.
    """

    status: int
    headers: Headers
    body: bytes = field(repr=False)

    def header(self, name: str) -> str | None:
        """The first header of this name, in whatever case; None if there is none."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(frozen=True)
class Exchange:
    """A request and what came of it.

    Args:
        request: what was sent.
        response: what came back; None if nothing did.
        failure: why nothing came back, for a person.
        at_ms: this machine's clock when the request was sent, epoch milliseconds.
        seconds: how long it took.
        remarks: what a fuzzer that made the request says against the response.
    """

    request: Request
    response: Response | None = None
    failure: str = ""
    at_ms: int = 0
    seconds: float = field(default=0.0, compare=False)
    remarks: tuple[str, ...] = ()

    @cached_property
    def size(self) -> int:
        """Bytes of both bodies: of several exchanges that show a fault, the smallest is the best to look at."""
        return len(self.request.body) + (len(self.response.body) if self.response else 0)

    def to_json(self) -> dict[str, Any]:
        """Plain values, from which `from_json` makes the exchange again, byte for byte."""
        response = self.response
        sent = {name: getattr(self.request, name) for name in Request.__slots__ if name != "body"}
        return {
            "request": {**sent, "body": _text(self.request.body)},
            "response": None
            if response is None
            else {
                "status": response.status,
                "headers": [list(pair) for pair in response.headers],
                "body": _text(response.body),
            },
            "failure": self.failure,
            "at_ms": self.at_ms,
            "seconds": round(self.seconds, 6),
            "remarks": list(self.remarks),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Exchange:
        """An exchange from what `to_json` made.

        Raises:
            ValueError: a member is missing, or is not what it must be.
        """
        try:
            sent = dict(value["request"])
            request = Request(**{**sent, "body": _bytes(sent["body"])})
            came = value.get("response")
            response = came and Response(
                int(came["status"]), tuple((str(k), str(v)) for k, v in came["headers"]), _bytes(came["body"])
            )
            texts = (request.label, request.method, request.path, request.probe)
            if not all(isinstance(text, str) for text in texts):
                raise TypeError("label, method, path and probe must be strings")
            remarks = tuple(map(str, value["remarks"]))
            return cls(request, response, str(value["failure"]), int(value["at_ms"]), float(value["seconds"]), remarks)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from None


def _text(body: bytes) -> str | dict[str, str]:
    """A body as text where it is UTF-8, in base64 where it is not."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _bytes(text: str | Mapping[str, str]) -> bytes:
    return text.encode("utf-8") if isinstance(text, str) else base64.b64decode(text["base64"], validate=True)
