"""The workload of one run: a stream of pods and an order of nodes, from a trace and a seed.

The pods of the trace are shuffled; pods drawn from it are appended until their demand reaches the
wanted part of the cluster's GPUs, or pods are taken out if it is above. Nodes are put in a random
order, and rows of a `Workload` are in that order: among equal scores the lowest row wins.

upstream: draws are in the order of `Simulate` in `pkg/simulator/core.go` of
`hkust-adsl/kubernetes-scheduler-simulator`; the ten values that nobody uses are drawn by watches.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from podium.addons.gpu.cards.columns import Ints
from podium.addons.gpu.packing.node_columns import WHOLE, NodeColumns
from podium.addons.gpu.packing.typical_pods import TypicalPods
from podium.addons.gpu.study.traces import Nodes, Pods, Trace
from podium.addons.gpu.study.typical_pods import typical_pods
from podium.golang.math_rand import GoRandom

TUNED_RATIO = 1.3
SEEDS = tuple(range(42, 52))
_UNUSED_FIRST = 1
_UNUSED_BY_WATCHERS = 10


@dataclass(frozen=True)
class Workload:
    trace: Trace
    typical: TypicalPods
    stream: Ints
    """Rows of the trace's pods in the order of arrival."""
    node_order: Ints
    """Rows of the trace's nodes in the order in which ties are broken."""
    random: GoRandom
    """Continues where the workload's draws ended; runs draw from copies."""
    seed: int


def make_workload(trace: Trace, seed: int, ratio: float = TUNED_RATIO) -> Workload:
    random = GoRandom(seed)
    for _ in range(_UNUSED_FIRST):
        random.int63()
    stream = list(range(len(trace.pods.names)))
    random.shuffle(stream)
    tune(stream, trace.pods, ratio * trace.nodes.gpu_milli, random)
    for _ in range(_UNUSED_BY_WATCHERS):
        random.int63()
    place = random.permutation(len(trace.nodes.names))
    order = np.empty(len(place), np.int64)
    order[place] = np.arange(len(place))
    return Workload(
        trace,
        typical_pods(trace),
        np.array(stream, np.int64),
        order,
        random,
        seed,
    )


def tune(stream: list[int], pods: Pods, limit: float, random: GoRandom) -> None:
    """Append or remove pods until their demand for GPUs is at the limit."""
    demands = pods.demand_milli.tolist()
    milli = pods.gpu_milli.tolist()
    demand = sum(demands)
    if demand < limit and demand:
        while True:
            drawn = random.below(len(demands))
            # upstream: one device's milli decides, so that a pod with several may overshoot.
            if demand + milli[drawn] > limit:
                return
            stream.append(drawn)
            demand += demands[drawn]
    while demand > limit:
        demand -= demands[stream.pop(random.below(len(stream)))]


@lru_cache(maxsize=64)
def pod_shapes(trace: Trace) -> tuple[Ints, Ints]:
    """The different (CPU, milli, number of devices) of pods, and the shape of each pod."""
    pods = trace.pods
    columns = np.stack((pods.cpu_milli, pods.gpu_milli, pods.gpus), axis=1)
    shapes, shape_of = np.unique(columns, axis=0, return_inverse=True)
    return shapes, shape_of.reshape(-1)


@lru_cache(maxsize=64)
def model_masks(trace: Trace) -> Ints:
    """The models that each pod allows."""
    return np.array([trace.nodes.mask(spec) for spec in trace.pods.specs], np.int64)


def nodes_in_order(workload: Workload) -> Nodes:
    nodes, order = workload.trace.nodes, workload.node_order
    return Nodes(
        tuple(nodes.names[row] for row in order.tolist()),
        nodes.cpu_milli[order],
        nodes.memory_mib[order],
        nodes.gpus[order],
        nodes.model_bit[order],
        nodes.models,
    )


def empty_nodes(nodes: Nodes) -> NodeColumns:
    devices = np.arange(int(nodes.gpus.max()))
    return NodeColumns(
        nodes.cpu_milli.copy(),
        np.where(devices < nodes.gpus[:, None], WHOLE, 0),
        nodes.gpus,
        np.zeros_like(nodes.gpus),
        nodes.model_bit,
    )
