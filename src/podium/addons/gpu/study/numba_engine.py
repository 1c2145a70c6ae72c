"""One run as a compiled loop, by the rules of `numba_rules`.

Numba is an extra (`podium[study]`). Contract: the placements are those of `numpy_engine`, pod by
pod, and the fragmentation differs by rounding only. Scores are kept for each shape of a pod and
node with the node's number of changes, and made anew when a scan meets one that is out of date.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.packing.policies import POLICY_NUMBERS, RANDOM
from podium.addons.gpu.packing.typical_pods import TypicalPods, prices_of
from podium.addons.gpu.study.numba_rules import (
    below,
    choose_devices,
    feasible_row,
    fragmentation,
    look_at,
    put,
)
from podium.addons.gpu.study.numpy_engine import Placements
from podium.addons.gpu.study.workloads import (
    Workload,
    empty_nodes,
    model_masks,
    nodes_in_order,
    pod_shapes,
)


class _Typical(NamedTuple):
    cpu: Ints
    milli: Ints
    gpus: Ints
    mask: Ints
    frequency: Floats
    cpu_per_gpu: float
    needed_cpu_per_gpu: float
    largest_gpus: int


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


def place_compiled(workload: Workload, policy: str) -> Placements:
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


def _typical_columns(typical: TypicalPods) -> _Typical:
    return _Typical(
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
    node_fragments = np.empty(len(nodes.gpus))
    total = 0.0
    for row in range(len(nodes.gpus)):
        node_fragments[row] = fragmentation(
            nodes.cpu[row], nodes.left[row], nodes.model_bit[row], typical, True
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
                look_at(policy, nodes, candidate, shapes, shape, typical)
            score = shapes.scores[shape, candidate]
            feasible += score >= 0
            if score > best:
                best = score
                row = candidate
        if row >= 0:
            if policy == RANDOM:
                drawn, tap = below(random, tap, feasible)
                row = feasible_row(
                    nodes, shapes, shape, memory_of[position], mask_of[position], drawn
                )
            mask, tap = choose_devices(policy, nodes, row, shapes, shape, random, tap)
            put(nodes, row, shapes.pods[shape], mask)
            nodes.memory[row] -= memory_of[position]
            after = fragmentation(
                nodes.cpu[row], nodes.left[row], nodes.model_bit[row], typical, True
            )
            total += after - node_fragments[row]
            node_fragments[row] = after
            rows[position] = row
            devices[position] = mask
        fragments[position] = total
