"""What the checks say, in words: one of them for a terminal, all of them as a page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from .check import Check, Level
from .checks import CHECKS, SUBJECTS

MEANING = {
    Level.MUST: "must hold: a violation fails the run",
    Level.SHOULD: "should hold: the rule is inferred, so a violation warns, and fails the run with --strict",
}


def explained(check: Check, *, width: int = 100) -> str:
    """A check in words, for a terminal.

    Args:
        check: the check.
        width: columns.
    """

    def named(name: str, text: str) -> str:
        return textwrap.fill(
            text,
            width,
            initial_indent=f"  {name:<9}",
            subsequent_indent=" " * 11,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def example(name: str, text: str) -> str:
        first, *rest = text.splitlines()
        return "\n".join([f"  {name:<9}{first}", *(" " * 11 + line for line in rest)])

    about = textwrap.fill(
        check.why,
        width,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    facts = (named("level", MEANING[check.level]), named("subject", check.subject), named("source", check.source))
    return "\n".join([check.id, *facts, "", about, "", example("good", check.good), example("bad", check.bad)]) + "\n"


def reference() -> str:
    """All checks as a Markdown page, by subject."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield "<!-- generated: `make readme` writes this page from the checks themselves -->"
    yield "# Checks"
    yield ""
    yield f"What `loopsmock check` looks for: {len(CHECKS)} statements, each about one or more exchanges."
    yield ""
    for level, meaning in MEANING.items():
        yield f"- **{level}**: {meaning.partition(': ')[2]}."
    yield ""
    yield "| check | level | what it says |"
    yield "|---|---|---|"
    for subject in SUBJECTS:
        yield f"| **[{subject.name}](#{_anchor(subject.name)})** | | |"
        for check in subject.checks:
            yield f"| [`{check.id}`](#{_anchor(check.id)}) | {check.level} | {_cell(check.why)} |"
    for subject in SUBJECTS:
        yield ""
        yield f"## {subject.name}"
        for check in subject.checks:
            yield from ("", f"### {check.id}", "", f"**{check.level}** · {check.source}", "", check.why)
            yield from ("", "```text", *_labelled("good", check.good), *_labelled("bad", check.bad), "```")


def _labelled(name: str, text: str) -> Iterator[str]:
    for index, line in enumerate(text.splitlines()):
        yield f"{'' if index else f'{name}:':<6}{line}"


def _cell(why: str) -> str:
    """The first sentence, so that it can stand in a table."""
    first = re.match(r"(?:`[^`]*`|[^`])*?[.](?=\s|\Z)", why)
    return (first[0] if first else why).replace("|", "\\|")


def _anchor(heading: str) -> str:
    """What a heading is called in a link, by the rule of the usual renderers."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
