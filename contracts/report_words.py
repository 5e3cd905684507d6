"""What every report says alike: how much was checked, how it ended, and what an exchange was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from .check import Level
from .checks import Result, Sighting, Verdict
from .curl import curl
from .excerpt import Line, excerpts, one_line, visible
from .exchange import Exchange
from .provider import Report
from .strict_json import shorten

MOST_MESSAGE = 1200
MOST_CURL = 4000


def count_of(count: int, one: str, several: str = "") -> str:
    """A number with its noun: `1 node`, `1,312 points`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def headline(report: Report) -> str:
    """What was checked, on how much data."""
    counts = report.counts
    answers = count_of(counts["200s"], "answer of 200", "answers of 200")
    text = f"{count_of(counts['requests'], 'request')} to {visible(report.target)}, {answers}"
    generated = counts.get("generated", 0)
    more = f"; besides, {count_of(generated, 'generated request')} answered without a remark" if generated else ""
    if not counts["points"]:
        return f"{text} without a point{more}"
    text += f" with {count_of(counts['points'], 'point')} of "
    if counts["deployments"] > 1:
        text += f"{count_of(counts['deployments'], 'deployment')}, "
    return text + f"{count_of(counts['nodes'], 'node')} and {count_of(counts['ranks'], 'GPU rank')}{more}"


def remarks(report: Report) -> Iterator[str]:
    """What the reader should know besides: the notes, and what kept the run from being whole."""
    yield from map(visible, report.notes)
    if report.stopped:
        yield f"the run ended early: {visible(report.stopped)}"
    if report.silent:
        one = report.silent[0]
        yield (
            f"{len(report.silent)} of {count_of(len(report.exchanges), 'request')} got no answer "
            f"({visible(one.request.label)}: {visible(one.failure)})"
        )


def ending(report: Report) -> tuple[str, str]:
    """The verdict in a word, and what it rests on."""
    chosen = f"of {count_of(len(report.results), 'check')}"
    if report.exit_code == 1:
        verb = "fails" if len(report.failed) == 1 else "fail"
        return "violated", f"{len(report.failed)} {chosen} {verb}"
    if report.exit_code == 2:
        return "no verdict", visible(report.why_no_verdict)
    warned = len(report.having(Verdict.WARN))
    rest = f", {count_of(warned, 'warning')}" if warned else ""
    return "held", f"{len(report.having(Verdict.PASS))} {chosen} passed and none failed{rest}"


def tally(report: Report) -> Iterator[tuple[str, list[Result]]]:
    """The verdicts in words with the results that have them; those that nobody has are left out."""
    verdicts = (
        (Verdict.FAIL, "failed"),
        (Verdict.WARN, "warned"),
        (Verdict.PASS, "passed"),
        (Verdict.NOT_APPLICABLE, "not applicable"),
        (Verdict.NOT_CHECKED, "not checked"),
        (Verdict.NO_VERDICT, "no verdict"),
    )
    return ((word, found) for verdict, word in verdicts if (found := report.having(verdict)))


WHY_SKIPPED = {
    Verdict.NOT_APPLICABLE: "not applicable: the series that it reads are empty",
    Verdict.NOT_CHECKED: "not checked: the requests that it needs were not sent",
    Verdict.NO_VERDICT: "no verdict: the requests that it needs got no answer",
}


def found_by(report: Report) -> list[Result]:
    """The results with violations: failures first, then warnings, each in the order of the checks."""
    return [*report.having(Verdict.FAIL), *report.having(Verdict.WARN)]


def severity(report: Report, result: Result) -> str:
    """`error` for what fails the run, `warning` for what does not."""
    return "error" if result.verdict == Verdict.FAIL or report.strict else "warning"


def level_of(report: Report, result: Result) -> str:
    """The level of a check, with what --strict makes of it."""
    strict = result.check.level == Level.SHOULD and report.strict
    return f"{result.check.level}, fails by --strict" if strict else str(result.check.level)


@dataclass(frozen=True)
class Shown:
    """An exchange as the reports show it; every text is printable.

    Args:
        label: the name of the request.
        request: method and path.
        body: of the request, on one line.
        answer: status, content type and size, or why none came.
        lines: the body of the response around the place.
        curl: a command line that sends the request again.
    """

    label: str
    request: str
    body: str
    answer: str
    lines: list[Line]
    curl: str


def shown(report: Report, sighting: Sighting, *, body: int = 160) -> list[Shown]:
    """The exchanges of a sighting.

    Args:
        report: the report that it is from.
        sighting: a violation, and what shows it.
        body: most characters of the body of a request.
    """
    found = []
    for exchange, lines in zip(sighting.exchanges, excerpts(sighting.exchanges, sighting.violation), strict=True):
        request = exchange.request
        line = visible(curl(report.target, request))
        if len(line) > MOST_CURL:
            line = f"# the body of {len(request.body):,} bytes is too long to paste; `loopsmock check --json` has it"
        path = shorten(visible(urlsplit(report.target).path.rstrip("/") + request.path), 300)
        found.append(
            Shown(
                shorten(visible(request.label), 100),
                f"{visible(request.method)} {path}",
                one_line(request.body, body),
                _answer(exchange),
                lines,
                line,
            )
        )
    return found


def _answer(exchange: Exchange) -> str:
    response = exchange.response
    if response is None:
        return f"none: {shorten(visible(exchange.failure), 300)}"
    kind = shorten(visible(response.header("content-type") or "no content type"), 80)
    return f"{response.status}, {kind}, {count_of(len(response.body), 'byte')}"


def message_of(sighting: Sighting) -> str:
    """What is wrong, in a sentence."""
    return shorten(visible(sighting.violation.message), MOST_MESSAGE)


def facts_of(sighting: Sighting) -> Iterator[tuple[str, str]]:
    """Place, expected and seen, as far as the violation says them."""
    violation = sighting.violation
    yield "place", shorten(visible(violation.where), 300) or "the response as a whole"
    if violation.expected:
        yield "expected", shorten(visible(violation.expected), 300)
    if violation.seen:
        yield "seen", shorten(visible(violation.seen), 300)
