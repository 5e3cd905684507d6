"""The commands of this room; the only reader here of flags, environment and the real clock."""

import os
import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from .errors import StartError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the end of the year 9999
_UNIT_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST_S = 3650 * 86_400


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
    length_s = int(found[1]) * _UNIT_S[found[2]]
    if not least_s <= length_s <= _LONGEST_S:
        raise ValueError(f"{text!r} is not between {least_s} s and 3650d.")
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


def _read_by(parse: Callable[[Any], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Let a function read a flag, and click report what it refuses."""

    def read(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        try:
            return parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return read


def _option(flag: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A flag of serve that is also read from LOOPSMOCK_<FLAG>."""
    variable = "LOOPSMOCK_" + flag.removeprefix("--").replace("-", "_").upper()
    return click.option(flag, envvar=variable, show_envvar=True, **settings)


@click.command(
    epilog="The key that clients must send is read from LOOPSMOCK_API_KEY. Without it any key is accepted but one "
    "that starts with 'invalid'."
)
@_option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; loopback means ::1 as well.")
@_option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes a free port.")
@_option(
    "--port-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the port to this file once the server accepts.",
)
@_option(
    "--spec",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help="Serve this OpenAPI file instead of the built-in contract.",
)
@_option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Another seed, another world.")
@_option(
    "--now",
    callback=_read_by(instant_ms),
    metavar="ISO8601",
    help="Freeze the clock, for example at 2026-12-01T05:03:00Z.",
)
@_option(
    "--deployment",
    multiple=True,
    callback=_read_by(assignments),
    metavar="ID=SCENARIO",
    help="Serve a scenario under another id; may be repeated. In the environment: separated by spaces.",
)
@_option("--any-id", is_flag=True, help="Answer for every deployment id, as the scenario healthy.")
@_option(
    "--missing-auth-status",
    type=click.Choice(["401", "403"]),
    default="403",
    show_default=True,
    help="Status for a request without a usable Authorization header.",
)
@_option(
    "--max-window",
    callback=_read_by(lambda text: seconds(text, 1)),
    default="7d",
    show_default=True,
    metavar="DURATION",
    help="Longest window.",
)
@_option(
    "--max-points",
    type=click.IntRange(1, 100_000_000),
    default=11_000,
    show_default=True,
    help="Most points in one series.",
)
@_option(
    "--lag",
    callback=_read_by(lambda text: seconds(text, 0)),
    default="0",
    show_default=True,
    metavar="DURATION",
    help="How far the series lag behind the clock, for example 90 or 2m.",
)
@_option("--quiet", is_flag=True, help="Print nothing but the first line and errors.")
def serve(
    *,
    host: str,
    port: int,
    port_file: Path | None,
    spec: Path | None,
    seed: int,
    now: int | None,
    deployment: dict[str, str],
    any_id: bool,
    missing_auth_status: str,
    max_window: int,
    max_points: int,
    lag: int,
    quiet: bool,
) -> None:
    """Serve the endpoint until Ctrl-C.

    The first line on stdout is LOOPSMOCK_URL=http://127.0.0.1:PORT, printed when the server accepts requests.
    Then follows how to point clients at it. Requests are logged on stderr.

    \b
    loopsmock serve
    loopsmock serve --port 0 --now 2026-12-01T05:03:00Z
    loopsmock serve --deployment k4q95w5=healthy --deployment qvm1v4e=single
    """
    from .serve import Settings, run, stop_on_signals  # heavy: keeps --help fast

    stop_on_signals()
    try:
        run(
            Settings(host=host, port=port, port_file=port_file, quiet=quiet),
            api_key=os.environ.get("LOOPSMOCK_API_KEY") or None,
            clock=(lambda: time.time_ns() // 1_000_000) if now is None else (lambda: now),
            spec=spec,
            seed=seed,
            deployments=deployment,
            any_id=any_id,
            missing_auth_status=int(missing_auth_status),
            max_window_s=max_window,
            max_points=max_points,
            lag_s=lag,
        )
    except StartError as error:
        raise Refused(str(error)) from error


commands: list[click.Command] = [serve]
