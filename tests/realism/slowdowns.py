"""R14–R16 and R28: jobs that are slow, and more requests than usual; seen beside the healthy deployment."""

from collections.abc import Callable

import numpy as np

from .reading import Answer, Floats
from .rows import ALL, NONE, Range, Row, at_least, at_most
from .stretches import Mask, bridged, inner, on, points

LAGS_BEHIND = 0.1
"""How far the utilization of a node lies below that of the others where it holds them up."""
SURGING = 2.0
"""How many times the median rate says that there is a surge."""
SURGE_S = 300
CORES_OVER_HEALTHY = 1.5
CORES_OVER_LIMIT = 0.9


def _healthy(answer: Answer) -> Answer:
    if answer.beside is None:
        raise ValueError("this row needs the healthy deployment beside the answer")
    return answer.beside.healthy


def _median_p50(answer: Answer) -> float:
    p50 = answer.quantiles["p50"].values
    p50 = p50[~np.isnan(p50)]
    return float(np.median(p50)) if p50.size else np.nan


def _slower(answer: Answer) -> Floats:
    return np.array([_median_p50(answer) / _median_p50(_healthy(answer))])


def _variation_of_p50(answer: Answer) -> Floats:
    p50 = answer.quantiles["p50"].values
    p50 = p50[~np.isnan(p50)]
    return np.array([p50.std() / p50.mean()]) if p50.size else np.zeros(0)


def _of_nodes(answer: Answer, statistic: Callable[[Floats], "np.floating"]) -> Floats:
    """The statistic of each node's utilization, all its ranks together; NaN for a node without points."""
    found = []
    for node in answer.nodes:
        values = [one.values for one in node.utilization.values()]
        found.append(statistic(np.concatenate(values)) if values and values[0].size else np.nan)
    return np.array(found, dtype=np.float64)


def _but_the_lowest(answer: Answer) -> Floats:
    """Median utilization of each rank but the lowest one."""
    ranks = [
        np.median(one.values) if one.values.size else np.nan
        for node in answer.nodes
        for one in node.utilization.values()
    ]
    return np.sort(np.array(ranks, dtype=np.float64))[1:]


def _gap(answer: Answer) -> Floats:
    """How far the lowest node's median lies below the median of the others."""
    nodes = np.sort(_of_nodes(answer, np.median))
    return np.array([np.median(nodes[1:]) - nodes[0]]) if nodes.size > 1 else np.zeros(0)


def _behind(answer: Answer) -> Floats:
    """Number of nodes whose mean utilization is 0.1 or more below the median of the others."""
    means = _of_nodes(answer, np.mean)
    others = [np.median(np.delete(means, number)) for number in range(means.size)] if means.size > 1 else []
    return np.array([np.count_nonzero(means[: len(others)] <= np.array(others) - LAGS_BEHIND)], dtype=np.float64)


def _others_busy(answer: Answer) -> Floats:
    return np.sort(_of_nodes(answer, np.median))[1:]


def _rank_medians(answer: Answer) -> Floats:
    ranks = [one for node in answer.nodes for one in node.utilization.values()]
    return np.array([np.median(one.values) if one.values.size else np.nan for one in ranks], dtype=np.float64)


def _cores(answer: Answer) -> float:
    cores = [np.median(node.cpu.values) if node.cpu.values.size else np.nan for node in answer.nodes]
    return float(np.mean(cores)) if cores else np.nan


def _cpus_work_hard(answer: Answer) -> Floats:
    """Cores over 1.5 times those of the healthy deployment, or over 0.9 of the limit, whichever is more."""
    cores = _cores(answer)
    beside_healthy = cores / _cores(_healthy(answer)) / CORES_OVER_HEALTHY
    return np.array([max(beside_healthy, cores / answer.asked.node_type.cores / CORES_OVER_LIMIT)])


def surges(answer: Answer) -> tuple[Mask, Mask]:
    """When far more requests come than usual, and when no more than usual; neither within a minute of a change."""
    rate = on(answer.volume, answer.asked.grid())
    surging = np.zeros(rate.size, dtype=np.bool_)
    usual = np.nanmedian(rate) if np.count_nonzero(~np.isnan(rate)) else np.nan
    edge = points(60, answer)
    calm = np.ones(rate.size, dtype=np.bool_)
    for one in inner(bridged(rate > SURGING * usual, edge), points(SURGE_S, answer)):
        surging[one.start + edge : one.stop - edge] = True
        calm[max(0, one.start - edge) : one.stop + edge] = False
    return surging, calm


def _in_surges(answer: Answer, values: Floats) -> Floats:
    surging, calm = surges(answer)
    if not surging.any():
        return np.zeros(0)
    return np.array([np.nanmedian(values[surging]) / np.nanmedian(values[calm])])


STRAGGLERS = "ByteDance's straggler study"
SLOW_COMPUTE = (
    Row("R14", "p50 / that of healthy: medians", Range(1.10, 3.0), STRAGGLERS, _slower),
    Row("R14", "p50: coefficient of variation", at_most(0.08), STRAGGLERS, _variation_of_p50),
    Row("R14", "utilization of a rank but the lowest: median", at_least(0.95), STRAGGLERS, _but_the_lowest),
)
SLOW_DATA = (
    Row("R15", "utilization: lowest node below the others' median", Range(0.1, 0.5), "proposal", _gap),
    Row("R15", "nodes whose mean utilization is 0.1 below the others'", ALL, "proposal", _behind),
    Row("R15", "utilization of another node: median", at_least(0.95), "proposal", _others_busy),
)
STARVED = (
    Row("R16", "utilization of a rank: median", Range(0.3, 0.85), "Philly", _rank_medians),
    Row("R16", "CPU / (1.5 × healthy's, or 0.9 × the limit)", at_least(1.0), "proposal", _cpus_work_hard),
)
SURGES = (
    Row(
        "R28",
        "rate in surges / outside: medians",
        Range(3, 10),
        "proposal",
        lambda answer: _in_surges(answer, on(answer.volume, answer.asked.grid())),
    ),
    Row(
        "R28",
        "p95 in surges / outside: medians",
        at_least(1.3),
        "proposal",
        lambda answer: _in_surges(answer, on(answer.quantiles["p95"], answer.asked.grid())),
    ),
)
NO_STRAGGLER = Row("R15", "nodes whose mean utilization is 0.1 below the others'", NONE, "proposal", _behind)
