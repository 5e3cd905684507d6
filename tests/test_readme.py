"""The README is true: its examples run, its tables say what the code says, and what it points to is there."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import click
import pytest
import yaml
from loopsmock.__main__ import loopsmock
from loopsmock.contracts.reference import reference
from loopsmock.mockserver import create_app
from loopsmock.mockserver.access_key import REFUSED_PREFIX
from loopsmock.mockserver.endpoint import BODY_BYTES
from loopsmock.mockserver.signal import REGISTRY
from loopsmock.mockserver.window import BOUNDS, Limits

from .readme import CHECKS, NOW, NOW_MS, current
from .support import BEARER, PATH, Mock, environment

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text("utf-8")
PLAIN = re.sub(r"^```.*?^```", "", TEXT, flags=re.MULTILINE | re.DOTALL)
URL = "http://127.0.0.1:8000"
PATIENCE_S = 60.0


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def rows(heading: str, level: str = "##") -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    section = TEXT.partition(f"\n{level} {heading}\n")[2].partition(f"\n{level} ")[0]
    lines = re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def bare(cell: str) -> str:
    """A cell of one word without its backticks."""
    return cell.strip("` ")


def shell(home: Path) -> dict[str, str]:
    """An environment in which no proxy, no ~/.curlrc and no setting of somebody's takes part."""
    return environment(HOME=str(home), CURL_HOME=str(home), NO_PROXY="*")


# Examples


@pytest.mark.parametrize("example", blocks("python"), ids=["sdk", "in-process"])
def test_a_python_example_prints_what_its_comments_say(example: str, server_url: str, tmp_path: Path) -> None:
    file = tmp_path / "example.py"
    file.write_text(example.replace(URL, server_url), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)], env=shell(tmp_path), capture_output=True, encoding="utf-8", timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    expected = re.findall(r"^ *print\(.*\)  # (.+)$", example, re.MULTILINE)
    assert expected
    assert done.stdout.splitlines() == expected


@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_the_curl_examples_are_answered(server_url: str, tmp_path: Path) -> None:
    answers = []
    for example in (block for block in blocks("sh") if block.startswith("curl ")):
        assert URL in example
        done = subprocess.run(
            ["sh", "-c", example.replace(URL, server_url)], env=shell(tmp_path), capture_output=True, timeout=PATIENCE_S
        )
        answers.append(json.loads(done.stdout))
    metrics, found = answers
    assert metrics["deployment_id"] == "healthy"
    assert len(metrics["metrics"]["inference_volume"]) == 61
    assert found["deployment"]["id"] == "preempted"


def test_the_port_of_the_examples_is_the_default() -> None:
    (port,) = (option for option in loopsmock.commands["serve"].params if option.name == "port")
    assert f"http://127.0.0.1:{port.default}" == URL


# Tables


def test_the_table_of_flags_is_current() -> None:
    serve = loopsmock.commands["serve"]
    expected = []
    for option in serve.params:
        assert isinstance(option, click.Option)
        default = "off" if option.is_flag else str(option.default) if option.show_default else "none"
        expected.append((option.opts[0], option.envvar, default))
    assert [tuple(map(bare, row[:3])) for row in rows("Flags")] == expected
    assert all(len(row) == 4 and row[3].endswith((".", "…`")) for row in rows("Flags"))


def test_the_generated_parts_are_current() -> None:
    assert current(TEXT) == TEXT, "run make readme"
    assert f"{NOW}:" in TEXT
    assert int(datetime.fromisoformat(NOW).timestamp() * 1000) == NOW_MS


