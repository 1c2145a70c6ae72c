"""VolumeBinding: a pod goes where its volumes are, or where they can be had.

PreFilter sorts the pod's claims, Filter asks one search for every node, Reserve notes in memory
what was chosen so that the next pod sees it, PreBind makes it true. With the gate
StorageCapacityScoring, nodes are also scored by how well the storage is used.

The decisions noted by Reserve belong to the plugin, that is, to its profile: as upstream, two
profiles do not see each other's until the API server shows them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding, Narrowing, NodeRequirement
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.handle import ApiHandle, Handle
from podium.scheduler.framework.plugin import ProposedChange, RefusalCause
from podium.scheduler.framework.points import (
    Arguments,
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreFlight,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.status import SKIP, Status, error, unresolvable
from podium.scheduler.plugins.volume_binding.findings import CapacityScorer, Findings
from podium.scheduler.plugins.volume_binding.node_reach import volume_limit
from podium.scheduler.plugins.volume_binding.pod_volumes import (
    AssumedObjects,
    AssumeError,
    PodVolumeClaims,
    PodVolumes,
    Provision,
    StaticBinding,
    VolumeWriter,
    all_bound,
    claim_key,
    classify,
)
from podium.scheduler.plugins.volume_binding.volume_search import VolumeSearch
from podium.scheduler.plugins.volumes.attach_limits import MIGRATED_PLUGINS
from podium.scheduler.plugins.volumes.pod_claims import (
    claim_not_found,
    claims_of,
    controls,
    find_claim,
    not_owner,
    uses_claim,
)

UNBOUND_CLAIMS = unresolvable("pod has unbound immediate PersistentVolumeClaims")
NOTHING_TO_BIND = PreFlight(SKIP, parallel=True)
_LOST = "Lost"


@dataclass(slots=True)
class VolumeState:
    """What one attempt knows; trials share it, since volumes do not depend on pods on nodes."""

    claims: PodVolumeClaims | None = None
    findings: Findings | None = None
    all_bound: bool = False
    planned: dict[str, PodVolumes] = field(default_factory=dict)


class VolumeBinding(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin
):
    name = "VolumeBinding"
    refusals_stand = True
    narrows = NodeRequirement.VOLUMES
    builds_on = MappingProxyType(
        {
            "filter": "preFilter",
            "score": "preFilter",
            "reserve": "preFilter",
            "preBind": "preFilter",
        }
    )
    by_filtered_rows = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        cluster = handle.cluster
        self._volumes = AssumedObjects(cluster.catalog, PersistentVolume)
        self._claims = AssumedObjects(cluster.catalog, PersistentVolumeClaim)
        attributes_classes = handle.gates["VolumeAttributesClass"]
        self._search = VolumeSearch(cluster, self._volumes, attributes_classes=attributes_classes)
        self._writer = VolumeWriter(
            cluster, self._volumes, self._claims, float(args.bind_timeout_seconds)
        )
        scored = handle.gates["StorageCapacityScoring"]
        self._scorer = CapacityScorer(args.shape) if scored and args.shape else None

    def pre_filter(self, cycle: Cycle) -> Status | None:
        pod = cycle.pod.pod
        if next(claims_of(pod), None) is None:
            cycle.write(self.name, VolumeState())
            return SKIP
        problem = self._problem(pod)
        if problem is not None:
            return unresolvable(problem)
        claims = classify(pod, self._claims, self.handle.cluster.catalog)
        if claims.immediate:
            return UNBOUND_CLAIMS
        cycle.write(self.name, VolumeState(claims))
        return None

    def _problem(self, pod: Pod) -> str | None:
        """What keeps the pod off every node, if one of its claims does."""
        for used in claims_of(pod):
            claim = find_claim(self.handle.cluster.catalog, pod, used.name)
            if claim is None:
                if not used.ephemeral:
                    return claim_not_found(used.name)
                return (
                    "waiting for ephemeral volume controller to create the"
                    f' persistentvolumeclaim "{used.name}"'
                )
            if claim.status.phase == _LOST:
                return (
                    f'persistentvolumeclaim "{used.name}" bound to non-existent persistentvolume'
                    f' "{claim.spec.volume_name}"'
                )
            if claim.metadata.deletion_timestamp is not None:
                return f'persistentvolumeclaim "{used.name}" is being deleted'
            if used.ephemeral and not controls(pod, claim):
                return not_owner(pod, claim)
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return cycle.pod.shape.is_plain

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        state = cycle.read(self.name, VolumeState)
        if state.claims is None:
            return None
        if state.findings is None:
            state.findings = self._search.run(state.claims)
        return state.findings.verdict(rows)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        if self._scorer is None:
            return SKIP
        cycle.read(self.name, VolumeState)
        return None

    def pre_score_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        findings = cycle.read(self.name, VolumeState).findings
        if self._scorer is None or findings is None:
            return np.zeros(count_of(rows), dtype=np.int64)
        return self._scorer.score(findings, rows)

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        state = cycle.read(self.name, VolumeState)
        findings = state.findings
        row = cycle.nodes.row(node_name)
        found = findings.volumes_on(row) if findings is not None and row >= 0 else None
        # The state lives until the pod is bound; what was found for other nodes need not.
        state.findings = None
        state.all_bound = found is None or all_bound(cycle.pod.pod, self._claims)
        if found is None or state.all_bound:
            return None
        state.planned[node_name] = planned = PodVolumes()
        try:
            self._assume(found, planned, node_name)
        except AssumeError as problem:
            self._restore(planned)
            return error(str(problem))
        return None

    def _assume(self, found: PodVolumes, planned: PodVolumes, node_name: str) -> None:
        """Note what was found, step by step into `planned`."""
        for binding in found.bindings:
            volume = bound_to(binding.volume, binding.claim)
            if volume is not binding.volume:
                self._volumes.assume(volume)
            planned.bindings.append(StaticBinding(binding.claim, volume))
        for provision in found.provisions:
            claim = sent_to(provision.claim, node_name)
            self._claims.assume(claim)
            planned.provisions.append(Provision(claim, provision.capacity))

    def sets_nothing_aside(self, cycle: Cycle) -> bool:
        return self.name in cycle.skip_filter

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        state = cycle.states.get(self.name)
        planned = state.planned.pop(node_name, None) if isinstance(state, VolumeState) else None
        if planned is not None:
            self._restore(planned)

    def _restore(self, planned: PodVolumes) -> None:
        for binding in planned.bindings:
            self._volumes.restore(binding.volume)
        for provision in planned.provisions:
            self._claims.restore(provision.claim)

    def reserved(self, cycle: Cycle) -> JsonObject:
        """`bindings` (claim -> volume) and `provision` (claims), as far as there are any."""
        state = cycle.read(self.name, VolumeState)
        bindings = {
            claim_key(binding.claim): binding.volume.metadata.name
            for planned in state.planned.values()
            for binding in planned.bindings
        }
        provision = sorted(
            claim_key(provision.claim)
            for planned in state.planned.values()
            for provision in planned.provisions
        )
        told: JsonObject = {"bindings": bindings, "provision": provision}
        return {name: value for name, value in told.items() if value}

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        state = cycle.read(self.name, VolumeState)
        if state.all_bound:
            return NOTHING_TO_BIND
        if node_name not in state.planned:
            return PreFlight(error(f'no pod volume found for node "{node_name}"'))
        return PreFlight(parallel=True)

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        state = cycle.read(self.name, VolumeState)
        if state.all_bound:
            return None
        planned = state.planned.get(node_name)
        if planned is None:
            return error(f'no pod volumes found for node "{node_name}"')
        await self._writer.bind(cycle.pod, node_name, planned, api)
        return None

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.volume_binding.causes import find_bindings

        return find_bindings(view, among)

    def narrow_nodes(self, view: AttemptView) -> Narrowing:
        from podium.scheduler.plugins.volume_binding.causes import narrow_by_volumes

        return narrow_by_volumes(view)

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        from podium.scheduler.plugins.volumes.claim_causes import explain_claim_problem

        return explain_claim_problem(self.handle.cluster.catalog, pod.pod)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.volume_binding.proposals import propose_other_volumes

        return propose_other_volumes(situation)

    def events(self) -> Sequence[Registration]:
        return REGISTRATIONS


def bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume, taken by a claim; the same object if it is the claim's already."""
    held, meta = volume.spec.claim_ref, claim.metadata
    named = held is not None and (held.name, held.namespace) == (meta.name, meta.namespace)
    if not (named and held is not None and held.uid == meta.uid):
        reference = ObjectReference(
            kind="PersistentVolumeClaim",
            api_version="v1",
            namespace=meta.namespace,
            name=meta.name,
            uid=meta.uid,
            resource_version=meta.resource_version,
        )
        volume = replace(volume, spec=replace(volume.spec, claim_ref=reference))
    annotations = volume.metadata.annotations or {}
    meant = named and held is not None and held.uid in ("", meta.uid)
    if not meant and BOUND_BY_CONTROLLER not in annotations:
        annotations = {**annotations, BOUND_BY_CONTROLLER: "yes"}
        volume = replace(volume, metadata=replace(volume.metadata, annotations=annotations))
    return volume


