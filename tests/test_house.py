"""The house holds: floors, relative imports, what the wheel contains, and the commands that the README names."""

import ast
import re
import shutil
import subprocess
import sys
import zipfile
from graphlib import TopologicalSorter
from pathlib import Path

import click
import pytest
from loopsmock.__main__ import loopsmock

ROOT = Path(__file__).resolve().parents[1]

# A module may import those of its own floor and of the floors above it in this table. A new file needs one entry.
FLOORS = {
    "mockserver": [
        "errors window access_key",
        "scenario noise",
        "scenario_sheet scenario_file scenario_entry job",
        "streams faults",
        "load",
        "signal",
        "compute traffic shapes schema facts",
        "plan record",
        "layout digits stamps",
        "datapoint batch canvas near render",
        "world answer preview",
        "routing endpoint control",
        "app",
        "listen access greeting",
        "serve",
        "options",
        "cli_scenarios",
        "cli",
    ],
    "contracts": [
        "violation strict_json plain_yaml amounts",
        "spec_pointer spec_source spec_schemas spec_sentences spec_documented",
        "spec_operation spec_reader",
        "spec exchange secret",
        "answer",
        "evidence",
        "check",
        "checks_protocol checks_time checks_units checks_nodes checks_traffic checks_queries checks_refusals",
        "checks",
        "plan sender",
        "provider",
        "spoil",
        "spoil_change",
        "spoils_schema spoils_protocol spoils_refusals spoils_time spoils_units spoils_nodes spoils_traffic "
        "spoils_queries spoils_members spoils_benign",
        "spoils",
        "selftest",
        "fuzz explore",
        "generate",
        "options settings interrupts",
        "curl reference excerpt report_words",
        "record report_terminal report_junit report_html",
        "command",
        "cli suite pytest_plugin",
    ],
}
BRIDGE = {"contracts.spec", "contracts.checks", "contracts.plain_yaml"}
MODULES = [file for room in FLOORS for file in sorted((ROOT / room).glob("*.py")) if file.name != "__init__.py"]


def imports_of(file: Path) -> set[str]:
    """What a file imports: `room.module` within the package, the plain name outside of it."""
    found: set[str] = set()
    home = list(file.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module or "")
        elif isinstance(node, ast.ImportFrom):
            place = home[: len(home) + 1 - node.level] + (node.module or "").split(".")
            place = [part for part in place if part]
            # `from . import x` and `from ..room import x` name modules, longer paths name what is in one.
            found.update([".".join(place)] if len(place) > 1 else [".".join([*place, a.name]) for a in node.names])
    return found


def floor_of(file: Path) -> int:
    """The floor of a module, counted from 0."""
    floors = [number for number, names in enumerate(FLOORS[file.parent.name]) if file.stem in names.split()]
    assert len(floors) == 1, f"{file.parent.name}/{file.name}: give it one place in FLOORS of {Path(__file__).name}"
    return floors[0]


@pytest.mark.parametrize("file", MODULES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_module_imports_only_from_its_floor_and_those_before(file: Path) -> None:
    for name in imports_of(file):
        room, _, module = name.partition(".")
        if room == file.parent.name:
            assert floor_of(ROOT / room / f"{module}.py") <= floor_of(file), f"{name} stands later"
        elif room in FLOORS:
            assert file.parent.name == "mockserver", f"contracts knows no server, but imports {name}"
            assert name in BRIDGE, f"{name} is not on the bridge between the rooms"


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {f"{file.parent.name}.{file.stem}": imports_of(file) for file in MODULES}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)


def test_imports_within_the_package_are_relative() -> None:
    for file in [*ROOT.glob("*.py"), *MODULES, *(ROOT / room / "__init__.py" for room in FLOORS)]:
        own = {node for node in imports_of(file) if node.split(".")[0] == "loopsmock"}
        assert not own, f"{file.name}: write {own} as relative imports"


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path: Path) -> None:
    # Built from a copy: a build leaves folders behind, and what an earlier one left would get into the wheel.
    clone = tmp_path / "a-clone"
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__"))
    build = "from setuptools import build_meta; build_meta.build_wheel('..')"
    subprocess.run([sys.executable, "-c", build], cwd=clone, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    expected = {"__init__.py", "__main__.py", "py.typed", "openapi.yaml"}
    for folder, kinds in {"fixtures": "*", "contracts": "*.py", "mockserver": "*.py"}.items():
        files = [f for f in (ROOT / folder).rglob(kinds) if f.is_file() and "__pycache__" not in f.parts]
        expected |= {f.relative_to(ROOT).as_posix() for f in files}
    inside = {name.removeprefix("loopsmock/") for name in names if ".dist-info/" not in name}
    assert inside == expected
    assert {name.split("/")[0].split("-")[0] for name in names} == {"loopsmock"}


def commands_in(text: str) -> list[str]:
    """The lines of a Markdown file that stand in a shell block, or between backticks."""
    blocks = re.findall(r"^```(?:sh|bash|console|yaml)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    inline = re.findall(
        r"`((?:make|loopsmock) [^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    )
    return [line for block in blocks for line in block.splitlines()] + inline


def test_every_command_of_the_readme_exists() -> None:
    lines = commands_in((ROOT / "README.md").read_text("utf-8"))
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    made = [word for line in lines for word in re.findall(r"\bmake ([a-z]+)", line)]
    assert made
    assert set(made) <= set(targets)
    for line in lines:
        for name, rest in re.findall(r"\bloopsmock ([a-z][a-z-]*)((?: [^&|;#]*)?)", line):
            command = loopsmock.commands.get(name)
            assert isinstance(command, click.Command), f"{line}: there is no command {name}"
            known = {flag for parameter in command.params for flag in parameter.opts} | {"--help"}
            assert set(re.findall(r"(?<=\s)--[a-z-]+", rest)) <= known, line
