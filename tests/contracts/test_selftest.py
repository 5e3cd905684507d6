"""Every fault is caught, by the check that is for it before all others; nothing that a server may do is."""

from pathlib import Path
from typing import Any

import pytest
from loopsmock.contracts.checks import CHECKS
from loopsmock.contracts.selftest import DEPLOYMENTS, Outcome, as_is, selftest, table, tried
from loopsmock.contracts.spec import load
from loopsmock.contracts.spoil import BENIGN, PROTOCOL, SCHEMA, SEMANTIC, App, Spoil, Spoiled
from loopsmock.contracts.spoil_change import as_it_is, series, values
from loopsmock.contracts.spoils import FAULTS, SPOILS
from loopsmock.mockserver import create_app

from ..support import NOW_MS

SPEC = load()
LIBERTIES = [spoil for spoil in SPOILS if spoil.kind == BENIGN]
NAMED = {spoil.name: spoil for spoil in SPOILS}
SMALL = {
    "single": "extends: single",
    "pair": "extends: single\nnodes: 2",
    "ranks": "extends: healthy\nnodes: 1",
    "idle": "extends: scale-from-zero\nnodes: 1\ninstance_type: H100:1x16x118",
}
"""Deployments that are five hours old, so that days have few points."""
IDS = DEPLOYMENTS | {need: f"small-{need}" for need in SMALL}
NOT_HERE = {"generated_requests_keep_the_protocol"}
"""Judges requests that schemathesis makes, and the selftest sends the planned ones alone."""


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("small")
    for need, entry in SMALL.items():
        text = f"shows: A small one.\ncreated: {{every: 6h}}\n{entry}\n"
        (folder / f"small-{need}.yaml").write_text(text, "utf-8")
    return create_app(clock=lambda: NOW_MS, scenarios=[folder])


@pytest.mark.parametrize("need", DEPLOYMENTS)
def test_the_suite_is_quiet_about_the_mock(provider: App, need: str) -> None:
    outcome = tried(provider, SPEC, as_is(need), IDS)
    assert (outcome.verdict, outcome.found, outcome.exit_code) == ("quiet", (), 0)
    assert outcome.counts["200s"] == 17 and outcome.counts["points"] > 1000


@pytest.mark.parametrize("spoil", FAULTS, ids=lambda spoil: spoil.name)
def test_a_fault_is_caught_by_the_check_that_is_for_it(provider: App, spoil: Spoil) -> None:
    outcome = tried(provider, SPEC, spoil, IDS)
    assert outcome.verdict == "killed", (outcome.found, spoil.kills)


@pytest.mark.parametrize("spoil", LIBERTIES, ids=lambda spoil: spoil.name)
def test_a_liberty_is_left_alone(provider: App, spoil: Spoil) -> None:
    outcome = tried(provider, SPEC, spoil, IDS)
    assert outcome.verdict == "quiet", outcome.found
    assert outcome.counts["points"] > 0


def test_there_are_enough_of_each_kind_and_every_check_catches_one() -> None:
    assert len(FAULTS) >= 60 and len(LIBERTIES) >= 12
    assert len(NAMED) == len(SPOILS)
    assert {spoil.kind for spoil in FAULTS} == {SCHEMA, PROTOCOL, SEMANTIC}
    assert {spoil.deployment for spoil in SPOILS} == set(DEPLOYMENTS)
    assert all(spoil.says.endswith(".") for spoil in SPOILS)
    assert {id_ for spoil in FAULTS for id_ in spoil.killers} == set(CHECKS) - NOT_HERE


def test_a_spoil_begins_anew_with_each_run(provider: App) -> None:
    spoil = NAMED["newest-arrive-late"]
    assert tried(provider, SPEC, spoil, IDS) == tried(provider, SPEC, spoil, IDS)


def test_the_table_has_a_line_for_each_outcome_and_the_totals(provider: App) -> None:
    told: list[Outcome] = []
    escaping = Spoil("escaping", "Nothing is wrong here.", "schema", values(lambda value: value + 0.0), SCHEMA)
    late = Spoil("late", "Values are text.", "strict_json", NAMED["values-as-text"].change, SCHEMA)
    spoils = [NAMED["gpu-percent"], NAMED["charset"], escaping, late]
    outcomes = selftest(
        provider, SPEC, spoils=spoils, deployments=IDS, plain=lambda app: isinstance(app, Spoiled), progress=told.append
    )
    assert told == outcomes
    assert [outcome.verdict for outcome in outcomes] == [
        "quiet", "killed", "quiet", "changed nothing", "wrong check first"
    ]  # fmt: skip
    lines = table(outcomes).splitlines()
    assert lines[0].split()[:6] == ["kind", "name", "first", "check", "verdict", "schemathesis"]
    assert lines[2].split()[:5] == ["semantic", "gpu-percent", "utilization_is_a_fraction", "killed", "fails"]
    assert lines[3].startswith("benign") and "—" in lines[3]
    assert lines[7:] == [
        "1 of 3 faults killed, each by the check that is for it",
        "0 false alarms on 2 servers that are right",
        "plain schemathesis: 3 of 3 faults, 2 false alarms",
        "changed nothing: escaping: complained: none; must be first: schema",
        "wrong check first: late: complained: schema; must be first: strict_json",
    ]


def test_a_provider_that_is_not_good_ends_the_selftest(provider: App) -> None:
    bad = Spoiled(provider, NAMED["millicores"])
    (outcome,) = selftest(bad, SPEC, spoils=[NAMED["charset"], NAMED["gpu-percent"]], deployments=IDS)
    assert outcome.verdict == "false alarm" and outcome.first == "cpu_is_in_cores"
    assert "schemathesis" not in table([outcome])


def test_what_no_check_sees_has_escaped(provider: App) -> None:
    async def unseen(call: Any, ask: Any) -> Any:
        came = await as_it_is(call, ask)
        came.headers["x-debug"] = "1"
        return came

    assert tried(provider, SPEC, Spoil("unseen", "A header more.", "schema", unseen), IDS).verdict == "escaped"


def test_a_server_without_a_point_gives_no_verdict(provider: App) -> None:
    empty = Spoil("empty", "All series are empty.", "", series(lambda points, call: points.clear()), BENIGN)
    outcome = tried(provider, SPEC, empty, IDS)
    assert (outcome.verdict, outcome.exit_code, outcome.ok) == ("no verdict", 2, False)
