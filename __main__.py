"""The front door: joins the commands of the two rooms into one command line."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from . import __version__
from .contracts.cli import commands as contract_commands
from .mockserver.cli import commands as server_commands


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="loopsmock", message="%(prog)s %(version)s")
def loopsmock() -> None:
    """A stand-in for the metrics endpoint of a Loops trainer deployment.

    `loopsmock serve` starts it on http://127.0.0.1:8000 and prints how to point a client at it.
    """


def _good_provider() -> Any:
    """The mock, for the selftest of the other room, which knows no server."""
    from .mockserver import create_app

    return create_app()


for _command in [*server_commands, *contract_commands(_good_provider)]:
    loopsmock.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line.

    Args:
        arguments: What follows the program's name; `sys.argv[1:]` if None. Nothing at all shows the help.

    Returns:
        The exit code: 0 fine, 1 a violation, 2 refused (one line on stderr says why), 130 interrupted.
    """
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        outcome = loopsmock.main(words, prog_name="loopsmock", standalone_mode=False)
    except click.ClickException as error:
        # Click's own report is four lines; a script's log wants one.
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        click.echo(f"loopsmock: {' '.join(error.format_message().split())}{hint}", err=True)
        return error.exit_code
    except click.Abort:
        return 130
    return outcome if isinstance(outcome, int) else 0


if __name__ == "__main__":
    sys.exit(main())
