"""Finding the volumes of a pod's claims, for all nodes in one go.

Bound claims ask whether their volume can be reached from a node. Claims that wait for a node take
the smallest free volume that can be, or else have one made. Rules that do not depend on the node
are decided once per volume; what is left is handing out rows to the first volume that reaches them.
The order of steps, and which of them end the search on a node, is upstream's
(`pkg/scheduler/framework/plugins/volumebinding/binder.go`).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from podium.kubernetes.kinds.pod import NodeSelector
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.kubernetes.rules.labels import SelectorError
from podium.kubernetes.rules.node_affinity import parse_node_selector
from podium.scheduler.cluster.growth import Codes, Ints, Mask
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.volume_binding.findings import (
    BIND_CONFLICT,
    NO_SPACE,
    NO_VOLUME,
    NODE_CONFLICT,
    Findings,
    ProvisioningPlan,
    VolumeMatch,
)
from podium.scheduler.plugins.volume_binding.node_reach import (
    EVERYWHERE,
    NO_PROVISIONER,
    NONE,
    Allowed,
    NodeReach,
    Provisioning,
    RowList,
)
from podium.scheduler.plugins.volume_binding.pod_volumes import (
    AssumedObjects,
    PodVolumeClaims,
    claim_key,
    requested_bytes,
    requested_nano,
    selected_node,
)
from podium.scheduler.plugins.volume_binding.volume_index import ClaimWants, Offers, VolumeIndex
from podium.scheduler.plugins.volumes.attach_limits import CsiNodeColumns
from podium.scheduler.plugins.volumes.csi_translation import (
    TranslationError,
    in_tree_plugin,
    translated_affinity,
)
from podium.scheduler.plugins.volumes.pod_claims import class_of_claim

_NO_ATTRIBUTES_CLASSES: Final = (
    "unsupported volumeAttributesClassName is set on claim {} when the feature-gate "
    "VolumeAttributesClass is disabled"
)


class VolumeSearch:
    """Searches on behalf of one plugin; keeps the indexes that searches share."""

    def __init__(
        self,
        cluster: Cluster,
        volumes: AssumedObjects[PersistentVolume],
        *,
        attributes_classes: bool = True,
    ) -> None:
        """`attributes_classes` is the gate VolumeAttributesClass."""
        self._cluster = cluster
        self._attributes_classes = attributes_classes
        self._volumes = volumes
        self._csi_nodes = CsiNodeColumns(cluster)
        self._reach = NodeReach(cluster.nodes)
        self._index = VolumeIndex(cluster.catalog, volumes, self._reach)
        self._provisioning = Provisioning(cluster.catalog, self._reach)
        self._nothing: Codes = np.zeros(0, dtype=np.int32)

    def run(self, claims: PodVolumeClaims) -> Findings:
        self._reach.refresh()
        findings = Findings(self._cluster.nodes.size, self._index.by_number)
        self._check_bound(findings, claims.bound)
        if claims.delayed:
            self._index.refresh()
            self._find_delayed(findings, claims.delayed)
        return findings

    def _check_bound(self, findings: Findings, claims: Sequence[PersistentVolumeClaim]) -> None:
        """Each row stops at the first claim whose volume is gone or out of its reach."""
        going: Mask = np.ones(findings.size, dtype=np.bool_)
        for claim in claims:
            volume = self._volumes.get(claim.spec.volume_name)
            if volume is None:
                findings.object_to(going, NO_VOLUME)
                return
            reached = self._mask_reached(findings, volume, going)
            findings.object_to(going & ~reached, NODE_CONFLICT)
            going &= reached

    def _mask_reached(self, findings: Findings, volume: PersistentVolume, going: Mask) -> Mask:
        """Rows that reach a volume; a migrated in-tree one is looked for by its driver's keys."""
        affinity = volume.spec.node_affinity
        reached = self._mask_matching(affinity.required if affinity is not None else None)
        plugin = in_tree_plugin(volume.spec)
        if plugin is None or not plugin.migrates:
            return reached
        migrated = self._csi_nodes.mask_migrated(plugin.name)
        if not migrated.any():
            return reached
        try:
            translated = self._mask_matching(translated_affinity(volume))
        except TranslationError as problem:
            findings.fail(migrated & going, f"could not translate pv: {problem}")
            return reached | migrated
        return np.where(migrated, translated, reached)

    def _mask_matching(self, required: NodeSelector | None) -> Mask:
        terms = parse_node_selector(required) if required is not None else None
        return self._reach.mask(self._reach.of_terms(terms))

    def _find_delayed(self, findings: Findings, claims: Sequence[PersistentVolumeClaim]) -> None:
        going = findings.failed == 0
        pinned = [claim for claim in claims if selected_node(claim) is not None]
        for claim in pinned:
            going = going & self._only(selected_node(claim) or "", findings.size)
        findings.object_to((findings.failed == 0) & ~going, BIND_CONFLICT)
        if not going.any():
            return
        unpinned = [claim for claim in claims if selected_node(claim) is None]
        unpinned.sort(key=requested_nano)
        wanted: list[ClaimWants] = []
        for claim in unpinned:
            if claim.spec.volume_attributes_class_name and not self._attributes_classes:
                findings.fail(going, _NO_ATTRIBUTES_CLASSES.format(claim_key(claim)))
                return
            try:
                wanted.append(ClaimWants(claim))
            except SelectorError as problem:
                text = f"error creating internal label selector for claim: {claim_key(claim)}"
                findings.fail(going, f"{text}: {problem}")
                return
        nothing: Ints = np.full(findings.size, NONE, dtype=np.int64)
        self._match_all(findings, unpinned, wanted, going, nothing)
        everywhere: Mask = np.ones(findings.size, dtype=np.bool_)
        planned = _PlannedClaims(findings.plans)
        for claim in pinned:
            going = self._provision(findings, planned, claim, everywhere, going)
        for match in findings.matches:
            where = everywhere if match.chosen is nothing else match.chosen == NONE
            going = self._provision(findings, planned, match.claim, where, going)

    def _match_all(
        self,
        findings: Findings,
        claims: Sequence[PersistentVolumeClaim],
        wanted: Sequence[ClaimWants],
        going: Mask,
        nothing: Ints,
    ) -> None:
        """Match claims with volumes, one after the other. A row that has none for a claim that
        nobody provisions is decided: what the claims behind it would get there does not matter.
        `nothing` is the answer for every claim that no row has a volume for."""
        searching = going
        taken = _Taken(findings.size)
        classes = {wants.class_name for wants in wanted}
        provisioned = {name for name in classes if self._is_provisioned(name)}
        offered = {name for name in classes if self._index.has_volumes(name)}
        for claim, wants in zip(claims, wanted, strict=True):
            chosen = None
            if wants.class_name in offered:
                chosen = self._match(findings, wants, searching, taken)
            if chosen is None or (chosen == NONE).all():
                chosen = nothing
            else:
                taken.add(chosen)
            findings.matches.append(VolumeMatch(claim, chosen))
            if wants.class_name not in provisioned:
                searching = searching & (chosen != NONE)
                if not searching.any():
                    return

    def _is_provisioned(self, class_name: str) -> bool:
        storage_class = self._cluster.catalog.get(StorageClass, class_name)
        return storage_class is None or storage_class.provisioner not in NO_PROVISIONER

    def _only(self, node_name: str, size: int) -> Mask:
        mask: Mask = np.zeros(size, dtype=np.bool_)
        row = self._cluster.nodes.row(node_name)
        if row >= 0:
            mask[row] = True
        return mask

    def _match(
        self, findings: Findings, wants: ClaimWants, going: Mask, taken: "_Taken"
    ) -> Ints | None:
        """The number of the volume for a claim on each row that is still in the search; None if
        no volume at all is good enough."""
        reserved, offers = self._index.find_reserved(wants), self._index.free(wants)
        if not reserved and not len(offers.numbers):
            return None
        chosen: Ints = np.full(findings.size, NONE, dtype=np.int64)
        undecided = going.copy()
        for volume in reserved:
            # A volume reserved for the claim is the only one for it, also where it is unreachable.
            here = undecided & ~taken.rows_of(volume.number)
            chosen[here & self._reach.mask(volume.reach)] = volume.number
            undecided &= ~here
        if undecided.any():
            picks = self._reach.first_fit(offers.reach, undecided, taken.build_filter(offers))
            found = picks != NONE
            chosen[found] = offers.numbers[picks[found]]
        return chosen

    def _provision(
        self,
        findings: Findings,
        planned: "_PlannedClaims",
        claim: PersistentVolumeClaim,
        where: Mask,
        going: Mask,
    ) -> Mask:
        """Plan a claim's volume where it has none; returns the rows the search goes on with."""
        if planned.repeat(claim, where, going):
            return going
        wanted = going & where
        if not wanted.any():
            return going
        class_name = class_of_claim(claim)
        storage_class = self._cluster.catalog.get(StorageClass, class_name)
        if storage_class is None:
            findings.fail(wanted, f'failed to find storage class "{class_name}"')
            return going & ~wanted
        if storage_class.provisioner in NO_PROVISIONER:
            findings.object_to(wanted, BIND_CONFLICT)
            return going & ~wanted
        topology = self._provisioning.topology(storage_class)
        if topology != EVERYWHERE:
            outside = wanted & ~self._reach.mask(topology)
            findings.object_to(outside, BIND_CONFLICT)
            wanted, going = wanted & ~outside, going & ~outside
        plan = self._with_room(claim, storage_class, wanted)
        full = wanted & ~plan.wanted
        findings.object_to(full, NO_SPACE)
        going = going & ~full
        planned.add(plan, where, going)
        return going

    def _no_picks(self, size: int) -> Codes:
        if len(self._nothing) != size:
            self._nothing = np.full(size, NONE, dtype=np.int32)
        return self._nothing

    def _with_room(
        self, claim: PersistentVolumeClaim, storage_class: StorageClass, wanted: Mask
    ) -> ProvisioningPlan:
        size_bytes = requested_bytes(claim)
        if size_bytes is None or not self._provisioning.tracks_capacity(storage_class.provisioner):
            return ProvisioningPlan(claim, wanted, self._no_picks(len(wanted)), ())
        free = self._provisioning.free_storage(storage_class.metadata.name, size_bytes)
        picks = self._reach.first_fit(free.reach, wanted)
        return ProvisioningPlan(claim, wanted & (picks != NONE), picks, free.capacities)


