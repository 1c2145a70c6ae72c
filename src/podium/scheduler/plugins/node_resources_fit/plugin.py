"""NodeResourcesFit: does the node have room, and how full would it be?

A pod fits where the number of pods is below the node's limit and every resource it requests is free
in sufficient amount. All shortages of a node are reported together; one that even the empty node
would have makes the node hopeless for preemption. Extended resources can be exempted by
configuration, and are left to DynamicResources on nodes without any where a device class serves
them (`pkg/scheduler/framework/plugins/noderesources/fit.go`). Scores are in
`resources/allocation.py`.

A pod that the plugin rejected waits for room: another pod leaves or shrinks, a node comes or grows,
or a device class starts to serve a resource that no node has. Each hint looks only at the object
that changed and never at the rest of the cluster
(`pkg/scheduler/framework/plugins/noderesources/fit.go`, `EventsToRegister`).

A placement of a pod group is scored by MostAllocated over all its nodes at once. Amounts are
added up over the placement's nodes and the proposed members, and the formula of
`resources/allocation.py` is applied once to the totals, whatever strategy nodes are scored by. A
scalar resource that no member asks for is left out, and so is a node without any of a resource, its
usage included (`pkg/scheduler/framework/plugins/noderesources/resource_allocation.go`).

Worked example: nodes of 4 cpu and 8Gi with 1 cpu and 1Gi taken, and of 8 cpu and 16Gi, empty; two
members of 2 cpu and 4Gi. 5000 of 12000 milli-cpu are 41 points, 9 of 24Gi are 37, which makes 39.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.devices import DeviceClass
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    allocatable_vector,
    is_extended,
    is_scalar,
    pod_requests,
    to_vector,
)
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.nodes import CPU as CPU_COLUMN
from podium.scheduler.cluster.nodes import MEMORY as MEMORY_COLUMN
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs, ResourceSpec
from podium.scheduler.framework.cycle import (
    Assignments,
    Cycle,
    PlacementRows,
    PodGroupCycle,
    StateMissing,
)
from podium.scheduler.framework.dependence import Demand, Dependence, PlacementLimits
from podium.scheduler.framework.diagnosis import Verdict, choosing
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding, Narrowing, NodeRequirement
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.framework.points import (
    FilterPlugin,
    PlacementScorePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import Status, unresolvable, unschedulable
from podium.scheduler.plugins.resources.allocation import scorer_for, stack_scorer_for
from podium.scheduler.plugins.resources.columns import Buffers, ResourceColumns
from podium.scheduler.plugins.resources.extended_resource_classes import (
    ExtendedResourceClasses,
    implicit_name,
)
from podium.scheduler.plugins.resources.stack import MAX_ROWS, lines_of, number_patterns

TOO_MANY_PODS = "Too many pods"
INSUFFICIENT = "Insufficient {}"
STATE_MISSING = 'error reading "PreFilterNodeResourcesFit" from cycleState: {}'

_NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE)
_MAX_BITS = 7
"""How many kinds of shortage fit into a byte, next to the bit for hopeless ones."""


class Demands(tuple[Demand, ...]):
    """PreFilter's state: what the pod needs, in the order in which shortages are told."""

    __slots__ = ()


class Shortage(NamedTuple):
    """Rows that lack something; `hopeless` are those that would even when empty."""

    reason: str
    mask: Mask
    hopeless: Mask | None


