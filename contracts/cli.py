"""The commands of this room: flags, environment, files, exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .options import FLAGS, Flag, NoVerdict

Path_ = click.Path(dir_okay=False, path_type=Path)


def _option(flag: Flag) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    settings: dict[str, Any] = {"help": flag.help, "default": flag.default, "show_default": flag.default is not None}
    if flag.metavar is None:
        settings = {"help": flag.help, "is_flag": True}
    elif flag.many:
        settings = {"help": flag.help, "multiple": True, "metavar": flag.metavar}
    elif flag.kind == "file":
        settings |= {"type": Path_, "metavar": flag.metavar}
    elif flag.kind == "number":
        settings |= {"type": click.IntRange(0 if flag.name == "seed" else 1, 2**31), "metavar": flag.metavar}
    else:
        settings |= {"metavar": flag.metavar}
    return click.option(flag.flag, flag.name, **settings)


def _report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The files that a report can be written to."""
    for flag, what in (
        ("--json", "everything that was sent and received, for `loopsmock replay`"),
        ("--html", "one page that needs no network"),
        ("--junit", "JUnit XML for CI"),
    ):
        command = click.option(flag, type=Path_, metavar="FILE", help=f"Write the report as {what}.")(command)
    return command


def _run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for flag in reversed(FLAGS):
        command = _option(flag)(command)
    return command


@click.command(
    epilog="The key is read from BASETEN_API_KEY or --api-key-file, never from the command line. On loopback without a "
    "key, `loopsmock` is sent. Exit code: 0 all held, 1 a violation, 2 no verdict or nothing tested."
)
@click.argument("url")
@_run_options
@click.option("--dry-run", is_flag=True, help="Print the requests and send nothing.")
@_report_options
def check(*, url: str, dry_run: bool, junit: Path | None, html: Path | None, json: Path | None, **flags: Any) -> int:
    """Hold a provider to the contract.

    Sends about 25 requests to URL, one at a time, and judges the answers one by one and against each other. Where
    schemathesis and Hypothesis are installed and the provider is on this machine, generated requests follow.

    \b
    loopsmock check http://127.0.0.1:8000
    loopsmock check http://127.0.0.1:8000 --deployment-id healthy --junit report.xml --html report.html
    loopsmock check https://api.baseten.co --live --deployment-id k4q95w5 --dry-run
    """
    from .command import checked, dry  # heavy: keeps --help fast
    from .settings import Settings

    settings = Settings(url=url, **flags)
    return dry(settings) if dry_run else checked(settings, {"junit": junit, "html": html, "json": json})


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path))
@click.option("--strict", is_flag=True, help="Warnings fail as well.")
@click.option("--only", multiple=True, metavar="CHECK", help="Check to run; may be repeated.")
@click.option("--skip", multiple=True, metavar="CHECK", help="Check to leave out; may be repeated.")
@_report_options
def replay(
    *,
    file: Path,
    strict: bool,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    junit: Path | None,
    html: Path | None,
    json: Path | None,
) -> int:
    """Judge the exchanges of a report again, without a network.

    FILE was written by `loopsmock check --json FILE`. Exit codes are those of check.
    """
    from .command import replayed

    return replayed(file, only, skip, strict=strict, files={"junit": junit, "html": html, "json": json})


@click.command()
@click.argument("checks", nargs=-1, metavar="[CHECK]…")
def explain(*, checks: tuple[str, ...]) -> None:
    """Say what a check means, where it is from, and show a good and a bad example.

    Without CHECK, list all of them.
    """
    from .checks import CHECKS, nearest
    from .reference import explained

    for id_ in checks:
        if id_ not in CHECKS:
            raise NoVerdict(f"there is no check {id_!r}{nearest(id_)}; `loopsmock explain` lists all.")
    if not checks:
        for known in CHECKS.values():
            click.echo(f"{known.id:40} {known.level:6} {known.subject}")
        return
    click.echo("\n\n".join(explained(CHECKS[id_]) for id_ in checks))


def commands(provider: Callable[[], Any]) -> list[click.Command]:
    """The commands of this room.

    Args:
        provider: makes an ASGI app that keeps the contract, for the selftest.
    """

    @click.command()
    @click.option("--plain", is_flag=True, help="Show what schemathesis by itself kills as well; takes some minutes.")
    @click.option("--only", multiple=True, metavar="NAME", help="Fault or variant to try; may be repeated.")
    def selftest(*, plain: bool, only: tuple[str, ...]) -> int:
        """Spoil a good provider in many ways and show which checks notice.

        Every fault must be named by the right check first, and no benign variant may be accused. Exit code 0 if so.
        """
        from .command import selftested

        return selftested(provider(), plain=plain, only=only)

    return [check, replay, explain, selftest]
