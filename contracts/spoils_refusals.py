"""Faults in what a server refuses: it answers what it must not, or refuses it with another status."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from .secret import LOOPBACK_KEY
from .spoil import PROTOCOL, Ask, Call, Change, Reply, Spoil
from .spoil_change import lists, reply, request

_fault = partial(Spoil, kind=PROTOCOL)
_STATUS = "refusals_have_their_status"
_OPENS = f"Bearer {LOOPBACK_KEY}"


def _is_inverted(call: Call) -> bool:
    return call.span_ms < 0


def _swap_edges(call: Call) -> None:
    if _is_inverted(call):
        call.ask(start_epoch_millis=call.asked("end"), end_epoch_millis=call.asked("start"))


async def _empty_if_inverted(call: Call, ask: Ask) -> Reply:
    if not _is_inverted(call):
        return await ask(call)
    _swap_edges(call)
    return _emptied(await ask(call))


def _emptied(came: Reply) -> Reply:
    """A reply without points."""
    value = came.value
    for _, points in lists(value["metrics"]):
        points.clear()
    came.say(200, value)
    return came


def _read(kind: type, as_number: Callable[[Any], int | None]) -> Change:
    """A change that reads members of one type as whole numbers."""

    def edit(call: Call) -> None:
        wrong = {name: as_number(value) for name, value in call.members.items() if isinstance(value, kind)}
        if wrong:
            call.ask(**wrong)

    return request(edit)


def _is_broken(call: Call) -> bool:
    try:
        json.loads(call.body or b"{}")
    except ValueError:
        return True
    return False


def _forgive_broken(call: Call) -> None:
    if _is_broken(call):
        call.body = b"{}"


def _open_without_key(call: Call) -> None:
    call.headers.setdefault("authorization", _OPENS)


def _open_with_any_key(call: Call) -> None:
    if "authorization" in call.headers:
        call.headers["authorization"] = _OPENS


def _unknown(then: Callable[[Reply], Reply]) -> Change:
    """A change that answers for an unknown id what it answers for the first one that was known."""

    async def change(call: Call, ask: Ask) -> Reply:
        came = await ask(call)
        if call.is_for_metrics and came.status == 404:
            deployments, unknown, _ = call.path.rsplit("/", 2)
            listing = await ask(replace(call, method="GET", path=deployments, body=b""))
            known = min(one["id"] for one in listing.value["deployments"])
            came = await ask(replace(call, path=f"{deployments}/{known}/metrics"))
            value = came.value
            value["deployment_id"] = unknown
            came.say(200, value)
            return then(came)
        return came

    return change


async def _get_is_answered(call: Call, ask: Ask) -> Reply:
    if call.method == "GET" and call.path.endswith("/metrics"):
        call.method, call.body = "POST", b"{}"
    return await ask(call)


def _refused_with(new: int, when: Callable[[Reply, Call], bool]) -> Change:
    def changed(came: Reply, call: Call) -> None:
        if came.status >= 400 and when(came, call):
            came.status = new

    return reply(changed)


SPOILS = (
    _fault("inverted-is-empty", "A window whose start is after its end gets empty series.",
           "an_inverted_window_is_refused", _empty_if_inverted),
    _fault("inverted-is-swapped", "The edges of a window whose start is after its end are swapped.",
           "an_inverted_window_is_refused", request(_swap_edges)),
    _fault("text-is-a-number", 'The text "60" is read as the number.', "text_for_a_number_is_refused",
           _read(str, int)),
    _fault("text-is-ignored", "A member of the wrong type is ignored.", "text_for_a_number_is_refused",
           _read(str, lambda value: None)),
    _fault("fraction-is-cut", "A fraction is cut to the whole number below.", "a_fraction_is_refused",
           _read(float, int)),
    _fault("broken-is-empty", "A body that is not JSON is read as {}.", "broken_json_is_refused",
           request(_forgive_broken)),
    _fault("no-key", "Everything opens without a key.", "a_missing_key_is_refused", request(_open_without_key)),
    _fault("any-key", "Any key opens everything.", "a_wrong_key_is_refused", request(_open_with_any_key)),
    _fault("unknown-is-empty", "An id that does not exist gets empty series.", "an_unknown_deployment_is_refused",
           _unknown(_emptied)),
    _fault("unknown-is-another", "An id that does not exist gets the series of another one.",
           "an_unknown_deployment_is_refused", _unknown(lambda came: came)),
    _fault("get-is-answered", "GET is answered like POST.", "a_wrong_method_is_refused", _get_is_answered),
    _fault("422", "A bad request gets 422.", _STATUS, _refused_with(422, lambda came, call: came.status == 400)),
    _fault("400-without-key", "A request without a key gets 400.", _STATUS,
           _refused_with(400, lambda came, call: "authorization" not in call.headers)),
    _fault("404-for-a-wrong-key", "A key that opens nothing gets 404.", _STATUS,
           _refused_with(404, lambda came, call: came.status == 403 and "authorization" in call.headers)),
    _fault("403-for-unknown", "An id that does not exist gets 403.", _STATUS,
           _refused_with(403, lambda came, call: call.is_for_metrics and came.status == 404)),
)  # fmt: skip
"""Each is seen in what becomes of one probe."""
