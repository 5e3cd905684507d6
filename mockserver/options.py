"""How flags are read: durations, times, assignments; each may come from the environment as well."""

import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from .scenario import DAY_S, LONGEST_S, UNITS_S

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the end of the year 9999


class Refused(click.ClickException):
    """Input that keeps the server from starting."""

    exit_code = 2


def seconds(text: str, least_s: int) -> int:
    """`7d`, `12h`, `90m`, `600s` or `600` → seconds, from `least_s` to ten years.

    Raises:
        ValueError: it is not such a text; the message says what to write.
    """
    found = re.fullmatch(r"([0-9]{1,12})([smhd]?)", text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a duration; write for example 7d, 12h, 90m, 600s or 600.")
    length_s = int(found[1]) * UNITS_S[found[2] or "s"]
    if not least_s <= length_s <= LONGEST_S:
        raise ValueError(f"{text!r} is not between {least_s} s and {LONGEST_S // DAY_S}d.")
    return length_s


def instant_ms(text: str | None) -> int | None:
    """An ISO 8601 time with a zone → epoch milliseconds, from 1970 to 9999; None stays None.

    Raises:
        ValueError: it is not such a text; the message says what to write.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not an ISO 8601 time; write for example 2026-12-01T05:03:00Z.") from None
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no zone; write {moment.isoformat()}Z for UTC.")
    epoch_ms = (moment - _EPOCH) // timedelta(milliseconds=1)
    if not 0 <= epoch_ms <= _LAST_MS:
        raise ValueError(f"{text!r} is not between the years 1970 and 9999.")
    return epoch_ms


def assignments(texts: Sequence[str]) -> dict[str, str]:
    """`ID=SCENARIO` texts → scenario names by deployment id.

    Raises:
        ValueError: one of them is not such a text, or an id stands there twice; the message says which.
    """
    scenarios: dict[str, str] = {}
    for text in texts:
        deployment, _, scenario = text.partition("=")
        if not deployment or not scenario:
            raise ValueError(f"{text!r} is not ID=SCENARIO; write for example k4q95w5=healthy.")
        if deployment in scenarios:
            raise ValueError(f"the deployment id {deployment!r} stands there twice.")
        scenarios[deployment] = scenario
    return scenarios


def read_by(parse: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Let a function read a flag, and click report what it refuses."""

    def read(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        try:
            return parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return read


def option(flag: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A flag that is also read from LOOPSMOCK_<FLAG>."""
    variable = "LOOPSMOCK_" + flag.removeprefix("--").replace("-", "_").upper()
    return click.option(flag, envvar=variable, show_envvar=True, **settings)


scenario_option = option(
    "--scenario",
    multiple=True,
    type=click.Path(exists=True, readable=True, path_type=Path),
    metavar="FILE|DIR",
    help="Scenario files of your own, or a folder of them; may be repeated.",
)


def world_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of every command that looks at a world: --scenario, --seed and --now."""
    seed = option(
        "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Another seed, another world."
    )
    now = option(
        "--now",
        callback=read_by(instant_ms),
        metavar="ISO8601",
        help="Freeze the clock, for example at 2026-12-01T05:03:00Z.",
    )
    return scenario_option(seed(now(command)))


def clock(now_ms: int | None) -> Callable[[], int]:
    """The real clock in epoch milliseconds, or one that stands."""
    return (lambda: time.time_ns() // 1_000_000) if now_ms is None else (lambda: now_ms)
