"""Claims and volumes: who belongs to whom, and what becomes of a volume that was left.

A claim of an immediate class takes the smallest volume that suits it, or has one made. A claim of
a class that waits is left alone until the scheduler has reserved a volume for it, or has named the
node on which one is to be made. Any provisioner is played: a volume comes into being as soon as it
is wanted (`pkg/controller/volume/persistentvolume`).

Which volume suits a claim: the smallest of those that offer everything it asks for. Class and mode
must be the same, every access mode must be offered, labels must fit the claim's selector, and the
size must suffice. Where a volume can be reached is not looked at: claims for which that matters
wait for their pod, and the scheduler chooses (`pkg/volume/util`).
"""

from collections.abc import Iterable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    PatchAction,
    Plan,
    Wake,
    delete,
    status_patch,
)
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.provisioning import (
    can_provision,
    claim_reference,
    provisioned_volume,
)
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.kinds.storage import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.resources.resource_types import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.quantity import QuantityError, value
from podium.kubernetes.rules.timestamps import Moment

VOLUME: Final = "volume"
CLAIM: Final = "claim"
_WAITS: Final = "WaitForFirstConsumer"


def decide_claim(
    claim: PersistentVolumeClaim,
    volumes: Iterable[PersistentVolume],
    storage_class: StorageClass | None,
    node: Node | None,
    csi_node: CSINode | None,
) -> Plan:
    """`node` is the one that the scheduler has chosen for the claim, if it exists."""
    if claim.metadata.is_terminating:
        return NOTHING
    if claim.spec.volume_name:
        return _bind_named_volume(claim, volumes)
    waits = storage_class is not None and storage_class.volume_binding_mode == _WAITS
    selected = claim.metadata.annotation(SELECTED_NODE)
    reserved = next((each for each in volumes if is_reserved_for(each, claim)), None)
    volume = reserved if waits else choose(claim, volumes)
    if volume is not None:
        return Plan(_bound(claim, volume))
    if storage_class is None or not can_provision(storage_class):
        return NOTHING
    if waits and not selected:
        return NOTHING
    if waits and node is None:
        # The node is gone before its volume was made: the scheduler has to choose again.
        forgotten = {"metadata": {"annotations": {SELECTED_NODE: None}}}
        return Plan([PatchAction(PERSISTENT_VOLUME_CLAIMS, claim.namespace, claim.name, forgotten)])
    labels = node.metadata.labels if node is not None else None
    volume_body = provisioned_volume(claim, storage_class, labels, csi_node)
    return Plan([CreateAction(PERSISTENT_VOLUMES, "", volume_body)])


def _bind_named_volume(claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]) -> Plan:
    """A claim that names its volume."""
    was_bound = claim.metadata.annotation(BIND_COMPLETED) != ""
    volume = next((each for each in volumes if each.name == claim.spec.volume_name), None)
    if volume is not None:
        reference = volume.spec.claim_ref
        if reference is None or is_reserved_for(volume, claim):
            return Plan(_bound(claim, volume))
    if was_bound and claim.status.phase != "Lost":
        return Plan([status_patch(PERSISTENT_VOLUME_CLAIMS, claim, {"phase": "Lost"})])
    return NOTHING


def _bound(claim: PersistentVolumeClaim, volume: PersistentVolume) -> list[Action]:
    """The writes that are missing until both know of each other, the volume first."""
    actions: list[Action] = []
    reference = volume.spec.claim_ref
    if reference is None or not reference.uid:
        body: JsonObject = {"spec": {"claimRef": claim_reference(claim)}}
        if reference is None:
            body["metadata"] = {
                "annotations": {BOUND_BY_CONTROLLER: "yes"},
                "resourceVersion": volume.metadata.resource_version,
            }
        actions.append(PatchAction(PERSISTENT_VOLUMES, "", volume.name, body))
    if volume.status.phase != "Bound":
        actions.append(status_patch(PERSISTENT_VOLUMES, volume, {"phase": "Bound"}))
    marks = {BIND_COMPLETED: "yes"}
    if not claim.spec.volume_name:
        marks[BOUND_BY_CONTROLLER] = "yes"
    if not claim.spec.volume_name or not claim.metadata.annotation(BIND_COMPLETED):
        body = {"metadata": {"annotations": marks}, "spec": {"volumeName": volume.name}}
        actions.append(PatchAction(PERSISTENT_VOLUME_CLAIMS, claim.namespace, claim.name, body))
    if claim.status.phase != "Bound":
        status = {
            "phase": "Bound",
            "accessModes": list(volume.spec.access_modes or ()),
            "capacity": volume.spec.capacity or {},
        }
        actions.append(status_patch(PERSISTENT_VOLUME_CLAIMS, claim, status))
    return actions


def decide_volume(volume: PersistentVolume, claim: PersistentVolumeClaim | None) -> Plan:
    """`claim` is the one that the volume names, if it exists."""
    reference = volume.spec.claim_ref
    if reference is None:
        return _phase(volume, "Available")
    if claim is not None and reference.uid in ("", claim.metadata.uid):
        if claim.spec.volume_name == volume.name:
            return Plan(_bound(claim, volume))
        if not claim.spec.volume_name or not reference.uid:
            return _phase(volume, "Available") if not reference.uid else NOTHING
        return _decide_left_volume(volume)
    if not reference.uid:
        return _phase(volume, "Available")
    return _decide_left_volume(volume)


