"""The controllers beside the scheduler: what they would do next about volumes and claims.

Each thing to be done is a function that does it, so that a test can pick one or do them all. They
look at the API server's objects, never at what the scheduler believes.
"""

from collections.abc import Callable, Iterator
from functools import partial

from msgspec.structs import replace
from support.scheduler.engine.storage_world import StorageWorld
from support.scheduler.plugins.device_builders import exactly
from support.scheduler.plugins.device_builders import make_claim as make_device_claim

from podium.kubernetes.controllers.provisioning import NO_PROVISIONER, bind_claim
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import ObjectMeta, OwnerReference
from podium.kubernetes.kinds.pod import Pod, PodResourceClaimStatus
from podium.kubernetes.kinds.storage import (
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    CSINode,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.rules.quantity import nano
from podium.offline.simulate.pod_claims import provision_volume
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.plugins.dynamic_resources.claim_writing import FINALIZER, deallocate_claim
from podium.scheduler.plugins.volume_binding.pod_volumes import (
    is_fully_bound,
)

Task = Callable[[], object]


class ControlledWorld(StorageWorld):
    """An API server with its controllers."""

    def due(self) -> list[Task]:
        """What controllers would do now."""
        return [
            *self._volume_tasks(),
            *self._claim_tasks(),
            *self._ephemeral_tasks(),
            *self._device_tasks(),
            *self._template_tasks(),
        ]

    def act(self) -> None:
        """Do all there is to be done."""
        for _ in range(50):
            tasks = self.due()
            if not tasks:
                return
            tasks[0]()
        raise AssertionError("the controllers never rest")

    # volumes

    def _volume_tasks(self) -> Iterator[Task]:
        for volume in self.all(PersistentVolume):
            held = volume.spec.claim_ref
            if held is None:
                continue
            claim = self.find(PersistentVolumeClaim, f"{held.namespace}/{held.name}")
            if claim is None or held.uid not in ("", claim.metadata.uid):
                if volume.status.phase != "Released":
                    yield partial(self._release, volume)
            elif claim.spec.volume_name not in ("", volume.metadata.name):
                yield partial(self.store, _unclaimed(volume))
            elif claim.metadata.deletion_timestamp is None and not is_fully_bound(claim):
                yield partial(self._bind_volume, claim, volume)

    def _release(self, volume: PersistentVolume) -> None:
        if volume.metadata.name.startswith("pvc-"):
            self.remove(volume)
        else:
            self.store(replace(volume, status=replace(volume.status, phase="Released")))

    def _bind_volume(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        claim, volume = bind_claim(claim, volume)
        meta = claim.metadata
        reference = ObjectReference(
            kind="PersistentVolumeClaim", name=meta.name, namespace=meta.namespace, uid=meta.uid
        )
        self.store(replace(volume, spec=replace(volume.spec, claim_ref=reference)))
        self.store(claim)

    def _claim_tasks(self) -> Iterator[Task]:
        for claim in self.all(PersistentVolumeClaim):
            if claim.metadata.deletion_timestamp is not None:
                if not self._is_in_use(claim):
                    yield partial(self.remove, claim)
            elif is_fully_bound(claim):
                gone = claim.spec.volume_name not in self.objects
                if gone and claim.status.phase != "Lost":
                    yield partial(self.store, replace(claim, status=_lost(claim)))
            else:
                yield from self._unbound_claim_tasks(claim)

    def _is_in_use(self, claim: PersistentVolumeClaim) -> bool:
        """Whether a pod on a node uses a claim; others will not get it any more."""
        return any(
            volume.persistent_volume_claim is not None
            and volume.persistent_volume_claim.claim_name == claim.metadata.name
            for pod in self.pods.values()
            if pod.spec.node_name
            for volume in pod.spec.volumes or ()
        )

    def _unbound_claim_tasks(self, claim: PersistentVolumeClaim) -> Iterator[Task]:
        entry = self.find(StorageClass, claim.spec.storage_class_name or "")
        if entry is None or claim.spec.volume_name:
            return
        uid, name = claim.metadata.uid, claim.metadata.name
        for volume in self.all(PersistentVolume):
            held = volume.spec.claim_ref
            if held is not None and held.name == name and held.uid in ("", uid):
                return  # the volume's own task
        node_name = (claim.metadata.annotations or {}).get(SELECTED_NODE)
        immediate = entry.volume_binding_mode == "Immediate"
        if not immediate and node_name is None:
            return
        free = next((v for v in self.all(PersistentVolume) if _suits(v, claim)), None)
        if immediate and free is not None:
            yield partial(self._bind_volume, claim, free)
        elif entry.provisioner != NO_PROVISIONER:
            if node_name is not None and node_name not in self.nodes:
                yield partial(self.refuse_node, claim)
            else:
                yield partial(self._provision, claim, entry, node_name or "")

    def refuse_node(self, claim: PersistentVolumeClaim) -> None:
        """A provisioner that cannot serve the node gives the choice back to the scheduler."""
        annotations = dict(claim.metadata.annotations or {})
        annotations.pop(SELECTED_NODE, None)
        self.store(replace(claim, metadata=replace(claim.metadata, annotations=annotations)))

    def _provision(self, claim: PersistentVolumeClaim, entry: StorageClass, node_name: str) -> None:
        csi_node = self.find(CSINode, node_name)
        self.store(provision_volume(claim, entry, self.nodes.get(node_name), csi_node))

    def _ephemeral_tasks(self) -> Iterator[Task]:
        """Claims for ephemeral volumes, made when a pod comes and removed when it goes."""
        for pod in self.pods.values():
            for volume in pod.spec.volumes or ():
                template = volume.ephemeral and volume.ephemeral.volume_claim_template
                name = f"{pod.metadata.name}-{volume.name}"
                key = f"{pod.metadata.namespace}/{name}"
                if template and key not in self.objects and not _going(pod):
                    owned = _owned(pod, name)
                    claim = PersistentVolumeClaim(metadata=owned, spec=template.spec)
                    yield partial(self.store, claim)
        for claim in self.all(PersistentVolumeClaim):
            if self._is_orphan(claim.metadata):
                yield partial(self.remove, claim)

    def _is_orphan(self, metadata: ObjectMeta) -> bool:
        owners = metadata.owner_references or ()
        uids = {pod.metadata.uid for pod in self.pods.values()}
        return bool(owners) and owners[0].uid not in uids

    # devices

    def _device_tasks(self) -> Iterator[Task]:
        """Users that are gone give claims back, and the last one their devices."""
        uids = {pod.metadata.uid for pod in self.pods.values()}
        for claim in self.all(ResourceClaim):
            users = claim.status.reserved_for or ()
            left = tuple(user for user in users if user.uid in uids)
            orphan = self._is_orphan(claim.metadata)
            going = claim.metadata.deletion_timestamp is not None
            if len(left) < len(users):
                status = replace(claim.status, reserved_for=left or None)
                kept = replace(claim, status=status)
                yield partial(self.store, kept if left else _unprotected(deallocate_claim(claim)))
            elif (going or orphan) and not users:
                yield partial(self.remove, claim)

    def _template_tasks(self) -> Iterator[Task]:
        for key, pod in self.pods.items():
            told = {status.name for status in pod.status.resource_claim_statuses or ()}
            for reference in pod.spec.resource_claims or ():
                if reference.resource_claim_template_name and reference.name not in told:
                    yield partial(self._make_claim, key, pod, reference.name)

    def _make_claim(self, key: str, pod: Pod, reference: str) -> None:
        name = f"{pod.metadata.name}-{reference}-{pod.metadata.uid}"
        claim = make_device_claim(name, exactly("one"))
        if object_key(claim.metadata) not in self.objects:
            self.store(replace(claim, metadata=_owned(pod, name)))
        told = pod.status.resource_claim_statuses or ()
        status = PodResourceClaimStatus(name=reference, resource_claim_name=name)
        self.change_pod(key, status={"resource_claim_statuses": (*told, status)})


def _going(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def _owned(pod: Pod, name: str) -> ObjectMeta:
    meta = pod.metadata
    owner = OwnerReference(kind="Pod", name=meta.name, uid=meta.uid, controller=True)
    return ObjectMeta(
        name=name,
        namespace=meta.namespace,
        uid=f"uid-{name}-{meta.uid}",
        owner_references=(owner,),
    )


def _lost(claim: PersistentVolumeClaim) -> object:
    return replace(claim.status, phase="Lost")


def _unclaimed(volume: PersistentVolume) -> PersistentVolume:
    annotations = dict(volume.metadata.annotations or {})
    annotations.pop(BOUND_BY_CONTROLLER, None)
    return replace(
        volume,
        metadata=replace(volume.metadata, annotations=annotations),
        spec=replace(volume.spec, claim_ref=None),
        status=replace(volume.status, phase="Available"),
    )


def _unprotected(claim: ResourceClaim) -> ResourceClaim:
    left = tuple(name for name in claim.metadata.finalizers or () if name != FINALIZER)
    return replace(claim, metadata=replace(claim.metadata, finalizers=left))


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    wanted = nano((claim.spec.resources.requests or {}).get("storage", 0))
    return (
        volume.spec.claim_ref is None
        and volume.status.phase == "Available"
        and volume.spec.storage_class_name == claim.spec.storage_class_name
        and set(claim.spec.access_modes or ()) <= set(volume.spec.access_modes or ())
        and nano((volume.spec.capacity or {}).get("storage", 0)) >= wanted
    )