class NodeResourcesFit(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, PlacementScorePlugin
):
    name = "NodeResourcesFit"
    refusals_stand = True
    spares_new_nodes = True
    rejects_by_degree = True
    narrows = NodeRequirement.SIZE
    builds_on = MappingProxyType({"filter": "preFilter"})
    in_range = True

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        devices = handle.gates["DRAExtendedResource"]
        self._classes = ExtendedResourceClasses(handle.cluster.catalog) if devices else None
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        strategy = args.scoring_strategy
        self._scorer = scorer_for(strategy)
        self._of_stack = stack_scorer_for(strategy, self._scorer)
        self._columns = ResourceColumns(
            strategy.resources,
            handle.cluster.nodes,
            self._classes,
            nonzero=True,
            gates=handle.gates,
        )
        self._buffers = Buffers()
        self._hints = FitHints(handle, self._classes)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.node_resources_fit.explanations import find_shortages

        return find_shortages(view, among)

    def narrow_nodes(self, view: AttemptView) -> Narrowing:
        from podium.scheduler.plugins.node_resources_fit.explanations import narrow_by_size

        return narrow_by_size(view)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.node_resources_fit.explanations import (
            propose_other_names,
            propose_smaller_requests,
        )

        yield from propose_other_names(situation)
        yield from propose_smaller_requests(situation)

    def find_lacking(self, situation: Situation, node: str) -> dict[str, int]:
        from podium.scheduler.plugins.node_resources_fit.explanations import find_lacking

        return find_lacking(situation, node)

    def events(self) -> Sequence[Registration]:
        return self._hints.registrations()

    # filter

    def pre_filter(self, cycle: Cycle) -> Status | frozenset[str] | None:
        cycle.write(self.name, self._demands(cycle))
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        try:
            demands = cycle.read(self.name, Demands)
        except StateMissing as missing:
            raise StateMissing(STATE_MISSING.format(missing)) from missing
        if not isinstance(rows, slice) and _is_room_everywhere(cycle, rows, demands):
            return None
        shortages = self._shortages(cycle, rows, demands)
        if not shortages:
            return None
        if len(shortages) <= _MAX_BITS:
            return _verdict_by_bits(shortages, count_of(rows))
        return _verdict_by_pattern(shortages, count_of(rows))

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(
            cycle.pod.shape.requests_fragment, True, self._version(), of_objects=True, of_shape=True
        )

    def looks_at_sums(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def state_limits(self, cycle: Cycle) -> PlacementLimits:
        state = cycle.states.get(self.name)
        return PlacementLimits(requests=state if isinstance(state, Demands) else None)

    def filter_row(self, cycle: Cycle, row: int) -> Status | None:
        nodes, usage = cycle.nodes, cycle.usage
        usage.grow()
        reasons: list[str] = []
        hopeless = False
        allocatable_of, used_of, find = (
            nodes.allocatable.item,
            usage.requested.item,
            nodes.resources.find,
        )
        if usage.pod_count[row] >= nodes.allowed_pods[row]:
            reasons.append(TOO_MANY_PODS)
        for name, amount, delegable in cycle.read(self.name, Demands):
            index = find(name)
            allocatable = allocatable_of(index, row) if index >= 0 else 0
            if delegable and allocatable == 0:
                continue
            used = used_of(index, row) if index >= 0 else 0
            if amount > allocatable - used:
                reasons.append(INSUFFICIENT.format(name))
                hopeless |= amount > allocatable
        if not reasons:
            return None
        return unresolvable(*reasons) if hopeless else unschedulable(*reasons)

    def score_depends(self, cycle: Cycle) -> Dependence | None:
        if self._columns.from_devices(cycle.pod.shape.scoring_requests):
            return None
        return Dependence(
            cycle.pod.shape.requests_fragment, True, self._version(), of_objects=True, of_shape=True
        )

    def score_row(self, cycle: Cycle, row: int) -> int:
        requests = cycle.pod.shape.scoring_requests
        return self._columns.score_of_row(cycle, row, requests, self._scorer.score_row)

    def _version(self) -> int:
        return self.handle.cluster.catalog.version(DeviceClass)

    def _demands(self, cycle: Cycle) -> Demands:
        requests = cycle.pod.shape.requests
        native = [Demand(n, requests[n], False) for n in _NATIVE if requests.get(n, 0) > 0]
        if len(native) == len(requests):
            return Demands(native)
        scalars = sorted(n for n in requests.keys() - set(_NATIVE) if requests[n] > 0)
        return Demands(
            native
            + [
                Demand(name, requests[name], self._is_delegable(name))
                for name in scalars
                if not self._is_ignored(name)
            ]
        )

    def _is_ignored(self, name: str) -> bool:
        if not (self._ignored or self._ignored_groups) or not is_extended(name):
            return False
        return name in self._ignored or name.partition("/")[0] in self._ignored_groups

    def _is_delegable(self, name: str) -> bool:
        return self._classes is not None and self._classes.find(name) is not None

    def _shortages(self, cycle: Cycle, rows: Rows, demands: Demands) -> list[Shortage]:
        found = []
        crowded = cycle.usage.pod_count[rows] >= cycle.nodes.allowed_pods[rows]
        if crowded.any():
            found.append(Shortage(TOO_MANY_PODS, crowded, None))
        everywhere: Mask = np.ones(count_of(rows), dtype=np.bool_)
        for demand in demands:
            shortage = self._shortage(cycle, rows, demand, everywhere)
            if shortage is not None:
                found.append(shortage)
        return found

    def _shortage(
        self, cycle: Cycle, rows: Rows, demand: Demand, everywhere: Mask
    ) -> Shortage | None:
        index = cycle.nodes.resources.find(demand.resource)
        if index < 0:
            if demand.delegable:
                return None
            return Shortage(INSUFFICIENT.format(demand.resource), everywhere, everywhere)
        allocatable: Ints = cycle.nodes.allocatable[index][rows]
        free = self._buffers.ints("free", len(allocatable))
        np.subtract(allocatable, cycle.usage.requested_of(index)[rows], out=free)
        short = free < demand.amount
        if demand.delegable:
            short &= allocatable != 0
        if not short.any():
            return None
        hopeless = short & (allocatable < demand.amount)
        return Shortage(INSUFFICIENT.format(demand.resource), short, hopeless)

    # score

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        """Nothing to prepare; the plugin always scores."""
        return None

    def pre_score_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        requests = cycle.pod.shape.scoring_requests
        return self._columns.scores(cycle, rows, requests, self._scorer.score, self._of_stack)

    def score_placement(self, group: PodGroupCycle, assignments: Assignments) -> int:
        return placement_score(
            group.cluster,
            self._columns.resources,
            assignments.placement.rows,
            (member for member, _ in assignments.proposed),
        )


def _is_room_everywhere(cycle: Cycle, rows: npt.NDArray[np.intp], demands: Demands) -> bool:
    """A look at all resources at once, which for a few rows is quicker than one at each: false if
    some row may lack something."""
    nodes, usage = cycle.nodes, cycle.usage
    if len(rows) > MAX_ROWS:
        return False
    lines = lines_of([nodes.resources.find(demand.resource) for demand in demands])
    if lines is None or any(demand.delegable for demand in demands):
        return False
    usage.grow()
    free = nodes.allocatable[lines].take(rows, axis=1)
    free -= usage.requested[lines].take(rows, axis=1)
    wanted = np.array([[demand.amount] for demand in demands], dtype=np.int64)
    if np.count_nonzero(free < wanted):
        return False
    return not np.count_nonzero(usage.pod_count[rows] >= nodes.allowed_pods[rows])


def _verdict_by_bits(shortages: Sequence[Shortage], count: int) -> Verdict:
    """Bit 0 says unresolvable, bit k + 1 that shortage k is there."""
    bits = _hopeless(shortages, count).astype(np.uint8)
    for number, shortage in enumerate(shortages):
        bits += shortage.mask.view(np.uint8) * np.uint8(2 << number)
    reasons = [shortage.reason for shortage in shortages]

    def describe(value: int) -> Status:
        told = [reason for number, reason in enumerate(reasons) if value >> (number + 1) & 1]
        return unresolvable(*told) if value & 1 else unschedulable(*told)

    return Verdict(bits.astype(np.int32), describe)


def _verdict_by_pattern(shortages: Sequence[Shortage], count: int) -> Verdict | None:
    """The same for more shortages than a byte has bits. Those of all rows are in every pattern:
    of resources that no node has, a pod can ask for thousands."""
    everywhere = [i for i, shortage in enumerate(shortages) if shortage.mask.all()]
    partly = [i for i, shortage in enumerate(shortages) if not shortage.mask.all()]
    masks = [*(shortages[i].mask for i in partly), _hopeless(shortages, count)]
    numbers, patterns = number_patterns(masks)
    statuses = []
    for pattern in patterns:
        some = [partly[place] for place in pattern if place < len(partly)]
        reasons = [shortages[i].reason for i in sorted((*everywhere, *some))]
        is_hopeless = len(partly) in pattern
        statuses.append(unresolvable(*reasons) if is_hopeless else unschedulable(*reasons))
    rejected = np.array([bool(pattern or everywhere) for pattern in patterns], dtype=np.bool_)
    return choosing((numbers + 1) * rejected[numbers], statuses)


def _hopeless(shortages: Sequence[Shortage], count: int) -> Mask:
    """Where at least one of the shortages is one of the empty node too."""
    hopeless: Mask = np.zeros(count, dtype=np.bool_)
    for shortage in shortages:
        if shortage.hopeless is not None:
            hopeless |= shortage.hopeless
            if hopeless.all():
                break
    return hopeless


class FitHints:
    """`classes` is None while devices do not serve extended resources."""

    def __init__(self, handle: Handle, classes: ExtendedResourceClasses | None) -> None:
        self._infos = handle.cluster.infos
        self._classes = classes
        self._node_actions = handle.new_node_actions | Action.UPDATE_NODE_ALLOCATABLE
        # upstream: pod-level requests count here even while their gate is off
        self._rules = self._infos.rules._replace(pod_level=True)

    def registrations(self) -> Sequence[Registration]:
        pod_actions = Action.DELETE
        if self._rules.resizes:
            pod_actions |= Action.UPDATE_POD_SCALE_DOWN
        found = [
            Registration(Resource.POD, pod_actions, self.pod_hint),
            Registration(Resource.NODE, self._node_actions, self.node_hint),
        ]
        if self._classes is not None:
            found.append(
                Registration(
                    Resource.DEVICE_CLASS, Action.ADD | Action.UPDATE, self.device_class_hint
                )
            )
        return found

    def pod_hint(self, waiting: PodInfo, old: Pod | None, new: Pod | None) -> bool:
        """A pod left its node, or gave back some of what the waiting pod asks for."""
        if new is None:
            return old is None or bool(old.spec.node_name or old.status.nominated_node_name)
        if waiting.is_about(new) or old is None:
            return True
        if not new.spec.node_name:
            return False
        had, has = (
            self._accounted_requests(self._infos.of(old)),
            self._accounted_requests(self._infos.of(new)),
        )
        return any(
            amount and had.get(name, 0) > has.get(name, 0)
            for name, amount in self._accounted_requests(waiting).items()
        )

    def _accounted_requests(self, info: PodInfo) -> Mapping[str, int]:
        if self._rules == info.shape.rules:
            return info.shape.resized_requests
        return to_vector(pod_requests(info.pod, status_resources=True, rules=self._rules))

    def node_hint(self, waiting: PodInfo, old: Node | None, new: Node) -> bool:
        """The pod would fit on the empty node, and the node is new or has grown where it counts."""
        wanted = {name: n for name, n in waiting.shape.requests.items() if n > 0}
        has = allocatable_vector(new.status.allocatable)
        if not self._fits_when_empty(wanted, has):
            return False
        if old is None:
            return True
        had = allocatable_vector(old.status.allocatable)
        return has[PODS] > had[PODS] or any(
            has.get(name, 0) > had.get(name, 0) or self._is_delegated(name, has) for name in wanted
        )

    def device_class_hint(
        self, waiting: PodInfo, old: DeviceClass | None, new: DeviceClass
    ) -> bool:
        """A class serves a resource now that the pod asks for."""
        requests = waiting.shape.requests
        served = new.spec.extended_resource_name
        if old is None:
            return implicit_name(new) in requests or served in requests
        return served != old.spec.extended_resource_name and served in requests

    def _fits_when_empty(self, wanted: Mapping[str, int], has: Mapping[str, int]) -> bool:
        # upstream: resources that the configuration exempts are not exempted here.
        return has[PODS] > 0 and all(
            amount <= has.get(name, 0) or self._is_delegated(name, has)
            for name, amount in wanted.items()
        )

    def _is_delegated(self, name: str, has: Mapping[str, int]) -> bool:
        if has.get(name, 0) or self._classes is None:
            return False
        return self._classes.find(name) is not None


def placement_score(
    cluster: Cluster,
    resources: Sequence[ResourceSpec],
    rows: PlacementRows,
    members: Iterable[PodInfo],
) -> int:
    """0..100; members are not on the nodes at that time."""
    requests = [member.shape.scoring_requests for member in members]
    points = weights = 0
    for spec in resources:
        wanted = sum(request.get(spec.name, 0) for request in requests)
        if wanted == 0 and is_scalar(spec.name):
            continue
        allocatable, used = _totals(cluster, spec.name, rows)
        if allocatable:
            points += spec.weight * (min(used + wanted, allocatable) * MAX_SCORE // allocatable)
            weights += spec.weight
    return points // weights if weights else 0


def _totals(cluster: Cluster, resource: str, rows: PlacementRows) -> tuple[int, int]:
    """(allocatable, used) over the rows that have some of a resource."""
    index = cluster.nodes.resources.find(resource)
    if index < 0:
        return 0, 0
    allocatable = cluster.nodes.allocatable[index][rows]
    usage = cluster.usage
    column = (
        usage.nonzero[index] if index in (CPU_COLUMN, MEMORY_COLUMN) else usage.requested_of(index)
    )
    return int(allocatable.sum()), int(column[rows][allocatable != 0].sum())
