"""What an API server would have done to an object before a scheduler sees it.

A manifest leaves out what the server fills in, and some of it decides placements: a limit without
a request becomes the request, a class name becomes a priority, `matchLabelKeys` become part of the
selector, limit ranges and runtime classes have their say. Only such fields are filled in;
tolerations for not-ready and unreachable nodes are not, because they matter to eviction and not to
where a pod goes.

Contract: an object that a server has stored (it has a resourceVersion) went through this already
and keeps what it has.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar
from uuid import NAMESPACE_OID, uuid5

from msgspec.structs import replace

from podium.kubernetes.kinds.devices import ResourceClaim, ResourceClaimSpec
from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.typed_objects import is_cluster_scoped
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod, PodSpec
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.kubernetes.kinds.workloads import Namespace, PriorityClass
from podium.simulator.cluster_dump import HOW_TO_DUMP
from podium.simulator.cluster_rules import ClusterRules
from podium.simulator.pod_resources import default_container, default_spec
from podium.kubernetes.rules.node_status import default_allocatable
from podium.kubernetes.rules.priorities import (
    SYSTEM_PRIORITIES,
    PriorityConflict,
    default_priority_class,
    resolve_priority,
)
from podium.kubernetes.rules.storage_classes import CLASS_ANNOTATION, default_storage_class

K = TypeVar("K", bound=KubeObject)

DEFAULT_NAMESPACE = "default"
NAMESPACE_LABEL = "kubernetes.io/metadata.name"


def is_stored(obj: KubeObject) -> bool:
    """Whether an API server has accepted the object already."""
    return bool(obj.metadata.resource_version)


def uid_for(kind: str, namespace: str, name: str) -> str:
    """A UID that follows from the object's identity, so that runs can be compared."""
    return str(uuid5(NAMESPACE_OID, f"{kind}/{namespace}/{name}"))


def assign_uid(obj: K, default_namespace: str = DEFAULT_NAMESPACE) -> K:
    """The object with a namespace (if its kind has them) and a UID."""
    metadata = obj.metadata
    namespace = metadata.namespace
    if is_cluster_scoped(type(obj)):
        namespace = ""
    elif not namespace:
        namespace = default_namespace
    uid = metadata.uid or uid_for(type(obj).__name__, namespace, metadata.name)
    if namespace == metadata.namespace and uid == metadata.uid:
        return obj
    return _with(obj, metadata=replace(metadata, namespace=namespace, uid=uid))


