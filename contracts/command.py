"""What the commands do: progress on stderr, the report on stdout, files, and the last look for the key."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

import click

from . import plan
from .check import Check
from .checks import chosen
from .curl import curl
from .exchange import Request
from .interrupts import Interrupts
from .options import NoVerdict
from .provider import Report, requests
from .record import RecordUnreadable, record
from .record import replayed as replayed_record
from .report_html import page
from .report_junit import junit
from .report_terminal import terminal
from .secret import Key, KeyRefused, read_key
from .selftest import DEPLOYMENTS, selftest, sender_to, table
from .settings import FUZZ_PACKAGES, NEEDS_FUZZ, PLANNED, Settings, SettingsRefused, run
from .spec import Spec, load
from .spoil import PAIR, App
from .spoils import SPOILS

_SILENCE_S = 5.0
Files = Mapping[str, Path | None]


class Progress:
    """Says on stderr how far a run is: one line that is written over on a terminal, now and then a line elsewhere."""

    def __init__(self, planned: int) -> None:
        self._planned, self._done, self._generating = planned, 0, False
        self._interactive = sys.stderr.isatty()
        self._last = time.monotonic()

    def step(self, name: str) -> None:
        """One more of what was planned is done."""
        if not self._generating:
            self._done += 1
            of = f" of {self._planned}" if self._done <= self._planned else ""
            self._say(f"{self._done}{of}: {name}")

    def generated(self, sent: int) -> None:
        """So many generated requests were sent."""
        self._generating = True
        self._say(f"{self._done} planned requests, {sent} generated ones")

    def done(self) -> None:
        """The run is over."""
        if self._interactive:
            click.echo("\r\x1b[K", err=True, nl=False)

    def _say(self, text: str) -> None:
        if self._interactive:
            click.echo(f"\r\x1b[K{text}", err=True, nl=False)
        elif time.monotonic() - self._last > _SILENCE_S:
            self._last = time.monotonic()
            click.echo(f"loopsmock: {text}", err=True)


def checked(settings: Settings, files: Files) -> int:
    """Make a run, write its reports, and return the exit code."""
    key: Key | None = None
    _refuse_same(files)
    try:
        spec = load()
        checks = settings.checked(spec)
        key = settings.key(spec)
        planned = len(_planned(settings, checks))
        if settings.live:
            _announce(settings, planned, len(checks))
        progress = Progress(planned)
        try:
            with Interrupts() as interrupts:
                report = run(
                    settings,
                    spec=spec,
                    key=key,
                    on_exchange=lambda exchange: progress.step(exchange.request.label),
                    on_generated=progress.generated,
                    halted=interrupts.asked,
                )
        finally:
            progress.done()
    except (SettingsRefused, KeyRefused) as error:
        raise NoVerdict(_scrubbed(key, str(error))) from None
    return _reported(report, spec, files, key)


def replayed(file: Path, only: Sequence[str], skip: Sequence[str], *, strict: bool, files: Files) -> int:
    """Judge a recorded run again, write its reports, and return the exit code."""
    spec = load()
    _refuse_same(files)
    try:
        report = replayed_record(file.read_text("utf-8"), spec, chosen(only, skip), strict)
    except UnicodeDecodeError:
        raise NoVerdict(f"{file}: this is no text; make a record by `loopsmock check --json FILE`.") from None
    except (RecordUnreadable, ValueError, OSError) as error:
        raise NoVerdict(f"{file}: {error}") from None
    return _reported(report, spec, files, _environment_key())


def dry(settings: Settings) -> int:
    """Print the requests of a run as cURL lines and send nothing."""
    try:
        checks = settings.checked(load())
    except SettingsRefused as error:
        raise NoVerdict(str(error)) from None
    lines = _planned(settings, checks)
    spacing = f", one every {settings.bounds().spacing_s:g} s" if settings.live else ""
    click.echo(f"{len(lines)} requests to {settings.url}{spacing}; nothing is sent.")
    click.echo("Times stand for a provider whose newest point is of this minute.")
    for number, request in enumerate(lines, 1):
        click.echo(f"\n{number}. {request.label}\n{curl(settings.url, request)}")
    if settings.generated:
        click.echo(f"\nThen up to {settings.generated} generated requests, where their packages are installed.")
    return 0


def _planned(settings: Settings, checks: Sequence[Check]) -> list[Request]:
    """The requests of the plan, for a provider whose now is that of this machine."""
    now_ms = time.time_ns() // 1_000_000
    made = [] if settings.live else [plan.listing()]
    for id_ in settings.deployment_ids or ("{deployment_id}",):
        sent = requests(id_, now_ms, live=settings.live, seed=settings.seed, checks=checks)
        made += [plan.opening(id_), *sent]
    return made[: settings.max_requests or (PLANNED if settings.live else None)]


def _refuse_same(files: Files) -> None:
    named = [file for file in files.values() if file is not None]
    if len(set(named)) < len(named):
        raise NoVerdict("two reports would be written to the same file; name another one.")


def selftested(provider: App, *, plain: bool, only: Sequence[str]) -> int:
    """Spoil a provider, print the table, and return the exit code."""
    known = {spoil.name: spoil for spoil in SPOILS}
    for name in only:
        if name not in known:
            close = "".join(f"; did you mean {one}?" for one in get_close_matches(name, known, 1))
            raise NoVerdict(f"there is no fault or variant {name!r}{close}.")
    if plain and not all(map(find_spec, FUZZ_PACKAGES)):
        raise NoVerdict(f"--plain {NEEDS_FUZZ}")
    spec = load()
    # What the provider logs about requests that are wrong on purpose would drown the table.
    logging.getLogger("loopsmock").setLevel(logging.ERROR)
    spoils = [known[name] for name in only] or list(SPOILS)
    progress = Progress(len(spoils))
    try:
        outcomes = selftest(
            provider,
            spec,
            spoils=spoils,
            plain=(lambda app: _fails_schemathesis(spec, app)) if plain else None,
            progress=lambda outcome: progress.step(outcome.spoil.name),
        )
    finally:
        progress.done()
    click.echo(table(outcomes))
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def _fails_schemathesis(spec: Spec, app: App) -> bool:
    """Whether schemathesis by itself, tuned to the endpoint, remarks on an app."""
    from .fuzz import COVERAGE, fuzz

    now_ms = time.time_ns() // 1_000_000
    with sender_to(app, max_requests=1000) as sender:
        fuzzed = fuzz(spec.document, sender, deployment_id=DEPLOYMENTS[PAIR], now_ms=now_ms, cases=COVERAGE + 50)
    return bool(fuzzed.exchanges)


def _announce(settings: Settings, planned: int, checks: int) -> None:
    """Say on stderr whom a live run asks, and for what."""
    bounds = settings.bounds()
    ids = ", ".join(settings.deployment_ids)
    click.echo(
        f"loopsmock: live: {planned} requests to {settings.host} about {ids}, one every "
        f"{bounds.spacing_s:g} s, all POST to the metrics; {checks} checks",
        err=True,
    )


def _reported(report: Report, spec: Spec, files: Files, key: Key | None) -> int:
    """Write the report everywhere, and look once more whether the key is in it."""
    texts: dict[str, Callable[[], str]] = {
        "junit": lambda: junit(report),
        "html": lambda: page(report),
        "json": lambda: record(report, spec),
    }
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    click.echo(_scrubbed(key, terminal(report, colour=colour)), nl=False)
    for kind, file in files.items():
        if file is not None:
            _write(file, _scrubbed(key, texts[kind]()), key)
    return report.exit_code


def _write(file: Path, text: str, key: Key | None) -> None:
    try:
        file.write_text(text, "utf-8")
        if key is not None and key.is_in(file.read_bytes()):
            file.write_text("", "utf-8")
            raise NoVerdict(
                f"the API key was about to stand in {file}, which was emptied: this is a fault of loopsmock"
            )
    except OSError as error:
        raise NoVerdict(f"cannot write {file}: {error.strerror}") from None


def _scrubbed(key: Key | None, text: str) -> str:
    return text if key is None else key.scrub(text)


def _environment_key() -> Key | None:
    """The key of the environment, if there is one: a record may be from elsewhere."""
    try:
        return read_key(None, on_loopback=True)
    except KeyRefused:
        return None
