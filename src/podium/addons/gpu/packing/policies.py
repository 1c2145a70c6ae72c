"""The policies: small functions that score nodes for a pod, larger is better.

A policy is a function of node columns, a pod and the typical pods. It answers for the rows that it
is given, one whole number a row, from that row alone: answers are remembered until the row changes.
Beside the scores it may name, for a pod with a share of a device, the device on each row; without
that the share goes to the fitting device with the least left.

Formulas and constants are those of the study that docs/study.md names, where the largest node has
128 cores and 8 devices. Source: `pkg/simulator/plugin` in
`hkust-adsl/kubernetes-scheduler-simulator`, a file for each policy (`fgd_score.go`).

Worked example: a node with 64 of 128 cores and 4 devices left, a pod of 8 cores and one device.
DotProd gives 100 * (1 - (0.5 * 0.0625 + 0.5 * 0.125) / 2) = 95, BestFit
100 * (1 - (0.4375 + 0.375) / 2) = 59, and FGD 100 / (1 + e^-1) = 73 where F(n) falls by 1000.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.packing.fragmentation import node_fragmentation
from podium.addons.gpu.packing.node_columns import WHOLE, NodeColumns, Pod
from podium.addons.gpu.packing.typical_pods import TypicalPods, prices_of

MAX_SPEC_CPU: Final = 128_000
MAX_SPEC_GPU: Final = 8_000
SCORES: Final = 100
"""The highest score of FGD."""
PARTLY_USED_WEIGHT: Final = 0.1
"""What idle GPU on devices that are partly used counts beside fragmentation."""


class Scored(NamedTuple):
    scores: Ints
    devices: Ints | None = None
    """The device for a share on each row."""


Policy = Callable[[NodeColumns, Pod, TypicalPods], Scored]


def random(nodes: NodeColumns, _pod: Pod, _typical: TypicalPods) -> Scored:
    """All nodes are equal; the engine draws one, and a device, where it meets this policy."""
    return Scored(np.zeros_like(nodes.gpus))


def dot_prod(nodes: NodeColumns, pod: Pod, _typical: TypicalPods) -> Scored:
    """Small alignment of what is left with what is asked for wins."""
    cpu = nodes.cpu_left / MAX_SPEC_CPU * (pod.cpu_milli / MAX_SPEC_CPU)
    gpu = nodes.idle / MAX_SPEC_GPU * (pod.demand_milli / MAX_SPEC_GPU)
    return Scored(_truncate(100 * (1 - (cpu + gpu) / 2)))


def gpu_clustering(nodes: NodeColumns, pod: Pod, _typical: TypicalPods) -> Scored:
    """Pods of one kind stay together: nodes with that kind alone, with others too, empty ones."""
    if not pod.gpus:
        return Scored(np.zeros_like(nodes.gpus))
    used = 25 * (MAX_SPEC_GPU - nodes.idle) // MAX_SPEC_GPU
    alone, among_others = nodes.tags == pod.tag, (nodes.tags & pod.tag) != 0
    bonus = np.select([alone, among_others, nodes.tags == 0], [75, 50, 25], 0)
    return Scored(used + bonus)


def gpu_packing(nodes: NodeColumns, pod: Pod, _typical: TypicalPods) -> Scored:
    """Used devices before untouched ones, used nodes before untouched ones."""
    if not pod.gpus:
        return Scored(np.zeros_like(nodes.gpus))
    fitting = np.where(nodes.left >= pod.gpu_milli, nodes.left, WHOLE + 1)
    would_use = np.sort(fitting, axis=1)[:, : pod.gpus]
    untouched = (would_use == WHOLE).sum(axis=1)
    on_used = 100 - (would_use * 100 // WHOLE).sum(axis=1) // 10
    empty = (nodes.left == WHOLE).sum(axis=1) == nodes.gpus
    scores = np.where(untouched > 0, np.maximum(50 - untouched, 33), np.maximum(on_used, 50))
    return Scored(np.where(empty, np.maximum(33 - nodes.gpus, nodes.gpus), scores))


def best_fit(nodes: NodeColumns, pod: Pod, _typical: TypicalPods) -> Scored:
    """The least CPU and GPU left over wins. The published min-max scaling changes no winner."""
    cpu = (nodes.cpu_left - pod.cpu_milli) / MAX_SPEC_CPU * 0.5
    gpu = (nodes.idle - pod.demand_milli) / MAX_SPEC_GPU * 0.5
    return Scored(_truncate((1 - (cpu + gpu)) * 100))


def fgd(nodes: NodeColumns, pod: Pod, typical: TypicalPods) -> Scored:
    """Fragmentation gradient descent: what lowers a node's fragmentation most wins."""
    return _descend(nodes, pod, _hypotheses(nodes, pod), typical, None)


def fgd_stranded(nodes: NodeColumns, pod: Pod, typical: TypicalPods) -> Scored:
    """Descent of a sum: fragmentation, as seen by pods that have access to the node's model;
    stranded GPU, which is idle GPU beyond what the CPU that is left can serve; a part of what is
    idle on partly used devices; less the price of what is idle, if pods name its model.

    A pod that takes the room of the largest pods from a node pays as if the node had no CPU to
    spare. Otherwise small pods with much CPU would open the nodes that large pods need.
    """
    tried = _hypotheses(nodes, pod)
    ratio = typical.needed_cpu_per_gpu
    prices = prices_of(nodes.model_bit, typical.model_prices)
    before = stranded_milli(nodes.cpu_left, nodes.idle, ratio)
    before = before + PARTLY_USED_WEIGHT * partly_used_milli(nodes.left) - prices * nodes.idle
    rows = tried.rows
    room = (nodes.left == WHOLE).sum(axis=1)[rows] >= typical.largest_gpus
    takes_room = room & ((tried.left == WHOLE).sum(axis=1) < typical.largest_gpus)
    spare = np.maximum(0.0, nodes.cpu_left - typical.cpu_per_gpu * nodes.idle)[rows]
    cpu_left = nodes.cpu_left[rows] - pod.cpu_milli
    counted = cpu_left - np.where(takes_room, spare, 0.0)
    idle = tried.left.sum(axis=1)
    after = stranded_milli(counted, idle, ratio)
    after = after + PARTLY_USED_WEIGHT * partly_used_milli(tried.left) - prices[rows] * idle
    return _descend(nodes, pod, tried, typical, (before, after))


