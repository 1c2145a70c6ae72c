"""Who makes a pod: where a change of it has to be written so that it stays."""

from typing import NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import OwnerReference
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ReplicaSet, ReplicationController, StatefulSet
from podium.scheduler.cluster.catalog import Catalog

TEMPLATE_HASH = "pod-template-hash"


class Owner(NamedTuple):
    """`kind` as in owner references; `replicas` is how many pods it is to have, where known."""

    kind: str
    name: str
    api_version: str
    replicas: int | None = None

    @property
    def target(self) -> str:
        """As kubectl names it; kinds that it may not know by themselves come with their group."""
        group = self.api_version.rpartition("/")[0]
        known = self.kind in KNOWN or not group
        return f"{self.kind.lower() if known else f'{self.kind}.{group}'}/{self.name}"

    @property
    def has_template(self) -> bool:
        return self.kind in KNOWN

    def template_patch(self, spec: JsonObject) -> JsonObject:
        template: JsonObject = {"spec": {"template": {"spec": spec}}}
        return {"spec": {"jobTemplate": template}} if self.kind == "CronJob" else template


KNOWN = frozenset(
    {
        "CronJob",
        "DaemonSet",
        "Deployment",
        "Job",
        "ReplicaSet",
        "ReplicationController",
        "StatefulSet",
    }
)


def owner_of(pod: Pod, catalog: Catalog) -> Owner | None:
    """The controller whose template the pod is made from; for a ReplicaSet of a Deployment that is
    the Deployment."""
    reference = pod.metadata.controller
    if reference is None:
        return None
    namespace = pod.metadata.namespace
    match reference.kind:
        case "ReplicaSet":
            return _of_replica_set(pod, reference, catalog)
        case "StatefulSet":
            found = catalog.get(StatefulSet, reference.name, namespace)
            return _owner(reference, found.spec.replicas if found is not None else None)
        case "ReplicationController":
            controller = catalog.get(ReplicationController, reference.name, namespace)
            return _owner(reference, controller.spec.replicas if controller is not None else None)
    return _owner(reference, None)


class OwnersOfPods:
    """The same for many pods: those of one controller are looked up once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: dict[tuple[str, str, str, str], Owner | None] = {}

    def of(self, pod: Pod) -> Owner | None:
        reference = pod.metadata.controller
        if reference is None:
            return None
        hashed = pod.metadata.label(TEMPLATE_HASH) or ""
        key = (pod.metadata.namespace, reference.kind, reference.name, hashed)
        if key not in self._known:
            self._known[key] = owner_of(pod, self._catalog)
        return self._known[key]


def _of_replica_set(pod: Pod, reference: OwnerReference, catalog: Catalog) -> Owner:
    found = catalog.get(ReplicaSet, reference.name, pod.metadata.namespace)
    replicas = found.spec.replicas if found is not None else None
    above = found.metadata.controller if found is not None else None
    if above is not None:
        return _owner(above, replicas)
    suffix = f"-{pod.metadata.label(TEMPLATE_HASH)}"
    if len(suffix) > 1 and reference.name.endswith(suffix):
        name = reference.name.removesuffix(suffix)
        return Owner("Deployment", name, "apps/v1", replicas)
    return _owner(reference, replicas)


def _owner(reference: OwnerReference, replicas: int | None) -> Owner:
    return Owner(reference.kind, reference.name, reference.api_version, replicas)
