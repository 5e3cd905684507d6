"""Whatever a scenario file says that `check` takes, what is served of it keeps the contract and C4–C12."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopsmock.mockserver.scenario_file import TAKES, catalogue

from ..support import OPERATION
from . import rules
from .reading import Asked
from .served import NODE_TYPES, NOW_MS, app_at, body, parsed

KINDS = {"H100:8x128x944": NODE_TYPES["healthy"], "H100:1x16x118": NODE_TYPES["single"]}
SHARES = st.sampled_from([0, 0.1, 0.5, 1])
MEMBERS: dict[str, st.SearchStrategy[Any]] = {
    "factor": st.sampled_from([0.2, 1, 3, 5]),
    "busy": SHARES,
    "share": SHARES,
    "of": st.sampled_from(["host", "gpu"]),
    "down": st.integers(1, 20_000).map("{}s".format),
}


@st.composite
def faults(draw: st.DrawFn, nodes: int, ranks: int) -> dict[str, Any]:
    kind = draw(st.sampled_from(sorted(TAKES)))
    fault: dict[str, Any] = {"kind": kind}
    every_s = draw(st.integers(100, 30_000))
    if kind in ("gaps", "leak") or draw(st.booleans()):
        fault |= {"every": f"{every_s}s", "at": f"{draw(st.integers(1, every_s - 1))}s"}
    fault["lasts"] = f"{draw(st.integers(1, every_s))}s"
    for name in TAKES[kind]:
        if name in ("nodes", "ranks"):
            most = nodes if name == "nodes" else ranks
            fault[name] = draw(st.lists(st.integers(0, most - 1), min_size=1, unique=True))
        elif name == "status":
            fault[name] = draw(st.sampled_from(["4xx", "5xx"] if kind == "errors" else ["PREEMPTED", "STOPPED"]))
        else:
            fault[name] = draw(MEMBERS[name])
    return fault


@st.composite
def scenarios(draw: st.DrawFn) -> dict[str, Any]:
    """Any kind of workload, life, boot and lag, with up to four faults that may overlap."""
    type_, nodes = draw(st.sampled_from(sorted(KINDS))), draw(st.sampled_from([1, 2, 5]))
    duration = st.integers(60, 20_000).map("{}s".format)
    return {
        "shows": "Anything.",
        "instance_type": type_,
        "nodes": nodes,
        "created": draw(st.just("long-lived") | duration.map(lambda every: {"every": every})),
        "lag": draw(st.integers(1, 3000).map("{}s".format)),
        "boot": draw(st.dictionaries(st.sampled_from(["pending", "starting", "loading"]), duration)),
        "workload": {
            "kind": draw(st.sampled_from(["training", "rl", "idle"])),
            "requests_per_second": draw(st.sampled_from([0, 0.01, 6, 10_000])),
            "p50_ms": draw(st.sampled_from([0.1, 900, 1_000_000])),
            "client_error_share": draw(SHARES),
            "server_error_share": draw(SHARES),
        },
        "faults": draw(st.lists(faults(nodes, KINDS[type_].gpu_count), max_size=4)),
    }


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "anything.yaml"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios(), st.sampled_from([(15, 21_600), (15, 600), (60, 21_600), (7, 2000)]))
def test_what_is_served_of_any_scenario_keeps_the_rules(
    file: Path, scenario: dict[str, Any], step_and_length: tuple[int, int]
) -> None:
    file.write_text(json.dumps(scenario), "utf-8")  # JSON is YAML
    created_s = catalogue([file])["anything"].created_s(NOW_MS // 1000)
    step_s, length_s = step_and_length
    start_ms = NOW_MS - length_s * 1000
    content = body(
        app_at(scenarios=[file]), "anything", start_epoch_millis=start_ms, end_epoch_millis=NOW_MS, step_seconds=step_s
    )
    assert OPERATION.response_violations(200, "application/json", content) == []
    type_ = KINDS[scenario["instance_type"]]
    seen = parsed(content, Asked(start_ms, NOW_MS, step_s, NOW_MS, created_s, type_, scenario["nodes"]))
    ids = [node.id for node in seen.nodes]
    assert ids == sorted({*ids})
    # What asks for every node or every point is for scenarios in which none is missing.
    demanded = {rules.STRAY, *(row for row in rules.ALWAYS if row.id in ("C5", "C6", "C7", "C8", "C12"))}
    if ids:
        demanded |= {rules.LISTED, *(row for row in rules.ALWAYS if row.id in ("C9", "C11"))}
    if ids[:1] == ["g00r0"]:
        demanded |= {row for row in rules.ALWAYS if row.id == "C4"}
    else:
        assert (seen.top.memory, seen.top.utilization) == ({}, {}), "no leader, nothing of it at the top"
    assert [row.statistic for row in demanded if row.broken(seen)] == []
