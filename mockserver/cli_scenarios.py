"""`loopsmock scenarios`: what deployments can play, and what is wrong with a file of the user's own."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from .errors import StartError
from .options import Refused, clock, read_by, scenario_option, seconds, world_options

if TYPE_CHECKING:
    from .scenario import Scenario
    from .world import World

T = TypeVar("T")

_COLUMNS = 72
_LEFT = 40
"""Characters beside the drawing of a line."""


@click.group()
def scenarios() -> None:
    """What deployments can play: list, show and draw scenarios, and check files of your own.

    A scenario is a YAML file, named after it, formed as fixtures/scenario.schema.json says. For example
    straggler.yaml:

    \b
    extends: healthy
    shows: The second node is slow from minute 20 to 40 of every hour.
    faults:
      - {kind: slow-data, nodes: [1], busy: 0.5, every: 1h, at: 20m, lasts: 20m}

    \b
    loopsmock scenarios check straggler.yaml
    loopsmock scenarios preview straggler.yaml
    loopsmock serve --scenario straggler.yaml
    """


@scenarios.command("list")
@world_options
def list_(scenario: tuple[Path, ...], seed: int, now: int | None) -> None:
    """All scenarios: id, size, how the deployment is listed now, and what it shows."""
    world = _world(scenario, seed, now)
    now_s = world.clock() // 1000
    rows = [("id", "nodes × GPUs", "status", "what it shows")]
    for id_, one in world.deployments.items():
        rows.append((id_, one.scenario.size, world.status(one, now_s), one.scenario.shows))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        _say("  ".join(f"{cell:<{width}}" for cell, width in zip(row, [*widths, 0], strict=True)).rstrip())


@scenarios.command()
@click.argument("what", metavar="ID|FILE")
@scenario_option
def show(what: str, scenario: tuple[Path, ...]) -> None:
    """The whole of a scenario, with what it extends and what is left to defaults; itself a scenario file."""
    from .scenario_entry import text

    id_, files = _named(what, scenario)
    _say(text(_one(id_, _catalogue(files))).rstrip())


@scenarios.command()
@click.argument("file", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE|DIR…")
def check(file: tuple[Path, ...]) -> None:
    """Say what is wrong with scenario files: file, line, reason and remedy. Exit code 2 if anything is.

    Files that extend one another are checked together.
    """
    from .scenario_entry import notes
    from .scenario_file import files_in

    known = _catalogue(file)
    for place in file:
        for path in files_in(place):
            one = known[path.stem]
            faults = f", {len(one.faults)} faults" if len(one.faults) != 1 else ", 1 fault"
            _say(f"{path}: fine: {one.size}{faults}. {one.shows}")
            for fault, note in notes(one):
                _say(f"{path}: note: {fault.kind}: {note}")


@scenarios.command()
@click.argument("what", metavar="ID|FILE")
@click.option(
    "--window",
    callback=read_by(lambda text: seconds(text, 60)),
    default="6h",
    show_default=True,
    metavar="DURATION",
    help="How far back, up to 7d.",
)
@click.option(
    "--columns",
    type=click.IntRange(10, 1000),
    help="Most characters of a drawn line. Left out: what the terminal takes, up to 72.",
)
@world_options
def preview(
    what: str, window: int, columns: int | None, scenario: tuple[Path, ...], seed: int, now: int | None
) -> None:
    """Draw the main series of a scenario: one line each, a column the mean of its time.

    Left is old, right is now. Shares are drawn from 0 to 100 % (errors to 25 %), requests and latency from 0 to the
    largest seen. At the end of a line stand the least and the largest value; a blank is where there is none.
    """
    from .preview import ASCII, BLOCKS, drawing
    from .scenario_entry import notes
    from .window import WindowError

    id_, files = _named(what, scenario)
    world = _world(files, seed, now)
    deployment = _one(id_, world.deployments)
    room = columns or max(10, min(_COLUMNS, shutil.get_terminal_size().columns - _LEFT))
    try:
        drawn = drawing(world, deployment, window, room, BLOCKS if _takes(BLOCKS) else ASCII)
    except WindowError as error:
        raise Refused(f"--window: {error.rule}") from error
    _say(drawn.rstrip("\n"))
    for fault, note in notes(deployment.scenario):
        _say(f"note: {fault.kind}: {note}")


def _named(what: str, scenario: tuple[Path, ...]) -> tuple[str, tuple[Path, ...]]:
    """The id of what is named, and the files to read: a file stands for itself."""
    from .scenario_file import SUFFIXES

    path = Path(what)
    return (path.stem, (*scenario, path)) if path.suffix in SUFFIXES else (what, scenario)


def _catalogue(files: Sequence[Path]) -> "dict[str, Scenario]":
    from .scenario_file import catalogue

    try:
        return catalogue(files)
    except StartError as error:
        raise Refused(str(error)) from error


def _one(id_: str, known: Mapping[str, T]) -> T:
    from .scenario_sheet import meant

    if id_ not in known:
        raise Refused(f"there is no scenario {id_!r}{meant(id_, list(known))}; a file of your own ends in .yaml")
    return known[id_]


def _world(files: Sequence[Path], seed: int, now: int | None) -> "World":
    from .scenario import deployments
    from .window import Limits
    from .world import World

    known = _catalogue(files)
    return World(known, deployments(known), seed=seed, clock=clock(now), limits=Limits())


def _takes(text: str) -> bool:
    """Whether the terminal can show these characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _say(text: str) -> None:
    click.echo(text if _takes(text) else text.replace("×", "x").encode("ascii", "replace").decode())
