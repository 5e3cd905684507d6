"""What a client can learn of a deployment and its run beside the metrics, as the vendor names it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from .noise import key
from .scenario import Deployment, InstanceType

RUN_PREFIX = "run-"
ACTIVE = ("CREATED", "DEPLOYING", "RUNNING")
"""Statuses of a deployment whose run is active."""
SAMPLER_STATUS = {
    "CREATED": "BUILDING",
    "DEPLOYING": "DEPLOYING",
    "RUNNING": "ACTIVE",
    "SCALED_TO_ZERO": "SCALED_TO_ZERO",
    "FAILED": "FAILED",
    "STOPPED": "INACTIVE",
    "PREEMPTED": "INACTIVE",
}
"""Status of a deployment → of its sampler: the two are one pair, and come and go together."""

_BASE_MODELS = (
    "Qwen/Qwen3-8B",
    "Qwen/Qwen3-32B",
    "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-3.3-70B-Instruct",
    "google/gemma-3-27b-it",
    "mistralai/Mistral-Small-24B-Instruct-2501",
)


class Kept(NamedTuple):
    """What stays the same all life long, and no metric tells."""

    email: str
    run_name: str
    base_model: str


STAND_IN = Kept("somebody@example.com", "amber-light-001", _BASE_MODELS[0])
"""For where any will do: names take a tenth of a second to load, which a start has no need to wait for."""


def run_id(deployment_id: str) -> str:
    """The id of a deployment's one run."""
    return RUN_PREFIX + deployment_id


def deployment_of_run(id_: str) -> str | None:
    """The id of the deployment whose run it is; None where no run is called so."""
    return id_.removeprefix(RUN_PREFIX) if id_.startswith(RUN_PREFIX) and id_ != RUN_PREFIX else None


def deployment_facts(deployment: Deployment, kept: Kept, status: str, created_s: int) -> dict[str, Any]:
    """A deployment as it is listed."""
    run = run_id(deployment.id)
    return {
        "id": deployment.id,
        "active_run_id": run if status in ACTIVE else None,
        "latest_run_id": run,
        "base_model": kept.base_model,
        "base_url": _base_url(deployment.id),
        "status": {"name": status},
        "user": {"email": kept.email},
        "created_at": _iso(created_s),
        "availability_model": deployment.scenario.availability,
        "instance_type": instance_type_facts(deployment.scenario.instance_type, deployment.scenario.nodes),
        "node_count": deployment.scenario.nodes,
        "sampler": _sampler(deployment, kept, status, created_s),
    }


def run_facts(deployment: Deployment, kept: Kept, status: str, created_s: int) -> dict[str, Any]:
    """The run of a deployment."""
    return {
        "id": run_id(deployment.id),
        "session_id": f"session-{deployment.id}",
        "deployment_id": deployment.id,
        "name": kept.run_name,
        "base_model": kept.base_model,
        "base_url": _base_url(deployment.id),
        "created_at": _iso(created_s),
        "status": {"name": "ACTIVE" if status in ACTIVE else "INACTIVE"},
        "user": {"email": kept.email},
        "sampler": _sampler(deployment, kept, status, created_s),
    }


def instance_type_facts(node: InstanceType, nodes: int) -> Mapping[str, Any]:
    """A kind of node as the vendor describes it; an id seen in public is H200:2x8x128x1600, two nodes of 8 GPUs."""
    gpu, _, size = node.name.partition(":")
    return {
        "id": f"{gpu}:{nodes}x{size}",
        "name": node.many(nodes),
        "memory_limit_mib": node.memory_limit_mib,
        "millicpu_limit": node.millicpu_limit,
        "gpu_count": node.gpu_count,
        "gpu_type": node.gpu_type,
        "gpu_memory_limit_mib": node.gpu_memory_limit_mib,
    }


def _sampler(deployment: Deployment, kept: Kept, status: str, created_s: int) -> dict[str, Any]:
    """The sampler beside the trainer: one node of the same kind, whatever the trainer has."""
    return {
        "id": f"sampler-{deployment.id}",
        "base_url": f"https://loops.example/samplers/{quote(deployment.id, safe='')}",
        "base_model": kept.base_model,
        "created_at": _iso(created_s),
        "model_id": f"model-{deployment.id}",
        "deployment_id": f"version-{deployment.id}",
        "status": {"name": SAMPLER_STATUS[status]},
        "user": {"email": kept.email},
        "instance_type": instance_type_facts(deployment.scenario.instance_type, 1),
        "node_count": 1,
    }


@lru_cache(maxsize=1024)
def keep(id_: str, seed: int) -> Kept:
    """What is kept of a deployment: whose it is, and what its run is called."""
    # Heavy, hence here; and these of its two dozen parts are a tenth of its work.
    from faker import Faker

    own = key(seed, id_, "facts")
    parts = [f"faker.providers.{name}" for name in ("internet", "person", "color", "lorem")]
    fake = Faker("en_US", providers=parts)
    fake.seed_instance(own)
    model = _BASE_MODELS[own % len(_BASE_MODELS)]
    # Domains of its own choice could be somebody's: these end in example.com, .org or .net.
    return Kept(fake.safe_email(), f"{fake.color_name().lower()}-{fake.word()}-{own % 1000:03}", model)


def _base_url(deployment_id: str) -> str:
    # Nothing answers there: the top-level domain .example is reserved, so no client reaches anybody by it.
    return f"https://loops.example/runs/{quote(run_id(deployment_id), safe='')}"


def _iso(epoch_s: int) -> str:
    """RFC 3339 with milliseconds and Z, as the vendor writes it."""
    moment = datetime.fromtimestamp(epoch_s, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"
