"""Answers of the mock in this process, as a client gets them; and what its deployments are known to be."""

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import httpx
import orjson
from loopsmock.mockserver import create_app

from .reading import Answer, Asked, NodeType, read

NOW_MS = 1_796_169_617_345
"""Neither a whole second nor a multiple of the native 15 s."""
HOUR_MS = 3_600_000
SIX_HOURS_MS = 6 * HOUR_MS
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


def created_s(now_ms: int) -> int:
    """When a long-lived deployment was created: the last multiple of 90 days that is 30 days ago or more."""
    return (now_ms // 1000 - 30 * DAY_S) // (90 * DAY_S) * (90 * DAY_S)


def app_at(now_ms: int = NOW_MS, **settings: Any) -> App:
    """The mock with its clock stopped at now_ms."""
    return create_app(clock=lambda: now_ms, **settings)


def asked(id_: str, start_ms: int, end_ms: int, step_s: int, *, now_ms: int = NOW_MS) -> Asked:
    """A request for a deployment whose id is its scenario's name."""
    return Asked(start_ms, end_ms, step_s, now_ms, created_s(now_ms), NODE_TYPES[id_], NODES[id_])


async def _post(app: App, id_: str, members: dict[str, int]) -> bytes:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        response = await client.post(
            f"/v1/loops/deployments/{id_}/metrics", json=members, headers={"Authorization": "Bearer k"}
        )
    assert response.status_code == 200, response.text[:300]
    return response.content


def body(app: App, id_: str, **members: int) -> bytes:
    """The body of one answer."""
    return asyncio.run(_post(app, id_, members))


def answer(app: App, id_: str, request: Asked) -> Answer:
    """One answer, read."""
    members = {
        "start_epoch_millis": request.start_ms,
        "end_epoch_millis": request.end_ms,
        "step_seconds": request.step_s,
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
