"""Every report says what a run found, and nothing that a provider sends gets out of its place in one."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from loopsmock.contracts.checks import CHECKS, Verdict
from loopsmock.contracts.excerpt import MOST, excerpts
from loopsmock.contracts.exchange import Exchange, Response
from loopsmock.contracts.plan import metrics_request
from loopsmock.contracts.provider import Report, Run, report_on
from loopsmock.contracts.record import RecordUnreadable, record, replayed
from loopsmock.contracts.reference import explained
from loopsmock.contracts.report_html import page
from loopsmock.contracts.report_junit import junit
from loopsmock.contracts.report_terminal import terminal
from loopsmock.contracts.report_words import ending
from loopsmock.contracts.secret import Key
from loopsmock.contracts.sender import Bounds, Sender
from loopsmock.contracts.violation import Violation
from loopsmock.mockserver import create_app

from ..support import NOW_MS, SPEC

ALL = tuple(CHECKS.values())
HOSTILE = (
    b"{{ 7*7 }}</script></pre><img src=x onerror=alert(1)>]]>&amp;\x1b[31m\x00\x9b\r\xff\xe2\x80\xae\"'" + b"x" * 9000
)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


class Faulty(httpx.ASGITransport):
    """The mock, but utilization is in percent, and a request without a good key gets an unpleasant page."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        body = await response.aread()
        if response.status_code in (401, 403):
            return httpx.Response(200, headers={"content-type": "text/html"}, content=HOSTILE)
        if response.status_code == 200 and request.method == "POST":
            value = json.loads(body)
            in_percent(value["metrics"])
            return httpx.Response(200, json=value)
        return response


def in_percent(value: Any, name: str = "") -> None:
    """Multiply each value of GPU utilization by 100."""
    for key, member in (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    ):
        if key == "value" and name == "gpu_utilization":
            value[key] = member * 100
        else:
            in_percent(member, key if str(key).startswith("gpu_") else name)


def checked(transport: type[httpx.ASGITransport]) -> Report:
    """What the suite says of the deployment `single`."""
    app = create_app(clock=lambda: NOW_MS)
    with Sender("http://mock", Key("loopsmock"), Bounds(), transport=transport(app)) as sender:
        return Run(SPEC, sender, deployment_ids=("single",)).report()


@pytest.fixture(scope="module")
def good() -> Report:
    return checked(httpx.ASGITransport)


@pytest.fixture(scope="module")
def bad() -> Report:
    return checked(Faulty)


def failed(report: Report) -> list[str]:
    return [result.check.id for result in report.failed]


def silent(report: Report) -> Report:
    """The same run, of which nothing was answered."""
    gone = [replace(one, response=None, failure="ConnectError: \x1b[2Jrefused") for one in report.exchanges[:2]]
    return report_on(SPEC, report.target, gone, stopped="no answer\x07 twice in a row", notes=("a note\x1b]0;x\x07",))


# Terminal


def test_the_terminal_shows_what_fails_and_how_to_see_it(bad: Report) -> None:
    text = terminal(bad, colour=False)
    lines = text.splitlines()
    counts = bad.counts
    assert lines[0] == (
        f"{len(bad.exchanges)} requests to http://mock, {counts['200s']} answers of 200 with {counts['points']:,} "
        "points of 1 node and 1 GPU rank"
    )
    assert "utilization_is_a_fraction" in failed(bad) and "a_missing_key_is_refused" in failed(bad)
    for id_ in failed(bad):
        assert f"error[{id_}]  {CHECKS[id_].subject}, must" in lines
        assert any(line.endswith(f" loopsmock explain {id_}") for line in lines)
    assert "  expected  0 to 1" in lines
    assert "/gpu_utilization/" in text
    assert any(
        line.startswith("  again     curl -sS http://mock/v1/loops/deployments/single/metrics ") for line in lines
    )
    assert any("more sightings of this" in line for line in lines)
    marked = [line for line in lines if line.startswith("         > | ") and '"value"' in line]
    assert marked
    assert lines[-1] == f"violated: {len(failed(bad))} of {len(ALL)} checks fail (exit code 1)"
    assert all(len(line) <= 100 for line in lines if "curl -sS" not in line)


def test_the_terminal_is_short_where_all_holds(good: Report) -> None:
    lines = terminal(good, colour=False).splitlines()
    assert f"{len(good.having(Verdict.PASS)):>4} passed" in lines
    assert lines[-1].startswith("held: ")
    assert lines[-1].endswith("(exit code 0)")
    for result in good.having(Verdict.NOT_APPLICABLE, Verdict.NOT_CHECKED):
        assert result.check.id in "\n".join(lines)


def test_colour_is_only_added(bad: Report) -> None:
    coloured = terminal(bad, colour=True)
    assert "\x1b[31m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == terminal(bad, colour=False)


def test_a_run_without_answers_says_why(good: Report) -> None:
    report = silent(good)
    text = terminal(report, colour=False)
    assert text.splitlines()[-1] == r"no verdict: no answer\x07 twice in a row (exit code 2)"
    assert "2 of 2 requests got no answer (listing: ConnectError: \\x1b[2Jrefused)" in " ".join(text.split())
    assert ending(report)[0] == "no verdict"


