"""The rules of `policies` and `fragmentation` for one node at a time, for numba to compile.

Arguments are columns: `nodes` of what is left on nodes, `shapes` of pods and what is remembered of
them by nodes, `typical` of typical pods (`numba_engine` has their names). A rule that is changed
here is changed there, and in `packing_kernel.cu`.
"""

import numpy as np
from numba import njit

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
    SCORE_THRESHOLDS,
)


@njit(cache=True)
def look_at(policy, nodes, row, shapes, shape, typical):
    """Score a node that changed since the shape met it; -1 where there is no room."""
    cpu, milli, gpus = shapes.pods[shape]
    left = nodes.left[row]
    shapes.seen[shape, row] = nodes.changes[row]
    shapes.devices[shape, row] = -1
    fitting = 0
    idle = 0
    for device in range(len(left)):
        fitting += left[device] >= milli
        idle += left[device]
    if nodes.cpu[row] < cpu or (gpus > 0 and fitting < gpus):
        score = -1
    elif policy == RANDOM:
        score = 0
    elif policy == DOT_PROD:
        aligned = nodes.cpu[row] / MAX_SPEC_CPU * (cpu / MAX_SPEC_CPU)
        aligned += idle / MAX_SPEC_GPU * (milli * gpus / MAX_SPEC_GPU)
        score = int(100 * (1 - aligned / 2))
    elif policy == GPU_CLUSTERING:
        score = _cluster(nodes.tags[row], idle, milli, gpus)
    elif policy == GPU_PACKING:
        score = _pack(left, nodes.gpus[row], milli, gpus)
    elif policy == BEST_FIT:
        over = (nodes.cpu[row] - cpu) / MAX_SPEC_CPU * 0.5
        over += (idle - milli * gpus) / MAX_SPEC_GPU * 0.5
        score = int((1 - over) * 100)
    else:
        score, device = _descend(policy, nodes, row, cpu, milli, gpus, typical)
        shapes.devices[shape, row] = device
    shapes.scores[shape, row] = score


@njit(cache=True)
def _tag(milli, gpus):
    if gpus == 0:
        return 0
    return 1 if milli < WHOLE else 1 << gpus


@njit(cache=True)
def _cluster(tags, idle, milli, gpus):
    if gpus == 0:
        return 0
    used = 25 * (MAX_SPEC_GPU - idle) // MAX_SPEC_GPU
    tag = _tag(milli, gpus)
    if tags == tag:
        return used + 75
    if tags & tag:
        return used + 50
    return used + 25 if tags == 0 else used


