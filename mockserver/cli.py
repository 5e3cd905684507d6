"""The commands of this room; the only readers here of flags, environment and the real clock."""

import os
from pathlib import Path

import click

from .cli_scenarios import scenarios
from .errors import StartError
from .options import Refused, assignments, clock, option, read_by, seconds, world_options


@click.command(
    epilog="The key that clients must send is read from LOOPSMOCK_API_KEY. Without it any key is accepted but one "
    "that starts with 'invalid'."
)
@option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; loopback means ::1 as well.")
@option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes a free port.")
@option(
    "--port-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the port to this file once the server accepts.",
)
@option(
    "--spec",
    type=click.Path(exists=True, dir_okay=False, readable=True, path_type=Path),
    help="Serve this OpenAPI file instead of the built-in contract.",
)
@world_options
@option(
    "--deployment",
    multiple=True,
    callback=read_by(assignments),
    metavar="ID=SCENARIO",
    help="Serve a scenario under another id; may be repeated. In the environment: separated by spaces.",
)
@option("--any-id", is_flag=True, help="Answer for every deployment id, as the scenario healthy.")
@option(
    "--missing-auth-status",
    type=click.Choice(["401", "403"]),
    default="403",
    show_default=True,
    help="Status for a request without a usable Authorization header.",
)
@option(
    "--max-window",
    callback=read_by(lambda text: seconds(text, 1)),
    default="7d",
    show_default=True,
    metavar="DURATION",
    help="Longest window.",
)
@option(
    "--max-points",
    type=click.IntRange(1, 100_000_000),
    default=11_000,
    show_default=True,
    help="Most points in one series.",
)
@option(
    "--lag",
    callback=read_by(lambda text: seconds(text, 0)),
    default="0",
    show_default=True,
    metavar="DURATION",
    help="How far the series lag behind the clock, for example 90 or 2m.",
)
@option("--quiet", is_flag=True, help="Print nothing but the first line and errors.")
def serve(
    *,
    host: str,
    port: int,
    port_file: Path | None,
    spec: Path | None,
    scenario: tuple[Path, ...],
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
    loopsmock serve --scenario straggler.yaml
    loopsmock serve --deployment k4q95w5=healthy --deployment qvm1v4e=single
    """
    from .serve import Settings, run, stop_on_signals  # heavy: keeps --help fast

    stop_on_signals()
    try:
        run(
            Settings(host=host, port=port, port_file=port_file, quiet=quiet),
            api_key=os.environ.get("LOOPSMOCK_API_KEY") or None,
            clock=clock(now),
            spec=spec,
            scenarios=scenario,
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


commands: list[click.Command] = [serve, scenarios]
