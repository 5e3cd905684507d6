"""Scenario files and the lives of deployments that play them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopsmock.mockserver import StartError
from loopsmock.mockserver.scenario import Deployment, ScenarioError, deployments
from loopsmock.mockserver.scenario_file import catalogue, instance_types

from ..support import HOUR_MS, NOW_MS, OPERATION, STRAGGLER, Mock

DAY_S = 86_400
OURS = catalogue()
ONE = """
shows: Nothing to do.
instance_type: H100:1x16x118
nodes: 1
workload: {requests_per_second: 0, p50_ms: 500}
"""
STRAGGLER = f"\n{STRAGGLER}"


def written(folder: Path, text: str, name: str = "quiet.yaml") -> Path:
    file = folder / name
    file.write_text(text, "utf-8")
    return file


@pytest.mark.parametrize(
    ("name", "nodes", "ranks", "gpu", "memory_mib"),
    [("healthy", 2, 8, "H100", 81_559), ("single", 1, 1, "H100", 81_559), ("wide", 16, 8, "H200", 143_771)],
)
def test_the_scenarios_that_come_along(name: str, nodes: int, ranks: int, gpu: str, memory_mib: int) -> None:
    kind = OURS[name].instance_type
    assert (kind.gpu_type, kind.gpu_count, kind.gpu_memory_mib) == (gpu, ranks, memory_mib)
    deployment = Deployment(name, OURS[name])
    assert deployment.node_ids == [f"g00r{number}" for number in range(nodes)]
    assert deployment.rank_names == [str(rank) for rank in range(ranks)]
    metrics = Mock().metrics(name, step_seconds=600)
    assert [node["node_id"] for node in metrics["per_node_metrics"]] == deployment.node_ids
    for node in (metrics, *metrics["per_node_metrics"]):
        assert list(node["gpu_utilization"]) == list(node["gpu_memory_usage_bytes"]) == deployment.rank_names


def test_a_kind_of_node_is_called_after_its_parts() -> None:
    for name, kind in instance_types().items():
        gpus, rest = name.split(":")
        count, cpus, memory_gib = (int(part) for part in rest.split("x"))
        assert (kind.gpu_type, kind.gpu_count) == (gpus, count)
        assert 0.9 * cpus <= kind.millicpu_limit / 1000 <= cpus
        assert 0.9 * memory_gib <= kind.memory_limit_mib / 1024 <= 1.1 * memory_gib


@given(st.integers(200 * DAY_S, 4_000_000_000))
def test_a_long_life_began_at_least_30_days_ago(now_s: int) -> None:
    created_s = OURS["healthy"].created_s(now_s)
    assert created_s % (90 * DAY_S) == 0
    assert 30 * DAY_S <= now_s - created_s < 120 * DAY_S


def test_a_recurring_life_begins_on_the_epochs_grid(tmp_path: Path) -> None:
    file = written(tmp_path, ONE + "created: {every: 6h}\n")
    scenario = catalogue([file])["quiet"]
    for now_s in (NOW_MS // 1000, 21_600, 21_599):
        assert scenario.created_s(now_s) == now_s // 21_600 * 21_600
    # 05:03 is five hours and three minutes into a life; nothing of it is older.
    mock = Mock(scenarios=[file])
    metrics = mock.metrics("quiet", start_epoch_millis=NOW_MS - 6 * HOUR_MS, step_seconds=60)
    assert len(metrics["inference_volume"]) == 5 * 60 + 4
    assert metrics["inference_volume"][0]["timestamp"] == "2026-12-01T00:00:00Z"
    # Nodes are pending for 90 s, start for two minutes and load for four.
    (node,) = metrics["per_node_metrics"]
    firsts = [node["cpu_usage"], node["gpu_memory_usage_bytes"]["0"], node["gpu_utilization"]["0"]]
    assert [series[0]["timestamp"][11:19] for series in firsts] == ["00:02:00", "00:04:00", "00:08:00"]


def test_without_requests_volumes_are_zero_and_quantiles_null(tmp_path: Path) -> None:
    written(tmp_path, ONE)
    response = Mock(scenarios=[tmp_path]).post({"time_divisor_seconds": 60}, "quiet")
    assert OPERATION.response_violations(200, "application/json", response.content) == []
    metrics = response.json()["metrics"]
    for point in metrics["inference_volume"] + metrics["concurrent_requests"]:
        assert point["value"] == 0.0
    for point in metrics["response_time_stats"]:
        assert (point["p50"], point["p95"], point["p99"]) == (None, None, None)
    assert len(metrics["response_time_stats"]) == len(metrics["cpu_usage"]) == 121


def test_a_users_scenario_replaces_ours_of_the_same_name(tmp_path: Path) -> None:
    file = written(tmp_path, ONE, "healthy.yaml")
    assert catalogue([file])["healthy"].shows == "Nothing to do."
    assert list(catalogue([tmp_path])) == list(OURS)


def test_a_users_scenario_may_change_what_it_is_called_after(tmp_path: Path) -> None:
    file = written(tmp_path, "extends: healthy\nshows: Three of them.\nnodes: 3\n", "healthy.yaml")
    found = catalogue([file])
    assert (found["healthy"].nodes, found["healthy"].workload) == (3, OURS["healthy"].workload)
    assert found["rl-sync"] == OURS["rl-sync"], "what extends healthy extends the package's"
    written(tmp_path, "extends: rl-sync\nshows: By way of another.\n", "healthy.yaml")
    assert catalogue([file])["healthy"].workload == OURS["rl-sync"].workload


def test_deployments_are_the_scenarios_and_those_asked_for() -> None:
    found = deployments(OURS, {"k4q95w5": "wide", "single": "healthy"})
    played = {id_: deployment.scenario.name for id_, deployment in found.items()}
    assert played == {**{name: name for name in OURS}, "single": "healthy", "k4q95w5": "wide"}
    with pytest.raises(ScenarioError, match=r"a=none: no scenario 'none'; there are healthy, .*, single, .*, wide$"):
        deployments(OURS, {"a": "none"})


def test_two_deployments_of_a_scenario_have_numbers_of_their_own() -> None:
    mock = Mock(deployments={"a": "single", "b": "single"})
    first, second, again = mock.metrics("a"), mock.metrics("b"), Mock(deployments={"a": "single"}).metrics("a")
    assert first == again
    for name in ("cpu_usage", "inference_volume", "response_time_stats", "gpu_memory_usage_bytes"):
        assert first[name] != second[name]


def test_a_scenario_of_ten_lines(tmp_path: Path) -> None:
    mock = Mock(scenarios=[written(tmp_path, STRAGGLER, "slow.yaml")])
    start_ms = NOW_MS // HOUR_MS * HOUR_MS - HOUR_MS
    metrics = mock.metrics("slow", start_epoch_millis=start_ms, end_epoch_millis=start_ms + 3_599_000, step_seconds=15)
    slow = [sum(point["value"] < 0.6 for point in node["gpu_utilization"]["3"]) for node in metrics["per_node_metrics"]]
    assert slow[0] < 12
    assert 79 <= slow[1] <= 92
    shown = metrics["per_node_metrics"][1]["gpu_utilization"]["3"]
    assert {point["timestamp"][14:16] for point in shown if 0.4 < point["value"] < 0.52} >= {"20", "30", "39"}
    assert metrics["per_node_metrics"][0] != Mock().metrics("healthy")["per_node_metrics"][0]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: [", 2, "not YAML"),
        ("just words", 1, "the file: "),
        (ONE.replace("nodes: 1", "nodes: 0"), 4, "nodes: 0 is less than the minimum of 1"),
        (ONE.replace("nodes: 1", "nodes: many"), 4, "nodes: "),
        (ONE.replace("shows: Nothing to do.", ""), 3, "'shows' is missing"),
        (ONE.replace("p50_ms: 500", "p50_ms: 0"), 5, "workload.p50_ms: "),
        (ONE.replace("p50_ms: 500", "p50_ms: 500, checkpoint_every: 40"), 5, "for example 90s, 40m, 6h or 30d"),
        (ONE.replace("H100:1x16x118", "H100:1x16x119"), 3, "did you mean H100:1x16x118?"),
        (ONE + "colour: red\n", 6, "colour: there is no such member"),
        (ONE + "created: yesterday\n", 6, "created: 'yesterday' is neither long-lived nor {every: 6h}"),
        (STRAGGLER.replace("busy:", "buzy:"), 8, "faults.0.buzy: there is no such member; did you mean busy?"),
        (STRAGGLER.replace("at: 20m", "at: 20 min"), 9, "faults.0.at: '20 min' is not a duration above zero"),
        (STRAGGLER.replace("lasts: 20m", "lasts: -5m"), 10, "faults.0.lasts: '-5m' is not a duration above zero"),
        (STRAGGLER.replace("nodes: [1]", "nodes: [2]"), 7, "faults.0.nodes: there is no node 2; there are 0 to 1"),
        (STRAGGLER.replace("nodes: [1]", "ranks: [8]"), 7, "faults.0.ranks: there is no rank 8; there are 0 to 7"),
        (STRAGGLER.replace("kind: slow-data", "kind: slowdata"), 6, "did you mean slow-data?"),
        (STRAGGLER.replace("busy: 0.5", "status: 5xx"), 8, "does not take it; it takes at, every, lasts, busy, nodes"),
        (STRAGGLER.replace("at: 20m", "at: 2h"), 9, "faults.0.at: 2h is not before the next one, every 1h"),
        (STRAGGLER.replace("lasts: 20m", "lasts: 2h"), 10, "faults.0.lasts: 2h is longer than 1h"),
        (STRAGGLER.replace("extends: healthy", "extends: healthi"), 2, "no scenario 'healthi'; did you mean healthy?"),
        (STRAGGLER.replace("extends: healthy", "extends: quiet"), 2, "goes round in a circle, quiet → quiet"),
        (STRAGGLER.replace("extends: healthy", "nodes: 2"), 2, "'instance_type' is missing"),
        (
            STRAGGLER.replace("kind: slow-data", "kind: node-loss").replace(
                "    busy: 0.5\n    at: 20m\n    lasts: 20m\n", ""
            ),
            6,
            "a fault of the kind node-loss needs 'lasts'",
        ),
    ],
)
def test_a_broken_file_is_refused_in_one_line_with_its_place(text: str, line: int, says: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(StartError) as caught:
        Mock(scenarios=[file])
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_files_that_extend_each_other(tmp_path: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        written(tmp_path, f"extends: {other}\nshows: A circle.\n", f"{one}.yaml")
    with pytest.raises(ScenarioError, match=r"a.yaml:1: extends: goes round in a circle, b → a → b|a → b → a"):
        catalogue([tmp_path])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        catalogue([tmp_path / "none.yaml"])
