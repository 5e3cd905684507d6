"""A report for a terminal: what is wrong and how to see it oneself, then how much held, then the verdict."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import click

from .checks import Result, Verdict
from .excerpt import Line
from .provider import Report
from .report_words import (
    Shown,
    count_of,
    ending,
    facts_of,
    found_by,
    headline,
    level_of,
    message_of,
    remarks,
    severity,
    shown,
    tally,
)

WIDTH = 100
_COLOURS = {"error": "red", "warning": "yellow", "held": "green", "violated": "red", "no verdict": "yellow"}
_AROUND = 1


class _Ink:
    """Colours texts, or leaves them as they are."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, **style: Any) -> str:
        return click.style(text, **style) if self._colour else text


def terminal(report: Report, *, colour: bool) -> str:
    """The report as lines for a terminal.

    Args:
        report: what a run found.
        colour: whether to colour it; without, there is no control character in it but line ends.
    """
    ink = _Ink(colour)
    lines = _wrapped(headline(report), "")
    for remark in remarks(report):
        lines += _wrapped(remark, "note: ")
    for result in found_by(report):
        lines += ["", *_finding(report, result, ink)]
    lines += ["", *_summary(report, ink), "", _last(report, ink)]
    return "\n".join(lines) + "\n"


def finding(report: Report, result: Result) -> str:
    """What the terminal shows of one check with violations, without colour."""
    return "\n".join(_finding(report, result, _Ink(False))) + "\n"


def _finding(report: Report, result: Result, ink: _Ink) -> Iterator[str]:
    kind = severity(report, result)
    first = result.sightings[0]
    yield (
        ink(f"{kind}[{result.check.id}]", fg=_COLOURS[kind], bold=True)
        + ink(f"  {result.check.subject}, {level_of(report, result)}", dim=True)
    )  # fmt: skip
    for line in _wrapped(message_of(first), "  "):
        yield ink(line, bold=True)
    yield ""
    exchanges = shown(report, first)
    for one in exchanges:
        yield from _exchange(one, ink)
    for name, text in facts_of(first):
        yield from _labelled(name, text, ink)
    further = len(result.sightings) - 1
    if further:
        compared = f" in {count_of(result.count, 'comparison')}" if result.count > further else ""
        yield from _labelled("further", f"{count_of(further, 'more sighting')} of this{compared}", ink)
    for index, line in enumerate(dict.fromkeys(one.curl for one in exchanges)):
        # Not wrapped: a line to paste must be one line.
        yield f"  {_name('' if index else 'again', ink)} {line}"
    yield f"  {_name('more', ink)} loopsmock explain {result.check.id}"


def _name(name: str, ink: _Ink) -> str:
    return ink(name.ljust(9), dim=True)


def _exchange(one: Shown, ink: _Ink) -> Iterator[str]:
    yield f"  {ink('-->', fg='blue', bold=True)} {one.label}: {one.request}"
    if one.body:
        yield from _labelled("body", one.body, ink)
    yield from _labelled("answer", one.answer, ink)
    for line in _nearest(one.lines):
        bar = ink(f"{'>' if line.here else ' '} |", fg="blue", bold=True)
        yield f"  {'':<6} {bar} {ink(line.text, bold=True) if line.here else line.text}"
    yield ""


def _nearest(lines: list[Line]) -> list[Line]:
    """The line of the place and its neighbours, moved to the left; the first lines if the place is all of the body."""
    at = next((index for index, line in enumerate(lines) if line.here), 0)
    near = lines[max(at - _AROUND, 0) : at + _AROUND + 1]
    indent = min((len(line.text) - len(line.text.lstrip()) for line in near), default=0)
    return [Line(line.text[indent:], line.here) for line in near]


def _labelled(name: str, text: str, ink: _Ink) -> Iterator[str]:
    for index, line in enumerate(_wrapped(text, " " * 12)):
        yield f"  {_name('' if index else name, ink)} {line[12:]}"


def _summary(report: Report, ink: _Ink) -> Iterator[str]:
    for word, results in tally(report):
        said = f"{len(results):>4} {word}"
        if results[0].verdict == Verdict.PASS:
            yield ink(said, fg="green")
            continue
        first, *rest = _wrapped(", ".join(result.check.id for result in results), " " * (len(said) + 2))
        fg = {Verdict.FAIL: "red", Verdict.WARN: "yellow", Verdict.NO_VERDICT: "yellow"}.get(results[0].verdict)
        yield f"{ink(said, fg=fg)}: {first.lstrip()}"
        yield from rest


def _last(report: Report, ink: _Ink) -> str:
    word, why = ending(report)
    return f"{ink(word, fg=_COLOURS[word], bold=True)}: {why} (exit code {report.exit_code})"


def _wrapped(text: str, begin: str) -> list[str]:
    """The text in lines of at most WIDTH columns; only a word that is longer than a line sticks out."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=begin,
        subsequent_indent=" " * len(begin),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [begin]
