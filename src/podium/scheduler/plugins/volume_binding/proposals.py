"""Volumes: claims, classes and volumes that are missing, wrong or of no use to any node.

Whether a claim is at fault is read from the objects, not from the scheduler's texts. A claim that
exists cannot be changed in place, so other values for one mean a new claim in its place.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.golang.errors import closest
from podium.kubernetes.controllers.provisioning import (
    bind_claim,
    can_provision,
    provisioned_volume,
)
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta, OwnerReference
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    StorageClass,
)
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.kinds.volumes import PersistentVolumeClaimSpec, VolumeResources
from podium.kubernetes.rules.quantity import value
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import spell
from podium.scheduler.framework.explanations.situation import MAX_STEPS_OF_A_KIND, Situation
from podium.scheduler.framework.plugin import BY_HAND, ProposedChange
from podium.scheduler.plugins.volume_binding.plugin import VolumeBinding
from podium.scheduler.plugins.volume_zone import VolumeZone
from podium.scheduler.plugins.volumes.pod_claims import (
    claims_of,
    class_of_claim,
    controls,
    find_claim,
)

PLUGINS = (VolumeBinding.name, VolumeZone.name)
STORAGE = "storage"
NEW_CLAIM_SIZE = "1Gi"
"""Of a claim about which nothing is known but its name."""
_IMMEDIATE = "Immediate"


def propose_other_volumes(situation: Situation) -> Iterator[ProposedChange]:
    at_fault = situation.refusal is not None or any(map(situation.nodes_near, PLUGINS))
    if not at_fault:
        return
    pod = situation.pod
    for used in dict.fromkeys(claims_of(pod)):
        claim = find_claim(situation.catalog, pod, used.name)
        if claim is None and not used.ephemeral:
            yield from _propose_for_missing(situation, used.name)
        elif claim is None or (used.ephemeral and not controls(pod, claim)):
            yield from _propose_own_claim(situation, used.name, claim)
        elif claim.metadata.deletion_timestamp is not None:
            yield from _propose_other_claim(situation, claim)
        else:
            yield from _propose_for_existing(situation, claim)


# --- a claim that is missing ------------------------------------------------------------------


def _propose_for_missing(situation: Situation, name: str) -> Iterator[ProposedChange]:
    namespace = situation.pod.metadata.namespace
    known = [
        c.name for c in situation.catalog.all(PersistentVolumeClaim) if c.namespace == namespace
    ]
    alike = closest(name, known)
    if alike:
        yield situation.change_pod(
            "correct-name",
            f"use PersistentVolumeClaim {alike} in place of {name}, which does not exist",
            disturbance.CORRECT_NAME,
            with_claim(situation.pod, name, alike),
        )
    for storage_class in usable_classes(situation)[:MAX_STEPS_OF_A_KIND]:
        made = _new_claim(namespace, name, storage_class)
        yield _create(
            f"create PersistentVolumeClaim {namespace}/{name} of StorageClass {storage_class.name}",
            settle(made, storage_class),
        )
    if not usable_classes(situation):
        nobody = StorageClass(provisioner=BY_HAND)
        yield _create(
            f"create PersistentVolumeClaim {namespace}/{name} and a PersistentVolume for it",
            _bind(_new_claim(namespace, name, nobody), nobody),
        )


def _propose_other_claim(
    situation: Situation, claim: PersistentVolumeClaim
) -> Iterator[ProposedChange]:
    """A claim that is being deleted stays so; the pod needs another one."""
    name = f"{claim.name}-new"
    for storage_class in _classes_for(situation, claim)[:MAX_STEPS_OF_A_KIND]:
        made = _new_claim(claim.namespace, name, storage_class, claim.spec)
        pod = with_claim(situation.pod, claim.name, name)
        yield ProposedChange(
            "replace-claim",
            f"create PersistentVolumeClaim {claim.namespace}/{name} and use it in place of"
            f" {claim.name}, which is being deleted",
            disturbance.REPLACE_OBJECT,
            pod=pod,
            objects=settle(made, storage_class),
        )


def _propose_own_claim(
    situation: Situation, name: str, stranger: PersistentVolumeClaim | None
) -> Iterator[ProposedChange]:
    """The claim of an ephemeral volume, which a controller makes as soon as nothing is in its
    way."""
    pod = situation.pod
    templates = {
        f"{pod.metadata.name}-{v.name}": v.ephemeral.volume_claim_template
        for v in pod.spec.volumes or ()
        if v.ephemeral is not None
    }
    template = templates.get(name)
    if template is None:
        return
    owner = OwnerReference(
        api_version="v1", kind="Pod", name=pod.name, uid=pod.metadata.uid, controller=True
    )
    metadata = ObjectMeta(
        name=name, namespace=pod.metadata.namespace, uid=f"new-{name}", owner_references=(owner,)
    )
    claim = PersistentVolumeClaim(metadata=metadata, spec=template.spec)
    storage_class = situation.catalog.get(StorageClass, class_of_claim(claim))
    objects = settle(claim, storage_class)
    if stranger is None:
        yield ProposedChange(
            "create-object",
            f"create PersistentVolumeClaim {claim.namespace}/{name}, as the ephemeral volume"
            " controller would",
            disturbance.CREATE_OBJECT,
            objects=objects,
        )
    else:
        yield ProposedChange(
            "delete-object",
            f"delete PersistentVolumeClaim {claim.namespace}/{name}, which was not made for this"
            " pod and is in the way of its own",
            disturbance.REPLACE_OBJECT,
            objects=objects,
        )


# --- a claim that no node can serve -----------------------------------------------------------


def _propose_for_existing(
    situation: Situation, claim: PersistentVolumeClaim
) -> Iterator[ProposedChange]:
    name = class_of_claim(claim)
    storage_class = situation.catalog.get(StorageClass, name)
    if claim.spec.volume_name:
        yield from _propose_for_bound(situation, claim)
        return
    if name and storage_class is None:
        yield from _propose_class(situation, name)
    if storage_class is not None:
        yield from _propose_smaller_claim(situation, claim, storage_class)
    for other in _classes_for(situation, claim)[:MAX_STEPS_OF_A_KIND]:
        if other.name != name:
            alike = storage_class is None and closest(name, [other.name]) == other.name
            weight = disturbance.CORRECT_NAME if alike else disturbance.REPLACE_OBJECT
            made = _unbind_claim(claim, other.name)
            in_place = f" in place of {name}" if name else ""
            yield ProposedChange(
                "change-storage-class",
                f"give PersistentVolumeClaim {claim.namespace}/{claim.name} StorageClass"
                f" {other.name}{in_place}",
                weight,
                objects=settle(made, other),
            )
    yield from _propose_volume(situation, claim, name)


def _propose_for_bound(
    situation: Situation, claim: PersistentVolumeClaim
) -> Iterator[ProposedChange]:
    volume = situation.catalog.get(PersistentVolume, claim.spec.volume_name)
    why = (
        f"whose PersistentVolume {claim.spec.volume_name} does not exist"
        if volume is None
        else f"whose PersistentVolume {volume.name} cannot be reached"
    )
    for storage_class in _classes_for(situation, claim)[:MAX_STEPS_OF_A_KIND]:
        made = _unbind_claim(claim, storage_class.name)
        yield ProposedChange(
            "replace-claim",
            f"make PersistentVolumeClaim {claim.namespace}/{claim.name}, {why}, anew and empty"
            f" with StorageClass {storage_class.name}",
            disturbance.REPLACE_OBJECT + (0 if volume is None else disturbance.EVICT_PODS),
            objects=settle(made, storage_class),
        )


def _propose_class(situation: Situation, name: str) -> Iterator[ProposedChange]:
    for like in usable_classes(situation)[:2]:
        made = replace(like, metadata=ObjectMeta(name=name))
        yield _create(f"create StorageClass {name}, for example like {like.name}", (made,))


def _propose_smaller_claim(
    situation: Situation, claim: PersistentVolumeClaim, storage_class: StorageClass
) -> Iterator[ProposedChange]:
    """The most that a driver says it has room for, or that a volume has."""
    asked = value((claim.spec.resources.requests or {}).get(STORAGE, 0))
    sizes = {
        value(c.capacity)
        for c in situation.catalog.all(CSIStorageCapacity)
        if c.storage_class_name == storage_class.name and c.capacity is not None
    }
    sizes |= {
        value((v.spec.capacity or {}).get(STORAGE, 0))
        for v in situation.catalog.all(PersistentVolume)
        if v.spec.storage_class_name == storage_class.name and v.spec.claim_ref is None
    }
    for size in sorted((s for s in sizes if 0 < s < asked), reverse=True)[:MAX_STEPS_OF_A_KIND]:
        resources = VolumeResources(requests={STORAGE: _spell(size)})
        made = replace(claim, spec=replace(claim.spec, resources=resources))
        lost = 1 - size / asked
        yield ProposedChange(
            "lower-claim",
            f"make PersistentVolumeClaim {claim.namespace}/{claim.name} anew with"
            f" {_spell(size)} in place of {_spell(asked)}",
            disturbance.LOWER_REQUEST + round(disturbance.LOWER_REQUEST * lost),
            objects=settle(made, storage_class),
        )


def _propose_volume(
    situation: Situation, claim: PersistentVolumeClaim, class_name: str
) -> Iterator[ProposedChange]:
    """A volume made by hand, for a class that makes none."""
    driver = StorageClass(metadata=ObjectMeta(name=class_name), provisioner=BY_HAND)
    makes_none = class_name in ("", *_without_provisioner(situation))
    yield ProposedChange(
        "create-volume",
        f"create a PersistentVolume for PersistentVolumeClaim {claim.namespace}/{claim.name}",
        disturbance.CREATE_OBJECT if makes_none else disturbance.REPLACE_OBJECT + 2,
        objects=_bind(claim, driver),
    )


def _without_provisioner(situation: Situation) -> Iterator[str]:
    return (c.name for c in situation.catalog.all(StorageClass) if not can_provision(c))


# --- objects ----------------------------------------------------------------------------------


def usable_classes(situation: Situation) -> list[StorageClass]:
    """Classes that make volumes, those first that wait for a node to be chosen."""
    found = [c for c in situation.catalog.all(StorageClass) if can_provision(c)]
    return sorted(found, key=lambda c: (c.volume_binding_mode == _IMMEDIATE, c.name))


def _classes_for(situation: Situation, claim: PersistentVolumeClaim) -> list[StorageClass]:
    wanted = class_of_claim(claim)
    alike = closest(wanted, [c.name for c in usable_classes(situation)])
    return sorted(usable_classes(situation), key=lambda c: (c.name != wanted, c.name != alike))


def _new_claim(
    namespace: str,
    name: str,
    storage_class: StorageClass,
    like: PersistentVolumeClaimSpec | None = None,
) -> PersistentVolumeClaim:
    spec = PersistentVolumeClaimSpec(
        access_modes=(like and like.access_modes) or ("ReadWriteOnce",),
        storage_class_name=storage_class.name,
        resources=like.resources
        if like is not None and like.resources.requests
        else VolumeResources(requests={STORAGE: NEW_CLAIM_SIZE}),
        volume_mode=(like and like.volume_mode) or "Filesystem",
    )
    metadata = ObjectMeta(name=name, namespace=namespace, uid=f"new-{namespace}-{name}")
    return PersistentVolumeClaim(metadata=metadata, spec=spec)


def _unbind_claim(claim: PersistentVolumeClaim, class_name: str) -> PersistentVolumeClaim:
    """The claim as it would be if it were made anew for a class."""
    metadata = ObjectMeta(
        name=claim.name,
        namespace=claim.namespace,
        uid=claim.metadata.uid,
        labels=claim.metadata.labels,
        owner_references=claim.metadata.owner_references,
    )
    spec = replace(claim.spec, volume_name="", storage_class_name=class_name)
    return replace(claim, metadata=metadata, spec=spec, status=PersistentVolumeClaimStatus())


def settle(
    claim: PersistentVolumeClaim, storage_class: StorageClass | None
) -> tuple[KubeObject, ...]:
    """The claim, with its volume where a provisioner makes one at once."""
    immediate = storage_class is not None and storage_class.volume_binding_mode in (
        None,
        _IMMEDIATE,
    )
    if storage_class is None or not immediate or not can_provision(storage_class):
        return (claim,)
    return _bind(claim, storage_class)


def _bind(claim: PersistentVolumeClaim, storage_class: StorageClass) -> tuple[KubeObject, ...]:
    body = provisioned_volume(claim, storage_class, None, None)
    return bind_claim(claim, convert_object(body, PersistentVolume, strict=False))


def with_claim(pod: Pod, name: str, other: str) -> Pod:
    """The pod with another claim behind the volumes that name one."""
    volumes = tuple(
        replace(v, persistent_volume_claim=replace(v.persistent_volume_claim, claim_name=other))
        if v.persistent_volume_claim is not None and v.persistent_volume_claim.claim_name == name
        else v
        for v in pod.spec.volumes or ()
    )
    return replace(pod, spec=replace(pod.spec, volumes=volumes))


def _create(sentence: str, objects: tuple[KubeObject, ...]) -> ProposedChange:
    return ProposedChange("create-object", sentence, disturbance.CREATE_OBJECT, objects=objects)


def _spell(size: int) -> str:
    return spell("memory", size * 10**9)
