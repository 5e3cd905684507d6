"""Answers spoiled as other generators, or a slip in this one, would: each says which rows it must break."""

from collections.abc import Callable
from copy import deepcopy

import numpy as np

from .reading import Answer, Floats, Series

Spoil = Callable[[Answer, np.random.Generator], None]
SPOILS: dict[str, tuple[Spoil, frozenset[str]]] = {}
"""By name: what is done to an answer, and the beginnings of the names of the rows that this must break."""


def breaks(*beginnings: str) -> Callable[[Spoil], Spoil]:
    """Register a spoil with the beginnings of the row names that it must break."""

    def register(spoil: Spoil) -> Spoil:
        SPOILS[spoil.__name__.strip("_")] = spoil, frozenset(beginnings)
        return spoil

    return register


def _ranks(answer: Answer, kind: str = "utilization") -> list[Series]:
    return [series for node in answer.nodes for series in getattr(node, kind).values()]


def _lead(answer: Answer) -> None:
    """Show the leader at the top again, so that a spoil of values breaks no more than it means to."""
    answer.top = deepcopy(answer.nodes[0])


def _for_each(series: list[Series], change: Callable[[Floats], Floats]) -> None:
    for one in series:
        one.values = change(one.values)


@breaks("R1 utilization of a rank: median", "R1 utilization of a rank: share of time > 0.95", "R3 1-min")
def _walk_at_sixty_percent(answer: Answer, rng: np.random.Generator) -> None:
    def walk(values: Floats) -> Floats:
        steps = np.cumsum(rng.normal(0, 0.02, values.size))
        return np.round(0.6 + 0.15 * np.sin(steps), 2)

    _for_each(_ranks(answer), walk)
    _lead(answer)


@breaks("R3 1-min", "R4")
def _independent_noise(answer: Answer, rng: np.random.Generator) -> None:
    _for_each(_ranks(answer), rng.permutation)
    _lead(answer)


@breaks("R4", "C11 steps")
def _noise_that_all_ranks_share(answer: Answer, rng: np.random.Generator) -> None:
    order = rng.permutation(answer.volume.values.size)
    _for_each(_ranks(answer), lambda values: values[order])
    _lead(answer)


@breaks("R3 1-min")
def _one_rank_on_its_own(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].utilization["5"]], lambda values: np.roll(values, 731))


@breaks("R3 gap")
def _one_rank_lower(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].utilization["5"]], lambda values: np.maximum(np.round(100 * values) - 5.0, 0.0) / 100)


@breaks("R1 utilization of a rank: share of time < 0.05", "R2")
def _one_rank_idle_for_a_quarter(answer: Answer, rng: np.random.Generator) -> None:
    answer.nodes[1].utilization["5"].values[:360] = 0.0


@breaks("R2", "R3 1-min", "R4", "C11 steps")
def _always_at_full_load(answer: Answer, rng: np.random.Generator) -> None:
    _for_each(_ranks(answer), np.ones_like)
    _lead(answer)


@breaks("R2", "C8")
def _percent(answer: Answer, rng: np.random.Generator) -> None:
    _for_each(_ranks(answer), lambda values: np.round(100 * values))
    _lead(answer)


@breaks("R8")
def _utilization_with_digits(answer: Answer, rng: np.random.Generator) -> None:
    answer.nodes[1].utilization["5"].values[17] -= 0.001


@breaks("R7")
def _memory_not_in_mib(answer: Answer, rng: np.random.Generator) -> None:
    answer.nodes[1].memory["5"].values[17] += 1024


@breaks("R5 GPU memory of a rank: share")
def _memory_that_moves(answer: Answer, rng: np.random.Generator) -> None:
    _for_each(_ranks(answer, "memory"), lambda values: values - rng.integers(0, 3, values.size) * 2.0**20)
    _lead(answer)


@breaks("R5 GPU memory of a rank: range")
def _memory_that_leaks(answer: Answer, rng: np.random.Generator) -> None:
    leak = np.arange(answer.volume.values.size) // 60 * 150 * 2.0**20
    _for_each([answer.nodes[1].memory["5"]], lambda values: values - leak)


@breaks("R6")
def _memory_hardly_used(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].memory["5"]], lambda values: np.floor(0.5 * values / 2**20) * 2**20)


@breaks("R6", "C8")
def _memory_beyond_the_gpu(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].memory["5"]], lambda values: np.full_like(values, 96 * 2.0**30))


@breaks("R9 CPU cores of an 8-GPU node: median", "C8")
def _cpu_in_percent(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].cpu], lambda values: 100 * values)


@breaks("R9 CPU cores of an 8-GPU node: coefficient")
def _constant_cpu(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].cpu], lambda values: np.full_like(values, 20.0))


@breaks("R10 host memory of a node: lag-1")
def _host_memory_noise(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].host_memory], rng.permutation)


@breaks("R10 host memory of a node: median")
def _host_memory_of_another_unit(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].host_memory], lambda values: values / 1024)


@breaks("R22 p95", "R22 p99", "R22 ln")
def _latency_without_a_tail(answer: Answer, rng: np.random.Generator) -> None:
    p50 = answer.quantiles["p50"].values
    answer.quantiles["p95"].values, answer.quantiles["p99"].values = 1.1 * p50, 1.2 * p50