def stranded_milli(cpu_left: Ints | Floats, idle: Ints, cpu_per_gpu: float) -> Floats:
    """Idle GPU that the CPU left on a node cannot serve."""
    if not cpu_per_gpu:
        return np.zeros(len(idle))
    stranded: Floats = np.maximum(0.0, idle - cpu_left / cpu_per_gpu)
    return stranded


def partly_used_milli(left: Ints) -> Ints:
    """What is idle on devices that are neither untouched nor full."""
    partly_used: Ints = np.where(left < WHOLE, left, 0).sum(axis=1)
    return partly_used


class _Hypotheses(NamedTuple):
    """One for each way to place a pod on the rows that are scored."""

    rows: Ints
    devices: Ints
    left: Ints
    """What would be left on devices."""


def _descend(
    nodes: NodeColumns,
    pod: Pod,
    tried: _Hypotheses,
    typical: TypicalPods,
    beside: tuple[Floats, Floats] | None,
) -> Scored:
    """Score the fall of fragmentation from rows to hypotheses. What counts beside it may be given
    for both; then pods without access to a model are left out of fragmentation."""
    rows, devices, left = tried
    measured = node_fragmentation(
        np.concatenate((nodes.cpu_left, nodes.cpu_left[rows] - pod.cpu_milli)),
        np.concatenate((nodes.left, left)),
        np.concatenate((nodes.model_bit, nodes.model_bit[rows])),
        typical,
        without_access=beside is None,
    )
    before, after = measured[: len(nodes.gpus)], measured[len(nodes.gpus) :]
    if beside is not None:
        before, after = before + beside[0], after + beside[1]
    found = sigmoid_score((before[rows] - after) / 1000)
    # The highest score of a row, and of its devices the lowest-numbered one that reaches it.
    best = np.lexsort((devices, -found, rows))
    first = best[np.unique(rows[best], return_index=True)[1]]
    scores, chosen = np.zeros_like(nodes.gpus), np.zeros_like(nodes.gpus)
    scores[rows[first]] = found[first]
    chosen[rows[first]] = devices[first]
    return Scored(scores, chosen if pod.is_share else None)


def _hypotheses(nodes: NodeColumns, pod: Pod) -> _Hypotheses:
    """Whole devices are the first untouched ones; a share tries each device. Devices with equally
    much left stand for each other. Shares of several devices take those with the least left."""
    rows = np.arange(len(nodes.gpus))
    if pod.is_share and pod.gpus > 1:
        fitting = np.where(nodes.left >= pod.gpu_milli, nodes.left, WHOLE + 1)
        order = np.argsort(fitting, axis=1, kind="stable")[:, : pod.gpus]
        left = nodes.left.copy()
        taken = np.take_along_axis(left, order, axis=1) - pod.gpu_milli
        np.put_along_axis(left, order, np.maximum(taken, 0), axis=1)
        return _Hypotheses(rows, order[:, 0], left)
    if not pod.is_share:
        untouched = nodes.left == WHOLE
        taken = untouched & (untouched.cumsum(axis=1) <= pod.gpus)
        return _Hypotheses(rows, np.zeros_like(rows), np.where(taken, 0, nodes.left))
    tried = nodes.left >= pod.gpu_milli
    for device in range(1, nodes.left.shape[1]):
        equal = nodes.left[:, :device] == nodes.left[:, device : device + 1]
        tried[:, device] &= ~equal.any(axis=1)
    rows, devices = np.nonzero(tried)
    left = nodes.left[rows]
    left[np.arange(len(rows)), devices] -= pod.gpu_milli
    return _Hypotheses(rows, devices, left)


def sigmoid_score(fall: Floats) -> Ints:
    """`trunc(100 / (1 + e**-x))`, by the smallest x of each score: exponentials of different
    compilers and devices need not agree in the last bit."""
    return np.searchsorted(SCORE_THRESHOLDS, fall, side="right")


def _thresholds() -> Floats:
    """The smallest x that reaches each score from 1 to 100, found by halving."""
    wanted = np.arange(1, SCORES + 1)
    low, high = np.full(SCORES, -64.0), np.full(SCORES, 64.0)
    for _ in range(80):
        middle = (low + high) / 2
        reached = _truncate(100 * (1 / (1 + np.exp(-middle)))) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return high


def _truncate(values: Floats) -> Ints:
    return values.astype(np.int64)


SCORE_THRESHOLDS: Final = _thresholds()

POLICIES: Final[dict[str, Policy]] = {
    "Random": random,
    "DotProd": dot_prod,
    "GpuClustering": gpu_clustering,
    "GpuPacking": gpu_packing,
    "BestFit": best_fit,
    "FGD": fgd,
    "FGDStranded": fgd_stranded,
}

RANDOM, DOT_PROD, GPU_CLUSTERING, GPU_PACKING, BEST_FIT, FGD, FGD_STRANDED = range(7)

POLICY_NUMBERS: Final = {name: number for number, name in enumerate(POLICIES)}
"""By which compiled loops know them."""
