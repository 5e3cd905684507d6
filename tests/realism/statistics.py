"""R1–R10, R22, R24: what the series of real trainers look like, as rows that measure an answer.

Sources: Acme is the NSDI'24 study of LLM development in a datacenter and its utilization curves, Kalos one of its
clusters; GenTD26 is Alibaba's 2026 trace of generative-AI pods; DCGM is NVIDIA's exporter. "Proposal" means that nobody
publishes a number. Nothing here may import the server: it would bless its own faults.
"""

from collections.abc import Callable

import numpy as np

from .reading import Answer, Floats, Series
from .rows import ALL, NONE, Range, Row, at_least, at_most

MIB = 1 << 20
Z95 = 1.645
"""Quantile of the standard normal distribution."""
SAMPLES_A_MINUTE = 4
SHARED_DIPS = 10
"""How many dips a window must hold before correlation says anything."""
DIP_BELOW = 0.95
"""Of the median utilization."""

Statistic = Callable[[Floats], "float | np.number"]


def _of(series: list[Series], statistic: Statistic) -> Floats:
    """The statistic of each series; NaN for one without points."""
    return np.array([statistic(one.values) if one.values.size else np.nan for one in series], dtype=np.float64)


def of_utilization(statistic: Statistic) -> Callable[[Answer], Floats]:
    return lambda answer: _of([one for node in answer.nodes for one in node.utilization.values()], statistic)


def of_memory(statistic: Statistic) -> Callable[[Answer], Floats]:
    return lambda answer: _of([one for node in answer.nodes for one in node.memory.values()], statistic)


def of_memory_share(statistic: Statistic) -> Callable[[Answer], Floats]:
    return lambda answer: of_memory(statistic)(answer) / answer.asked.node_type.gpu_memory_bytes


def _cpu(statistic: Statistic) -> Callable[[Answer], Floats]:
    return lambda answer: _of([node.cpu for node in answer.nodes], statistic)


def _host_memory(statistic: Statistic) -> Callable[[Answer], Floats]:
    return lambda answer: _of([node.host_memory for node in answer.nodes], statistic)


def _host_memory_share(answer: Answer) -> Floats:
    return _host_memory(np.median)(answer) / answer.asked.node_type.memory_bytes


def _p5(values: Floats) -> float:
    return float(np.quantile(values, 0.05))


def _kept_by_means(values: Floats) -> float:
    """std of the means of 10 samples over std of the samples: 0.316 where the samples are independent."""
    means = np.convolve(values, np.full(10, 0.1), mode="valid")
    return float(means.std() / values.std()) if values.std() else np.nan


def _lag_1(values: Floats) -> float:
    return float(np.corrcoef(values[:-1], values[1:])[0, 1]) if values.std() else np.nan


def _matrix(answer: Answer) -> Floats:
    """Utilization, shape (ranks of all nodes, samples); empty where they have no common timestamps."""
    series = [one for node in answer.nodes for one in node.utilization.values()]
    if not series or not all(np.array_equal(one.times_s, series[0].times_s) for one in series):
        return np.zeros((0, 0))
    return np.array([one.values for one in series])


