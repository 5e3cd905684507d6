"""GPU, CPU, host memory and disk of each node. The targets R1–R10 are measured by the tests."""

import numpy as np

from .job import Moments, Samples
from .load import load
from .noise import Reals, words
from .signal import Scope, signal

MIB = 1 << 20
PAGE = 4096

# Percent points that a rank lies below the job, by one random byte: mostly nothing when busy, uneven in a dip.
_BUSY = np.repeat(np.array([0, 1, 2, 3], dtype=np.int16), [184, 48, 18, 6])
_DIPPING = (np.arange(256, dtype=np.int16) % 9) - 4
_BELOW = np.concatenate([_BUSY, _DIPPING])

# GPU memory is looked at again every ten minutes: the allocator's cache changes that seldom.
_MEMORY_SPAN = 40


def _ranks(moments: Moments, nodes: slice) -> slice:
    count = len(moments.job.rank_names)
    return slice(nodes.start * count, nodes.stop * count)


@signal("gpu_utilization", Scope.RANK, decimals=2)
def gpu_utilization(moments: Moments, nodes: slice) -> Samples:
    """Percent, as GPU_UTIL reports it. One hash feeds eight ranks of a node, a byte each."""
    job, ranks = moments.job, len(moments.job.rank_names)
    job_percent = np.rint(moments.once(load).busy * 100.0).astype(np.int16)
    row_of_table = np.where(job_percent < 100, np.int16(256), np.int16(0))
    rows = []
    for first in range(0, ranks, 8):
        noise = words(job.node_keys(f"gpu_utilization/{first}")[nodes], moments.ticks)
        octets = noise.astype("<u8", copy=False).view(np.uint8).reshape(*noise.shape, 8)
        # Ranks before cells, so that each rank's row lies in one piece.
        rows.append(octets.transpose(0, 2, 1)[:, : ranks - first])
    octets = rows[0] if len(rows) == 1 else np.concatenate(rows, axis=1)
    percent = job_percent - _BELOW[octets + row_of_table]
    np.clip(percent, 0, 100, out=percent)
    return Samples(percent.reshape(-1, len(moments.ticks)), moments.at)


@signal("gpu_memory_usage_bytes", Scope.RANK, decimals=1)
def gpu_memory_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """A plateau in whole MiB that seldom moves."""
    job, capacity_mib = moments.job, moments.job.node_type.gpu_memory_mib
    row_keys = job.rank_keys("gpu_memory_usage_bytes")[_ranks(moments, nodes)]
    plateau = (
        job.pick("gpu_memory/plateau", 0.66, 0.88)
        + job.pick_ranks("gpu_memory/own", 0.0, 0.012)[_ranks(moments, nodes)]
    )
    spans, at = moments.coarse(_MEMORY_SPAN)
    draws = words(row_keys, spans)
    # Every fourth span the cache grows a little, by up to 0.4 % of the GPU.
    grown = np.where(draws & np.uint64(3) == 0, (draws >> np.uint64(40)).astype(np.float64) * (0.004 * 2.0**-24), 0.0)
    mib = np.rint((plateau + grown) * capacity_mib).astype(np.int64)
    return Samples(mib * (MIB * 10), at)


@signal("cpu_usage", Scope.NODE, decimals=4)
def cpu_usage(moments: Moments, nodes: slice) -> Samples:
    """Cores: data loading and launches follow the job, a checkpoint adds its writers."""
    job, doing = moments.job, moments.once(load)
    jitter = words(job.node_keys("cpu_usage")[nodes], moments.ticks) >> np.uint64(44)
    wander = moments.once(_wander, nodes.start, nodes.stop)[: nodes.stop - nodes.start]
    base = 2.3 * job.node_type.gpu_count * job.pick_nodes("cpu/size", 0.85, 1.2)[nodes]
    follows = 0.72 + 0.28 * doing.busy + 0.35 * (doing.saved < 1.0)
    cores = (base * follows) * ((0.94 + 0.12 * 2.0**-20 * jitter) * (1.0 + 0.08 * wander))
    limit = job.node_type.millicpu_limit * 10
    return Samples(np.minimum(np.rint(cores * 1e4), limit).astype(np.int64), moments.at)


@signal("cpu_memory_usage_bytes", Scope.NODE, decimals=1)
def cpu_memory_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """Host memory in whole pages, wandering slowly."""
    job = moments.job
    wander = moments.once(_wander, nodes.start, nodes.stop)[nodes.stop - nodes.start :]
    share = (
        job.pick("cpu_memory/share", 0.09, 0.27) * job.pick_nodes("cpu_memory/own", 0.95, 1.05)[nodes]
    )
    pages = (share * (job.node_type.memory_limit_mib * (MIB // PAGE))) * (1.0 + 0.06 * wander)
    return Samples(np.rint(pages).astype(np.int64) * (PAGE * 10), moments.at)


@signal("ephemeral_storage.usage_bytes", Scope.NODE, decimals=1)
def ephemeral_storage_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """Image and data, logs that grow all life long, and up to four checkpoints before the old ones are removed."""
    return Samples(np.rint(moments.once(_disk_pages, nodes.start, nodes.stop)).astype(np.int64) * (PAGE * 10), moments.at)


@signal("ephemeral_storage.utilization", Scope.NODE, decimals=12)
def ephemeral_storage_utilization(moments: Moments, nodes: slice) -> Samples:
    """The usage that is reported over the disk's size."""
    pages = moments.job.node_type.disk_gib * (1 << 30) // PAGE
    shares = np.rint(moments.once(_disk_pages, nodes.start, nodes.stop)) / pages
    return Samples(np.rint(shares * 1e12).astype(np.int64), moments.at)


def _wander(moments: Moments, first_node: int, stop_node: int) -> Reals:
    """Slow drifts of the nodes' CPU, then of their memory, shape (2·nodes, cells)."""
    nodes = slice(first_node, stop_node)
    cpu, memory = (moments.job.node_keys(series)[nodes] for series in ("cpu_usage/drift", "cpu_memory/drift"))
    return moments.drift(np.concatenate([cpu, memory]), 50)


def _disk_pages(moments: Moments, first_node: int, stop_node: int) -> Reals:
    """Pages of disk in use, shape (nodes, cells)."""
    job, doing = moments.job, moments.once(load)
    disk = job.node_type.disk_gib * (1 << 30) / PAGE
    base = disk * job.pick_nodes("disk/base", 0.09, 0.16)[first_node:stop_node]
    first = int(job.checkpoints.at(np.array([job.created_s])).number[0]) + 1
    kept = (doing.checkpoint - first) % 4 + doing.saved
    # Nothing of a checkpoint that began before the deployment's life lies on its disk.
    checkpoints = np.where(doing.checkpoint >= first, kept, 0.0) * (disk * job.pick("disk/checkpoint", 0.01, 0.02))
    logs = (moments.times_s - job.created_s) * (20_000 / PAGE)
    pages: Reals = base + np.maximum(checkpoints + logs, 0.0)
    return np.minimum(pages, disk)
