"""The commands of this room."""

import click

commands: list[click.Command] = []
