"""Score plugins that kube-scheduler has given up and that old configurations still name.

SelectorSpread spreads the pods of a service or controller over nodes and zones. It was the default
for pods without constraints of their own until PodTopologySpread's system constraints took its
place. A node's raw score is the number of its pods that the same services and controller select;
few are better, and where nodes have zones, the zone counts for two thirds
(`pkg/scheduler/framework/plugins/selectorspread/selector_spread.go` at v1.22).

Worked example: 3 pods on n1 and 1 on n2, both of which are in zones of their own: by node 0 and
66.7 points, by zone the same, so 0 and 66.

NodeResourceLimits: one point for a node on which a pod's limits could be used to the full. Policy
files called it `ResourceLimitsPriority`; it went after 1.18 and was meant to break ties, so a point
is all there is. A node gets it if it has as much CPU as the pod's CPU limit, or as much memory as
its memory limit; a limit that is not set counts for nothing. The limits are the sum over the
containers, or that of an init container if larger
(`pkg/scheduler/framework/plugins/noderesources/resource_limits.go` at v1.18).

Example: limits of 2 CPU and 8Gi, a node with 4 CPU and 4Gi: the CPU fits, so 1.

NodePreferAvoidPods: keep a controller's pods off nodes that ask for it in an annotation. A default
plugin until v1beta1, with a weight of 10000 so that it outweighs all others. A node gets 100
points, or none if its annotation names the ReplicationController or ReplicaSet that controls the
pod, by kind and uid. An annotation that is no JSON is ignored
(`pkg/scheduler/framework/plugins/nodepreferavoidpods/node_prefer_avoid_pods.go` at v1.22).

What the three score plugins for allocation had in common before NodeResourcesFit took them over.
They differ from today's strategies in being plugins of their own, each with its weight, and in that
a resource named twice counts once, with the last weight.

NodeResourcesLeastAllocated: prefer empty nodes, as a score plugin of its own. It was
LeastRequestedPriority in Policy files and a plugin until v1beta1; since then it is a strategy of
NodeResourcesFit. The formula is that of the strategy: of a node with 4 cpus, 1 of them to be taken,
75 points for cpu, averaged over the resources by weight.

NodeResourcesMostAllocated: prefer full nodes, as a score plugin of its own. It was
MostRequestedPriority in Policy files and a plugin until v1beta1; since then it is a strategy of
NodeResourcesFit. Of a node with 4 cpus, 1 of them to be taken, 25 points for cpu.

RequestedToCapacityRatio: score by a curve over utilization, as a score plugin of its own. It was a
custom priority in Policy files and a plugin until v1beta1; since then it is a strategy of
NodeResourcesFit, whose formula it shares.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec
import numpy as np

from podium.kubernetes.kinds.meta import OwnerReference, Quantity
from podium.kubernetes.kinds.pod import Container, Pod
from podium.kubernetes.rules.field_errors import required
from podium.kubernetes.rules.quantity import milli_value, value
from podium.scheduler.cluster.growth import Ints, Rows, count_of, indices
from podium.scheduler.cluster.nodes import CPU, MEMORY
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.config.plugin_args import ResourceSpec
from podium.scheduler.config.typed_args import (
    NodeResourcesLeastAllocatedArgs,
    NodeResourcesMostAllocatedArgs,
    RequestedToCapacityRatioArgs,
)
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.node_form import NodeScorePlugin, NodeView
from podium.scheduler.framework.points import Arguments, PreScorePlugin, ScorePlugin
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import SKIP, Status
from podium.scheduler.plugins.resources.allocation import (
    AllocationScorer,
    LeastAllocated,
    MostAllocated,
)
from podium.scheduler.plugins.resources.allocation import RequestedToCapacityRatioScorer as Curve
from podium.scheduler.plugins.resources.columns import ResourceColumns
from podium.scheduler.plugins.topology import OwnerSelectors

_ZONE_SHARE: Final = 2 / 3
_NODE_SHARE: Final = 1 - _ZONE_SHARE
_REGIONS: Final = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
_ZONES: Final = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")


class SelectorSpread(PreScorePlugin, ScorePlugin):
    name = "SelectorSpread"
    in_range = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        self._selectors = OwnerSelectors(handle.cluster.catalog)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        return SKIP if cycle.pod.pod.spec.topology_spread_constraints else None

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        selector = self._selectors.of(cycle.pod)
        if selector.empty or cycle.pod.pod.spec.topology_spread_constraints:
            return np.zeros(count_of(rows), dtype=np.int64)
        condition = (frozenset({cycle.pod.shape.namespace}), selector)
        counts = cycle.cluster.classes.counts(PodQuery((condition,), terminating=False))
        return counts[rows].copy()

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        if cycle.pod.pod.spec.topology_spread_constraints:
            return np.zeros_like(scores)
        zones = [_zone(cycle, int(row)) for row in indices(rows)]
        in_zone: dict[str, int] = {}
        for zone, raw in zip(zones, scores.tolist(), strict=True):
            if zone:
                in_zone[zone] = in_zone.get(zone, 0) + raw
        most, most_in_zone = int(scores.max(initial=0)), max(in_zone.values(), default=0)
        normalized = []
        for zone, raw in zip(zones, scores.tolist(), strict=True):
            points = _points(raw, most)
            if zone:
                points = points * _NODE_SHARE + _ZONE_SHARE * _points(in_zone[zone], most_in_zone)
            normalized.append(int(points))
        return np.array(normalized, dtype=np.int64)


def _points(pods: int, most: int) -> float:
    return MAX_SCORE * ((most - pods) / most) if most > 0 else float(MAX_SCORE)


def _zone(cycle: Cycle, row: int) -> str:
    labels = cycle.nodes.labels.labels_of(row)
    region = next((labels[key] for key in _REGIONS if labels.get(key)), "")
    zone = next((labels[key] for key in _ZONES if labels.get(key)), "")
    return f"{region}:\x00:{zone}" if region or zone else ""


_COMPARED: Final = ((CPU, "cpu", milli_value), (MEMORY, "memory", value))


class NodeResourceLimits(ScorePlugin):
    name = "NodeResourceLimits"
    in_range = True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        allocatable = cycle.nodes.allocatable
        fits = np.zeros_like(allocatable[CPU, rows], dtype=np.bool_)
        for index, resource, amount in _COMPARED:
            limit = _limit(cycle.pod.pod, resource, amount)
            if limit:
                fits |= limit <= allocatable[index, rows]
        return fits.astype(np.int64)


def _limit(pod: Pod, resource: str, amount: Callable[[Quantity], int]) -> int:
    def limits(containers: Iterable[Container] | None) -> list[int]:
        given = [c.resources.limits for c in containers or () if c.resources is not None]
        return [amount(found[resource]) for found in given if found and resource in found]

    return max(sum(limits(pod.spec.containers)), *limits(pod.spec.init_containers), 0)


ANNOTATION: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"
_CONTROLLERS: Final = ("ReplicationController", "ReplicaSet")


class NodePreferAvoidPods(NodeScorePlugin):
    name = "NodePreferAvoidPods"
    in_range = True

    def score_node(self, pod: Pod, node: NodeView) -> int:
        written = node.annotations.get(ANNOTATION)
        owner = _controller(pod) if written else None
        if written is None or owner is None:
            return MAX_SCORE
        return 0 if (owner.kind, owner.uid) in _find_avoided(written) else MAX_SCORE


def _controller(pod: Pod) -> OwnerReference | None:
    for owner in pod.metadata.owner_references or ():
        if owner.controller:
            return owner if owner.kind in _CONTROLLERS else None
    return None


def _find_avoided(written: str) -> set[tuple[str, str]]:
    """Kind and uid of every controller that the annotation names."""
    try:
        document = msgspec.json.decode(written)
    except (msgspec.DecodeError, RecursionError):
        return set()
    entries = document.get("preferAvoidPods") if isinstance(document, dict) else None
    found = set()
    for entry in entries if isinstance(entries, list) else ():
        signature = entry.get("podSignature") if isinstance(entry, dict) else None
        controller = signature.get("podController") if isinstance(signature, dict) else None
        if isinstance(controller, Mapping):
            found.add((str(controller.get("kind")), str(controller.get("uid"))))
    return found


class AllocationScorePlugin(ScorePlugin):
    in_range = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        last = {resource.name: resource.weight or 1 for resource in args.resources}
        resources = tuple(ResourceSpec(name, weight) for name, weight in last.items())
        self._scorer = self.scorer()
        self._columns = ResourceColumns(
            resources, handle.cluster.nodes, None, nonzero=True, gates=handle.gates
        )

    def scorer(self) -> AllocationScorer:
        raise NotImplementedError

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        requests = cycle.pod.shape.scoring_requests
        return self._columns.scores(cycle, rows, requests, self._scorer.score)


class NodeResourcesLeastAllocated(AllocationScorePlugin):
    name = "NodeResourcesLeastAllocated"
    Args = NodeResourcesLeastAllocatedArgs

    def scorer(self) -> AllocationScorer:
        return LeastAllocated()


class NodeResourcesMostAllocated(AllocationScorePlugin):
    name = "NodeResourcesMostAllocated"
    Args = NodeResourcesMostAllocatedArgs

    def scorer(self) -> AllocationScorer:
        return MostAllocated()


class RequestedToCapacityRatio(AllocationScorePlugin):
    name = "RequestedToCapacityRatio"
    Args = RequestedToCapacityRatioArgs

    def scorer(self) -> AllocationScorer:
        if not self.args.shape:
            raise ValueError(str(required("shape", "at least one point must be specified")))
        return Curve(self.args.shape)