# JUnit


def test_junit_counts_what_the_report_counts(good: Report, bad: Report) -> None:
    for report in (good, bad, silent(good), replace(bad, strict=True), replace(bad, stopped="enough")):
        suite = ET.fromstring(junit(report)).find("testsuite")
        assert suite is not None
        cases = suite.findall("testcase")
        whole = report.exit_code == 2 or bool(report.stopped)
        assert [case.get("name") for case in cases] == [one.check.id for one in report.results] + ["the_run"] * whole
        assert suite.get("tests") == str(len(cases))
        assert suite.get("failures") == str(len(report.failed)) == str(len(suite.findall("testcase/failure")))
        assert suite.get("errors") == str(len(report.having(Verdict.NO_VERDICT)) + whole)
        assert suite.get("skipped") == str(len(report.having(Verdict.NOT_APPLICABLE, Verdict.NOT_CHECKED)))
        assert suite.get("time") == f"{sum(one.seconds for one in report.exchanges):.3f}"


def test_a_warning_passes_in_junit_unless_strict(bad: Report) -> None:
    found = next(result for result in bad.results if result.verdict == Verdict.FAIL)
    warned = replace(bad, results=(replace(found, verdict=Verdict.WARN),))
    (case,) = ET.fromstring(junit(warned)).iter("testcase")
    assert [one.tag for one in case] == ["system-out"]
    assert f"warning[{found.check.id}]" in (case[0].text or "")
    (case,) = ET.fromstring(junit(replace(warned, strict=True))).iter("testcase")
    assert [one.tag for one in case] == ["failure"]


# HTML


