"""GPU, CPU, host memory and disk of each node. The targets R1–R10 are measured by the tests."""

import numpy as np

from .job import Moments, Samples, Scope
from .load import load
from .noise import Integers
from .signal import Form, signal
from .streams import drifting, every_span, every_tick, slow, tick_bits

MIB = 1 << 20
PAGE = 4096

RANKS = every_tick("gpu_utilization", Scope.NODE)
CPU_JITTER = every_tick("cpu_usage", Scope.NODE)
CPU_DRIFT = drifting("cpu_usage", Scope.NODE)
MEMORY_DRIFT = drifting("cpu_memory", Scope.NODE)
# GPU memory is looked at again every ten minutes: the allocator's cache changes that seldom.
GPU_CACHE = every_span("gpu_memory", Scope.RANK)

# Percent points that a rank lies below the job, by one random byte: mostly nothing when busy, uneven in a dip.
_BUSY = np.repeat(np.array([0, 1, 2, 3], dtype=np.int16), [184, 48, 18, 6])
_DIPPING = (np.arange(256, dtype=np.int16) % 9) - 4
_BELOW = np.concatenate([_BUSY, _DIPPING])


@signal("gpu_utilization", Scope.RANK, Form.PERCENT, lambda job: 100)
def gpu_utilization(moments: Moments, nodes: slice) -> Samples:
    """Percent, as GPU_UTIL reports it. One hash feeds the eight ranks of a node, a byte each."""
    job_percent = np.rint(moments.once(load).busy * 100.0).astype(np.int16)
    row_of_table = np.where(job_percent < 100, np.int16(256), np.int16(0))
    bits = moments.once(tick_bits, nodes.start, nodes.stop)[RANKS]
    octets = bits.astype("<u8", copy=False).view(np.uint8).reshape(*bits.shape, 8)
    # Ranks before cells, so that each rank's row lies in one piece.
    octets = octets.transpose(0, 2, 1)[:, : len(moments.job.rank_names)]
    percent = job_percent - _BELOW.take(octets + row_of_table)
    np.maximum(percent, 0, out=percent)
    return Samples(percent.reshape(-1, len(moments.ticks)), moments.at)


@signal("gpu_memory_usage_bytes", Scope.RANK, Form.BYTES, lambda job: job.node_type.gpu_memory_mib * MIB * 10)
def gpu_memory_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """A plateau in whole MiB that seldom moves."""
    job, ranks = moments.job, len(moments.job.rank_names)
    own = job.pick_ranks("gpu_memory/own", 0.0, 0.012)[nodes.start * ranks : nodes.stop * ranks]
    plateau = job.pick("gpu_memory/plateau", 0.66, 0.88) + own
    spans = moments.once(slow, nodes.start, nodes.stop)
    bits = spans.bits[GPU_CACHE]
    # In one span of four the cache has grown a little, by up to 0.4 % of the GPU.
    grown = np.where(bits & np.uint64(3) == 0, (bits >> np.uint64(40)) * (0.004 * 2.0**-24), 0.0)
    mib = np.rint((plateau + grown) * job.node_type.gpu_memory_mib).astype(np.int64)
    return Samples(mib * (MIB * 10), spans.at)


@signal("cpu_usage", Scope.NODE, Form.CORES, lambda job: job.node_type.millicpu_limit * 10)
def cpu_usage(moments: Moments, nodes: slice) -> Samples:
    """Cores: data loading and launches follow the job, a checkpoint adds its writers."""
    job, doing = moments.job, moments.once(load)
    base = 2.3 * job.node_type.gpu_count * job.pick_nodes("cpu/size", 0.85, 1.2)[nodes]
    follows = 0.72 + 0.28 * doing.busy + 0.35 * (doing.saved < 1.0)
    jitter = moments.once(tick_bits, nodes.start, nodes.stop)[CPU_JITTER] >> np.uint64(44)
    wander = moments.once(slow, nodes.start, nodes.stop).drifts[CPU_DRIFT]
    cores = (base * follows) * ((0.94 + 0.12 * 2.0**-20 * jitter) * (1.0 + 0.08 * wander))
    limit = job.node_type.millicpu_limit * 10
    return Samples(np.minimum(np.rint(cores * 1e4), limit).astype(np.int64), moments.at)


@signal("cpu_memory_usage_bytes", Scope.NODE, Form.BYTES, lambda job: job.node_type.memory_limit_mib * MIB * 10)
def cpu_memory_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """Host memory in whole pages, wandering slowly."""
    job = moments.job
    share = job.pick("cpu_memory/share", 0.09, 0.27) * job.pick_nodes("cpu_memory/own", 0.95, 1.05)[nodes]
    wander = moments.once(slow, nodes.start, nodes.stop).drifts[MEMORY_DRIFT]
    pages = (share * (job.node_type.memory_limit_mib * (MIB // PAGE))) * (1.0 + 0.06 * wander)
    return Samples(np.rint(pages).astype(np.int64) * (PAGE * 10), moments.at)


@signal("ephemeral_storage.usage_bytes", Scope.NODE, Form.BYTES, lambda job: job.node_type.disk_bytes * 10)
def ephemeral_storage_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """Image and data, logs that grow all life long, and up to four checkpoints before the old ones are removed."""
    millionth = moments.job.node_type.disk_bytes // 1_000_000
    return Samples(moments.once(_disk_millionths, nodes.start, nodes.stop) * (millionth * 10), moments.at)


@signal("ephemeral_storage.utilization", Scope.NODE, Form.SHARE, lambda job: 1_000_000)
def ephemeral_storage_utilization(moments: Moments, nodes: slice) -> Samples:
    """The usage over the disk's size: exactly, since usage comes in millionths of it."""
    return Samples(moments.once(_disk_millionths, nodes.start, nodes.stop), moments.at)


def _disk_millionths(moments: Moments, first_node: int, stop_node: int) -> Integers:
    """Use of the disk in millionths of its size, shape (nodes, cells)."""
    job, doing = moments.job, moments.once(load)
    base = job.pick_nodes("disk/base", 90_000, 160_000)[first_node:stop_node]
    kept = (doing.checkpoint - job.first_checkpoint) % 4 + doing.saved
    kept[doing.checkpoint < job.first_checkpoint] = 0.0
    written = kept * job.pick("disk/checkpoint", 10_000, 20_000)
    written += (moments.times_s - job.created_s) * (20_000e6 / job.node_type.disk_bytes)
    return np.minimum(base + written, 1e6).astype(np.int64)
