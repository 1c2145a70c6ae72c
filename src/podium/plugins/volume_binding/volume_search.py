"""Finding the volumes of a pod's claims, for all nodes in one go.

Bound claims ask whether their volume can be reached from a node. Claims that wait for a node take
the smallest free volume that can be, or else have one made. Rules that do not depend on the node
are decided once per volume; what is left is handing out rows to the first volume that reaches them.
The order of steps, and which of them end the search on a node, is upstream's
(`pkg/scheduler/framework/plugins/volumebinding/binder.go`).
"""

from collections.abc import Iterable, Sequence

import numpy as np

from podium.api.labels import SelectorError
from podium.api.node_affinity import parse_node_selector
from podium.api.pod import NodeSelector
from podium.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.cluster.growth import Codes, Mask
from podium.cluster.state import Cluster
from podium.plugins.csi_nodes import CsiNodeColumns
from podium.plugins.csi_translation import TranslationError, in_tree_plugin, translated_affinity
from podium.plugins.pod_claims import class_of_claim
from podium.plugins.volume_binding.assumed_objects import AssumedObjects
from podium.plugins.volume_binding.findings import (
    BIND_CONFLICT,
    NO_SPACE,
    NO_VOLUME,
    NODE_CONFLICT,
    NONE,
    Findings,
    Match,
    Plan,
)
from podium.plugins.volume_binding.node_reach import EVERYWHERE, NodeReach, RowList
from podium.plugins.volume_binding.pod_volumes import (
    PodClaims,
    claim_key,
    requested_bytes,
    requested_nano,
    selected_node,
)
from podium.plugins.volume_binding.provisioning import NO_PROVISIONER, Provisioning
from podium.plugins.volume_binding.volume_index import ClaimWants, IndexedVolume, VolumeIndex


