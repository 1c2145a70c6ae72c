"""The selector of the service and controller that a pod belongs to.

Default spread constraints name no pods. A pod is spread among its like: the pods that the same
Services select and the same controller owns
(`pkg/scheduler/framework/plugins/helper/spread.go`). What was found for a template is kept until an
object of one of these kinds changes.
"""

from podium.kubernetes.kinds.meta import LabelSelector, OwnerReference
from podium.kubernetes.kinds.workloads import (
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from podium.kubernetes.rules.labels import Selector, SelectorError, selector_of, selector_of_map
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.pod_info import PodInfo, PodShape

_KINDS = (Service, ReplicationController, ReplicaSet, StatefulSet)
_MAX_KEPT = 4096

OwnerKey = tuple[str, str, str]


class OwnerSelectors:
    def __init__(self, catalog: Catalog, *, services_only: bool = False) -> None:
        """With `services_only` nobody asks who owns a pod."""
        self._catalog = catalog
        self._services_only = services_only
        self._versions: tuple[int, ...] = ()
        self._kept: dict[tuple[PodShape, OwnerKey | None], Selector] = {}
        self._services: dict[str, list[dict[str, str]]] = {}

    def of(self, pod: PodInfo) -> Selector:
        """What selects the pod's like; an empty selector if it has neither service nor owner."""
        self._forget_if_changed()
        references = pod.pod.metadata.owner_references
        owner = None if self._services_only else _controller(references)
        key = (pod.shape, owner)
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            found = self._kept[key] = self._derive(pod.shape, owner)
        return found

    def _forget_if_changed(self) -> None:
        versions = tuple([self._catalog.version(kind) for kind in _KINDS])
        if versions == self._versions:
            return
        self._versions = versions
        self._kept.clear()
        self._services = {}
        for service in self._catalog.all(Service):
            if service.spec.selector is not None:
                of_namespace = self._services.setdefault(service.metadata.namespace, [])
                of_namespace.append(service.spec.selector)

    def _derive(self, shape: PodShape, owner: OwnerKey | None) -> Selector:
        wanted: dict[str, str] = {}
        for selector in self._services.get(shape.namespace, ()):
            if selector.items() <= shape.labels.items():
                wanted |= selector
        match owner:
            case ("v1", "ReplicationController", name):
                controller = self._catalog.get(ReplicationController, name, shape.namespace)
                if controller is not None:
                    wanted |= controller.spec.selector or {}
            case ("apps/v1", "ReplicaSet", name):
                replicas = self._catalog.get(ReplicaSet, name, shape.namespace)
                return _narrowed(wanted, replicas.spec.selector if replicas else None)
            case ("apps/v1", "StatefulSet", name):
                stateful = self._catalog.get(StatefulSet, name, shape.namespace)
                return _narrowed(wanted, stateful.spec.selector if stateful else None)
        return selector_of_map(wanted)


def _controller(owners: tuple[OwnerReference, ...] | None) -> OwnerKey | None:
    for owner in owners or ():
        if owner.controller:
            return owner.api_version, owner.kind, owner.name
    return None


def _narrowed(wanted: dict[str, str], selector: LabelSelector | None) -> Selector:
    """The services' labels and the controller's selector, unless that is absent or broken."""
    by_services = selector_of_map(wanted)
    if selector is None:
        return by_services
    try:
        return by_services.merged(selector_of(selector))
    except SelectorError:
        return by_services