@njit(cache=True)
def _pack(left, node_gpus, milli, gpus):
    if gpus == 0:
        return 0
    if _untouched(left) == node_gpus:
        return max(33 - node_gpus, node_gpus)
    if milli == WHOLE:
        return max(50 - gpus, 33)
    fitting = left[_best_fitting_device(left, milli)]
    if fitting == WHOLE:
        return 49
    return max(100 - fitting * 100 // WHOLE // 10, 50)


@njit(cache=True)
def _descend(policy, nodes, row, cpu, milli, gpus, typical):
    """The highest score of all ways to place the pod, and the first device that reaches it."""
    left = nodes.left[row].copy()
    room = _untouched(left) >= typical.largest_gpus
    model_bit = nodes.model_bit[row]
    cpu_after = nodes.cpu[row] - cpu
    price = nodes.price[row]
    before = _measured(policy, nodes.cpu[row], left, model_bit, price, False, 0.0, typical)
    spare = max(0.0, nodes.cpu[row] - typical.cpu_per_gpu * left.sum())
    best = -1
    chosen = -1
    if gpus == 0 or milli == WHOLE:
        wanted = gpus
        for device in range(len(left)):
            if wanted > 0 and left[device] == WHOLE:
                left[device] = 0
                wanted -= 1
        after = _measured(policy, cpu_after, left, model_bit, price, room, spare, typical)
        return _sigmoid_score(before - after), chosen
    for device in range(len(left)):
        if left[device] < milli or _has_equal_before(left, device):
            continue
        left[device] -= milli
        after = _measured(policy, cpu_after, left, model_bit, price, room, spare, typical)
        left[device] += milli
        score = _sigmoid_score(before - after)
        if score > best:
            best = score
            chosen = device
    return best, chosen


@njit(cache=True)
def _measured(policy, cpu_left, left, model_bit, price, room, spare, typical):
    """What descent lowers; see `policies.fgd_stranded` about room and spare."""
    measured = fragmentation(cpu_left, left, model_bit, typical, policy != FGD_STRANDED)
    if policy == FGD_STRANDED:
        untouched = _untouched(left)
        takes_room = room and untouched < typical.largest_gpus
        idle = left.sum()
        beside = _stranded(cpu_left - (spare if takes_room else 0.0), left, typical)
        measured += beside + PARTLY_USED_WEIGHT * (idle - WHOLE * untouched) - price * idle
    return measured


@njit(cache=True)
def _stranded(cpu_left, left, typical):
    if typical.needed_cpu_per_gpu == 0.0:
        return 0.0
    return max(0.0, left.sum() - cpu_left / typical.needed_cpu_per_gpu)


@njit(cache=True)
def _untouched(left):
    untouched = 0
    for device in range(len(left)):
        untouched += left[device] == WHOLE
    return untouched


@njit(cache=True)
def _has_equal_before(left, device):
    equal = False
    for earlier in range(device):
        equal |= left[earlier] == left[device]
    return equal


@njit(cache=True)
def _sigmoid_score(fall_milli):
    """The number of thresholds that are reached, by halving."""
    fall = fall_milli / 1000
    low = 0
    high = len(SCORE_THRESHOLDS)
    while low < high:
        middle = (low + high) // 2
        if SCORE_THRESHOLDS[middle] <= fall:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def fragmentation(cpu_left, left, model_bit, typical, without_access):
    """F(n), summed for each class of outcome and then over classes, as `fragmentation` says."""
    idle = 0
    for device in range(len(left)):
        idle += left[device]
    if idle == 0:
        return 0.0
    lack_both = lack_gpu = lack_cpu = served = unserved = no_access = 0.0
    for pod in range(len(typical.cpu)):
        cpu_fits = cpu_left >= typical.cpu[pod]
        stranded = typical.frequency[pod] * idle
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
        for device in range(len(left)):
            if left[device] >= milli:
                large_enough += 1
            else:
                pieces += left[device]
        if large_enough >= typical.gpus[pod]:
            if cpu_fits:
                lack_gpu += typical.frequency[pod] * pieces
            else:
                lack_cpu += stranded
        elif cpu_fits:
            lack_gpu += stranded
        else:
            lack_both += stranded
    total = lack_both + lack_gpu + lack_cpu + served + unserved
    return total + no_access if without_access else total


@njit(cache=True)
def choose_devices(policy, nodes, row, shapes, shape, random, tap):
    """The devices that a pod gets, as a mask."""
    _cpu, milli, gpus = shapes.pods[shape]
    left = nodes.left[row]
    mask = 0
    if gpus == 0 or milli == WHOLE:
        for device in range(len(left)):
            if gpus > 0 and left[device] == WHOLE:
                mask |= 1 << device
                gpus -= 1
        return mask, tap
    if policy == RANDOM:
        fitting = 0
        for device in range(len(left)):
            fitting += left[device] >= milli
        drawn, tap = below(random, tap, fitting)
        for device in range(len(left)):
            if left[device] >= milli:
                if drawn == 0:
                    return 1 << device, tap
                drawn -= 1
    device = shapes.devices[shape, row]
    if device < 0:
        device = _best_fitting_device(left, milli)
    return 1 << device, tap


@njit(cache=True)
def _best_fitting_device(left, milli):
    best = -1
    for device in range(len(left)):
        if left[device] >= milli and (best < 0 or left[device] < left[best]):
            best = device
    return best


@njit(cache=True)
def feasible_row(nodes, shapes, shape, memory, mask, number):
    """The row of the feasible node with a number."""
    for row in range(len(nodes.gpus)):
        if nodes.memory[row] < memory or nodes.model_bit[row] & mask == 0:
            continue
        if shapes.scores[shape, row] >= 0:
            if number == 0:
                return row
            number -= 1
    return -1


@njit(cache=True)
def put(nodes, row, pod, mask):
    cpu, milli, gpus = pod
    nodes.cpu[row] -= cpu
    nodes.tags[row] |= _tag(milli, gpus)
    nodes.changes[row] += 1
    for device in range(nodes.left.shape[1]):
        if mask >> device & 1:
            nodes.left[row, device] -= milli


@njit(cache=True)
def below(random, tap, bound):
    """`GoRandom.below`: a number below the bound, and where the generator stands then."""
    highest = 2**31 - 1 - 2**31 % bound
    while True:
        tap = (tap if tap else 607) - 1
        feed = tap - 273 if tap >= 273 else tap + 334
        random[feed] += random[tap]
        drawn = np.int64(random[feed] >> np.uint64(32)) & (2**31 - 1)
        if bound & (bound - 1) == 0:
            return drawn & (bound - 1), tap
        if drawn <= highest:
            return drawn % bound, tap
