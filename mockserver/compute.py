"""GPU, CPU, host memory and disk of each node. The targets R1–R10 are measured by the tests."""

import numpy as np
import numpy.typing as npt

from .faults import active
from .job import Moments, Samples, Scope
from .load import Mask, load, presence
from .noise import Integers
from .signal import Form, signal
from .streams import drifting, every_span, every_tick, slow, tick_bits

MIB = 1 << 20
FULL = 0.988
"""Share of the GPU's memory in use when it runs out."""
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
_RESTING = np.zeros(256, dtype=np.int16)
_BELOW = np.concatenate([_BUSY, _DIPPING, _RESTING])


def _present(moments: Moments, nodes: slice, what: str) -> Mask | None:
    """Which points of some nodes exist, where not all do."""
    found = moments.once(presence)
    if found is None:
        return None
    mask: Mask = getattr(found, what)[nodes]
    return mask


def _job_percent(moments: Moments, nodes: slice) -> npt.NDArray[np.int16]:
    """Utilization before a rank's own noise, percent; its shape broadcasts to (nodes, ranks, cells)."""
    percent = np.rint(moments.once(load).busy * 100.0).astype(np.int16)
    slow = [fault for fault in moments.job.scenario.faults if fault.kind == "slow-data"]
    if not slow:
        return percent
    each = np.tile(percent, (nodes.stop - nodes.start, len(moments.job.rank_names), 1))
    for fault in slow:
        of_nodes = [
            node - nodes.start for node in fault.nodes or range(nodes.stop) if node in range(nodes.start, nodes.stop)
        ]
        of_ranks = list(fault.ranks or range(each.shape[1]))
        where = np.ix_(of_nodes, of_ranks, np.flatnonzero(active(moments, fault)).tolist())
        each[where] = np.rint(each[where] * fault.busy)
    return each


@signal("gpu_utilization", Scope.RANK, Form.PERCENT, lambda job: 100)
def gpu_utilization(moments: Moments, nodes: slice) -> Samples:
    """Percent, as GPU_UTIL reports it. One hash feeds the eight ranks of a node, a byte each."""
    job_percent = _job_percent(moments, nodes)
    row_of_table = np.where(job_percent < 100, np.int16(256), np.int16(0))
    row_of_table[job_percent == 0] = 512
    bits = moments.once(tick_bits, nodes.start, nodes.stop)[RANKS]
    octets = bits.astype("<u8", copy=False).view(np.uint8).reshape(*bits.shape, 8)
    # Ranks before cells, so that each rank's row lies in one piece.
    octets = octets.transpose(0, 2, 1)[:, : len(moments.job.rank_names)]
    percent = job_percent - _BELOW.take(octets + row_of_table)
    np.maximum(percent, 0, out=percent)
    rows = percent.reshape(-1, len(moments.ticks))
    return Samples(rows, moments.at, present=_present(moments, nodes, "gpu_utilization"))


@signal("gpu_memory_usage_bytes", Scope.RANK, Form.BYTES, lambda job: job.node_type.gpu_memory_mib * MIB * 10)
def gpu_memory_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """A plateau in whole MiB that seldom moves."""
    job, doing, ranks = moments.job, moments.once(load), len(moments.job.rank_names)
    own = job.pick_ranks("gpu_memory/own", 0.0, 0.012)[nodes.start * ranks : nodes.stop * ranks]
    plateau = job.pick("gpu_memory/plateau", 0.66, 0.88) + own
    spans = moments.once(slow, nodes.start, nodes.stop)
    bits = spans.bits[GPU_CACHE]
    # In one span of four the cache has grown a little, by up to 0.4 % of the GPU.
    grown = np.where(bits & np.uint64(3) == 0, (bits >> np.uint64(40)) * (0.004 * 2.0**-24), 0.0)
    share = plateau + grown
    at: Integers | None = spans.at
    present: Mask | None = None
    if moments.once(presence) is not None:  # cell by cell, for it fills, climbs, leaks or has gaps
        share, at = share.take(spans.of_cells, axis=1) * doing.gpu_loaded + doing.gpu_memory, moments.at
        share = np.minimum(share + (FULL - share) * doing.gpu_peak, 1.0)
        present = _present(moments, nodes, "gpu_memory")
    mib = np.floor(share * job.node_type.gpu_memory_mib).astype(np.int64)
    return Samples(mib * (MIB * 10), at, present=present)


