"""Answers of the mock in this process, as a client gets them; and what its deployments are known to be."""

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import orjson
from loopsmock.mockserver import create_app

from .reading import Answer, Asked, Beside, NodeType, read
from .stretches import hosts

NOW_MS = 1_796_169_617_345
"""Neither a whole second nor a multiple of the native 15 s."""
HOUR_MS = 3_600_000
SIX_HOURS_MS = 6 * HOUR_MS
CATALOGUE_NOW_MS = NOW_MS - 17_000 + SIX_HOURS_MS - HOUR_MS // 4
"""5 h 45 min after a multiple of six hours: the six hours before it show a whole life of what is created so often."""
DAY_S = 86_400

App = Callable[..., Any]

_H100, _H200, _MIB = 81_559 << 20, 143_771 << 20, 1 << 20

# Stated by the vendor (vCPU, host memory) and by NVML (GPU memory), not read from the fixtures of the mock.
NODE_TYPES = {
    "healthy": NodeType(8, _H100, 128.0, 944 * 1024 * _MIB),
    "single": NodeType(1, _H100, 16.0, 118 * 1024 * _MIB),
    "wide": NodeType(8, _H200, 127.9, 1_650_000 * _MIB),
}
NODES = {"healthy": 2, "single": 1, "wide": 16}
LIVES_S = dict.fromkeys(("brand-new", "preempted", "failed", "cold"), 6 * 3600)
"""Deployments that are created anew so often; the others live long."""


def created_s(now_ms: int, id_: str = "healthy") -> int:
    """When a deployment was created.

    At the last multiple of its life on the epoch, or if it lives long, the last multiple of 90 days that is 30 days ago
    or more.
    """
    if id_ in LIVES_S:
        return now_ms // 1000 // LIVES_S[id_] * LIVES_S[id_]
    return (now_ms // 1000 - 30 * DAY_S) // (90 * DAY_S) * (90 * DAY_S)


def app_at(now_ms: int = NOW_MS, **settings: Any) -> App:
    """The mock with its clock stopped at now_ms."""
    return create_app(clock=lambda: now_ms, **settings)


def asked(id_: str, start_ms: int, end_ms: int, step_s: int, *, now_ms: int = NOW_MS) -> Asked:
    """A request for a deployment whose id is its scenario's name."""
    like = id_ if id_ in NODES else "healthy"
    return Asked(start_ms, end_ms, step_s, now_ms, created_s(now_ms, id_), NODE_TYPES[like], NODES[like])


async def _request(app: App, method: str, path: str, members: dict[str, int] | None) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        return await client.request(method, path, json=members, headers={"Authorization": "Bearer k"})


def body(app: App, id_: str, **members: int) -> bytes:
    """The body of one answer."""
    response = asyncio.run(_request(app, "POST", f"/v1/loops/deployments/{id_}/metrics", members))
    assert response.status_code == 200, response.text[:300]
    return response.content


def answer(app: App, id_: str, request: Asked, **more: int) -> Answer:
    """One answer, read; `more` are further members of the request."""
    members = {
        "start_epoch_millis": request.start_ms,
        "end_epoch_millis": request.end_ms,
        "step_seconds": request.step_s,
        **more,
    }
    return parsed(body(app, id_, **members), request)


def parsed(content: bytes, request: Asked) -> Answer:
    """A body, read."""
    # Collecting garbage amid 400,000 new objects, none of them garbage, takes as long as parsing them.
    collects = gc.isenabled()
    gc.disable()
    try:
        return read(orjson.loads(content), request)
    finally:
        if collects:
            gc.enable()


def six_hours(seed: int, id_: str) -> Answer:
    """The measuring window: 6 h at 15 s ending at now."""
    return answer(app_at(seed=seed), id_, asked(id_, NOW_MS - SIX_HOURS_MS, NOW_MS, 15))


DIVISOR = 60
SCENARIOS = Path(__file__).parents[2] / "fixtures" / "scenarios"
LISTED = "/v1/loops/deployments/{deployment_id}"


class World:
    """All deployments of one seed, and a clock that can be moved."""

    def __init__(self, seed: int, now_ms: int = CATALOGUE_NOW_MS) -> None:
        self._now_ms = self._clock_ms = now_ms
        self.app: App = create_app(seed=seed, clock=lambda: self._clock_ms)
        self._lists = LISTED in self._got("/openapi.json")["paths"]
        self._healthy: Answer | None = None

    def answer(self, id_: str) -> Answer:
        """Six hours at 15 s ending at now, and what a row may compare them with."""
        seen = self._six_hours(id_)
        if self._healthy is None:
            self._healthy = seen if id_ == "healthy" else self._six_hours("healthy")
        seen.beside = Beside(self._healthy, self._coarser(id_), DIVISOR, self._statuses(id_, seen))
        return seen

    def _six_hours(self, id_: str) -> Answer:
        return answer(self.app, id_, asked(id_, self._now_ms - SIX_HOURS_MS, self._now_ms, 15, now_ms=self._now_ms))

    def _coarser(self, id_: str) -> Answer:
        start_ms = self._now_ms - SIX_HOURS_MS + 45_000
        request = asked(id_, start_ms, self._now_ms, 60, now_ms=self._now_ms)
        return answer(self.app, id_, request, time_divisor_seconds=DIVISOR)

    def _statuses(self, id_: str, seen: Answer) -> tuple[tuple[int, str], ...] | None:
        """What the deployment is listed as every half hour, and just before and after its nodes come and go."""
        if not self._lists:
            return None
        grid = seen.asked.grid()
        there = hosts(seen).any(axis=0).astype(np.int8)
        changes = np.flatnonzero(np.diff(there)) + 1
        at = np.unique(np.concatenate([np.arange(0, grid.size, 120), changes - 2, changes + 2]))
        found = []
        for moment_s in grid[at[(at >= 0) & (at < grid.size)]].tolist():
            self._clock_ms = moment_s * 1000
            deployment = self._got(LISTED.replace("{deployment_id}", id_))["deployment"]
            found.append((moment_s, str(deployment["status"]["name"])))
        self._clock_ms = self._now_ms
        return tuple(found)

    def _got(self, path: str) -> dict[str, Any]:
        response = asyncio.run(_request(self.app, "GET", path, None))
        assert response.status_code == 200, response.text[:300]
        found: dict[str, Any] = response.json()
        return found


def catalogue() -> list[str]:
    """Ids of all scenarios that come with the mock."""
    return sorted(file.stem for file in SCENARIOS.glob("*.yaml"))