class VolumeSearch:
    """Searches on behalf of one plugin; keeps the indexes that searches share."""

    def __init__(self, cluster: Cluster, volumes: AssumedObjects[PersistentVolume]) -> None:
        self._cluster = cluster
        self._volumes = volumes
        self._csi_nodes = CsiNodeColumns(cluster)
        self._reach = NodeReach(cluster.nodes)
        self._index = VolumeIndex(cluster.catalog, volumes, self._reach)
        self._provisioning = Provisioning(cluster.catalog, self._reach)

    def run(self, claims: PodClaims) -> Findings:
        self._reach.refresh()
        findings = Findings(self._cluster.nodes.size)
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
            reached = self._reached(findings, volume, going)
            findings.object_to(going & ~reached, NODE_CONFLICT)
            going &= reached

    def _reached(self, findings: Findings, volume: PersistentVolume, going: Mask) -> Mask:
        """Rows that reach a volume; a migrated in-tree one is looked for by its driver's keys."""
        affinity = volume.spec.node_affinity
        reached = self._matching(affinity.required if affinity is not None else None)
        plugin = in_tree_plugin(volume.spec)
        if plugin is None or not plugin.migrates:
            return reached
        migrated = self._csi_nodes.migrated(plugin.name)
        if not migrated.any():
            return reached
        try:
            translated = self._matching(translated_affinity(volume))
        except TranslationError as problem:
            findings.fail(migrated & going, f"could not translate pv: {problem}")
            return reached | migrated
        return np.where(migrated, translated, reached)

    def _matching(self, required: NodeSelector | None) -> Mask:
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
        for claim in unpinned:
            try:
                wants = ClaimWants(claim)
            except SelectorError as problem:
                text = f"error creating internal label selector for claim: {claim_key(claim)}"
                findings.fail(going, f"{text}: {problem}")
                return
            findings.matches.append(Match(claim, self._match(findings, wants, going)))
        missing = [(match.claim, match.picks == NONE) for match in findings.matches]
        everywhere: Mask = np.ones(findings.size, dtype=np.bool_)
        for claim, where in (*((claim, everywhere) for claim in pinned), *missing):
            going = self._provision(findings, claim, going & where, going)

    def _only(self, node_name: str, size: int) -> Mask:
        mask: Mask = np.zeros(size, dtype=np.bool_)
        row = self._cluster.nodes.row(node_name)
        if row >= 0:
            mask[row] = True
        return mask

    def _match(self, findings: Findings, wants: ClaimWants, going: Mask) -> Codes:
        """The volume for a claim on each row that is still in the search."""
        offered = self._index.of_class(wants.class_name)
        numbers = {volume.metadata.name: n for n, volume in enumerate(findings.volumes)}
        picks: Codes = np.full(findings.size, NONE, dtype=np.int32)
        undecided = going.copy()
        for volume in wants.reserved(offered):
            # A volume reserved for the claim is the only one for it, also where it is unreachable.
            number = _number(findings, numbers, volume)
            here = undecided & ~_taken(findings, number)
            picks[here & self._reach.mask(volume.reach)] = number
            undecided &= ~here
        if undecided.any():
            first_fit(picks, undecided, self._offers(findings, numbers, wants.free(offered)))
        return picks

    def _offers(
        self, findings: Findings, numbers: dict[str, int], volumes: Iterable[IndexedVolume]
    ) -> Iterable[tuple[int, RowList | None]]:
        for volume in volumes:
            rows = self._reach.rows(volume.reach)
            if volume.name in numbers:
                taken = _taken(findings, numbers[volume.name])
                rows = np.flatnonzero(~taken) if rows is None else rows[~taken[rows]]
            yield _number(findings, numbers, volume), rows

    def _provision(
        self, findings: Findings, claim: PersistentVolumeClaim, wanted: Mask, going: Mask
    ) -> Mask:
        """Plan a claim's volume on the wanted rows; returns the rows the search goes on with."""
        if not wanted.any():
            return going
        class_name = class_of_claim(claim)
        if not class_name:
            findings.fail(wanted, f'no class for claim "{claim_key(claim)}"')
            return going & ~wanted
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
        findings.plans.append(plan)
        full = wanted & ~plan.wanted
        findings.object_to(full, NO_SPACE)
        return going & ~full

    def _with_room(
        self, claim: PersistentVolumeClaim, storage_class: StorageClass, wanted: Mask
    ) -> Plan:
        picks: Codes = np.full(len(wanted), NONE, dtype=np.int32)
        size_bytes = requested_bytes(claim)
        if size_bytes is None or not self._provisioning.tracks_capacity(storage_class.provisioner):
            return Plan(claim, wanted, picks, [])
        rooms = self._provisioning.rooms(storage_class.metadata.name, size_bytes)
        offers = ((n, self._reach.rows(reach)) for n, (_, _, reach) in enumerate(rooms))
        first_fit(picks, wanted.copy(), offers)
        return Plan(claim, wanted & (picks != NONE), picks, [room for _, room, _ in rooms])


def first_fit(picks: Codes, open_rows: Mask, offers: Iterable[tuple[int, RowList | None]]) -> None:
    """Give each open row the first offer that reaches it; `open_rows` is used up."""
    left = int(np.count_nonzero(open_rows))
    for number, reach in offers:
        rows = np.flatnonzero(open_rows) if reach is None else reach[open_rows[reach]]
        if not len(rows):
            continue
        picks[rows] = number
        open_rows[rows] = False
        left -= len(rows)
        if not left:
            return


def _taken(findings: Findings, number: int) -> Mask:
    """Rows where an earlier claim of the pod has this volume already."""
    taken: Mask = np.zeros(findings.size, dtype=np.bool_)
    for match in findings.matches:
        taken |= match.picks == number
    return taken


def _number(findings: Findings, numbers: dict[str, int], volume: IndexedVolume) -> int:
    number = numbers.get(volume.name)
    if number is None:
        number = numbers[volume.name] = len(findings.volumes)
        findings.volumes.append(volume.volume)
    return number
