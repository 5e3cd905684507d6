"""The parts of the README that are generated, and the page of all checks: `make readme` writes them, tests compare."""

import re
from collections.abc import Callable
from pathlib import Path

from loopsmock.contracts.options import FLAGS
from loopsmock.contracts.reference import reference
from loopsmock.contracts.spoils import SPOILS
from loopsmock.mockserver import create_app
from loopsmock.mockserver.preview import drawing

README = Path(__file__).resolve().parents[1] / "README.md"
CHECKS = README.parent / "contracts" / "CHECKS.md"
PREVIEWS = ("straggler-data", "scale-from-zero", "oom-restart")
NOW = "2026-12-01T05:45:00Z"
NOW_MS = 1_796_103_900_000


def catalogue() -> str:
    """The table of scenarios."""
    lines = ["| id | nodes × GPUs | what it shows |", "|---|---|---|"]
    for name, deployment in create_app().state.world.deployments.items():
        lines.append(f"| `{name}` | {deployment.scenario.size} | {deployment.scenario.shows} |")
    return "\n".join(lines)


def previews() -> str:
    """What `loopsmock scenarios preview` draws of three of them."""
    world = create_app(clock=lambda: NOW_MS).state.world
    drawn = [drawing(world, world.deployments[id_], 6 * 3600, 72) for id_ in PREVIEWS]
    return "```text\n" + "\n".join(drawn) + "```"


def check_flags() -> str:
    """The table of the flags of a run."""
    lines = ["| flag | default | meaning |", "|---|---|---|"]
    for flag in FLAGS:
        written = f"`{flag.flag} {flag.metavar}`" if flag.metavar else f"`{flag.flag}`"
        default = "—" if flag.default is None else f"`{flag.default}`"
        lines.append(f"| {written} | {default} | {flag.help} |")
    return "\n".join(lines)


def selftest() -> str:
    """How many spoils there are of each kind."""
    lines = ["| kind | spoils | such as |", "|---|---|---|"]
    for kind in dict.fromkeys(spoil.kind for spoil in SPOILS):
        spoils = [spoil for spoil in SPOILS if spoil.kind == kind]
        lines.append(f"| {kind} | {len(spoils)} | {' '.join(spoil.says for spoil in spoils[:2])} |")
    return "\n".join(lines)


PARTS: dict[str, Callable[[], str]] = {
    "catalogue": catalogue,
    "previews": previews,
    "check flags": check_flags,
    "selftest": selftest,
}


def current(text: str) -> str:
    """The text with each generated part as it must be now."""
    for name, make in PARTS.items():
        begin, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
        pattern = re.escape(begin) + r".*?" + re.escape(end)
        made = f"{begin}\n{make()}\n{end}"
        text, count = re.subn(pattern, lambda _, made=made: made, text, flags=re.DOTALL)  # type: ignore[misc]
        if count != 1:
            raise SystemExit(f"{README.name}: {begin} … {end} must stand there once, not {count} times")
    return text


if __name__ == "__main__":
    README.write_text(current(README.read_text("utf-8")), "utf-8")
    CHECKS.write_text(reference(), "utf-8")
