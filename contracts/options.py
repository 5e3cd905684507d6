"""The flags of a run, said once for the command line and for pytest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click


class NoVerdict(click.ClickException):
    """A command cannot say whether the contract holds."""

    exit_code = 2


@dataclass(frozen=True)
class Flag:
    """One flag.

    Args:
        name: of the member of `Settings`.
        flag: on the command line.
        help: what it does.
        metavar: what stands for its value; None for a switch.
        kind: of its value: `text`, `number` or `file`.
        many: whether it may be repeated.
        default: shown in the help.
    """

    name: str
    flag: str
    help: str
    metavar: str | None = None
    kind: str = "text"
    many: bool = False
    default: Any = None


FLAGS = (
    Flag(
        "deployment_ids",
        "--deployment-id",
        "Deployment whose metrics to ask for; may be repeated. Without it, the running one with most nodes is found.",
        "ID",
        many=True,
    ),
    Flag("api_key_file", "--api-key-file", "File that holds the key; else BASETEN_API_KEY is used.", "FILE", "file"),
    Flag("live", "--live", "The provider is somebody else's: few requests, slowly, nothing that could do harm."),
    Flag("fuzz", "--fuzz", "Send a thousand generated requests after the planned ones. Never to the vendor's hosts."),
    Flag(
        "max_requests",
        "--max-requests",
        "Most requests in all. Without it 25 planned ones, and on loopback 125 generated ones.",
        "N",
        "number",
    ),
    Flag("rate", "--rate", "Most requests with --live.", "RATE", default="0.5/s"),
    Flag("strict", "--strict", "Warnings fail as well."),
    Flag("only", "--only", "Check to run; may be repeated.", "CHECK", many=True),
    Flag("skip", "--skip", "Check to leave out; may be repeated.", "CHECK", many=True),
    Flag("seed", "--seed", "Seed of the generated requests.", "N", "number", default=0),
    Flag("timeout", "--timeout", "Longest wait for one whole answer.", "TIME", default="10s"),
    Flag("max_body", "--max-body", "Largest body that is read.", "SIZE", default="64MiB"),
    Flag("every", "--all", "Check every running deployment that is listed, each with a budget of its own."),
)
