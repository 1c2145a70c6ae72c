"""DynamicResources: may this pod have its devices on this node, and which ones?

PreFilter finds the pod's claims (`preparation`); Filter asks which nodes can serve them
(`node_search`); Reserve holds the devices of the chosen node; PreBind writes them
(`claim_writing`); PostFilter gives an idle claim back that keeps the pod from every node. All
rejections are unresolvable, as evicting pods frees no devices, but for those where devices stand
for resources of their node (`node_allocatable`). Source:
`pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.
"""

from collections.abc import Hashable, Iterator, Sequence
from types import MappingProxyType

import numpy as np

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.catalog import (
    PodGroupMissing,
    PodGroupStateMissing,
    group_of,
    pod_group,
)
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.plugin_args import (
    MOST_ALLOCATED,
    DynamicResourcesArgs,
    waits_for_binding_conditions,
)
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import Diagnosis, Verdict
from podium.scheduler.framework.events import Registration
from podium.scheduler.framework.explanations.finding import Finding, Narrowing, NodeRequirement
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.handle import ApiHandle, Handle, ObjectConflict
from podium.scheduler.framework.plugin import ProposedChange, RefusalCause
from podium.scheduler.framework.points import (
    Arguments,
    FilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    PreFlight,
    ReservePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.scoring import default_normalize
from podium.scheduler.framework.status import SKIP, Code, Status, error
from podium.scheduler.plugins.dynamic_resources.attempt_state import ClaimsState, Reservation
from podium.scheduler.plugins.dynamic_resources.claim_state import (
    ClaimProblem,
    ClaimState,
    claims_of_group,
    is_idle_for,
    is_reserved_for,
)
from podium.scheduler.plugins.dynamic_resources.claim_writing import (
    ClaimWriteError,
    ClaimWriter,
    ClearClaimStatuses,
    Deallocate,
    DeleteClaim,
    ReleaseReservation,
)
from podium.scheduler.plugins.dynamic_resources.device_strategy import (
    MAX_POINTS,
    DevicePlaces,
    DeviceStrategy,
    NodePlaces,
)
from podium.scheduler.plugins.dynamic_resources.extended_resources import IN_MEMORY_NAME
from podium.scheduler.plugins.dynamic_resources.inventory import InventoryRules
from podium.scheduler.plugins.dynamic_resources.node_allocatable import NodeAllocatable
from podium.scheduler.plugins.dynamic_resources.node_search import (
    CLAIM_ELSEWHERE,
    BindingDeadline,
    DeviceSearch,
)
from podium.scheduler.plugins.dynamic_resources.outcome import claims_after_binding, recorded_claims
from podium.scheduler.plugins.dynamic_resources.picks import PickRules
from podium.scheduler.plugins.dynamic_resources.pools import Supply
from podium.scheduler.plugins.dynamic_resources.preparation import ClaimHints, Preparation
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses

DISABLED = "plugin disabled"
NO_CLAIMS = "no new claims to deallocate"
DEALLOCATED = "deallocation of ResourceClaim completed"
DELETED = "deletion of ResourceClaim completed"
UNRESERVED = "ResourceClaim unreserved for PodGroup"
STILL_NOT_SCHEDULABLE = "still not schedulable"
NOTHING_TO_WRITE, SOMETHING_TO_WRITE = PreFlight(SKIP, parallel=True), PreFlight(parallel=True)
NOTHING_FOUND = error("claim allocation not found for node")


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
):
    name = "DynamicResources"
    refusals_stand = True
    spares_new_nodes = True
    narrows = NodeRequirement.DEVICES
    builds_on = MappingProxyType(
        {
            "filter": "preFilter",
            "score": "preFilter",
            "reserve": "preFilter",
            "preBind": "preFilter",
        }
    )
    by_filtered_rows = True
    in_range = True
    normalizes_by_range = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        settings = args if isinstance(args, DynamicResourcesArgs) else DynamicResourcesArgs()
        gates, cluster = handle.gates, handle.cluster
        self._enabled = gates["DynamicResourceAllocation"]
        rules = PickRules(
            sharing=gates["DRAConsumableCapacity"],
            partitions=gates["DRAPartitionableDevices"],
            taints=gates["DRADeviceTaints"],
            binding_conditions=waits_for_binding_conditions(gates),
            lists=gates["DRAListTypeAttributes"],
        )
        filter_timeout = settings.filter_timeout
        binding_timeout = settings.binding_timeout if rules.binding_conditions else None
        self._binding_timeout_s = binding_timeout.seconds if binding_timeout is not None else None
        self._claims = ClaimState.of(cluster, sharing=rules.sharing)
        self._supply = Supply.of(cluster, InventoryRules.of(gates))
        classes = ExtendedResourceClasses(cluster.catalog)
        self._of_groups = gates["DRAWorkloadResourceClaims"]
        self._preparation = Preparation(
            self._claims, classes, self._find_class, gates, cluster.catalog
        )
        written = settings.scoring_strategy
        self._strategy: DeviceStrategy | None = None
        self._node_places: NodePlaces | None = None
        if written is not None:
            fullest_first = written.type == MOST_ALLOCATED if written.type else None
            places = DevicePlaces(written.locality)
            self._strategy = DeviceStrategy(fullest_first, places, self._claims.devices)
            self._node_places = NodePlaces(written.locality, cluster.nodes)
        self._search = DeviceSearch(
            cluster.nodes,
            self._supply,
            self._claims.devices,
            classes,
            self._find_class,
            gates,
            rules,
            filter_timeout.seconds if filter_timeout is not None else 0.0,
            self._strategy,
            NodeAllocatable(cluster.nodes, self._supply.inventory, cluster.infos.rules)
            if gates["DRANodeAllocatableResources"]
            else None,
            self._node_places,
        )
        self._writer = ClaimWriter(
            self._claims,
            handle.clock,
            of_groups=self._of_groups,
            stamped=rules.binding_conditions,
            binding_timeout_s=self._binding_timeout_s,
        )
        self._hints = ClaimHints(self._claims.find, of_groups=self._of_groups)

    def _find_class(self, name: str) -> DeviceClass | None:
        return self.handle.cluster.catalog.get(DeviceClass, name)

    def _deadline(self) -> BindingDeadline | None:
        if self._binding_timeout_s is None:
            return None
        return BindingDeadline(self._binding_timeout_s, self.handle.clock())

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        if not self._enabled or not pod.pod.spec.resource_claims:
            return None
        return self._preparation.problem(pod.pod)

    def pre_filter(self, cycle: Cycle) -> Status | None:
        # Until the claims are known to be usable, later points see a pod without any.
        cycle.write(self.name, ClaimsState())
        if not self._enabled:
            return SKIP
        state = self._preparation.prepare(cycle.pod.pod, self._pending_of_group(cycle))
        if isinstance(state, Status):
            return state
        if state.empty:
            return SKIP
        state.of_group = cycle.group is not None
        if state.allocates or state.shared:
            self._supply.refresh()
            self._claims.sync()
        cycle.write(self.name, state)
        return None

    def _pending_of_group(self, cycle: Cycle) -> set[str]:
        """UIDs of claims that got an allocation in this attempt of the pod's group."""
        if cycle.group is None:
            return set()
        found = cycle.group.states.setdefault(self.name, set())
        assert isinstance(found, set)
        return found

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return self.name in cycle.skip_filter

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        state = cycle.read(self.name, ClaimsState)
        state.filtered = True
        return None if state.empty else self._search.verdict(cycle, state, rows, self._deadline())

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        if not self._enabled:
            return _unschedulable(DISABLED)
        try:
            state = cycle.read(self.name, ClaimsState)
        except StateMissing as missing:
            return PostFilterResult(Code.ERROR, (str(missing),))
        if state.empty:
            return _unschedulable(NO_CLAIMS)
        for position in self._blocking_claims(state, diagnosis):
            claim = state.claims[position].claim
            if is_idle_for(claim, cycle.pod.pod):
                cycle.writes.append(Deallocate(claim))
                return _unschedulable(DEALLOCATED)
        extended = state.extended
        if extended is not None and extended.claim.metadata.name != IN_MEMORY_NAME:
            cycle.writes.append(DeleteClaim(extended.claim))
            return _unschedulable(DELETED)
        if self._of_groups:
            return self._unreserve_group(cycle)
        return _unschedulable(STILL_NOT_SCHEDULABLE)

    def _unreserve_group(self, cycle: Cycle) -> PostFilterResult:
        """Let go of a claim of the pod's group while no member is placed, for other devices."""
        pod, cluster = cycle.pod.pod, self.handle.cluster
        key = group_of(pod)
        if key is None or not key[1]:
            return _unschedulable(STILL_NOT_SCHEDULABLE)
        try:
            if cluster.pod_groups.get(key).scheduled_count:
                return _unschedulable(STILL_NOT_SCHEDULABLE)
            group = pod_group(cluster.catalog, key)
            for claim in claims_of_group(group, self._claims.find):
                if claim.status.allocation is not None and is_reserved_for(
                    claim, pod, of_groups=True
                ):
                    cycle.writes.append(ReleaseReservation(claim, group.metadata.uid))
                    return _unschedulable(UNRESERVED)
        except (PodGroupStateMissing, PodGroupMissing, ClaimProblem) as problem:
            return PostFilterResult(Code.ERROR, (str(problem),))
        return _unschedulable(STILL_NOT_SCHEDULABLE)

    def _blocking_claims(self, state: ClaimsState, diagnosis: Diagnosis) -> list[int]:
        """Positions of claims that some node was rejected for, those of the first nodes first.

        Filter looks at all nodes; those that another plugin had rejected before do not count.
        """
        # upstream: the choice is random, but the claim met first is by far the likeliest.
        statuses = diagnosis.statuses()
        rows = [
            row
            for row in self.handle.cluster.node_order().tolist()
            if (status := statuses.get(row)) is not None
            and status.plugin == self.name
            and status.reasons == CLAIM_ELSEWHERE.reasons
        ]
        return self._search.find_blocking_claims(
            state, np.array(rows, dtype=np.intp), self._deadline()
        )

    def score_depends(self, cycle: Cycle) -> Dependence | None:
        state = cycle.states.get(self.name)
        plain = isinstance(state, ClaimsState) and state.empty
        return Dependence(None, usage=False) if plain else None

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        state = cycle.read(self.name, ClaimsState)
        scored = self._strategy is not None or self.handle.gates["DRAPrioritizedList"]
        if not state.filtered or state.empty or not scored:
            return np.zeros(count_of(rows), dtype=np.int64)
        return self._search.scores(state, self._rows_of_workload(cycle), rows)

    def _rows_of_workload(self, cycle: Cycle) -> Ints:
        """Where others of the pod's group, or else of its controller, have devices."""
        rows: list[int] = []
        workload = _workload_of(cycle.pod.pod)
        if workload is not None and self._node_places is not None and self._node_places.weight:
            rows = [
                held.row
                for held in self.handle.cluster.placements.values()
                if held.info.pod.spec.resource_claims
                and _workload_of(held.info.pod) == workload
                and held.info.uid != cycle.pod.uid
            ]
        return np.array(rows, dtype=np.int64)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        if self._strategy is not None and (not len(scores) or scores.max() <= MAX_POINTS):
            return scores
        return default_normalize(scores)

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        state = cycle.read(self.name, ClaimsState)
        if state.empty or not (state.allocates or state.shared):
            return None
        row = cycle.nodes.row(node_name)
        found = self._search.allocations(state, row) if state.filtered else None
        # The state lives until the pod is bound; what was asked about other nodes need not.
        state.tasks, state.failures = {}, {}
        statuses = state.claim_statuses(row)
        state.footprints = {}
        if found is None and state.requests:
            return NOTHING_FOUND
        reservation = Reservation([], statuses=statuses)
        if found is not None:
            task, allocations = found
            claims = [requests.claim for requests in task.claims]
            reservation.held.extend(zip(claims, allocations, strict=True))
            if task.extended is not None:
                reservation.extended = task.extended.claim
                reservation.mappings = task.extended.mappings
        reservation.held.extend(state.shared)
        if not reservation.held:
            return None
        state.reservation = reservation
        for claim, allocation in reservation.held:
            self._claims.start(claim.metadata.uid, allocation)
        self._pending_of_group(cycle).update(claim.metadata.uid for claim, _ in reservation.held)
        return None

    def sets_nothing_aside(self, cycle: Cycle) -> bool:
        return self.name in cycle.skip_filter

    def unreserve(self, cycle: Cycle, node_name: str) -> None:  # noqa: ARG002
        state = cycle.states.get(self.name)
        if not isinstance(state, ClaimsState):
            return
        pod = cycle.pod.pod
        held = state.reservation or Reservation([])
        for own in state.claims:
            uid = own.claim.metadata.uid
            if self._claims.give_up(uid):
                self._claims.restore(own.claim)
                self._pending_of_group(cycle).discard(uid)
            latest = held.written.get(uid, own.claim)
            if latest.status.allocation is not None and is_reserved_for(latest, pod):
                cycle.writes.append(ReleaseReservation(latest, pod.metadata.uid))
        if held.extended is not None:
            self._claims.finish(held.extended.metadata.uid)
            created = held.written.get(held.extended.metadata.uid)
            if created is not None:
                self._claims.restore(created)
                cycle.writes.append(DeleteClaim(created))
        if held.statuses:
            cycle.writes.append(ClearClaimStatuses(pod))
        state.reservation = None

    def reserved(self, cycle: Cycle) -> JsonObject:
        """`claims`: the devices of the pod's claims, as recorded decisions have them."""
        state = cycle.states.get(self.name)
        claims = recorded_claims(state, cycle.pod) if isinstance(state, ClaimsState) else None
        return {"claims": claims} if claims else {}

    def claims_after_binding(self, cycle: Cycle) -> tuple[ResourceClaim, ...]:
        """The pod's claims as they are once PreBind has written them.

        For drivers that apply a binding at once instead of running PreBind. Nothing is changed
        here; putting the claims into the catalog ends what Reserve holds.
        """
        state = cycle.states.get(self.name)
        if not isinstance(state, ClaimsState):
            return ()
        now_s = self.handle.clock()
        return claims_after_binding(
            state, cycle.pod, self._claims.find, now_s, of_groups=self._of_groups
        )

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:  # noqa: ARG002
        state = cycle.read(self.name, ClaimsState)
        return NOTHING_TO_WRITE if state.empty else SOMETHING_TO_WRITE

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        state = cycle.read(self.name, ClaimsState)
        if state.empty:
            return None
        try:
            await self._writer.bind(cycle.pod, state, node_name, api)
        except (ClaimWriteError, ObjectConflict) as problem:
            return error(str(problem))
        return None

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.dynamic_resources.causes import find_devices

        return find_devices(view, among)

    def narrow_nodes(self, view: AttemptView) -> Narrowing:
        from podium.scheduler.plugins.dynamic_resources.causes import narrow_by_devices

        return narrow_by_devices(view)

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        from podium.scheduler.plugins.dynamic_resources.causes import explain_claims

        return explain_claims(self.handle.cluster, self.handle.gates, pod.pod)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.dynamic_resources.proposals import propose_other_devices

        return propose_other_devices(situation)

    def find_holders(self, situation: Situation) -> Iterator[tuple[str, ...]]:
        from podium.scheduler.plugins.dynamic_resources.proposals import find_holders

        return find_holders(situation)

    def events(self) -> Sequence[Registration]:
        return self._hints.registrations() if self._enabled else ()


def _workload_of(pod: Pod) -> Hashable:
    """What tells workloads apart; None for a pod on its own."""
    group = group_of(pod)
    if group is not None and group[1]:
        return group
    controller = pod.metadata.controller
    return controller.uid if controller is not None else None


def _unschedulable(reason: str) -> PostFilterResult:
    return PostFilterResult(Code.UNSCHEDULABLE, (reason,))