def test_the_page_of_checks_is_current_and_its_links_lead_to_a_heading() -> None:
    text = CHECKS.read_text("utf-8")
    assert text == reference(), "run make readme"
    headings = {title.lower() for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    targets = re.findall(r"\]\(#([^)]+)\)", text)
    assert len(targets) == len(set(targets)) == len(headings) - 1
    assert set(targets) <= headings


def test_the_scenario_of_ones_own_is_fine(tmp_path: Path) -> None:
    example = blocks("yaml")[0]
    (tmp_path / "straggler.yaml").write_text(example, "utf-8")
    commands = [line.split()[1:] for block in blocks("sh") for line in block.splitlines() if "straggler" in line]
    assert [words[0] for words in commands] == ["scenarios", "scenarios", "serve"]
    for words in commands[:2]:
        done = subprocess.run(
            [sys.executable, "-m", "loopsmock", *words],
            cwd=tmp_path,
            env=shell(tmp_path),
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, done.stderr
        assert "The second node is slow" in done.stdout
        assert "note:" not in done.stdout


def test_the_ci_snippets_are_yaml_and_the_first_one_runs(tmp_path: Path) -> None:
    github, gitlab = (yaml.load(block, yaml.BaseLoader) for block in blocks("yaml")[1:])
    steps = [step["run"] for step in github["jobs"]["mock"]["steps"] if "run" in step]
    assert steps[1] == gitlab["contract-mock"]["script"][1]
    assert "--live" in github["jobs"]["real"]["steps"][2]["run"]
    assert "BASETEN_API_KEY" in github["jobs"]["real"]["steps"][2]["env"]
    script = "\n".join(["set -e", *steps[1:3]]).replace("serve", "serve --port 0", 1)
    script = script.replace("check", "check --deployment-id single", 1)  # not the largest: it takes long under coverage
    home = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-c", f"trap 'kill %1' EXIT\n{script}"],
        cwd=tmp_path,
        env=shell(tmp_path) | {"PATH": f"{home}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=3 * PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "mock.xml").is_file() and (tmp_path / "mock.html").is_file()


def test_every_assumption_is_listed_once_with_a_switch_that_exists() -> None:
    table = rows("Assumptions")
    assert [row[0] for row in table] == [f"A{number}" for number in range(1, len(table) + 1)]
    assert len(table) >= 15
    flags = {flag for option in loopsmock.commands["serve"].params for flag in option.opts}
    for number, question, choice, switch in table:
        assert question, number
        assert choice, number
        assert set(re.findall(r"--[a-z-]+", switch)) <= flags, number
        assert switch == "—" or "`" in switch or switch == "scenario", number


def test_the_figures_of_the_assumptions_are_the_codes() -> None:
    choice = {number: text for number, _, text, _ in rows("Assumptions")}
    assert f"{Limits().max_window_s // 86_400} days" in choice["A3"]
    assert f"{Limits().max_points:,}" in choice["A4"]
    for least, most in BOUNDS.values():
        assert f"{least}…{most}" in choice["A16"]
    assert f"{BODY_BYTES // 1024} KiB" in choice["A21"]
    assert f"one that starts with `{REFUSED_PREFIX.decode()}`" in " ".join(TEXT.split())


def test_the_errors_of_the_assumptions_are_those_that_are_sent() -> None:
    single = PATH.replace("{deployment_id}", "single")
    sent = {
        "A21": Mock().post(b" " * (BODY_BYTES + 1)),
        "A22": Mock(missing_auth_status=401).post({}, headers={}),
        "A23": Mock().request("GET", single),
    }
    choice = {number: text for number, _, text, _ in rows("Assumptions")}
    for number, response in sent.items():
        (body,) = re.findall(r"`(\{.*\})`", choice[number])
        assert json.loads(body) == response.json(), number
    assert [response.status_code for response in sent.values()] == [413, 401, 405]
    assert sent["A22"].headers["www-authenticate"] == "Bearer"
    for path in (PATH.replace("{deployment_id}", "a%2Fb"), f"{single}/"):
        assert Mock(any_id=True).request("POST", path, b"{}", BEARER).status_code == 404, "A24"


# What it says there is, and is not


def test_what_it_names_is_there() -> None:
    named = re.findall(r"`((?:\.ci|contracts|fixtures|mockserver|tests)/[\w./-]*|openapi\.yaml)`", PLAIN)
    linked = [target for target in re.findall(r"\]\(([^)#]+)\)", PLAIN) if "://" not in target]
    assert named
    assert linked
    for place in [*named, *linked]:
        assert (ROOT / place).exists(), place


def test_its_links_within_lead_to_a_heading() -> None:
    headings = {title.lower().replace(" ", "-") for title in re.findall(r"^#+ (.+)$", PLAIN, re.MULTILINE)}
    targets = re.findall(r"\]\(#([^)]+)\)", PLAIN)
    assert targets
    assert set(targets) <= headings


def test_what_it_says_is_served_is_what_is_served() -> None:
    served = create_app().state.routing.served
    operations = [f"`{method} {path}`" for path, methods in served.items() for method in methods]
    assert f"`POST {PATH}`" in TEXT.split("\n\n")[1].replace("\n", " ")
    section = TEXT.partition("## Find deployments\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"`[A-Z]+ /v1\S+`", section)) | {f"`POST {PATH}`"} == set(operations)


def test_signals_are_registered_where_it_says() -> None:
    homes = {signal.compute.__module__.rpartition(".")[2] for signal in REGISTRY.values()}
    assert {f"mockserver/{home}.py" for home in homes} == set(re.findall(r"`(mockserver/\w+\.py)`", PLAIN))


def test_it_says_first_that_it_is_independent() -> None:
    before_use = " ".join(TEXT.partition("\n## Start\n")[0].split())
    assert "not made, endorsed or reviewed by the vendor" in before_use
