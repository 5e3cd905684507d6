"""Checks of single responses: answered at all, JSON, in the shape of the contract."""

from __future__ import annotations

from collections.abc import Iterator

from .answer import Answer
from .check import Level, Look, Subject, each_answer, each_exchange, fault
from .evidence import Evidence, is_about_a_time
from .exchange import GENERATED, LISTING, VALID, Exchange, Response
from .strict_json import quote, shorten
from .violation import Violation

PROTOCOL = Subject("protocol")
MUST, SHOULD = Level.MUST, Level.SHOULD
_DOCUMENTED = "documented by the vendor: the operation's response"


def _excerpt(response: Response) -> str:
    """The beginning of a body, on one line."""
    if not response.body:
        return "an empty body"
    text = " ".join(response.body[:200].decode("utf-8", "replace").split())
    return shorten(text if text.isprintable() else quote(text, 160), 160)


@PROTOCOL.check(
    MUST,
    source="HTTP: 5xx says that the server failed",
    why="No request makes the server fail, be it right or wrong. A client retries a 5xx, so a wrong request that gets "
    "one is sent again and again.",
    good="400 to a body that is not JSON",
    bad="500 to the same body",
)
def no_server_errors(evidence: Evidence) -> Iterator[Look]:
    for exchange in evidence.exchanges:
        response = exchange.response
        if response is None or exchange.request.probe == GENERATED:
            continue
        found = []
        if response.status >= 500:
            asked = exchange.request.label
            message = f"the server failed with {response.status} on the request {asked}: {_excerpt(response)}"
            found = [fault("", message, str(response.status), "a status below 500")]
        yield Look((exchange,), 1, tuple(found))


def _sent(exchange: Exchange) -> str:
    """The body of a request, to be read after a noun."""
    body = exchange.request.body.decode("utf-8", "replace")
    return f", {shorten(body, 160)}," if body else ""


def _unanswered(exchange: Exchange, response: Response) -> Iterator[Violation]:
    if response.status != 200 and response.status < 500 and response.status != 429:
        sent = _sent(exchange)
        message = f"a request that the contract allows{sent} got {response.status} and not 200: {_excerpt(response)}"
        if 300 <= response.status < 400:
            message += f"; it redirects to {quote(response.header('location') or '', 60)}, which was not followed"
        yield fault("", message, str(response.status), "200")


@PROTOCOL.check(
    MUST,
    source=_DOCUMENTED,
    why="A request that the contract allows is answered with 200. Every time member may be null or left out, and every "
    "whole number within the bounds is allowed.",
    good='200 to {"step_seconds": 60}',
    bad="404 to the same, or a redirect, or 201",
)
@each_exchange(VALID)
def valid_requests_are_answered(evidence: Evidence, exchange: Exchange, response: Response) -> Iterator[Violation]:
    if exchange.request.content_type == "application/json" and exchange.request.scheme != "Api-Key":
        yield from _unanswered(exchange, response)


@PROTOCOL.check(
    MUST,
    source="documented by the vendor: its own cURL sample sends no JSON content type",
    why="curl --data sends application/x-www-form-urlencoded unless told otherwise, and the vendor's sample tells it "
    "nothing. So the body is JSON whatever the content type says; a server that insists on application/json refuses "
    "the first request that a new user copies from the documentation.",
    good="200 to the sample as it is printed",
    bad="415 or 422 to it",
)
@each_exchange(VALID)
def the_curl_sample_works(evidence: Evidence, exchange: Exchange, response: Response) -> Iterator[Violation]:
    if exchange.request.content_type != "application/json":
        for found in _unanswered(exchange, response):
            said = f"the JSON body was sent as {exchange.request.content_type}, as the vendor's cURL sample does; "
            yield fault("", said + found.message, found.seen, found.expected)


@PROTOCOL.check(
    MUST,
    source="documented by the vendor: both schemes are accepted",
    why="`Authorization: Api-Key KEY` opens what `Authorization: Bearer KEY` opens. Half of the published clients send "
    "the one, half the other.",
    good="200 to both",
    bad="403 to Api-Key",
)
@each_exchange(VALID)
def the_api_key_scheme_works(evidence: Evidence, exchange: Exchange, response: Response) -> Iterator[Violation]:
    if exchange.request.scheme == "Api-Key":
        for found in _unanswered(exchange, response):
            yield fault("", f"with the scheme Api-Key, {found.message}", found.seen, found.expected)


def _of_answers(evidence: Evidence, kind: str) -> Iterator[Look]:
    """What the contract's file says against each 200, of one kind."""
    for exchange in evidence.of(VALID):
        assert exchange.response is not None
        if exchange.response.status == 200:
            found = [
                fault(one.where, f"in the answer, {one.message}", one.seen)
                for one in evidence.violations(exchange)
                if one.check == kind and not is_about_a_time(one)
            ]
            yield Look((exchange,), 1, tuple(found))


