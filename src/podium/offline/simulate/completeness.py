"""Kinds that the objects of an input refer to and that are not in it at all.

A dump is easily taken of too few kinds, and nothing about the answer then looks wrong: volumes have
no zones, devices do not exist, budgets protect nobody. A single object that is missing is told by
the message of the pod that wants it. A whole kind that is missing was most likely not asked for,
and that is said before the answer, with what the answer may get wrong.

Contract: an input that holds a list of a kind, be it empty (`PodDisruptionBudgetList`), is complete
in that kind. Nothing refers to Services, VolumeAttachments and Workloads, so they are never missed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from podium.kubernetes.kinds.devices import ResourceClaim, ResourceClaimSpec, ResourceClaimTemplate
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.pod import Pod, PodAffinity
from podium.kubernetes.kinds.storage import (
    CSIDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.rules.priorities import SYSTEM_PRIORITIES
from podium.offline.simulate.admission import is_stored

_IN_TREE = "kubernetes.io/"
_WAITS = "WaitForFirstConsumer"


@dataclass(frozen=True, slots=True)
class MissingKind:
    """`referred_by` are keys of objects that refer to the kind, `noun` is what to call one of them,
    and `effect` says what the answer may get wrong. `unread` says why a cluster did not show the
    kind; it is empty where nobody asked."""

    kind: str
    noun: str
    effect: str
    referred_by: tuple[str, ...]
    unread: str = ""


@dataclass(frozen=True, slots=True)
class _Rule:
    """Who refers to a kind; `find` gives the keys of those who do."""

    kind: str
    noun: str
    effect: str
    find: Callable[["_Input"], Iterator[str]]


class _Input:
    """The objects that bear on a decision: volumes and devices do if a pending pod wants some."""

    def __init__(
        self, pending: Iterable[Pod], running: Iterable[Pod], objects: Iterable[KubeStruct]
    ) -> None:
        self.pending = list(pending)
        self.pods = [*self.pending, *running]
        found = [obj for obj in objects if isinstance(obj, KubeObject)]
        stored = found if any(map(_wants_volumes, self.pending)) else []
        self.claims = [obj for obj in stored if isinstance(obj, PersistentVolumeClaim)]
        self.volumes = [obj for obj in stored if isinstance(obj, PersistentVolume)]
        self.classes = [obj for obj in stored if isinstance(obj, StorageClass)]
        self.drivers = [obj for obj in stored if isinstance(obj, CSIDriver)]
        wanted = found if any(pod.spec.resource_claims for pod in self.pending) else []
        self.device_claims = [obj for obj in wanted if isinstance(obj, ResourceClaim)]
        self.claim_templates = [obj for obj in wanted if isinstance(obj, ResourceClaimTemplate)]


def _wants_volumes(pod: Pod) -> bool:
    return any(v.persistent_volume_claim or v.ephemeral for v in pod.spec.volumes or ())


def find_missing_kinds(
    pending: Iterable[Pod],
    running: Iterable[Pod],
    objects: Iterable[KubeStruct],
    known: frozenset[str],
    victims: Iterable[Pod] = (),
    unread: Mapping[str, str] = MappingProxyType({}),
) -> tuple[MissingKind, ...]:
    """`known` are the kinds that the input has objects or a list of; `victims` were evicted in the
    run; `unread` are kinds that a cluster did not show, and why."""
    found = _Input(pending, running, objects)
    missing = [
        MissingKind(rule.kind, rule.noun, rule.effect, keys, unread.get(rule.kind, ""))
        for rule in _RULES
        if rule.kind not in known and (keys := tuple(dict.fromkeys(rule.find(found))))
    ]
    evicted = tuple(_key(pod) for pod in victims if is_stored(pod))
    if evicted and "PodDisruptionBudget" not in known:
        effect = "pods may be evicted that a budget protects, and others spared"
        why = unread.get("PodDisruptionBudget", "")
        missing.append(MissingKind("PodDisruptionBudget", "evicted pod", effect, evicted, why))
    return tuple(missing)


# --- who refers to what -----------------------------------------------------------------------


def _pods_with_claims(found: _Input) -> Iterator[str]:
    for pod in found.pending:
        if any(volume.persistent_volume_claim for volume in pod.spec.volumes or ()):
            yield _key(pod)


def _bound_claims(found: _Input) -> Iterator[str]:
    return (_key(claim) for claim in found.claims if claim.spec.volume_name)


def _claims_with_class(found: _Input) -> Iterator[str]:
    return (_key(claim) for claim in found.claims if claim.spec.storage_class_name)


def _csi_volumes(found: _Input) -> Iterator[str]:
    """Volumes whose number a node may limit."""
    for volume in found.volumes:
        if volume.spec.csi is not None:
            yield _key(volume)


def _delayed_csi_claims(found: _Input) -> Iterator[str]:
    delayed = {
        entry.name
        for entry in found.classes
        if entry.volume_binding_mode == _WAITS and not entry.provisioner.startswith(_IN_TREE)
    }
    for claim in found.claims:
        if not claim.spec.volume_name and claim.spec.storage_class_name in delayed:
            yield _key(claim)


def _drivers_that_report_capacity(found: _Input) -> Iterator[str]:
    return (_key(driver) for driver in found.drivers if driver.spec.storage_capacity)


def _pods_with_device_claims(found: _Input) -> Iterator[str]:
    for pod in found.pending:
        if any(entry.resource_claim_name for entry in pod.spec.resource_claims or ()):
            yield _key(pod)


def _pods_with_claim_templates(found: _Input) -> Iterator[str]:
    for pod in found.pending:
        told = {status.name for status in pod.status.resource_claim_statuses or ()}
        entries = pod.spec.resource_claims or ()
        if any(e.resource_claim_template_name and e.name not in told for e in entries):
            yield _key(pod)


def _claims_of_classes(found: _Input) -> Iterator[str]:
    for claim in found.device_claims:
        if _names_class(claim.spec):
            yield _key(claim)
    for template in found.claim_templates:
        if _names_class(template.spec.spec):
            yield _key(template)


def _names_class(spec: ResourceClaimSpec) -> bool:
    return any(
        (request.exactly is not None and request.exactly.device_class_name)
        or any(each.device_class_name for each in request.first_available or ())
        for request in spec.devices.requests or ()
    )


def _claims_for_devices(found: _Input) -> Iterator[str]:
    return (_key(claim) for claim in found.device_claims if claim.status.allocation is None)


def _pods_of_classes(found: _Input) -> Iterator[str]:
    for pod in found.pending:
        if pod.spec.priority_class_name not in ("", None, *SYSTEM_PRIORITIES):
            yield _key(pod)


def _pods_that_select_namespaces(found: _Input) -> Iterator[str]:
    for pod in found.pods:
        affinity = pod.spec.affinity
        if affinity is None:
            continue
        if any(map(_selects_namespaces, (affinity.pod_affinity, affinity.pod_anti_affinity))):
            yield _key(pod)


def _selects_namespaces(affinity: PodAffinity | None) -> bool:
    if affinity is None:
        return False
    required = affinity.required_during_scheduling_ignored_during_execution or ()
    preferred = affinity.preferred_during_scheduling_ignored_during_execution or ()
    terms = (*required, *(entry.pod_affinity_term for entry in preferred))
    selectors = (term.namespace_selector for term in terms)
    # An empty selector selects every namespace, whatever its labels.
    return any(s is not None and (s.match_labels or s.match_expressions) for s in selectors)


def _pods_of_owner(kind: str) -> Callable[[_Input], Iterator[str]]:
    def find(found: _Input) -> Iterator[str]:
        for pod in found.pending:
            owner = pod.metadata.controller
            if owner is None or owner.kind != kind or pod.spec.topology_spread_constraints:
                continue
            if is_stored(pod):
                yield _key(pod)

    return find


def _pods_of_groups(found: _Input) -> Iterator[str]:
    return (_key(pod) for pod in found.pending if pod.spec.scheduling_group is not None)


_SPREAD = "pods may be spread over nodes and zones differently than in the cluster"
_RULES = (
    _Rule(
        "PersistentVolumeClaim",
        "pod",
        "they are turned away, whatever room there is",
        _pods_with_claims,
    ),
    _Rule(
        "PersistentVolume",
        "claim",
        "zones and nodes that volumes are tied to, and limits of volumes",
        _bound_claims,
    ),
    _Rule(
        "StorageClass",
        "claim",
        "claims that wait for their pod's node look as if nobody could make their volumes",
        _claims_with_class,
    ),
    _Rule(
        "CSINode",
        "volume",
        "how many volumes a node takes: too many may be put on one",
        _csi_volumes,
    ),
    _Rule(
        "CSIDriver",
        "claim",
        "whether there is room for new volumes near a node is not looked at",
        _delayed_csi_claims,
    ),
    _Rule(
        "CSIStorageCapacity",
        "driver",
        "nodes look as if there were no room for new volumes",
        _drivers_that_report_capacity,
    ),
    _Rule(
        "ResourceClaim",
        "pod",
        "pods with devices are turned away, and devices that are taken look free",
        _pods_with_device_claims,
    ),
    _Rule(
        "ResourceClaimTemplate",
        "pod",
        "pods with devices are turned away",
        _pods_with_claim_templates,
    ),
    _Rule("DeviceClass", "claim", "pods with devices are turned away", _claims_of_classes),
    _Rule(
        "ResourceSlice",
        "claim",
        "nodes look as if they had no devices",
        _claims_for_devices,
    ),
    _Rule(
        "PriorityClass",
        "pod",
        "priorities, the default one included: who goes first and who is evicted",
        _pods_of_classes,
    ),
    _Rule(
        "Namespace",
        "pod",
        "which pods an affinity or anti-affinity means",
        _pods_that_select_namespaces,
    ),
    _Rule("ReplicaSet", "pod", _SPREAD, _pods_of_owner("ReplicaSet")),
    _Rule("StatefulSet", "pod", _SPREAD, _pods_of_owner("StatefulSet")),
    _Rule(
        "ReplicationController",
        "pod",
        _SPREAD,
        _pods_of_owner("ReplicationController"),
    ),
    _Rule("PodGroup", "pod", "members wait for their group", _pods_of_groups),
)


def _key(obj: KubeObject) -> str:
    return f"{obj.namespace}/{obj.name}" if obj.namespace else obj.name
