"""Loaded by every pytest that has loopsmock installed: the options of the suite, and nothing that takes time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import FLAGS

if TYPE_CHECKING:
    import pytest

PREFIX = "--loopsmock-"
TYPES: dict[str, Any] = {"text": str, "number": int, "file": Path}


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option for each flag of `loopsmock check`."""
    group = parser.getgroup("loopsmock", "hold a provider to the contract: --pyargs loopsmock.contracts.suite")
    group.addoption(f"{PREFIX}provider", metavar="URL", help="The provider; it may have a path prefix.")
    for flag in FLAGS:
        name, dest = PREFIX + flag.flag.removeprefix("--"), f"loopsmock_{flag.name}"
        if flag.metavar is None:
            group.addoption(name, dest=dest, action="store_true", help=flag.help)
        elif flag.many:
            group.addoption(name, dest=dest, action="append", default=[], metavar=flag.metavar, help=flag.help)
        else:
            group.addoption(
                name, dest=dest, type=TYPES[flag.kind], default=flag.default, metavar=flag.metavar, help=flag.help
            )


def settings_of(config: pytest.Config) -> dict[str, Any]:
    """The arguments of `Settings` as pytest's options say them; `url` is None without a provider."""
    found = {flag.name: config.getoption(f"loopsmock_{flag.name}") for flag in FLAGS}
    return {"url": config.getoption("loopsmock_provider"), **found}