class Tags(HTMLParser):
    """The tags of a page, each of which must be closed in order, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_and_shows_all(good: Report, bad: Report) -> None:
    for report in (good, bad, silent(good)):
        text = page(report)
        tags = Tags(text)
        assert not tags.seen & {"script", "img", "link", "iframe"}
        assert all(link.startswith("#") for link in tags.links)
        assert not re.search(r"url\(|@import", text)
        assert all(f'id="{link[1:]}"' in text for link in tags.links)
        assert all(result.check.id in text for result in report.results)
        assert ending(report)[0] in text
    assert "<mark>" in page(bad)
    assert "<details>" in page(bad)
    assert len(page(bad)) < 200_000


# What a provider may send


def test_no_report_lets_anything_out(bad: Report, good: Report) -> None:
    rude = HOSTILE.decode("latin-1")
    result = bad.failed[0]
    violation = Violation(result.check.id, f"/{rude}", rude, rude, rude)
    request = replace(metrics_request("x", rude, HOSTILE), method=rude, path=rude, scheme=rude, content_type=rude)
    exchange = Exchange(request, Response(200, (("content-type", rude),), HOSTILE))
    sighting = replace(result.sightings[0], violation=violation, exchanges=(exchange, *result.sightings[0].exchanges))
    worst = replace(
        bad,
        target="http://x/" + rude,
        results=(replace(result, sightings=(sighting,) * 7), *bad.results[1:]),
        notes=(rude,),
        stopped=rude,
    )
    none = silent(good)
    for report in (bad, none, worst):
        texts = (terminal(report, colour=False), junit(report), page(report))
        assert not any(_CONTROL.search(text) for text in texts)
        ET.fromstring(texts[1])
        assert not Tags(texts[2]).seen & {"script", "img"}
        assert ("{{ 7*7 }}" in texts[2]) == (report is not none)
        assert all(text.encode() for text in texts)
        assert report is worst or record(report, SPEC).isascii()
    assert len(terminal(worst, colour=False)) < 300_000


BODY = json.dumps(
    {"metrics": {"b": 1, "a": [{"timestamp": f"2026-12-01T05:{m:02}:00Z", "value": m} for m in range(60)]}}
)


@pytest.mark.parametrize(
    ("body", "where", "expected"),
    [
        (BODY.encode(), "/metrics/a/7/value", '"value": 7}'),
        (BODY.encode(), "/metrics/a", '"a": [… 60 items]'),
        (BODY.encode(), "/metrics/a/99", '"a": [… 60 items]'),
        (BODY.encode(), "/nowhere/at/all", "{… metrics}"),
        (BODY.encode(), "", "{… metrics}"),
        (b"[" * 60 + b"1" + b"]" * 60, "/0" * 60, "1"),
        (b'{"a~b/c": {"x": ["\xe2\x80\xae"]}}', "/a~0b~1c/x/0", "\\u202e"),
    ],
)
def test_an_excerpt_marks_the_place(body: bytes, where: str, expected: str) -> None:
    exchange = Exchange(metrics_request("x", "one", {}), Response(200, (), body))
    (lines,) = excerpts([exchange], Violation("c", where, "m"))
    (here,) = (line.text for line in lines if line.here)
    assert expected in here
    assert sum(len(line.text) + 1 for line in lines) <= MOST


def test_an_excerpt_of_no_json_shows_where_it_ends_being_json() -> None:
    body = b'{"a": 1,\n' * 3000 + b'"b": NaN}'
    exchange = Exchange(metrics_request("x", "one", {}), Response(200, (), b'{"x": [' + b"1," * 9000 + b"NaN]}"))
    (lines,) = excerpts([exchange], Violation("c", "", "m"))
    assert "NaN" in "".join(line.text for line in lines)
    assert excerpts([replace(exchange, response=Response(200, (), body))], Violation("c", "", "m"))
    assert excerpts([replace(exchange, response=None)], Violation("c", "/a", "m"))


def test_of_two_answers_the_same_time_is_shown() -> None:
    later = json.loads(BODY)
    del later["metrics"]["a"][:5]
    pair = [
        Exchange(metrics_request("x", label, {}), Response(200, (), json.dumps(body).encode()))
        for label, body in (("one", json.loads(BODY)), ("two", later))
    ]
    message = "a at 2026-12-01T05:12:00Z is 12 in one answer and 13 in the other"
    for where in ("/metrics/a/12/value", "/metrics/a/7/value"):
        both = excerpts(pair, Violation("c", where, message))
        assert ["05:12:00" in line.text for lines in both for line in lines if line.here] == [True, True]


# Record


def test_a_replay_finds_the_same(bad: Report) -> None:
    bad = report_on(SPEC, bad.target, bad.exchanges, stopped="enough", notes=("a note",), generated=7)
    text = record(bad, SPEC)
    again = replayed(text, SPEC, ALL, strict=False)
    assert again == bad
    assert record(again, SPEC) == text
    document = json.loads(text)
    assert list(document)[:4] == ["schema", "loopsmock", "spec", "target"]
    assert document["spec"] == SPEC.document["info"]["version"]
    assert document["exit_code"] == 1
    assert [one["check"] for one in document["results"]] == list(CHECKS)
    seen = [index for one in document["results"] for each in one["violations"] for index in each["exchanges"]]
    assert seen and set(seen) <= set(range(len(document["exchanges"])))
    only = replayed(text, SPEC, ALL[:3], strict=True)
    assert (len(only.results), only.strict) == (3, True)


def edited(change: Callable[[Any], Any]) -> Callable[[str], str]:
    def edit(text: str) -> str:
        document = json.loads(text)
        change(document)
        return json.dumps(document)

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda text: text[:-20], "the record is broken: "),
        (lambda text: "", "the text is empty"),
        (lambda text: "\ud800", "not UTF-8"),
        (lambda text: "[]", "no record of `loopsmock check`"),
        (lambda text: '{"schema": 1}', "no record of `loopsmock check`"),
        (edited(lambda doc: doc.update(schema=2, loopsmock="9.0")), "is from loopsmock 9.0; this is loopsmock"),
        (edited(lambda doc: doc.pop("exchanges")), "no member exchanges"),
        (edited(lambda doc: doc.update(target="-o/tmp/x")), "/target must be an http or https URL"),
        (edited(lambda doc: doc.update(notes=[1])), "/notes must be"),
        (edited(lambda doc: doc.update(counts={"generated": "7"})), "/counts must be"),
        (edited(lambda doc: doc.update(stopped=None)), "/stopped must be"),
        (edited(lambda doc: doc.update(exchanges={})), "/exchanges must be"),
        (edited(lambda doc: doc["exchanges"][1].update(response={})), "/exchanges/1/response/status must be"),
        (edited(lambda doc: doc["exchanges"][1].pop("response")), "/exchanges/1/response must be"),
        (edited(lambda doc: doc["exchanges"][0].update(at_ms=1 << 60)), "/exchanges/0/at_ms must be"),
        (edited(lambda doc: doc["exchanges"][0]["request"].update(scheme=1)), "/request/scheme must be"),
        (edited(lambda doc: doc["exchanges"][0]["request"].update(more=1)), "/exchanges/0: "),
        (edited(lambda doc: doc["exchanges"][0]["request"].update(body={"base64": "?"})), "/exchanges/0: "),
        (edited(lambda doc: doc["exchanges"][0]["response"].update(headers=[["a"]])), "/headers must be"),
        (edited(lambda doc: doc["exchanges"][0]["response"].update(headers=[["a", 1]])), "/headers must be"),
    ],
)
def test_what_is_no_record_is_refused_with_a_remedy(good: Report, edit: Callable[[str], str], message: str) -> None:
    text = record(replace(good, exchanges=good.exchanges[:2], results=()), SPEC)
    with pytest.raises(RecordUnreadable, match=re.escape(message)) as caught:
        replayed(edit(text), SPEC, ALL, strict=False)
    assert re.search(r"--json FILE|use that version", str(caught.value))


# Reference


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.id)
def test_a_check_is_explained(check: Any) -> None:
    text = explained(check, width=72)
    assert text.startswith(f"{check.id}\n")
    words = " ".join(text.split())
    for part in (check.subject, check.source, check.why, check.good, check.bad):
        assert " ".join(part.split()) in words
    assert all(len(line) <= 72 for line in explained(check, width=72).partition("  good")[0].splitlines())