@PROTOCOL.check(
    MUST,
    source=_DOCUMENTED,
    why="The content type of a 200 is application/json, with or without parameters. The official Python client takes "
    "nothing else.",
    good="application/json; charset=utf-8",
    bad="text/html",
)
def content_type(evidence: Evidence) -> Iterator[Look]:
    yield from _of_answers(evidence, "content_type")


@PROTOCOL.check(
    MUST,
    source="RFC 8259, I-JSON (RFC 7493)",
    why="The body is JSON as every parser reads it: UTF-8, no NaN, no Infinity, no member twice in one object, nothing "
    "after the value. Python's own parser lets all of these pass, Go's and JavaScript's do not.",
    good='{"value": 0.5}',
    bad='{"value": NaN}',
)
def strict_json(evidence: Evidence) -> Iterator[Look]:
    yield from _of_answers(evidence, "strict_json")


@PROTOCOL.check(
    MUST,
    source=_DOCUMENTED,
    why="The body of a 200 has the members and types that the contract names; what does not exist is [] or {}, never "
    "null. Members that the contract does not name are allowed. What stands in an answer that breaks this rule is not "
    "judged further.",
    good='{"value": 0.5, "timestamp": "2026-12-01T05:03:00Z"}',
    bad='{"value": "0.5", "timestamp": "2026-12-01T05:03:00Z"}',
)
def schema(evidence: Evidence) -> Iterator[Look]:
    yield from _of_answers(evidence, "schema")


@PROTOCOL.check(
    MUST,
    source="documented by the vendor: deployment_id is the trainer deployment's id",
    why="The answer repeats the id that was asked for, as it was sent. A client that asks for several deployments at "
    "once tells the answers apart by it.",
    good='asked for k4q95w5: {"deployment_id": "k4q95w5", …}',
    bad='asked for k4q95w5: {"deployment_id": "K4Q95W5", …}',
)
@each_answer
def deployment_id_is_echoed(evidence: Evidence, answer: Answer) -> Iterator[Violation | int]:
    yield 1
    asked = answer.exchange.request.deployment_id
    if asked is not None and answer.deployment_id != asked:
        message = f"the answer is for the deployment {quote(answer.deployment_id)}, but {quote(asked)} was asked for"
        yield fault("/deployment_id", message, answer.deployment_id, asked)


@PROTOCOL.check(
    SHOULD,
    source="observed on the live API: {code, message}; 429 documented with {error, retry_after}",
    why="An error says what is wrong in the envelope of its status: code and message, and for 429 error and "
    "retry_after. Clients print the message; one that gets HTML prints HTML.",
    good='400 {"code": "VALIDATION_ERROR", "message": "step_seconds: 0 is less than the minimum of 1"}',
    bad='400 {"detail": "bad request"}',
)
def errors_have_the_envelope(evidence: Evidence) -> Iterator[Look]:
    for exchange in evidence.exchanges:
        response = exchange.response
        if response is None or response.status < 400 or exchange.request.probe == GENERATED:
            continue
        found = [
            fault(one.where, f"the body of the error {response.status}: {one.message}", one.seen or _excerpt(response))
            for one in evidence.violations(exchange)
            if one.check != "status_documented"
        ]
        yield Look((exchange,), 1, tuple(found))


@PROTOCOL.check(
    MUST,
    probe=GENERATED,
    source="documented by the vendor: the operation's request and responses; generated by schemathesis",
    why="Requests that schemathesis makes from the contract, right ones and wrong ones, get a documented status, a "
    "body in the shape of that status, and no 200 for what the contract refuses. Only where fuzzing is allowed: on "
    "loopback, or with --fuzz.",
    good='400 to {"time_divisor_seconds": false}',
    bad='200 to {"time_divisor_seconds": false}',
)
def generated_requests_keep_the_protocol(evidence: Evidence) -> Iterator[Look]:
    if evidence.generated:
        yield Look((), evidence.generated)
    for exchange in evidence.of(GENERATED):
        found = [fault("", f"a generated request: {remark}", _excerpt_of(exchange)) for remark in exchange.remarks]
        yield Look((exchange,), 1, tuple(found))


def _excerpt_of(exchange: Exchange) -> str:
    return f"{exchange.response.status}: {_excerpt(exchange.response)}" if exchange.response else exchange.failure


@PROTOCOL.check(
    MUST,
    probe=LISTING,
    source="documented by the vendor: the listing of deployments",
    why="GET /v1/loops/deployments answers 200 in the shape of the contract. Dashboards find their deployments by it.",
    good='{"deployments": [{"id": "k4q95w5", …}]}',
    bad='[{"id": "k4q95w5", …}]',
)
@each_exchange(LISTING)
def the_listing_fits_the_contract(evidence: Evidence, exchange: Exchange, response: Response) -> Iterator[Violation]:
    if response.status == 200:
        for one in evidence.violations(exchange):
            yield fault(one.where, f"the listing of deployments: {one.message}", one.seen)
    elif response.status < 500 and response.status not in (404, 429):
        message = f"the listing of deployments got {response.status} and not 200: {_excerpt(response)}"
        yield fault("", shorten(message, 200), str(response.status), "200")
