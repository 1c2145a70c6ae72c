"""The rules of `policies` and `fragmentation` for one node at a time, written once for compilers.

Numba compiles them for the CPU as they stand; `cuda_source` writes them as C for a GPU. So they are
Python of few words: numbers, columns by index, tuples with names, `if`, `for` over a range, and
calls of one another. Parameters and results say their types, other names have that of what is
assigned first. `numpy_engine` with `policies` is the reference that tests hold both to.

`left` are thousandths left of a node's devices, of which the first `devices` count.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from podium.addons.gpu.cards.columns import Floats
from podium.addons.gpu.packing.node_columns import WHOLE
from podium.addons.gpu.packing.policies import (
    BEST_FIT,
    DOT_PROD,
    FGD_STRANDED,
    GPU_CLUSTERING,
    GPU_PACKING,
    MAX_SPEC_CPU,
    MAX_SPEC_GPU,
    PARTLY_USED_WEIGHT,
    RANDOM,
    SCORES,
)

# Types of columns, as `cuda_source` knows them: 32 bits a number on GPUs, 64 for sets of models.
# What a rule writes to is Out.
Bits = int
BitsColumn = npt.NDArray[np.int64]
Ints = npt.NDArray[np.integer[Any]]
OutInts = npt.NDArray[np.integer[Any]]
OutSmallInts = npt.NDArray[np.int8]


class TypicalColumns(NamedTuple):
    kinds: int
    """How many there are."""
    cpu: Ints
    milli: Ints
    gpus: Ints
    mask: BitsColumn
    frequency: Floats
    cpu_per_gpu: float
    needed_cpu_per_gpu: float
    largest_gpus: int


class NodeLeft(NamedTuple):
    """What a node has left beside its devices."""

    cpu: int
    gpus: int
    tags: int
    model_bit: Bits
    price: float


class AskedShape(NamedTuple):
    cpu: int
    milli: int
    gpus: int


@njit(cache=True)
def tag_of(milli: int, gpus: int) -> int:
    """A bit for pods of one kind, see `Pod.tag`."""
    if gpus == 0:
        return 0
    return 1 if milli < WHOLE else 1 << gpus


@njit(cache=True)
def idle_of(left: Ints, devices: int) -> int:
    idle = 0
    for device in range(devices):
        idle += left[device]
    return idle


@njit(cache=True)
def untouched_of(left: Ints, devices: int) -> int:
    untouched = 0
    for device in range(devices):
        untouched += left[device] == WHOLE
    return untouched


@njit(cache=True)
def count_fitting(left: Ints, devices: int, milli: int) -> int:
    fitting = 0
    for device in range(devices):
        fitting += left[device] >= milli
    return fitting


@njit(cache=True)
def find_fitting(left: Ints, devices: int, milli: int, number: int) -> int:
    """The device with a number among those that have enough left."""
    for device in range(devices):
        if left[device] >= milli:
            if number == 0:
                return device
            number -= 1
    return -1


@njit(cache=True)
def best_fitting_device(left: Ints, devices: int, milli: int) -> int:
    best = -1
    for device in range(devices):
        if left[device] >= milli and (best < 0 or left[device] < left[best]):
            best = device
    return best


@njit(cache=True)
def devices_mask(left: Ints, devices: int, milli: int, gpus: int, device: int) -> int:
    """The devices that a pod gets; a share goes to `device`, if one is named."""
    mask = 0
    if gpus == 0 or milli == WHOLE:
        for each in range(devices):
            if gpus > 0 and left[each] == WHOLE:
                mask |= 1 << each
                gpus -= 1
        return mask
    if device < 0:
        device = best_fitting_device(left, devices, milli)
    return 1 << device


@njit(cache=True)
def fragmentation(
    cpu_left: int,
    left: Ints,
    devices: int,
    model_bit: Bits,
    typical: TypicalColumns,
    without_access: int,
) -> float:
    """F(n), summed for each class of outcome and then over classes, as `fragmentation` says."""
    idle = idle_of(left, devices)
    if idle == 0:
        return 0.0
    lack_both = lack_gpu = lack_cpu = served = unserved = no_access = 0.0
    for pod in range(typical.kinds):
        cpu_fits = cpu_left >= typical.cpu[pod]
        frequency = typical.frequency[pod]
        stranded = frequency * idle
        if typical.gpus[pod] == 0:
            if cpu_fits:
                served += stranded
            else:
                unserved += stranded
            continue
        if typical.mask[pod] & model_bit == 0:
            no_access += stranded
            continue
        milli = typical.milli[pod]
        large_enough = 0
        pieces = 0
        for device in range(devices):
            if left[device] >= milli:
                large_enough += 1
            else:
                pieces += left[device]
        if large_enough >= typical.gpus[pod]:
            if cpu_fits:
                lack_gpu += frequency * pieces
            else:
                lack_cpu += stranded
        elif cpu_fits:
            lack_gpu += stranded
        else:
            lack_both += stranded
    total = lack_both + lack_gpu + lack_cpu + served + unserved
    return total + no_access if without_access else total


@njit(cache=True)
def score_dot_prod(cpu_left: int, idle: int, asked: AskedShape) -> int:
    aligned = cpu_left / MAX_SPEC_CPU * (asked.cpu / MAX_SPEC_CPU)
    aligned += idle / MAX_SPEC_GPU * (asked.milli * asked.gpus / MAX_SPEC_GPU)
    return int(100 * (1 - aligned / 2))


@njit(cache=True)
def score_gpu_clustering(tags: int, idle: int, asked: AskedShape) -> int:
    if asked.gpus == 0:
        return 0
    used = 25 * (MAX_SPEC_GPU - idle) // MAX_SPEC_GPU
    tag = tag_of(asked.milli, asked.gpus)
    if tags == tag:
        return used + 75
    if tags & tag:
        return used + 50
    return used + 25 if tags == 0 else used


@njit(cache=True)
def score_gpu_packing(left: Ints, devices: int, node_gpus: int, asked: AskedShape) -> int:
    if asked.gpus == 0:
        return 0
    if untouched_of(left, devices) == node_gpus:
        return max(33 - node_gpus, node_gpus)
    if asked.milli == WHOLE:
        return max(50 - asked.gpus, 33)
    fitting = left[best_fitting_device(left, devices, asked.milli)]
    if fitting == WHOLE:
        return 49
    return max(100 - fitting * 100 // WHOLE // 10, 50)


@njit(cache=True)
def score_best_fit(cpu_left: int, idle: int, asked: AskedShape) -> int:
    over = (cpu_left - asked.cpu) / MAX_SPEC_CPU * 0.5
    over += (idle - asked.milli * asked.gpus) / MAX_SPEC_GPU * 0.5
    return int((1 - over) * 100)


@njit(cache=True)
def score_fall(fall_milli: float, thresholds: Floats) -> int:
    """The number of thresholds that are reached, by halving; see `policies.sigmoid_score`."""
    fall = fall_milli / 1000
    low = 0
    high = SCORES
    while low < high:
        middle = (low + high) // 2
        if thresholds[middle] <= fall:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def stranded_of(cpu_left: float, left: Ints, devices: int, typical: TypicalColumns) -> float:
    if typical.needed_cpu_per_gpu == 0.0:
        return 0.0
    return max(0.0, idle_of(left, devices) - cpu_left / typical.needed_cpu_per_gpu)


@njit(cache=True)
def measure_node(
    policy: int,
    cpu_left: int,
    left: Ints,
    devices: int,
    node: NodeLeft,
    room: int,
    spare: float,
    typical: TypicalColumns,
) -> float:
    """What descent lowers; see `policies.fgd_stranded` about room and spare."""
    without_access = int(policy != FGD_STRANDED)
    measured = fragmentation(cpu_left, left, devices, node.model_bit, typical, without_access)
    if policy != FGD_STRANDED:
        return measured
    untouched = untouched_of(left, devices)
    idle = idle_of(left, devices)
    takes_room = room > 0 and untouched < typical.largest_gpus
    beside = stranded_of(cpu_left - (spare if takes_room else 0.0), left, devices, typical)
    measured += beside + PARTLY_USED_WEIGHT * (idle - WHOLE * untouched) - node.price * idle
    return measured


@njit(cache=True)
def has_equal_before(left: Ints, device: int) -> int:
    equal = 0
    for earlier in range(device):
        equal |= left[earlier] == left[device]
    return equal


@njit(cache=True)
def score_descent(
    policy: int,
    node: NodeLeft,
    left: Ints,
    devices: int,
    asked: AskedShape,
    typical: TypicalColumns,
    thresholds: Floats,
    scratch: OutInts,
    chosen: OutSmallInts,
    at: int,
) -> int:
    """The highest score of all ways to place the pod; `chosen` gets, at its place, the first device
    that reaches it. `scratch` has room for the devices of a node."""
    for device in range(devices):
        scratch[device] = left[device]
    room = int(untouched_of(scratch, devices) >= typical.largest_gpus)
    cpu_after = node.cpu - asked.cpu
    before = measure_node(policy, node.cpu, scratch, devices, node, 0, 0.0, typical)
    spare = max(0.0, node.cpu - typical.cpu_per_gpu * idle_of(scratch, devices))
    if asked.gpus == 0 or asked.milli == WHOLE:
        wanted = asked.gpus
        for device in range(devices):
            if wanted > 0 and scratch[device] == WHOLE:
                scratch[device] = 0
                wanted -= 1
        after = measure_node(policy, cpu_after, scratch, devices, node, room, spare, typical)
        return score_fall(before - after, thresholds)
    best = -1
    for device in range(devices):
        if scratch[device] < asked.milli or has_equal_before(scratch, device):
            continue
        scratch[device] -= asked.milli
        after = measure_node(policy, cpu_after, scratch, devices, node, room, spare, typical)
        scratch[device] += asked.milli
        score = score_fall(before - after, thresholds)
        if score > best:
            best = score
            chosen[at] = device
    return best


@njit(cache=True)
def score_node(
    policy: int,
    node: NodeLeft,
    left: Ints,
    devices: int,
    asked: AskedShape,
    typical: TypicalColumns,
    thresholds: Floats,
    scratch: OutInts,
    chosen: OutSmallInts,
    at: int,
) -> int:
    """The score of a policy, -1 where there is no room; `chosen` gets the device for a share, or -1
    if the policy leaves that open."""
    chosen[at] = -1
    idle = idle_of(left, devices)
    if node.cpu < asked.cpu:
        return -1
    if asked.gpus > 0 and count_fitting(left, devices, asked.milli) < asked.gpus:
        return -1
    if policy == RANDOM:
        return 0
    if policy == DOT_PROD:
        return score_dot_prod(node.cpu, idle, asked)
    if policy == GPU_CLUSTERING:
        return score_gpu_clustering(node.tags, idle, asked)
    if policy == GPU_PACKING:
        return score_gpu_packing(left, devices, node.gpus, asked)
    if policy == BEST_FIT:
        return score_best_fit(node.cpu, idle, asked)
    return score_descent(
        policy, node, left, devices, asked, typical, thresholds, scratch, chosen, at
    )
