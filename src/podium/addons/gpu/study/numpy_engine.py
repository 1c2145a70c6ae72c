"""One run with numpy alone: pods of a workload are placed one after the other by a policy.

Scores are kept for each shape of a pod (CPU, milli, number of devices) and made anew for rows that
changed since that shape was last met. This is the plain form that compiled ones are held to, and
the one that runs policies of users.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.packing.fragmentation import node_fragmentation
from podium.addons.gpu.packing.node_columns import (
    ANY_MODEL,
    NodeColumns,
    Pod,
    best_fitting_device,
    whole_devices,
)
from podium.addons.gpu.packing.policies import Policy, random
from podium.addons.gpu.study.workloads import (
    StudyWorkload,
    empty_nodes,
    model_masks,
    nodes_in_order,
    pod_shapes,
)
from podium.golang.math_rand import GoRandom

NO_NODE = -1
_DOES_NOT_FIT = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True)
class Placements:
    """Where the pods of a stream went."""

    rows: npt.NDArray[np.int32]
    """Rows of nodes in the order of the run, -1 for pods that fit nowhere."""
    devices: npt.NDArray[np.int32]
    """Masks of devices."""
    fragments_milli: Floats
    """The cluster's fragmentation after each arrival."""


def place(workload: StudyWorkload, policy: Policy) -> Placements:
    nodes = nodes_in_order(workload)
    columns = empty_nodes(nodes)
    memory_left = nodes.memory_mib.copy()
    shapes, shape_of = pod_shapes(workload.trace)
    random_draws = workload.random.copy()
    remembered = [_Remembered(Pod(*shape), columns, policy, workload) for shape in shapes.tolist()]
    pods = workload.trace.pods
    masks = model_masks(workload.trace)
    changed: list[int] = []
    rows = np.full(len(workload.stream), NO_NODE, np.int32)
    devices = np.zeros(len(workload.stream), np.int32)
    for position, number in enumerate(workload.stream.tolist()):
        shape = remembered[shape_of[number]]
        memory = pods.memory_mib[number]
        feasible = shape.bring_up_to_date(changed) & (memory_left >= memory)
        if masks[number] != ANY_MODEL:
            feasible &= (columns.model_bit & masks[number]) != 0
        if not feasible.any():
            continue
        row = _choose_row(shape, feasible, random_draws)
        chosen = _choose_devices(shape, row, random_draws)
        columns.put(row, shape.pod, chosen)
        memory_left[row] -= memory
        changed.append(row)
        rows[position], devices[position] = row, chosen
    return Placements(rows, devices, fragments_after(workload, rows, devices))


class _Remembered:
    """What is known of each row for pods of one shape."""

    def __init__(
        self, pod: Pod, columns: NodeColumns, policy: Policy, workload: StudyWorkload
    ) -> None:
        self.pod = pod
        self.columns = columns
        self.policy = policy
        self.scores = np.empty(0, np.int64)
        self.devices = np.empty(0, np.int64)
        self._typical = workload.typical
        self._fits = np.empty(0, np.bool)
        self._seen = -1

    def bring_up_to_date(self, changed: list[int]) -> npt.NDArray[np.bool]:
        """Look at rows that changed since the last time; which rows have room for the pod."""
        if self._seen < 0:
            count = len(self.columns.gpus)
            self.scores = np.full(count, _DOES_NOT_FIT)
            self.devices = np.full(count, -1)
            self._fits = np.zeros(count, np.bool)
            self._look_at(np.arange(count))
        elif self._seen < len(changed):
            self._look_at(np.array(sorted(set(changed[self._seen :]))))
        self._seen = len(changed)
        return self._fits.copy()

    def _look_at(self, rows: Ints) -> None:
        some = self.columns.take(rows)
        fits = some.fits(self.pod)
        self._fits[rows] = fits
        room = rows[fits]
        if len(room):
            scored = self.policy(self.columns.take(room), self.pod, self._typical)
            self.scores[room] = scored.scores
            if scored.devices is not None:
                self.devices[room] = scored.devices


def _choose_row(shape: _Remembered, feasible: npt.NDArray[np.bool], draws: GoRandom) -> int:
    if shape.policy is random:
        candidates = np.flatnonzero(feasible)
        return int(candidates[draws.below(len(candidates))])
    return int(np.where(feasible, shape.scores, _DOES_NOT_FIT).argmax())


def _choose_devices(shape: _Remembered, row: int, draws: GoRandom) -> int:
    pod, left = shape.pod, shape.columns.left[row]
    if not pod.is_share:
        return whole_devices(left, pod.gpus) if pod.gpus else 0
    if shape.policy is random:
        candidates = np.flatnonzero(left >= pod.gpu_milli)
        return 1 << int(candidates[draws.below(len(candidates))])
    device = int(shape.devices[row])
    return 1 << (device if device >= 0 else best_fitting_device(left, pod.gpu_milli))


def fragments_after(
    workload: StudyWorkload, rows: npt.NDArray[np.int32], devices: npt.NDArray[np.int32]
) -> Floats:
    """The cluster's fragmentation after each arrival, from the placements: all states that nodes
    went through are worked out at once."""
    nodes = nodes_in_order(workload)
    start = empty_nodes(nodes)
    placed = np.flatnonzero(rows != NO_NODE)
    by_node = placed[np.argsort(rows[placed], kind="stable")]
    node = rows[by_node].astype(np.int64)
    pod = workload.stream[by_node]
    first = np.concatenate(([True], node[1:] != node[:-1])) if len(node) else np.empty(0, np.bool)
    bits = devices[by_node, None] >> np.arange(start.left.shape[1]) & 1
    pods = workload.trace.pods
    cpu_left = start.cpu_left[node] - _sums_within(pods.cpu_milli[pod], first)
    left = start.left[node] - _sums_within(bits * pods.gpu_milli[pod, None], first)
    typical = workload.typical
    at_start = node_fragmentation(start.cpu_left, start.left, start.model_bit, typical)
    after = node_fragmentation(cpu_left, left, start.model_bit[node], typical)
    before = np.where(first, at_start[node], np.roll(after, 1))
    change = np.zeros(len(rows))
    change[by_node] = after - before
    total: Floats = at_start.sum() + change.cumsum()
    return total


def _sums_within(values: Ints, first: npt.NDArray[np.bool]) -> Ints:
    """Running sums that start anew where a group's first row is."""
    sums = values.cumsum(axis=0)
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, len(first)))
    result: Ints = sums - np.repeat((sums - values)[starts], lengths, axis=0)
    return result