class _PlannedClaims:
    """The plans so far, and the one that the next claim shares if it asks for the same.

    A pod may have thousands of claims of one class and size. Room is not summed over claims, so
    what holds for one of them holds for those behind it, on the rows where the search goes on.
    """

    def __init__(self, plans: list[ProvisioningPlan]) -> None:
        self._plans = plans
        self._where: Mask | None = None
        self._going: Mask | None = None

    def add(self, plan: ProvisioningPlan, where: Mask, going: Mask) -> None:
        """`where` the claim has no volume, and the rows that are left with the plan."""
        self._plans.append(plan)
        self._where, self._going = where, going

    def repeat(self, claim: PersistentVolumeClaim, where: Mask, going: Mask) -> bool:
        """Plan a claim as the one before it, if that is what it comes to."""
        if where is not self._where or going is not self._going:
            return False
        last = self._plans[-1]
        if not _asks_the_same(claim, last.claim):
            return False
        self._plans.append(ProvisioningPlan(claim, last.wanted, last.picks, last.capacities))
        return True


def _asks_the_same(one: PersistentVolumeClaim, other: PersistentVolumeClaim) -> bool:
    """Whether two claims ask for one size of one class."""
    return (
        class_of_claim(one) == class_of_claim(other)
        and one.spec.resources.requests == other.spec.resources.requests
    )


class _Taken:
    """Which volumes earlier claims of the pod have, by row."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rows: dict[int, Mask] = {}

    def add(self, chosen: Ints) -> None:
        """A claim has these volumes."""
        rows = np.flatnonzero(chosen != NONE)
        for number in np.unique(chosen[rows]).tolist():
            taken = self._rows.get(number)
            if taken is None:
                taken = self._rows[number] = np.zeros(self._size, dtype=np.bool_)
            taken[rows[chosen[rows] == number]] = True

    def rows_of(self, number: int) -> Mask:
        """Rows where the volume is taken already."""
        found = self._rows.get(number)
        return np.zeros(self._size, dtype=np.bool_) if found is None else found

    def build_filter(self, offers: Offers) -> Allowed | None:
        """What tells the offers that no earlier claim has on a row; None if none has any."""
        if not self._rows:
            return None
        numbers = offers.numbers

        def mask_allowed(positions: Ints, rows: RowList) -> Mask:
            fine: Mask = np.ones(len(rows), dtype=np.bool_)
            for place, number in enumerate(numbers[positions].tolist()):
                taken = self._rows.get(number)
                if taken is not None and taken[rows[place]]:
                    fine[place] = False
            return fine

        return mask_allowed
