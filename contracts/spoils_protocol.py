"""Faults of single responses below the shape of the answer: status, headers, JSON text, errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .plan import HOUR_MS
from .spoil import PROTOCOL, Ask, Call, Change, Reply, Spoil
from .spoil_change import answer, newest_ms, reply, success

_fault = partial(Spoil, kind=PROTOCOL)
_CRASH, _ANSWERED, _ENVELOPE = "no_server_errors", "valid_requests_are_answered", "errors_have_the_envelope"
_JSON, _TYPE = "strict_json", "content_type"


def _refusing(when: Callable[[Call], bool], message: str) -> Change:
    """A change that refuses requests for metrics instead of answering them."""

    def changed(came: Reply, call: Call) -> None:
        if came.status == 200 and call.is_for_metrics and when(call):
            came.refuse(400, "VALIDATION_ERROR", message)

    return reply(changed)


def _future_refused(came: Reply, call: Call) -> None:
    end = call.asked("end")
    answered = came.status == 200 and call.is_for_metrics and end is not None
    if answered and newest_ms(came.value["metrics"]) < (end or 0) - HOUR_MS / 2:
        came.refuse(400, "VALIDATION_ERROR", "end_epoch_millis: the end is in the future")


def _text(edit: Callable[[bytes], bytes]) -> Change:
    def changed(came: Reply) -> None:
        came.body = edit(came.body)

    return success(changed)


def _swap(old: bytes, new: bytes) -> Change:
    return _text(lambda body: body.replace(old, new, 1))


def _typed(content_type: str | None) -> Change:
    def changed(came: Reply) -> None:
        came.headers.pop("content-type", None)
        if content_type:
            came.headers["content-type"] = content_type

    return success(changed)


def _status(code: int) -> Change:
    def changed(came: Reply) -> None:
        came.status = code

    return success(changed)


def _errors(edit: Callable[[Reply], None]) -> Change:
    def changed(came: Reply, call: Call) -> None:
        if came.status >= 400:
            edit(came)

    return reply(changed)


def _html(came: Reply) -> None:
    came.headers["content-type"] = "text/html; charset=utf-8"
    came.body = f"<html><body><h1>{came.status}</h1></body></html>".encode()


def _empty(came: Reply) -> None:
    came.headers.pop("content-type", None)
    came.body = b""


async def _redirect(call: Call, ask: Ask) -> Reply:
    if call.is_for_metrics:
        return Reply(307, {"location": call.path + "/"}, b"")
    return await ask(call)


async def _scheme_refused(scheme: str, call: Call, ask: Ask) -> Reply:
    if call.headers.get("authorization", "").startswith(scheme):
        call.headers["authorization"] = "Bearer invalid"
    return await ask(call)


def _form_refused(status: int) -> Change:
    def changed(came: Reply, call: Call) -> None:
        if call.is_for_metrics and call.headers.get("content-type") != "application/json":
            came.refuse(status, "VALIDATION_ERROR", "body: field required")

    return reply(changed)


def _crash(status: int) -> Change:
    """A change that lets errors with this status be crashes."""

    def changed(came: Reply, call: Call) -> None:
        if came.status == status:
            came.refuse(500, "INTERNAL_ERROR", "JSONDecodeError")

    return reply(changed)


def _no_listing(came: Reply, call: Call) -> None:
    if came.status == 200 and call.is_for_listing:
        came.refuse(403, "PERMISSION_DENIED", "only POST is allowed")


SPOILS = (
    _fault("crash-on-a-bad-body", "A body that is refused with 400 crashes the server.", _CRASH, _crash(400)),
    _fault("crash-on-an-unknown-id", "An unknown id crashes the server.", _CRASH, _crash(404)),
    _fault("created", "The answer has status 201.", _ANSWERED, _status(201)),
    _fault("redirect", "The path without a slash redirects to the one with it.", _ANSWERED, _redirect),
    _fault("future-refused", "An end in the future is refused.", _ANSWERED, reply(_future_refused)),
    _fault("nulls-refused", "A member that is null is refused.", _ANSWERED,
           _refusing(lambda call: None in call.members.values(), "null is not an integer")),
    _fault("odd-steps-refused", "Only some steps are allowed.", _ANSWERED,
           _refusing(lambda call: (call.asked("step") or 60) not in (30, 60, 300, 600, 3600), "no such step")),
    _fault("long-ranges-refused", "A range beyond a day is refused.", _ANSWERED,
           _refusing(lambda call: call.span_ms > 24 * HOUR_MS, "the range is too long")),
    _fault("start-required", "A request without a start is refused.", _ANSWERED,
           _refusing(lambda call: call.asked("start") is None, "start_epoch_millis: field required")),
    _fault("bearer-refused", "The Bearer scheme is refused.", _ANSWERED, partial(_scheme_refused, "Bearer")),
    _fault("form-type-refused", "A body that is not said to be JSON is refused with 415.", "the_curl_sample_works",
           _form_refused(415)),
    _fault("form-read-as-form", "A body that is not said to be JSON is read as a form.", "the_curl_sample_works",
           _form_refused(422)),
    _fault("api-key-refused", "The Api-Key scheme is refused.", "the_api_key_scheme_works",
           partial(_scheme_refused, "Api-Key")),
    _fault("html-type", "The content type of JSON is text/html.", _TYPE, _typed("text/html; charset=utf-8")),
    _fault("no-type", "There is no content type.", _TYPE, _typed(None)),
    _fault("nan", "What cannot be computed is NaN.", _JSON, _swap(b'"p99":', b'"p99":NaN,"max":')),
    _fault("duplicate-member", "A member stands there twice.", _JSON,
           _swap(b'{"deployment_id":', b'{"deployment_id":"","deployment_id":')),
    _fault("trailing-text", "A debug line follows the JSON value.", _JSON, _text(lambda body: body + b"\n-- 12 ms\n")),
    _fault("byte-order-mark", "A byte order mark stands first.", _JSON, _text(lambda body: b"\xef\xbb\xbf" + body)),
    _fault("truncated", "The body breaks off in the middle.", _JSON, _text(lambda body: body[: len(body) // 2])),
    _fault("empty-body", "The body is empty.", _JSON, _text(lambda body: b"")),
    _fault("python-text", "The body is Python's text of a dict.", _JSON, _text(lambda body: body.replace(b'"', b"'"))),
    _fault("latin-1", "The body is Latin-1, not UTF-8.", _JSON,
           _swap(b'{"deployment_id"', b'{"note":"Gr\xf6\xdfe","deployment_id"')),
    _fault("upper-case-id", "The answer repeats the id in upper case.", "deployment_id_is_echoed",
           answer(lambda value, call: value.update(deployment_id=value["deployment_id"].upper()))),
    _fault("detail", 'An error is {"detail": …}.', _ENVELOPE,
           _errors(lambda came: came.say(came.status, {"detail": came.value["message"]}))),
    _fault("nested-error", 'An error is {"error": {"code": …}}.', _ENVELOPE,
           _errors(lambda came: came.say(came.status, {"error": came.value}))),
    _fault("html-errors", "Errors are HTML pages.", _ENVELOPE, _errors(_html)),
    _fault("empty-errors", "Errors have no body.", _ENVELOPE, _errors(_empty)),
    _fault("listing-refused", "A key for metrics may not list deployments.", "the_listing_fits_the_contract",
           reply(_no_listing)),
)  # fmt: skip
"""Each is seen in one response, whatever the series say."""