class Admission:
    """Fills in objects, knowing the classes of the cluster they go into."""

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        found = list(objects)
        priorities = [obj for obj in found if isinstance(obj, PriorityClass)]
        self._priorities: dict[str, PriorityClass] = {
            name: PriorityClass(metadata=ObjectMeta(name=name), value=value)
            for name, value in SYSTEM_PRIORITIES.items()
        }
        self._priorities.update((entry.metadata.name, entry) for entry in priorities)
        self.rules = ClusterRules(found)
        self._default_priority = default_priority_class(priorities)
        self._default_storage = default_storage_class(
            obj.metadata for obj in found if isinstance(obj, StorageClass)
        )

    def admit(self, obj: K) -> K:
        """The object as a server would store it; ObjectError if it would refuse it."""
        match obj:
            case Pod():
                return _same(obj, self._pod(obj))
            case Node():
                return _same(obj, default_allocatable(obj))
            case Namespace():
                return _same(obj, _namespace(obj))
            case StorageClass() if obj.volume_binding_mode is None:
                return _with(obj, volume_binding_mode="Immediate")
            case PersistentVolume() if not obj.status.phase:
                phase = "Bound" if obj.spec.claim_ref else "Available"
                return _with(obj, status=replace(obj.status, phase=phase))
            case PersistentVolumeClaim() if not is_stored(obj):
                return _same(obj, self._claim(obj))
            case ResourceClaim() if not is_stored(obj):
                return _with(obj, spec=default_requests(obj.spec))
        return obj

    def _pod(self, pod: Pod) -> Pod:
        settled = is_stored(pod) and pod.spec.priority is not None
        spec = pod.spec if settled else self._set_priority(pod.spec)
        if not spec.scheduler_name:
            spec = replace(spec, scheduler_name=PodSpec().scheduler_name)
        if is_stored(pod):
            return pod if spec is pod.spec else replace(pod, spec=spec)
        spec = default_spec(_default_resources(spec), pod.metadata.labels or {})
        return self.rules.apply_to(replace(pod, spec=spec))

    def _set_priority(self, spec: PodSpec) -> PodSpec:
        """Priority and preemption policy as the class says; a written number stays."""
        found = self._default_priority
        if spec.priority_class_name:
            found = self._priorities.get(spec.priority_class_name)
            if found is None and spec.priority is None:
                raise ObjectError(
                    "spec.priorityClassName",
                    f"no PriorityClass with name {spec.priority_class_name} was found",
                    f"add the PriorityClass to the input; {HOW_TO_DUMP}",
                )
        elif spec.priority is not None:
            found = None
        if found is None:
            return spec if spec.priority is not None else replace(spec, priority=0)
        try:
            value, policy = resolve_priority(found, spec.priority, spec.preemption_policy)
        except PriorityConflict as conflict:
            raise ObjectError(
                f"spec.{conflict.field}",
                f"{conflict.written} is not what PriorityClass {found.name} says"
                f" ({conflict.computed})",
                "leave one of the two out",
            ) from None
        return replace(
            spec, priority=value, priority_class_name=found.name, preemption_policy=policy
        )

    def _claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        spec = claim.spec
        if spec.volume_mode is None:
            spec = replace(spec, volume_mode="Filesystem")
        written = CLASS_ANNOTATION in (claim.metadata.annotations or {})
        if spec.storage_class_name is None and not written and self._default_storage:
            spec = replace(spec, storage_class_name=self._default_storage)
        self.rules.check_claim(claim)
        return replace(claim, spec=spec)


def default_requests(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    """A request for devices that says neither how nor how many wants exactly one."""
    requests = spec.devices.requests
    if not requests:
        return spec
    filled = tuple(
        replace(
            request,
            exactly=_fill_in_count(request.exactly) if request.exactly else None,
            first_available=tuple(map(_fill_in_count, request.first_available))
            if request.first_available
            else request.first_available,
        )
        for request in requests
    )
    return replace(spec, devices=replace(spec.devices, requests=filled))


def _fill_in_count(request: Any) -> Any:
    mode = request.allocation_mode or "ExactCount"
    count = request.count or (1 if mode == "ExactCount" else 0)
    return replace(request, allocation_mode=mode, count=count)


def _default_resources(spec: PodSpec) -> PodSpec:
    def fill_in_requests(containers: tuple[Container, ...] | None) -> tuple[Container, ...] | None:
        if not containers:
            return containers
        return tuple(default_container(c, host_network=spec.host_network) for c in containers)

    return replace(
        spec,
        containers=fill_in_requests(spec.containers),
        init_containers=fill_in_requests(spec.init_containers),
    )


def _namespace(namespace: Namespace) -> Namespace:
    metadata = namespace.metadata
    labels: Mapping[str, str] = metadata.labels or {}
    if NAMESPACE_LABEL in labels:
        return namespace
    named = {**labels, NAMESPACE_LABEL: metadata.name}
    return replace(namespace, metadata=replace(metadata, labels=named))


def _with(obj: K, **changes: Any) -> K:
    changed: K = replace(obj, **changes)
    return changed


def _same(before: K, after: KubeObject) -> K:
    """`after`, known to be of the type of `before`."""
    if not isinstance(after, type(before)):
        raise TypeError(f"{type(before).__name__} became {type(after).__name__}")
    return after