@signal("cpu_usage", Scope.NODE, Form.CORES, lambda job: job.node_type.millicpu_limit * 10)
def cpu_usage(moments: Moments, nodes: slice) -> Samples:
    """Cores: data loading and launches follow the job, a checkpoint adds its writers."""
    job, doing = moments.job, moments.once(load)
    base = 2.3 * job.node_type.gpu_count * job.pick_nodes("cpu/size", 0.85, 1.2)[nodes]
    follows = (0.72 + 0.28 * doing.busy + 0.35 * (doing.saved < 1.0)) * doing.cpu
    jitter = moments.once(tick_bits, nodes.start, nodes.stop)[CPU_JITTER] >> np.uint64(44)
    wander = moments.once(slow, nodes.start, nodes.stop).drifts[CPU_DRIFT]
    cores = (base * follows) * ((0.94 + 0.12 * 2.0**-20 * jitter) * (1.0 + 0.08 * wander))
    limit = job.node_type.millicpu_limit * 10
    values = np.minimum(np.rint(cores * 1e4), limit).astype(np.int64)
    return Samples(values, moments.at, present=_present(moments, nodes, "host"))


@signal("cpu_memory_usage_bytes", Scope.NODE, Form.BYTES, lambda job: job.node_type.memory_limit_mib * MIB * 10)
def cpu_memory_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """Host memory in whole pages, wandering slowly, or leaking."""
    job, doing = moments.job, moments.once(load)
    share = job.pick("cpu_memory/share", 0.09, 0.27) * job.pick_nodes("cpu_memory/own", 0.95, 1.05)[nodes]
    limit = job.node_type.memory_limit_mib * (MIB // PAGE)
    if isinstance(doing.host_memory, float):
        pages = (share * limit) * (1.0 + 0.06 * moments.once(slow, nodes.start, nodes.stop).drifts[MEMORY_DRIFT])
    else:  # a leak is all that moves
        pages = np.minimum((share + doing.host_memory) * limit, limit)
    values = np.rint(pages).astype(np.int64) * (PAGE * 10)
    return Samples(values, moments.at, present=_present(moments, nodes, "host"))


@signal("ephemeral_storage.usage_bytes", Scope.NODE, Form.BYTES, lambda job: job.node_type.disk_bytes * 10)
def ephemeral_storage_usage_bytes(moments: Moments, nodes: slice) -> Samples:
    """Image and data, logs that grow all life long, and up to four checkpoints before the old ones are removed."""
    millionth = moments.job.node_type.disk_bytes // 1_000_000
    values = moments.once(_disk_millionths, nodes.start, nodes.stop) * (millionth * 10)
    return Samples(values, moments.at, present=_present(moments, nodes, "host"))


@signal("ephemeral_storage.utilization", Scope.NODE, Form.SHARE, lambda job: 1_000_000)
def ephemeral_storage_utilization(moments: Moments, nodes: slice) -> Samples:
    """The usage over the disk's size: exactly, since usage comes in millionths of it."""
    values = moments.once(_disk_millionths, nodes.start, nodes.stop)
    return Samples(values, moments.at, present=_present(moments, nodes, "host"))


def _disk_millionths(moments: Moments, first_node: int, stop_node: int) -> Integers:
    """Use of the disk in millionths of its size, shape (nodes, cells)."""
    job, doing = moments.job, moments.once(load)
    base = job.pick_nodes("disk/base", 90_000, 160_000)[first_node:stop_node]
    if doing.disk is not None:
        return np.minimum(base * 0.1 + (doing.disk - 0.0125) * 1e6, 1e6).astype(np.int64)
    kept = (doing.checkpoint - job.first_checkpoint) % 4 + doing.saved
    kept[doing.checkpoint < job.first_checkpoint] = 0.0
    written = kept * job.pick("disk/checkpoint", 10_000, 20_000)
    written += (moments.times_s - job.created_s) * (20_000e6 / job.node_type.disk_bytes)
    return np.minimum(base + written, 1e6).astype(np.int64)
