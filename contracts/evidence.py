"""What the checks read: the exchanges of one deployment, each judged by the schema and read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

from .answer import Answer, read
from .exchange import LISTING, VALID, Exchange
from .spec import Operation, Spec
from .strict_json import JsonValue
from .violation import Violation

SETTLED_MS = 300_000
"""Points this much older than the newest are complete: siblings of the endpoint lag one to three minutes behind."""


@dataclass(frozen=True)
class Facts:
    """What the provider lists about a deployment; None where it says nothing.

    Args:
        nodes: number of nodes.
        gpus: GPUs of a node.
        gpu_memory_bytes: nominal memory of one GPU.
        memory_bytes: host memory of a node.
        cores: CPU cores of a node.
    """

    nodes: int | None = None
    gpus: int | None = None
    gpu_memory_bytes: float | None = None
    memory_bytes: float | None = None
    cores: float | None = None

    @classmethod
    def of(cls, deployment: Mapping[str, Any]) -> Facts:
        """Read an entry of the listing that the schema has accepted."""
        type_ = deployment["instance_type"]
        gpus, total_mib = type_["gpu_count"], type_["gpu_memory_limit_mib"]
        return cls(
            nodes=deployment.get("node_count", 1),
            gpus=gpus,
            gpu_memory_bytes=total_mib * 2**20 / gpus if total_mib and gpus else None,
            memory_bytes=type_["memory_limit_mib"] * 2**20,
            cores=type_["millicpu_limit"] / 1000,
        )


class Evidence:
    """Exchanges with one deployment, and what was read from them.

    Args:
        spec: the contract.
        exchanges: in the order in which they were made.
        now_ms: the provider's now, where it is known from elsewhere.
        generated: how many generated requests were answered without a remark; they are not kept.
    """

    def __init__(
        self, spec: Spec, exchanges: Iterable[Exchange], *, now_ms: int | None = None, generated: int = 0
    ) -> None:
        self.spec = spec
        self.exchanges = tuple(exchanges)
        self.generated = generated
        self._now_ms = now_ms
        self._judged: dict[int, tuple[list[Violation], JsonValue]] = {}

    def of(self, probe: str) -> Iterator[Exchange]:
        """The exchanges of a probe that got a response."""
        return (one for one in self.exchanges if one.request.probe == probe and one.response is not None)

    def operation(self, exchange: Exchange) -> Operation | None:
        """The operation that a request is for; None if the contract knows no such path and method."""
        return operation_of(self.spec, exchange.request.method, exchange.request.path)

    def violations(self, exchange: Exchange) -> list[Violation]:
        """What is wrong with a response by the contract's file; [] where nothing came."""
        return self._judge(exchange)[0]

    def value(self, exchange: Exchange) -> Any:
        """The JSON value of a response; None where nothing came, or none is documented, or it is no JSON."""
        return self._judge(exchange)[1]

    def _judge(self, exchange: Exchange) -> tuple[list[Violation], JsonValue]:
        found = self._judged.get(id(exchange))
        if found is None:
            operation, response = self.operation(exchange), exchange.response
            found = [], None
            if operation and response:
                found = operation.judge_response(response.status, response.header("content-type"), response.body)
            self._judged[id(exchange)] = found
        return found

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """The 200s to valid requests whose bodies have the shape of the contract, but for the form of times."""
        found = []
        for exchange in self.of(VALID):
            assert exchange.response is not None
            violations, value = self._judge(exchange)
            answered = isinstance(value, dict) and value.keys() >= {"deployment_id", "metrics"}
            if exchange.response.status == 200 and answered and all(map(_readable, violations)):
                found.append(read(exchange, value))
        return tuple(found)

    @cached_property
    def newest_ms(self) -> int | None:
        """The newest time at which any answer has a point, or the provider's now if that is later."""
        newest = [answer.times_ms[-1] for answer in self.answers if answer.times_ms]
        return max([*newest, *([] if self._now_ms is None else [self._now_ms])], default=None)

    @cached_property
    def settled_ms(self) -> int:
        """Points up to this time must stay as they are."""
        return (self.newest_ms or 0) - SETTLED_MS

    @cached_property
    def facts(self) -> Facts:
        """What the listing says about the deployment whose metrics were asked for."""
        asked = {answer.exchange.request.deployment_id for answer in self.answers}
        for exchange in self.of(LISTING):
            assert exchange.response is not None
            if exchange.response.status != 200 or self.violations(exchange):
                continue
            body = self.value(exchange)
            listed = body.get("deployments", [body["deployment"]] if "deployment" in body else [])
            for deployment in listed:
                if deployment["id"] in asked:
                    return Facts.of(deployment)
        return Facts()

    def pairs(self, related: Callable[[Answer, Answer], bool]) -> Iterator[tuple[Answer, Answer]]:
        """Every two answers that are related, in order of sending."""
        return (pair for pair in combinations(self.answers, 2) if related(*pair))


def operation_of(spec: Spec, method: str, path: str) -> Operation | None:
    """The operation of a method and a path whose parameters are filled in; None if the contract knows none."""
    parts = path.partition("?")[0].split("/")
    for operation in spec.operations:
        template = operation.path.split("/")
        if operation.method != method or len(template) != len(parts):
            continue
        if all(want == part or (want[:1] == "{" and part) for want, part in zip(template, parts, strict=True)):
            return operation
    return None


def _readable(violation: Violation) -> bool:
    """Whether the series can be read in spite of a violation."""
    return violation.check == "content_type" or is_about_a_time(violation)


def is_about_a_time(violation: Violation) -> bool:
    """Whether the schema refused a text for not being an RFC 3339 time."""
    return violation.check == "schema" and "RFC 3339" in violation.message and violation.where.endswith("/timestamp")
