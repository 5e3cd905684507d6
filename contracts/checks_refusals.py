"""Checks of what a provider must refuse: one probe each."""

from __future__ import annotations

from collections.abc import Iterator

from .check import Level, Look, Subject, fault
from .evidence import Evidence
from .violation import Violation

REFUSALS = Subject("refusals")
MUST, SHOULD = Level.MUST, Level.SHOULD
_INTEGER = "documented by the vendor: the members are integers or null"

DOCUMENTED = {
    "inverted_window": (400,),
    "text_for_a_number": (400,),
    "fraction": (400,),
    "broken_json": (400,),
    "no_key": (401, 403),
    "wrong_key": (401, 403),
    "unknown_deployment": (404,),
    "wrong_method": (405, 404),
}
"""The probes, and the status codes with which the contract refuses them."""


def _refused(evidence: Evidence, probe: str, what: str) -> Iterator[Look]:
    """A look at each response to a probe that must be a 4xx."""
    codes = " or ".join(map(str, DOCUMENTED[probe]))
    for exchange in evidence.of(probe):
        assert exchange.response is not None
        status = exchange.response.status
        found: tuple[Violation, ...] = ()
        if status < 400:
            message = f"{what} got {status}; it must be refused with {codes}"
            found = (fault("", message, str(status), codes),)
        elif status < 500 and status != 429:
            yield Look((exchange,), 1)
            continue
        yield Look((exchange,), 0 if not found else 1, found)


@REFUSALS.check(
    MUST,
    probe="inverted_window",
    source="observed on the live API: 400 VALIDATION_ERROR for bad requests",
    why="A range whose start is not before its end is a mistake of the client, and is refused. An empty 200 hides the "
    "mistake: the dashboard shows nothing and nobody knows why.",
    good="400 to start 05:00, end 04:00",
    bad="200 with empty series",
)
def an_inverted_window_is_refused(evidence: Evidence) -> Iterator[Look]:
    yield from _refused(evidence, "inverted_window", "a window whose start is after its end")


@REFUSALS.check(
    MUST,
    probe="text_for_a_number",
    source=_INTEGER,
    why='A text where an integer belongs is refused. A server that reads "60" as 60 teaches clients to send what the '
    "next version refuses.",
    good='400 to {"step_seconds": "60"}',
    bad="200 to it",
)
def text_for_a_number_is_refused(evidence: Evidence) -> Iterator[Look]:
    yield from _refused(evidence, "text_for_a_number", 'step_seconds as the text "60"')


@REFUSALS.check(
    MUST,
    probe="fraction",
    source=_INTEGER,
    why="A fraction where an integer belongs is refused, not rounded.",
    good='400 to {"step_seconds": 60.5}',
    bad="200 to it",
)
def a_fraction_is_refused(evidence: Evidence) -> Iterator[Look]:
    yield from _refused(evidence, "fraction", "step_seconds as the fraction 60.5")


@REFUSALS.check(
    MUST,
    probe="broken_json",
    source="observed on the live API: 400 VALIDATION_ERROR for bad requests",
    why="A body that is not JSON is refused, not read as an empty one: the client would get another window than it "
    "asked for.",
    good='400 to {"step_seconds": 60',
    bad="200 to it",
)
def broken_json_is_refused(evidence: Evidence) -> Iterator[Look]:
    yield from _refused(evidence, "broken_json", "a body that breaks off in the middle of its JSON")


@REFUSALS.check(
    MUST,
    probe="no_key",
    source="documented by the vendor: the Authorization header is required",
    why="A request without an Authorization header is refused.",
    good="401 or 403",
    bad="200",
)
def a_missing_key_is_refused(evidence: Evidence) -> Iterator[Look]:
    yield from _refused(evidence, "no_key", "a request without an Authorization header")


@REFUSALS.check(
    MUST,
    probe="wrong_key",
    source="observed on the live API: 403 PERMISSION_DENIED",
    why="A key that opens nothing is refused, whatever else is asked for.",
    good="403",
    bad="200",
)
def a_wrong_key_is_refused(evidence: Evidence) -> Iterator[Look]:
    yield from _refused(evidence, "wrong_key", "a request with a key that opens nothing")


@REFUSALS.check(
    MUST,
    probe="unknown_deployment",
    source="observed on the live API: 404",
    why="An id that no deployment has is refused, not answered with empty series: a misspelt id would look like an "
    "idle deployment.",
    good="404",
    bad="200 with empty series",
)
def an_unknown_deployment_is_refused(evidence: Evidence) -> Iterator[Look]:
    yield from _refused(evidence, "unknown_deployment", "a deployment id that does not exist")


@REFUSALS.check(
    MUST,
    probe="wrong_method",
    source="documented by the vendor: the path knows POST",
    why="The path answers POST only. GET is refused, so that a client that sends it learns of its mistake.",
    good="405 to GET",
    bad="200 to GET",
)
def a_wrong_method_is_refused(evidence: Evidence) -> Iterator[Look]:
    yield from _refused(evidence, "wrong_method", "GET on the path that documents POST")


@REFUSALS.check(
    SHOULD,
    probe="inverted_window",
    source="observed on the live API: 400, 403, 404; other codes are documented nowhere",
    why="Each refusal has its status code: 400 for a bad request (there is no 422), 401 or 403 for the key, 404 for an "
    "unknown id, 405 for the method. Clients decide by it whether to try again.",
    good='400 to {"step_seconds": "60"}',
    bad="422 to it",
)
def refusals_have_their_status(evidence: Evidence) -> Iterator[Look]:
    for probe, codes in DOCUMENTED.items():
        for exchange in evidence.of(probe):
            assert exchange.response is not None
            status = exchange.response.status
            if not 400 <= status < 500 or status == 429:
                continue
            wanted = " or ".join(map(str, codes))
            found: tuple[Violation, ...] = ()
            if status not in codes:
                message = f"the probe {exchange.request.label} was refused with {status}; the contract has {wanted}"
                found = (fault("", message, str(status), wanted),)
            yield Look((exchange,), 1, found)
