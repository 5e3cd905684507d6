"""A report as one JSON document that holds all that was sent and received, so that it can be judged again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from .. import __version__
from .check import Check
from .checks import Result
from .exchange import Exchange
from .provider import Report, report_on
from .spec import Spec
from .strict_json import JsonError, loads

SCHEMA = 1
_AGAIN = "make one by `loopsmock check --json FILE`"
_TEXTS = ("label", "method", "path", "probe", "key")
_TEXTS_OR_NULL = ("scheme", "content_type", "deployment_id")


class RecordUnreadable(ValueError):
    """A document that is not a record, or not one that can be judged; the message says what to do."""


def record(report: Report, spec: Spec) -> str:
    """The report as JSON of printable ASCII.

    Args:
        report: what a run found.
        spec: the contract that it was judged by.
    """
    index = {id(exchange): number for number, exchange in enumerate(report.exchanges)}
    document = {
        "schema": SCHEMA,
        "loopsmock": __version__,
        "spec": str(spec.document.get("info", {}).get("version", "")),
        "target": report.target,
        "exit_code": report.exit_code,
        "stopped": report.stopped,
        "strict": report.strict,
        "notes": list(report.notes),
        "counts": report.counts,
        "results": [_result(result, index) for result in report.results],
        "exchanges": [exchange.to_json() for exchange in report.exchanges],
    }
    return json.dumps(document, indent=1) + "\n"


def _result(result: Result, index: Mapping[int, int]) -> dict[str, Any]:
    return {
        "check": result.check.id,
        "level": str(result.check.level),
        "verdict": str(result.verdict),
        "count": result.count,
        "violations": [
            {
                "where": one.violation.where,
                "message": one.violation.message,
                "seen": one.violation.seen,
                "expected": one.violation.expected,
                "exchanges": [index[id(exchange)] for exchange in one.exchanges],
            }
            for one in result.sightings
        ],
    }


def replayed(text: str, spec: Spec, checks: Sequence[Check], strict: bool) -> Report:
    """Judge the exchanges of a record again; what it says of results is not looked at.

    Args:
        text: the document.
        spec: the contract.
        checks: which checks to run.
        strict: whether warnings fail.

    Raises:
        RecordUnreadable: the text is broken, is something else, or is from a newer loopsmock.
    """
    try:
        document = loads(text.encode("utf-8", "surrogatepass"))
    except JsonError as error:
        raise RecordUnreadable(f"the record is broken: {error}; {_AGAIN}.") from None
    if not isinstance(document, dict) or "loopsmock" not in document or not _is_int(document.get("schema")):
        raise RecordUnreadable(f"this is JSON, but no record of `loopsmock check`; {_AGAIN}.")
    schema = document["schema"]
    if schema != SCHEMA:
        raise RecordUnreadable(
            f"the record has schema {schema} and is from loopsmock {document['loopsmock']}; this is loopsmock "
            f"{__version__}, which reads schema {SCHEMA}: use that version, or check again."
        )
    target, stopped, notes = (_member(document, name) for name in ("target", "stopped", "notes"))
    if not (isinstance(target, str) and target.startswith(("http://", "https://")) and target.isprintable()):
        raise _wrong("target", "an http or https URL")
    if not isinstance(stopped, str):
        raise _wrong("stopped", "a string")
    if not (isinstance(notes, list) and all(isinstance(note, str) for note in notes)):
        raise _wrong("notes", "a list of strings")
    listed = _member(document, "exchanges")
    if not isinstance(listed, list):
        raise _wrong("exchanges", "a list")
    exchanges = [_exchange(value, f"exchanges/{number}") for number, value in enumerate(listed)]
    # What was generated and answered without a remark is counted and not kept.
    counts = _member(document, "counts")
    generated = counts.get("generated", 0) if isinstance(counts, dict) else None
    if not _is_int(generated) or not 0 <= generated < 1 << 31:
        raise _wrong("counts", "an object of whole numbers")
    return report_on(spec, target, exchanges, checks, stopped=stopped, strict=strict, notes=notes, generated=generated)


def _exchange(value: Any, place: str) -> Exchange:
    _hold(isinstance(value, dict), place, "an object")
    request = value.get("request")
    _hold(isinstance(request, dict), f"{place}/request", "an object")
    for name in _TEXTS:
        _hold(isinstance(request.get(name), str), f"{place}/request/{name}", "a string")
    for name in _TEXTS_OR_NULL:
        _hold(isinstance(request.get(name, 0), str | None), f"{place}/request/{name}", "a string or null")
    _hold(_is_body(request.get("body")), f"{place}/request/body", 'a string or {"base64": …}')
    response = value.get("response", 0)
    if response is not None:
        _hold(isinstance(response, dict), f"{place}/response", "an object or null")
        status, headers = response.get("status"), response.get("headers")
        _hold(_is_int(status) and 100 <= status <= 999, f"{place}/response/status", "a status code")
        _hold(
            isinstance(headers, list) and all(map(_is_pair, headers)),
            f"{place}/response/headers",
            "a list of pairs of strings",
        )
        _hold(_is_body(response.get("body")), f"{place}/response/body", 'a string or {"base64": …}')
    _hold(isinstance(value.get("failure"), str), f"{place}/failure", "a string")
    # A time that no calendar has would be in the way of every report.
    at_ms, seconds = value.get("at_ms"), value.get("seconds")
    _hold(_is_int(at_ms) and 0 <= at_ms < 1 << 47, f"{place}/at_ms", "epoch milliseconds")
    _hold(isinstance(seconds, (int, float)) and 0 <= seconds < 1e9, f"{place}/seconds", "seconds")
    try:
        return Exchange.from_json(value)
    except ValueError as error:
        raise RecordUnreadable(f"the record is broken: /{place}: {error}; {_AGAIN}.") from None


def _is_int(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(one, str) for one in value)


def _is_body(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("base64"), str))


def _hold(holds: bool, place: str, kind: str) -> None:
    if not holds:
        raise _wrong(place, kind)


def _wrong(place: str, kind: str) -> RecordUnreadable:
    return RecordUnreadable(f"the record is broken: /{place} must be {kind}; {_AGAIN}.")


def _member(document: Mapping[str, Any], name: str) -> Any:
    if name not in document:
        raise RecordUnreadable(f"the record is broken: it has no member {name}; {_AGAIN}.")
    return document[name]