def _decide_left_volume(volume: PersistentVolume) -> Plan:
    """The claim is gone, or has another volume."""
    released = _phase(volume, "Released")
    if volume.metadata.is_terminating:
        return released
    match volume.spec.persistent_volume_reclaim_policy:
        case "Delete":
            return Plan([*released.actions, delete(PERSISTENT_VOLUMES, volume)])
        case "Recycle":
            body = {
                "metadata": {"annotations": {BOUND_BY_CONTROLLER: None}},
                "spec": {"claimRef": None},
            }
            return Plan([PatchAction(PERSISTENT_VOLUMES, "", volume.name, body)])
    return released


def _phase(volume: PersistentVolume, phase: str) -> Plan:
    if volume.status.phase == phase:
        return NOTHING
    return Plan([status_patch(PERSISTENT_VOLUMES, volume, {"phase": phase})])


class Volumes:
    """Keys are (`claim`, namespace, name) and (`volume`, "", name)."""

    name = "volumes"

    def __init__(self, stores: Stores) -> None:
        self._claims, self._volumes = stores.claims, stores.volumes
        self._classes, self._nodes = stores.storage_classes, stores.nodes
        self._csi_nodes = stores.csi_nodes
        self._unbound = self._claims.indexer.add_index(
            "unbound", lambda claim: () if claim.spec.volume_name else (True,)
        )
        self._reserved = self._volumes.indexer.add_index("reservation", _reservation)

    def watch(self, wake: Wake) -> None:
        def claim_changed(
            old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None
        ) -> None:
            claim = new or old
            if claim is None:
                return
            wake((CLAIM, *claim.metadata.key))
            for volume in self._reserved.of(claim.metadata.key):
                wake((VOLUME, "", volume.name))

        def volume_changed(old: PersistentVolume | None, new: PersistentVolume | None) -> None:
            for volume in (old, new):
                if volume is None:
                    continue
                reference = volume.spec.claim_ref
                if reference is not None:
                    wake((CLAIM, reference.namespace, reference.name))
            if new is not None:
                wake((VOLUME, "", new.name))
                if new.spec.claim_ref is None:
                    wake_unbound()

        def class_changed(_: StorageClass | None, __: StorageClass | None) -> None:
            wake_unbound()

        def wake_unbound() -> None:
            for claim in self._unbound.of(True):
                wake((CLAIM, *claim.metadata.key))

        self._claims.listen(claim_changed)
        self._volumes.listen(volume_changed)
        self._classes.listen(class_changed)

    def plan(self, key: tuple[str, str, str], moment: Moment) -> Plan:
        del moment
        kind, namespace, name = key
        if kind == VOLUME:
            volume = self._volumes.get("", name)
            if volume is None:
                return NOTHING
            reference = volume.spec.claim_ref
            found = reference and self._claims.get(reference.namespace, reference.name)
            return decide_volume(volume, found or None)
        claim = self._claims.get(namespace, name)
        if claim is None:
            return NOTHING
        selected = claim.metadata.annotation(SELECTED_NODE)
        return decide_claim(
            claim,
            self._volumes.all(),
            self._classes.get("", claim.spec.storage_class_name or ""),
            self._nodes.get("", selected),
            self._csi_nodes.get("", selected),
        )


def _reservation(volume: PersistentVolume) -> Iterable[tuple[str, str]]:
    reference = volume.spec.claim_ref
    return ((reference.namespace, reference.name),) if reference is not None else ()


FILESYSTEM: Final = "Filesystem"


def size_bytes(amounts: ResourceList | None) -> int:
    try:
        return value((amounts or {}).get("storage", 0))
    except QuantityError:
        return 0


def is_reserved_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume names this claim, with or without its uid."""
    reference = volume.spec.claim_ref
    return (
        reference is not None
        and (reference.namespace, reference.name) == claim.metadata.key
        and reference.uid in ("", claim.metadata.uid)
    )


def suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    spec, wanted = volume.spec, claim.spec
    if volume.metadata.is_terminating or spec.storage_class_name != (
        wanted.storage_class_name or ""
    ):
        return False
    if (spec.volume_mode or FILESYSTEM) != (wanted.volume_mode or FILESYSTEM):
        return False
    if not set(wanted.access_modes or ()) <= set(spec.access_modes or ()):
        return False
    labels = volume.metadata.labels
    if wanted.selector is not None and not selector_or_nothing(wanted.selector).matches(labels):
        return False
    return size_bytes(spec.capacity) >= size_bytes(wanted.resources.requests)


def choose(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]
) -> PersistentVolume | None:
    """The volume for a claim: one that was reserved for it, or the smallest that suits it."""
    free: list[PersistentVolume] = []
    for volume in volumes:
        if volume.spec.claim_ref is None:
            if suits(volume, claim):
                free.append(volume)
        elif is_reserved_for(volume, claim):
            return volume
    return min(free, key=lambda each: (size_bytes(each.spec.capacity), each.name), default=None)