def _correlations(answer: Answer) -> Floats:
    """For each rank the median correlation of its 1-minute means with those of the others."""
    matrix = _matrix(answer)
    if not matrix.size:
        return np.zeros(0)
    level = matrix.mean(axis=0)
    dipping = level < DIP_BELOW * np.median(level)
    if np.count_nonzero(dipping[1:] & ~dipping[:-1]) < SHARED_DIPS:
        return np.zeros(0)
    minutes = matrix.shape[1] // SAMPLES_A_MINUTE
    means = matrix[:, : minutes * SAMPLES_A_MINUTE].reshape(len(matrix), minutes, SAMPLES_A_MINUTE).mean(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs = np.corrcoef(means)
    others = ~np.eye(len(pairs), dtype=bool)
    medians: Floats = np.median(pairs[others].reshape(len(pairs), -1), axis=1)
    return medians


def _gap_of_medians(answer: Answer) -> Floats:
    medians = of_utilization(np.median)(answer)
    return np.array([np.ptp(medians)]) if medians.size else medians


def _quantile_ratio(upper: str) -> Callable[[Answer], Floats]:
    def ratio(answer: Answer) -> Floats:
        p50, above = answer.quantiles["p50"].values, answer.quantiles[upper].values
        return above[~np.isnan(p50)] / p50[~np.isnan(p50)]

    return ratio


def _share_of(status: str) -> Callable[[Answer], Floats]:
    def share(answer: Answer) -> Floats:
        total = answer.volume.values.sum()
        return np.array([answer.by_status[status].values.sum() / total if total else np.nan])

    return share


def _of_many_nodes(answer: Answer) -> bool:
    return answer.asked.nodes > 1


def _of_eight_gpus(answer: Answer) -> bool:
    return answer.asked.node_type.gpu_count == 8


ROWS = (
    Row("R1", "utilization of a rank: median", at_least(0.97), "Acme, where busy", of_utilization(np.median)),
    Row(
        "R1",
        "utilization of a rank: share of time > 0.95",
        at_least(0.80),
        "Acme, where busy",
        of_utilization(lambda values: (values > 0.95).mean()),
    ),
    Row(
        "R1",
        "utilization of a rank: share of time < 0.05",
        at_most(0.03),
        "Acme, where busy",
        of_utilization(lambda values: (values < 0.05).mean()),
    ),
    Row("R2", "utilization of a rank: p5", Range(0.60, 0.97), "Acme; proposal", of_utilization(_p5)),
    Row(
        "R3",
        "1-min utilization of a rank: median corr. with others",
        at_least(0.7),
        "barrier, proposal; independent pods 0.34 (GenTD26)",
        _correlations,
        _of_many_nodes,
    ),
    Row(
        "R3",
        "gap between the ranks' median utilizations",
        at_most(0.03),
        "barrier, proposal",
        _gap_of_medians,
        _of_many_nodes,
    ),
    Row(
        "R4",
        "utilization of a rank: std(10-sample mean) / std",
        at_least(0.45),
        "GenTD26: 0.62",
        of_utilization(_kept_by_means),
    ),
    Row(
        "R5",
        "GPU memory of a rank: share of steps unchanged",
        at_least(0.90),
        "proposal; GenTD26 at least 0.64",
        of_memory(lambda values: (np.diff(values) == 0).mean() if values.size > 1 else np.nan),
    ),
    Row("R5", "GPU memory of a rank: range / capacity", at_most(0.03), "proposal", of_memory_share(np.ptp)),
    Row(
        "R6",
        "GPU memory of a rank: median / NVML total",
        Range(0.55, 0.96),
        "Kalos p25–p95",
        of_memory_share(np.median),
    ),
    Row(
        "R7",
        "GPU memory of a rank: points that are not whole MiB",
        NONE,
        "DCGM reports MiB",
        of_memory(lambda values: np.count_nonzero(values % MIB)),
    ),
    Row(
        "R8",
        "utilization of a rank: share of whole percents",
        ALL,
        "GPU_UTIL is an integer",
        of_utilization(lambda values: (np.round(100 * values) / 100 == values).mean()),
    ),
    Row("R9", "CPU cores of an 8-GPU node: median", Range(8, 36), "Acme", _cpu(np.median), _of_eight_gpus),
    Row(
        "R9",
        "CPU cores of an 8-GPU node: coefficient of variation",
        Range(0.03, 0.35),
        "proposal",
        _cpu(lambda values: values.std() / values.mean() if values.mean() else np.nan),
        _of_eight_gpus,
    ),
    Row("R10", "host memory of a node: median / limit", Range(0.05, 0.35), "Acme", _host_memory_share),
    Row("R10", "host memory of a node: lag-1 autocorrelation", at_least(0.9), "GenTD26: 0.94", _host_memory(_lag_1)),
    Row("R22", "p95 / p50 of a bucket", Range(1.5, 4), "GenTD26", _quantile_ratio("p95")),
    Row("R22", "p99 / p50 of a bucket", Range(2, 8), "GenTD26", _quantile_ratio("p99")),
    Row(
        "R22",
        "ln(p95 / p50) / 1.645 of a bucket",
        Range(0.35, 0.8),
        "GenTD26",
        lambda answer: np.log(_quantile_ratio("p95")(answer)) / Z95,
    ),
    Row("R24", "share of 5xx", at_most(0.001), "proposal", _share_of("status_5xx")),
    Row("R24", "share of 4xx", at_most(0.02), "proposal", _share_of("status_4xx")),
)
