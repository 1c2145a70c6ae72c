"""VolumeZone: a volume that lives in a zone is only reachable from nodes of that zone.

It reads the zone and region labels that PersistentVolumes of cloud disks carry, in their stable and
their old beta spelling. PreFilter turns them into constraints (a label key and the values that are
fine), Filter compares each with one label column. Nodes without any zone or region label pass:
they are taken for clusters that do not know zones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.growth import Mask, Rows, count_of
from podium.scheduler.cluster.nodes import ABSENT, NodeTable
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Narrowing,
    NodeRequirement,
    join_words,
    some,
)
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.plugin import RefusalCause
from podium.scheduler.framework.points import FilterPlugin, PreFilterPlugin
from podium.scheduler.framework.status import SKIP, Status, unresolvable
from podium.scheduler.plugins.volume_binding import VolumeBinding
from podium.scheduler.plugins.volumes.claim_causes import bound_volumes, claim_name
from podium.scheduler.plugins.volumes.csi_translation import (
    BETA_REGION,
    BETA_ZONE,
    REGION,
    ZONE,
    ZONE_SEPARATOR,
)
from podium.scheduler.plugins.volumes.pod_claims import (
    NO_CLAIM_NAME,
    WAIT_FOR_FIRST_CONSUMER,
    BindingModeUnset,
    claim_not_found,
    class_not_found,
    class_of_claim,
    find_claim,
    named_claims,
    uses_claim,
    volume_not_found,
    waits_for_consumer,
)

ZONE_CONFLICT = unresolvable("node(s) had no available volume zone")
NO_VOLUME_NAME = "PersistentVolume had no name"
NO_VOLUME_NOR_CLASS = "PersistentVolumeClaim had no pv name and storageClass name"

TOPOLOGY_LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
STABLE_KEY = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class ZoneConstraint(NamedTuple):
    """A topology label of a volume and the values that its nodes may have."""

    key: str
    values: frozenset[str]


class Unusable(Exception):
    """A claim that keeps the pod off every node; the text says why."""


def zone_values(written: str) -> frozenset[str] | None:
    """`a__b` means zone a or zone b; a value with an empty part says nothing (None)."""
    parts = [part.strip() for part in written.split(ZONE_SEPARATOR)]
    return frozenset(parts) if all(parts) else None


def constraints_of(volume: PersistentVolume) -> tuple[ZoneConstraint, ...]:
    labels = volume.metadata.labels or {}
    parsed = ((key, zone_values(labels[key])) for key in TOPOLOGY_LABELS if key in labels)
    return tuple(ZoneConstraint(key, values) for key, values in parsed if values is not None)


class VolumeZone(PreFilterPlugin, FilterPlugin):
    name = "VolumeZone"
    refusals_stand = True
    settled_with = VolumeBinding.name
    narrows = NodeRequirement.ZONES

    def pre_filter(self, cycle: Cycle) -> Status | None:
        if not cycle.pod.pod.spec.volumes:
            return SKIP
        try:
            constraints = self._constraints(cycle)
        except Unusable as problem:
            return unresolvable(str(problem))
        if not constraints:
            return SKIP
        cycle.write(self.name, constraints)
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return cycle.pod.shape.is_plain

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        if not cycle.pod.pod.spec.volumes:
            return None
        constraints = cycle.states.get(self.name)
        if not isinstance(constraints, tuple):
            # upstream: a filter whose PreFilter did not run works the constraints out itself.
            try:
                constraints = self._constraints(cycle)
            except Unusable as problem:
                return rejecting(
                    np.ones(count_of(rows), dtype=np.bool_), unresolvable(str(problem))
                )
        return rejecting(_conflicts(cycle.nodes, constraints, rows), ZONE_CONFLICT)

    def _constraints(self, cycle: Cycle) -> tuple[ZoneConstraint, ...]:
        catalog = self.handle.cluster.catalog
        found: list[ZoneConstraint] = []
        for name in named_claims(cycle.pod.pod):
            if not name:
                raise Unusable(NO_CLAIM_NAME)
            claim = find_claim(catalog, cycle.pod.pod, name)
            if claim is None:
                raise Unusable(claim_not_found(name))
            volume = _volume_of(catalog, claim)
            if volume is not None:
                found.extend(constraints_of(volume))
        return tuple(found)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_zones(view, among)

    def narrow_nodes(self, view: AttemptView) -> Narrowing:
        return narrow_by_zones(view)

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        from podium.scheduler.plugins.volumes.claim_causes import explain_claim_problem

        return explain_claim_problem(self.handle.cluster.catalog, pod.pod)

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.STORAGE_CLASS, Action.ADD, _class_waits),
            Registration(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            Registration(
                Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD | Action.UPDATE, _claim_is_used
            ),
            Registration(
                Resource.PERSISTENT_VOLUME, Action.ADD | Action.UPDATE, _constraints_changed
            ),
        )


def _volume_of(catalog: Catalog, claim: PersistentVolumeClaim) -> PersistentVolume | None:
    """The volume behind a claim; None while its class waits for the pod to have a node."""
    if claim.spec.volume_name:
        volume = catalog.get(PersistentVolume, claim.spec.volume_name)
        if volume is None:
            raise Unusable(volume_not_found(claim.spec.volume_name))
        return volume
    class_name = class_of_claim(claim)
    if not class_name:
        raise Unusable(NO_VOLUME_NOR_CLASS)
    storage_class = catalog.get(StorageClass, class_name)
    if storage_class is None:
        raise Unusable(class_not_found(class_name))
    try:
        if waits_for_consumer(storage_class):
            return None
    except BindingModeUnset as problem:
        raise Unusable(str(problem)) from None
    raise Unusable(NO_VOLUME_NAME)


def _conflicts(nodes: NodeTable, constraints: Sequence[ZoneConstraint], rows: Rows) -> Mask | None:
    if not constraints:
        return None
    zoned: Mask = np.zeros(count_of(rows), dtype=np.bool_)
    for key in TOPOLOGY_LABELS:
        zoned |= nodes.labels.codes(key)[rows] != ABSENT
    fits: Mask = np.ones(count_of(rows), dtype=np.bool_)
    for constraint in dict.fromkeys(constraints):
        fits &= _match_zones(nodes, constraint, rows)
    return zoned & ~fits


def _match_zones(nodes: NodeTable, constraint: ZoneConstraint, rows: Rows) -> Mask:
    """Rows with an allowed value; without the old key its stable successor is read instead."""
    mask = _match_labels(nodes, constraint.key, constraint.values, rows)
    stable = STABLE_KEY.get(constraint.key)
    if stable is not None:
        absent = nodes.labels.codes(constraint.key)[rows] == ABSENT
        mask |= absent & _match_labels(nodes, stable, constraint.values, rows)
    return mask


def _match_labels(nodes: NodeTable, key: str, values: frozenset[str], rows: Rows) -> Mask:
    column = nodes.labels.column(key)
    wanted = [code for code in map(column.values.find, values) if code != ABSENT]
    mask: Mask = np.isin(column.codes[rows], wanted)
    return mask


def _class_waits(pod: PodInfo, old: StorageClass | None, new: StorageClass) -> bool:  # noqa: ARG001
    return new.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def _claim_is_used(
    pod: PodInfo,
    old: PersistentVolumeClaim | None,  # noqa: ARG001
    new: PersistentVolumeClaim,
) -> bool:
    return uses_claim(pod.pod, new, ephemeral=False)


def _constraints_changed(
    pod: PodInfo,  # noqa: ARG001
    old: PersistentVolume | None,
    new: PersistentVolume,
) -> bool:
    return old is None or constraints_of(old) != constraints_of(new)


def narrow_by_zones(view: AttemptView) -> Narrowing:
    """Where zone and region labels of the pod's volumes let it go."""
    names = join_words(
        v.metadata.name for _, v in bound_volumes(view.catalog, view.pod) if constraints_of(v)
    )
    text = f"in the zone of PersistentVolume {names}"
    return Narrowing(VolumeZone.name, ~view.rejected(VolumeZone.name), f"are {text}", f"is {text}")


def find_zones(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each volume with a zone in which none of the nodes is."""
    found = []
    for claim, volume in bound_volumes(view.catalog, view.pod):
        for constraint in constraints_of(volume):
            key = constraint.key
            there = view.label(STABLE_KEY.get(key, key), among) or view.label(key, among)
            if all(value in constraint.values for value, _ in there):
                continue
            wanted = join_words(sorted(constraint.values), "or")
            clause = (
                f"PersistentVolume {volume.metadata.name} of {claim_name(claim)} is in {key}"
                f" {wanted}, the nodes are in {some([value for value, _ in there])}"
            )
            found.append(
                Finding(
                    "volume-zone",
                    volume.metadata.name,
                    among,
                    clause,
                    f"PersistentVolume {volume.metadata.name} is in {key} {wanted}",
                    facts={
                        "volume": volume.metadata.name,
                        "label": key,
                        "zones": [*sorted(constraint.values)],
                        "nodes": dict(there),
                    },
                )
            )
    return found
