"""The official Python SDK against a running mock, unchanged but for the host."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from baseten.client import AsyncManagementClient, ManagementClient
from baseten.client.managementapi import (
    GetLoopsDeploymentMetricsRequest,
    GetLoopsDeploymentMetricsResponse,
    ResponseError,
)
from loopsmock.mockserver.scenario_file import catalogue

from .support import DAY_MS, HOUR_MS, NOW_MS, OPERATION, serving

Ask = Callable[..., GetLoopsDeploymentMetricsResponse]


def ask_sync(url: str, deployment_id: str, key: str = "loopsmock", **members: Any) -> GetLoopsDeploymentMetricsResponse:
    """Ask by the blocking client."""
    with ManagementClient(api_key=key, base_url_override=url) as client:
        assert_on_loopback(client)
        request = GetLoopsDeploymentMetricsRequest(**members)
        return client.api.post_loops_deployments_metrics(deployment_id=deployment_id, request=request)


def ask_async(
    url: str, deployment_id: str, key: str = "loopsmock", **members: Any
) -> GetLoopsDeploymentMetricsResponse:
    """Ask by the asyncio client."""

    async def ask() -> GetLoopsDeploymentMetricsResponse:
        async with AsyncManagementClient(api_key=key, base_url_override=url) as client:
            assert_on_loopback(client)
            request = GetLoopsDeploymentMetricsRequest(**members)
            return await client.api.post_loops_deployments_metrics(deployment_id=deployment_id, request=request)

    return asyncio.run(ask())


def assert_on_loopback(client: ManagementClient | AsyncManagementClient) -> None:
    """Without an override the SDK talks to the vendor: no test may ever do that."""
    assert client.http_client.base_url.host == "127.0.0.1"


@pytest.mark.parametrize("now", ["2026-12-01T05:03:00Z", "2026-12-01T03:10:00Z"])
def test_it_finds_every_deployment_with_its_run_and_metrics(now: str) -> None:
    with serving("--now", now) as url, ManagementClient(api_key="loopsmock", base_url_override=url) as client:
        assert_on_loopback(client)
        found = client.api.get_loops_deployments(params={"scope": "org"}).deployments
        assert {deployment.id for deployment in found} == set(catalogue())
        for listed in found:
            deployment = client.api.get_loops_deployments_deployment_id(deployment_id=listed.id).deployment
            assert deployment == listed
            assert deployment.latest_run_id is not None
            run = client.api.get_loops_runs_run_id(run_id=deployment.latest_run_id).run
            assert (run.id, run.deployment_id) == (deployment.latest_run_id, deployment.id)
            assert (run.base_model, run.base_url, run.created_at, run.user) == (
                deployment.base_model, deployment.base_url, deployment.created_at, deployment.user,
            )  # fmt: skip
            assert (run.status.name == "ACTIVE") == (deployment.active_run_id == run.id)
            assert (run.status.name == "INACTIVE") == (deployment.active_run_id is None)
            assert run.sampler == deployment.sampler

            at = datetime.fromisoformat(now)
            asked = {"start_epoch_millis": int(at.timestamp() * 1000) - 900_000, "step_seconds": 15}
            metrics = ask_sync(url, deployment.id, **asked).metrics
            created = deployment.created_at
            assert created <= at
            times = [point.timestamp for point in metrics.inference_volume]
            assert all(created <= time <= at for time in times)
            newest = max((points[-1].timestamp for points in metrics.gpu_utilization.values() if points), default=None)
            if deployment.status.name == "RUNNING":
                assert newest is not None
                assert 1 <= len(metrics.per_node_metrics) <= (deployment.node_count or 1)
                ranks = metrics.per_node_metrics[0].gpu_utilization
                assert set(ranks) == set(map(str, range(deployment.instance_type.gpu_count)))
            elif deployment.status.name != "DEPLOYING":
                assert newest is None or newest < at - timedelta(seconds=15)
                assert not metrics.inference_volume or metrics.inference_volume[-1].value == 0


both = pytest.mark.parametrize("ask", [ask_sync, ask_async], ids=["sync", "async"])


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@both
@pytest.mark.parametrize(("deployment", "nodes", "ranks"), [("healthy", 2, 8), ("single", 1, 1), ("wide", 16, 8)])
def test_it_parses_the_default_answer(ask: Ask, deployment: str, nodes: int, ranks: int, server_url: str) -> None:
    answer = ask(server_url, deployment)
    assert answer.deployment_id == deployment
    metrics = answer.metrics
    assert [node.node_id for node in metrics.per_node_metrics] == [f"g00r{number}" for number in range(nodes)]
    for node in (metrics, *metrics.per_node_metrics):
        for by_rank in (node.gpu_utilization, node.gpu_memory_usage_bytes):
            assert list(by_rank) == [str(rank) for rank in range(ranks)]
            assert {len(points) for points in by_rank.values()} == {121}
        assert len(node.cpu_usage) == len(node.cpu_memory_usage_bytes) == len(node.ephemeral_storage.utilization) == 121
    times = [point.timestamp for point in metrics.inference_volume]
    assert times[-1] == datetime(2026, 12, 1, 5, 3, tzinfo=UTC)
    assert {after - before for before, after in pairwise(times)} == {timedelta(seconds=30)}
    for volume, statuses in zip(metrics.inference_volume, metrics.inference_volume_by_status, strict=True):
        total = statuses.status_2xx + statuses.status_4xx + statuses.status_5xx
        assert total == pytest.approx(volume.value, rel=1e-9)


@both
def test_its_members_reach_the_server(ask: Ask, server_url: str) -> None:
    window = {"start_epoch_millis": NOW_MS - DAY_MS, "end_epoch_millis": NOW_MS - 23 * HOUR_MS}
    a_second = ask(server_url, "healthy", step_seconds=300, **window).metrics
    a_minute = ask(server_url, "healthy", step_seconds=300, time_divisor_seconds=60, **window).metrics
    assert len(a_second.inference_volume) == 13
    for second, minute in zip(a_second.inference_volume, a_minute.inference_volume, strict=True):
        assert minute.value == pytest.approx(60 * second.value, rel=1e-9)
        assert minute.timestamp == second.timestamp
    assert a_minute.concurrent_requests == a_second.concurrent_requests


@both
def test_it_reads_null_quantiles(ask: Ask) -> None:
    with serving("--lag", "10m") as url:
        stats = ask(url, "single").metrics.response_time_stats
    assert (stats[-1].p50, stats[-1].p95, stats[-1].p99) == (None, None, None)
    first = stats[0]
    assert first.p50 is not None and first.p95 is not None and first.p99 is not None
    assert first.p50 <= first.p95 <= first.p99


@both
@pytest.mark.parametrize(
    ("status", "code", "says", "deployment", "key", "members"),
    [
        (400, "VALIDATION_ERROR", "step_seconds: ", "healthy", "loopsmock", {"step_seconds": 0}),
        (403, "PERMISSION_DENIED", "Authorization error", "healthy", "invalid-key", {}),
        (404, "NOT_FOUND", "nobody", "nobody", "loopsmock", {}),
    ],
)
def test_errors_are_raised_with_the_documented_bodies(
    ask: Ask, status: int, code: str, says: str, deployment: str, key: str, members: dict[str, int], server_url: str
) -> None:
    with pytest.raises(ResponseError) as caught:
        ask(server_url, deployment, key, **members)
    assert caught.value.status_code == status
    body = caught.value.body
    assert OPERATION.response_violations(status, "application/json", body.encode()) == []
    envelope = json.loads(body)
    assert envelope["code"] == code
    assert says in envelope["message"]
    assert key not in body