@breaks("R22 p99")
def _far_p99_in_one_bucket(answer: Answer, rng: np.random.Generator) -> None:
    answer.quantiles["p99"].values[17] *= 5


@breaks("C6 concurrency")
def _latency_in_seconds(answer: Answer, rng: np.random.Generator) -> None:
    _for_each(list(answer.quantiles.values()), lambda values: values / 1000)


@breaks("R22", "C6 concurrency")
def _no_latency(answer: Answer, rng: np.random.Generator) -> None:
    _for_each(list(answer.quantiles.values()), lambda values: np.full_like(values, np.nan))


@breaks("R24 share of 5xx", "R24 share of 4xx")
def _many_errors(answer: Answer, rng: np.random.Generator) -> None:
    total = answer.volume.values
    for status, share in (("status_2xx", 0.9), ("status_4xx", 0.09), ("status_5xx", 0.01)):
        answer.by_status[status].values = share * total


@breaks("C3")
def _a_missing_point(answer: Answer, rng: np.random.Generator) -> None:
    cpu = answer.nodes[1].cpu
    cpu.times_s, cpu.values = np.delete(cpu.times_s, 17), np.delete(cpu.values, 17)


@breaks("C3")
def _newest_first(answer: Answer, rng: np.random.Generator) -> None:
    answer.concurrency.times_s = answer.concurrency.times_s[::-1]


@breaks("C3")
def _aligned_to_the_step(answer: Answer, rng: np.random.Generator) -> None:
    for series in answer.series():
        series.times_s = series.times_s // 15 * 15


@breaks("C10", "R1", "R10", "C11 steps")
def _no_nodes(answer: Answer, rng: np.random.Generator) -> None:
    answer.nodes = []


@breaks("C4")
def _another_node_at_the_top(answer: Answer, rng: np.random.Generator) -> None:
    answer.top = deepcopy(answer.nodes[1])


@breaks("C4")
def _a_rank_missing_at_the_top(answer: Answer, rng: np.random.Generator) -> None:
    del answer.top.utilization["7"]


@breaks("C5")
def _one_request_too_many(answer: Answer, rng: np.random.Generator) -> None:
    answer.volume.values[17] += 1e-6


@breaks("C6 concurrency")
def _half_the_concurrency(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.concurrency], lambda values: np.floor(values / 2))


@breaks("C6 points")
def _concurrency_as_a_mean(answer: Answer, rng: np.random.Generator) -> None:
    answer.concurrency.values[17] += 0.5


@breaks("C7")
def _p50_above_p95(answer: Answer, rng: np.random.Generator) -> None:
    answer.quantiles["p50"].values[17] = 1.001 * answer.quantiles["p95"].values[17]


@breaks("C7")
def _one_null_quantile(answer: Answer, rng: np.random.Generator) -> None:
    answer.quantiles["p99"].values[17] = np.nan


@breaks("C7")
def _latency_of_nothing(answer: Answer, rng: np.random.Generator) -> None:
    for series in (answer.volume, *answer.by_status.values()):
        series.values[17] = 0.0


@breaks("C8")
def _negative_disk(answer: Answer, rng: np.random.Generator) -> None:
    answer.nodes[1].disk_usage.values[17] *= -1


@breaks("C9")
def _rounded_disk_share(answer: Answer, rng: np.random.Generator) -> None:
    _for_each([answer.nodes[1].disk_utilization], lambda values: np.round(values, 3))


@breaks("C9")
def _a_disk_that_shrinks(answer: Answer, rng: np.random.Generator) -> None:
    answer.nodes[1].disk_utilization.values[700:] *= 1.01


@breaks("C10")
def _ranks_that_go_on_over_nodes(answer: Answer, rng: np.random.Generator) -> None:
    node = answer.nodes[1]
    for kind in ("memory", "utilization"):
        setattr(node, kind, {str(8 + int(rank)): series for rank, series in getattr(node, kind).items()})


@breaks("C10", "C11 points")
def _a_rank_without_memory_series(answer: Answer, rng: np.random.Generator) -> None:
    del answer.nodes[1].memory["5"]


@breaks("C10")
def _a_node_twice(answer: Answer, rng: np.random.Generator) -> None:
    answer.nodes[1].id = answer.nodes[0].id


@breaks("C11 points")
def _busy_with_no_memory(answer: Answer, rng: np.random.Generator) -> None:
    answer.nodes[1].memory["5"].values[17] = 0.0


@breaks("C11 steps")
def _traffic_that_follows_late(answer: Answer, rng: np.random.Generator) -> None:
    for series in (answer.volume, *answer.by_status.values()):
        series.values = np.roll(series.values, 5)


@breaks("C3", "C12")
def _a_point_ahead(answer: Answer, rng: np.random.Generator) -> None:
    series = answer.nodes[1].host_memory
    series.times_s, series.values = np.append(series.times_s, series.times_s[-1] + 15), np.append(series.values, 0.0)


@breaks("C3", "C12")
def _a_point_before_creation(answer: Answer, rng: np.random.Generator) -> None:
    series = answer.concurrency
    series.times_s, series.values = np.append(answer.asked.created_s - 1, series.times_s), np.append(0.0, series.values)
