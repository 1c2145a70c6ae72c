"""DynamicResources: may this pod have its devices on this node, and which ones?

PreFilter finds the pod's claims and what is allocated already; Filter searches devices for each
node (`node_search`); Reserve holds the ones of the chosen node; PreBind writes them
(`claim_writing`); PostFilter gives an idle claim back that keeps the pod from every node. All
rejections are unresolvable: evicting pods frees no devices. Contract: spec sections 7 to 10.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from podium.api.devices import AllocationResult, DeviceClass, ResourceClaim
from podium.api.node_affinity import NodeSelectorError, parse_node_selector
from podium.cluster.growth import Ints, Rows, count_of, indices
from podium.cluster.pod_info import PodInfo
from podium.config.plugin_args import DynamicResourcesArgs, waits_for_binding_conditions
from podium.framework.cycle import Cycle, StateMissing
from podium.framework.diagnosis import Diagnosis
from podium.framework.events import Registration
from podium.framework.handle import Handle
from podium.framework.points import (
    ApiHandle,
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
from podium.framework.scoring import default_normalize
from podium.framework.status import SKIP, Code, Status, error, unresolvable
from podium.framework.verdict import Verdict, per_row
from podium.plugins.dynamic_resources.allocator import Allocator
from podium.plugins.dynamic_resources.attempt_state import (
    ClaimsState,
    ExtendedClaim,
    PodClaim,
    Reservation,
)
from podium.plugins.dynamic_resources.claim_state import ClaimState
from podium.plugins.dynamic_resources.claim_writing import (
    ClaimApi,
    ClaimWriteError,
    ClaimWriter,
    Deallocate,
    DeleteClaim,
    ReleaseReservation,
    WriteConflict,
    protected,
    reserved,
)
from podium.plugins.dynamic_resources.extended_resources import (
    IN_MEMORY_NAME,
    claim_in_memory,
    extended_requests,
)
from podium.plugins.dynamic_resources.hints import ClaimHints
from podium.plugins.dynamic_resources.node_search import BindingDeadline, NodeSearch
from podium.plugins.dynamic_resources.picks import Rules
from podium.plugins.dynamic_resources.pod_claims import (
    ClaimProblem,
    claim_key,
    claims_of,
    is_extended_resource_claim_of,
    is_idle_for,
    is_reserved_for,
)
from podium.plugins.dynamic_resources.preference import preference_score
from podium.plugins.dynamic_resources.requests import requests_of
from podium.plugins.dynamic_resources.supply import Supply
from podium.plugins.extended_resource_classes import ExtendedResourceClasses

NO_CLAIMS = "no new claims to deallocate"
DEALLOCATED = "deallocation of ResourceClaim completed"
DELETED = "deletion of ResourceClaim completed"
STILL_NOT_SCHEDULABLE = "still not schedulable"
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

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        settings = args if isinstance(args, DynamicResourcesArgs) else DynamicResourcesArgs()
        gates, cluster = handle.gates, handle.cluster
        self._rules = Rules(
            sharing=gates["DRAConsumableCapacity"],
            partitions=gates["DRAPartitionableDevices"],
            taints=gates["DRADeviceTaints"],
            binding_conditions=waits_for_binding_conditions(gates),
        )
        filter_timeout = settings.filter_timeout
        self._filter_timeout_s = filter_timeout.seconds if filter_timeout is not None else 0.0
        binding_timeout = settings.binding_timeout if self._rules.binding_conditions else None
        self._binding_timeout_s = binding_timeout.seconds if binding_timeout is not None else None
        self._claims = ClaimState.of(cluster, sharing=self._rules.sharing)
        self._supply = Supply.of(cluster, partitionable=self._rules.partitions)
        self._classes = ExtendedResourceClasses(cluster.catalog)
        self._search = NodeSearch(
            cluster.nodes, self._supply, self._classes, self._find_class, gates
        )
        self._writer = ClaimWriter(
            self._claims,
            handle.clock,
            stamped=self._rules.binding_conditions,
            binding_timeout_s=self._binding_timeout_s,
        )
        self._hints = ClaimHints(self._claims.find)

    def _find_class(self, name: str) -> DeviceClass | None:
        return self.handle.cluster.catalog.get(DeviceClass, name)

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        if not pod.pod.spec.resource_claims:
            return None
        try:
            claims_of(pod.pod, self._claims.find)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        return None

    # PreFilter

    def pre_filter(self, cycle: Cycle) -> Status | None:
        # Until the claims are known to be usable, later points see a pod without any.
        cycle.write(self.name, ClaimsState())
        state = ClaimsState()
        pod = cycle.pod.pod
        try:
            claims = claims_of(pod, self._claims.find)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        state.extended = self._extended_claim(cycle.pod)
        if not claims and state.extended is None:
            return SKIP
        for claim in claims:
            answer = self._look_at(claim, state)
            if answer is not None:
                return answer
        if state.requests or (state.extended is not None and not state.extended.stale):
            self._supply.refresh()
            self._claims.sync()
            state.allocator = Allocator(
                state.requests, self._claims.devices, self._rules, self._filter_timeout_s
            )
        cycle.write(self.name, state)
        return None

    def _extended_claim(self, info: PodInfo) -> ExtendedClaim | None:
        pod = info.pod
        if not self.handle.gates["DRAExtendedResource"]:
            return None
        resources = extended_requests(pod, self._classes)
        if resources is None:
            return None
        for claim in self._claims.all():
            if is_extended_resource_claim_of(claim, pod):
                stale = claim.spec.devices.requests is not None
                return ExtendedClaim(claim, pod, stale, resources)
        return ExtendedClaim(claim_in_memory(pod), pod, stale=False, resources=resources)

    def _look_at(self, claim: ResourceClaim, state: ClaimsState) -> Status | None:
        """Take a claim into the state, unless it keeps the pod from every node."""
        allocation = claim.status.allocation
        if allocation is not None:
            terms = None
            if allocation.node_selector is not None:
                try:
                    terms = parse_node_selector(allocation.node_selector, strict=True)
                except NodeSelectorError as problem:
                    return error(str(problem))
            state.claims.append(PodClaim(claim, terms))
            return None
        if self._claims.is_pending(claim.metadata.uid):
            return unresolvable(
                f"resource claim {claim_key(claim)} is in the process of being allocated"
            )
        problem_found = self._class_problem(claim)
        if problem_found is not None:
            return problem_found
        state.claims.append(PodClaim(claim))
        state.requests.append(requests_of(claim, self._find_class, self.handle.gates))
        return None

    def _class_problem(self, claim: ResourceClaim) -> Status | None:
        for request in claim.spec.devices.requests or ():
            wanted: Iterable[tuple[str, str]]
            if request.exactly is not None:
                wanted = ((request.name, request.exactly.device_class_name),)
            elif request.first_available:
                wanted = (
                    (f"{request.name}/{part.name}", part.device_class_name)
                    for part in request.first_available
                )
            else:
                return unresolvable(
                    f"resource claim {claim_key(claim)}, request {request.name}: unknown request"
                    " type"
                )
            for name, class_name in wanted:
                if not class_name:
                    return error(f"request {name}: unsupported request type")
                if self._find_class(class_name) is None:
                    return unresolvable(f"request {name}: device class {class_name} does not exist")
        return None

    # Filter, PostFilter, Score

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        state = cycle.read(self.name, ClaimsState)
        if state.empty:
            return None
        deadline = None
        if self._binding_timeout_s is not None:
            deadline = BindingDeadline(self._binding_timeout_s, self.handle.clock())
        rejected: dict[int, Status] = {}
        for position, row in enumerate(indices(rows).tolist()):
            status = self._search.examine(state, row, deadline).status
            if status is not None:
                rejected[position] = status
        return per_row(rejected, count_of(rows))

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
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
        return _unschedulable(STILL_NOT_SCHEDULABLE)

    def _blocking_claims(self, state: ClaimsState, diagnosis: Diagnosis) -> list[int]:
        """Positions of claims that some node was rejected for, lowest first.

        Filter looks at all nodes; those that another plugin had rejected before do not count.
        """
        found: set[int] = set()
        for row, status in diagnosis.statuses().items():
            if status.plugin == self.name and row in state.outcomes:
                found.update(state.outcomes[row].unavailable)
        return sorted(found)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        scores: Ints = np.zeros(count_of(rows), dtype=np.int64)
        state = cycle.read(self.name, ClaimsState)
        if state.empty or not self.handle.gates["DRAPrioritizedList"]:
            return scores
        for position, row in enumerate(indices(rows).tolist()):
            outcome = state.outcomes.get(row)
            if outcome is not None and outcome.allocations is not None:
                scores[position] = preference_score(state.claims, outcome.allocations)
        return scores

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return default_normalize(scores)

    # Reserve and what follows

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        state = cycle.read(self.name, ClaimsState)
        if state.allocator is None:
            return None
        outcome = state.outcomes.get(cycle.nodes.row(node_name))
        # The state lives until the pod is bound; what was found for other nodes need not.
        state.outcomes = {}
        if outcome is None or outcome.allocations is None:
            return None if not state.requests else NOTHING_FOUND
        waiting = [own.claim for own in state.claims if not own.allocated]
        if outcome.extended is not None:
            waiting.append(outcome.extended)
        state.reservation = Reservation(
            node_name,
            held=list(zip(waiting, outcome.allocations, strict=True)),
            extended=outcome.extended,
            mappings=outcome.mappings,
        )
        for claim, allocation in state.reservation.held:
            self._claims.start(claim.metadata.uid, allocation)
        return None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:  # noqa: ARG002
        state = cycle.states.get(self.name)
        if not isinstance(state, ClaimsState):
            return
        reservation = state.reservation
        written = reservation.written if reservation is not None else {}
        for own in state.claims:
            uid = own.claim.metadata.uid
            if self._claims.finish(uid):
                self._claims.restore(own.claim)
            latest = written.get(uid, own.claim)
            if latest.status.allocation is not None and is_reserved_for(latest, cycle.pod.pod):
                cycle.writes.append(ReleaseReservation(latest, cycle.pod.pod.metadata.uid))
        if reservation is not None and reservation.extended is not None:
            uid = reservation.extended.metadata.uid
            self._claims.finish(uid)
            if uid in written:
                self._claims.restore(written[uid])
                cycle.writes.append(DeleteClaim(written[uid]))
        state.reservation = None

    def reserved(self, cycle: Cycle) -> dict[str, Any]:
        """`claims`: claim -> devices in the order of the allocation, as recorded decisions have."""
        state = cycle.states.get(self.name)
        if not isinstance(state, ClaimsState):
            return {}
        held = state.reservation.held if state.reservation is not None else ()
        granted = {claim.metadata.uid: allocation for claim, allocation in held}
        claims: dict[str, list[dict[str, Any]]] = {}
        for own in state.claims:
            allocation = own.claim.status.allocation or granted.get(own.claim.metadata.uid)
            if allocation is not None:
                claims[claim_key(own.claim)] = _told(allocation)
        if state.reservation is not None and state.reservation.extended is not None:
            allocation = granted[state.reservation.extended.metadata.uid]
            claims[f"{cycle.pod.key}:extended-resources"] = _told(allocation)
        return {"claims": claims} if claims else {}

    def claims_after_binding(self, cycle: Cycle) -> tuple[ResourceClaim, ...]:
        """The pod's claims as they are once PreBind has written them.

        For drivers that apply a binding at once instead of running PreBind. Nothing is changed
        here; putting the claims into the catalog ends what Reserve holds.
        """
        state = cycle.states.get(self.name)
        if not isinstance(state, ClaimsState):
            return ()
        pod, now_s = cycle.pod.pod, self.handle.clock()
        held = state.reservation.held if state.reservation is not None else []
        fresh = {claim.metadata.uid: (claim, allocation) for claim, allocation in held}
        updated = [
            reserved(own.claim, pod, None, now_s)
            for own in state.claims
            if own.allocated and not is_reserved_for(own.claim, pod)
        ]
        for claim, allocation in fresh.values():
            named = _named(claim, pod.metadata.name)
            updated.append(reserved(protected(named), pod, allocation, now_s))
        return tuple(updated)

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:  # noqa: ARG002
        state = cycle.read(self.name, ClaimsState)
        return PreFlight(SKIP if state.empty else None, parallel=True)

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        state = cycle.read(self.name, ClaimsState)
        if state.empty:
            return None
        if not isinstance(api, ClaimApi):
            return error("the API handle cannot write resource claims")
        try:
            await self._writer.bind(cycle.pod, state, node_name, api)
        except (ClaimWriteError, WriteConflict) as problem:
            return error(str(problem))
        return None

    def events(self) -> Sequence[Registration]:
        return self._hints.registrations()


def _unschedulable(reason: str) -> PostFilterResult:
    return PostFilterResult(Code.UNSCHEDULABLE, (reason,))


def _told(allocation: AllocationResult) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    for result in allocation.devices.results or ():
        device: dict[str, Any] = {
            "request": result.request,
            "driver": result.driver,
            "pool": result.pool,
            "device": result.device,
        }
        if result.admin_access:
            device["adminAccess"] = True
        told.append(device)
    return told


def _named(claim: ResourceClaim, pod_name: str) -> ResourceClaim:
    """A claim made up in memory under a name of the kind the API server would generate."""
    if claim.metadata.name != IN_MEMORY_NAME:
        return claim
    suffix = hashlib.sha256(claim.metadata.uid.encode()).hexdigest()[:5]
    name = f"{pod_name}-extended-resources-{suffix}"
    return replace(claim, metadata=replace(claim.metadata, name=name))
