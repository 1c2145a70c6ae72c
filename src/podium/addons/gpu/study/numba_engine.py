"""One run as a compiled loop, by the rules of `packing_rules`.

Numba is an extra (`podium[study]`). Contract: the placements are those of `numpy_engine`, pod by
pod, and the fragmentation differs by rounding only. Scores are kept for each shape of a pod and
node with the node's number of changes, and made anew when a scan meets one that is out of date.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.packing.node_columns import WHOLE
from podium.addons.gpu.packing.policies import POLICY_NUMBERS, RANDOM, SCORE_THRESHOLDS
from podium.addons.gpu.packing.typical_pods import TypicalPods, prices_of
from podium.addons.gpu.study.numpy_engine import Placements
from podium.addons.gpu.study.packing_rules import (
    AskedShape,
    NodeLeft,
    TypicalColumns,
    count_fitting,
    devices_mask,
    find_fitting,
    fragmentation,
    score_node,
    tag_of,
)
from podium.addons.gpu.study.workloads import (
    StudyWorkload,
    empty_nodes,
    model_masks,
    nodes_in_order,
    pod_shapes,
)


class _Nodes(NamedTuple):
    cpu: Ints
    memory: Ints
    left: Ints
    gpus: Ints
    tags: Ints
    model_bit: Ints
    price: Floats
    changes: Ints


class _Shapes(NamedTuple):
    """Columns of `pods` are CPU, milli and number of devices; the others are shapes by nodes."""

    pods: Ints
    seen: Ints
    scores: npt.NDArray[np.int16]
    devices: npt.NDArray[np.int8]


def place_compiled(workload: StudyWorkload, policy: str) -> Placements:
    nodes = nodes_in_order(workload)
    start = empty_nodes(nodes)
    shapes, shape_of = pod_shapes(workload.trace)
    count, size = len(workload.stream), (len(shapes), len(nodes.names))
    rows, devices, fragments = (
        np.full(count, -1, np.int32),
        np.zeros(count, np.int32),
        np.empty(count),
    )
    pods, random = workload.trace.pods, workload.random
    _run(
        POLICY_NUMBERS[policy],
        _Nodes(
            start.cpu_left,
            nodes.memory_mib.copy(),
            start.left,
            start.gpus,
            start.tags,
            start.model_bit,
            prices_of(start.model_bit, workload.typical.model_prices),
            np.zeros(size[1], np.int64),
        ),
        _Shapes(
            shapes,
            np.full(size, -1, np.int64),
            np.empty(size, np.int16),
            np.empty(size, np.int8),
        ),
        _typical_columns(workload.typical),
        shape_of[workload.stream],
        pods.memory_mib[workload.stream],
        model_masks(workload.trace)[workload.stream],
        np.array(random.values, np.uint64),
        random.tap,
        rows,
        devices,
        fragments,
    )
    return Placements(rows, devices, fragments)


def _typical_columns(typical: TypicalPods) -> TypicalColumns:
    return TypicalColumns(
        len(typical.frequency),
        typical.cpu_milli,
        typical.gpu_milli,
        typical.gpus,
        typical.model_mask,
        typical.frequency,
        typical.cpu_per_gpu,
        typical.needed_cpu_per_gpu,
        typical.largest_gpus,
    )


@njit(cache=True)
def _look_at(policy, nodes, row, shapes, shape, typical, scratch):
    """Score a node that changed since the shape met it; -1 where there is no room."""
    cpu, milli, gpus = shapes.pods[shape]
    node = NodeLeft(
        nodes.cpu[row], nodes.gpus[row], nodes.tags[row], nodes.model_bit[row], nodes.price[row]
    )
    shapes.seen[shape, row] = nodes.changes[row]
    shapes.scores[shape, row] = score_node(
        policy,
        node,
        nodes.left[row],
        nodes.left.shape[1],
        AskedShape(cpu, milli, gpus),
        typical,
        SCORE_THRESHOLDS,
        scratch,
        shapes.devices[shape],
        row,
    )


@njit(cache=True)
def _choose_devices(policy, nodes, row, shapes, shape, random, tap):
    """The devices that a pod gets, as a mask."""
    _cpu, milli, gpus = shapes.pods[shape]
    left, devices = nodes.left[row], nodes.left.shape[1]
    device = int(shapes.devices[shape, row])
    if policy == RANDOM and gpus > 0 and milli < WHOLE:
        drawn, tap = _below(random, tap, count_fitting(left, devices, milli))
        device = find_fitting(left, devices, milli, drawn)
    return devices_mask(left, devices, milli, gpus, device), tap


@njit(cache=True)
def _feasible_row(nodes, shapes, shape, memory, mask, number):
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
def _put(nodes, row, pod, mask):
    cpu, milli, gpus = pod
    nodes.cpu[row] -= cpu
    nodes.tags[row] |= tag_of(milli, gpus)
    nodes.changes[row] += 1
    for device in range(nodes.left.shape[1]):
        if mask >> device & 1:
            nodes.left[row, device] -= milli


@njit(cache=True)
def _below(random, tap, bound):
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


@njit(cache=True)
def _run(
    policy,
    nodes,
    shapes,
    typical,
    shape_of,
    memory_of,
    mask_of,
    random,
    tap,
    rows,
    devices,
    fragments,
):
    devices_of_node = nodes.left.shape[1]
    scratch = np.empty(devices_of_node, np.int64)
    node_fragments = np.empty(len(nodes.gpus))
    total = 0.0
    for row in range(len(nodes.gpus)):
        node_fragments[row] = fragmentation(
            nodes.cpu[row], nodes.left[row], devices_of_node, nodes.model_bit[row], typical, 1
        )
        total += node_fragments[row]
    for position in range(len(shape_of)):
        shape = shape_of[position]
        row = -1
        best = -1
        feasible = 0
        for candidate in range(len(nodes.gpus)):
            if nodes.memory[candidate] < memory_of[position]:
                continue
            if nodes.model_bit[candidate] & mask_of[position] == 0:
                continue
            if shapes.seen[shape, candidate] != nodes.changes[candidate]:
                _look_at(policy, nodes, candidate, shapes, shape, typical, scratch)
            score = shapes.scores[shape, candidate]
            feasible += score >= 0
            if score > best:
                best = score
                row = candidate
        if row >= 0:
            if policy == RANDOM:
                drawn, tap = _below(random, tap, feasible)
                row = _feasible_row(
                    nodes, shapes, shape, memory_of[position], mask_of[position], drawn
                )
            mask, tap = _choose_devices(policy, nodes, row, shapes, shape, random, tap)
            _put(nodes, row, shapes.pods[shape], mask)
            nodes.memory[row] -= memory_of[position]
            after = fragmentation(
                nodes.cpu[row], nodes.left[row], devices_of_node, nodes.model_bit[row], typical, 1
            )
            total += after - node_fragments[row]
            node_fragments[row] = after
            rows[position] = row
            devices[position] = mask
        fragments[position] = total