def sent_to(claim: PersistentVolumeClaim, node_name: str) -> PersistentVolumeClaim:
    """The claim with the node that its volume is to be made for."""
    annotations = {**(claim.metadata.annotations or {}), SELECTED_NODE: node_name}
    return replace(claim, metadata=replace(claim.metadata, annotations=annotations))


def topologies_changed(pod: PodInfo, old: StorageClass | None, new: StorageClass) -> bool:  # noqa: ARG001
    return old is None or (old.allowed_topologies or ()) != (new.allowed_topologies or ())


def claim_is_used(
    pod: PodInfo,
    old: PersistentVolumeClaim | None,  # noqa: ARG001
    new: PersistentVolumeClaim,
) -> bool:
    return uses_claim(pod.pod, new, ephemeral=True)


def migration_changed(pod: PodInfo, old: CSINode | None, new: CSINode) -> bool:  # noqa: ARG001
    if old is None:
        return True
    before, after = old.metadata.annotations or {}, new.metadata.annotations or {}
    return before.get(MIGRATED_PLUGINS, "") != after.get(MIGRATED_PLUGINS, "")


def capacity_no_longer_checked(pod: PodInfo, old: CSIDriver, new: CSIDriver) -> bool:
    # upstream: only pods with an inline CSI volume of the driver are looked at.
    used = any(
        volume.csi is not None and volume.csi.driver == new.metadata.name
        for volume in pod.pod.spec.volumes or ()
    )
    return used and bool(old.spec.storage_capacity) and not new.spec.storage_capacity


def room_grew(
    pod: PodInfo,  # noqa: ARG001
    old: CSIStorageCapacity | None,
    new: CSIStorageCapacity,
) -> bool:
    if old is None:
        return True
    before, after = volume_limit(old), volume_limit(new)
    return after is not None and (before is None or after > before)


REGISTRATIONS = (
    Registration(Resource.STORAGE_CLASS, Action.ADD | Action.UPDATE, topologies_changed),
    Registration(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD | Action.UPDATE, claim_is_used),
    Registration(Resource.PERSISTENT_VOLUME, Action.ADD | Action.UPDATE),
    Registration(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
    Registration(Resource.CSI_NODE, Action.ADD | Action.UPDATE, migration_changed),
    Registration(Resource.CSI_DRIVER, Action.UPDATE, capacity_no_longer_checked),
    Registration(Resource.CSI_STORAGE_CAPACITY, Action.ADD | Action.UPDATE, room_grew),
)
