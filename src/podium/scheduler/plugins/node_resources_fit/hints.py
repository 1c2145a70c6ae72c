"""When is a pod that found no room worth another try?

NodeResourcesFit rejected the pod, so it waits for room: another pod leaves or shrinks, a node comes
or grows, or a device class starts to serve a resource that no node has. Each hint looks only at the
object that changed and never at the rest of the cluster
(`pkg/scheduler/framework/plugins/noderesources/fit.go`, `EventsToRegister`).
"""

from collections.abc import Mapping, Sequence

from podium.kubernetes.kinds.devices import DeviceClass
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import PODS, allocatable_vector, pod_requests, to_vector
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.handle import Handle
from podium.scheduler.plugins.resources.extended_resource_classes import (
    ExtendedResourceClasses,
    implicit_name,
)


class FitHints:
    """`classes` is None while devices do not serve extended resources."""

    def __init__(self, handle: Handle, classes: ExtendedResourceClasses | None) -> None:
        self._infos = handle.cluster.infos
        self._classes = classes
        self._node_actions = handle.new_node_actions | Action.UPDATE_NODE_ALLOCATABLE
        # upstream: pod-level requests count here even while their gate is off
        self._rules = self._infos.rules._replace(pod_level=True)

    def registrations(self) -> Sequence[Registration]:
        pod_actions = Action.DELETE
        if self._rules.resizes:
            pod_actions |= Action.UPDATE_POD_SCALE_DOWN
        found = [
            Registration(Resource.POD, pod_actions, self.pod_hint),
            Registration(Resource.NODE, self._node_actions, self.node_hint),
        ]
        if self._classes is not None:
            found.append(
                Registration(
                    Resource.DEVICE_CLASS, Action.ADD | Action.UPDATE, self.device_class_hint
                )
            )
        return found

    def pod_hint(self, waiting: PodInfo, old: Pod | None, new: Pod | None) -> bool:
        """A pod left its node, or gave back some of what the waiting pod asks for."""
        if new is None:
            return old is None or bool(old.spec.node_name or old.status.nominated_node_name)
        if waiting.is_about(new) or old is None:
            return True
        if not new.spec.node_name:
            return False
        had, has = self._accounted(self._infos.of(old)), self._accounted(self._infos.of(new))
        return any(
            amount and had.get(name, 0) > has.get(name, 0)
            for name, amount in self._accounted(waiting).items()
        )

    def _accounted(self, info: PodInfo) -> Mapping[str, int]:
        if self._rules == info.shape.rules:
            return info.shape.resized_requests
        return to_vector(pod_requests(info.pod, status_resources=True, rules=self._rules))

    def node_hint(self, waiting: PodInfo, old: Node | None, new: Node) -> bool:
        """The pod would fit on the empty node, and the node is new or has grown where it counts."""
        wanted = {name: n for name, n in waiting.shape.requests.items() if n > 0}
        has = allocatable_vector(new.status.allocatable)
        if not self._fits_when_empty(wanted, has):
            return False
        if old is None:
            return True
        had = allocatable_vector(old.status.allocatable)
        return has[PODS] > had[PODS] or any(
            has.get(name, 0) > had.get(name, 0) or self._is_delegated(name, has) for name in wanted
        )

    def device_class_hint(
        self, waiting: PodInfo, old: DeviceClass | None, new: DeviceClass
    ) -> bool:
        """A class serves a resource now that the pod asks for."""
        requests = waiting.shape.requests
        served = new.spec.extended_resource_name
        if old is None:
            return implicit_name(new) in requests or served in requests
        return served != old.spec.extended_resource_name and served in requests

    def _fits_when_empty(self, wanted: Mapping[str, int], has: Mapping[str, int]) -> bool:
        # upstream: resources that the configuration exempts are not exempted here.
        return has[PODS] > 0 and all(
            amount <= has.get(name, 0) or self._is_delegated(name, has)
            for name, amount in wanted.items()
        )

    def _is_delegated(self, name: str, has: Mapping[str, int]) -> bool:
        if has.get(name, 0) or self._classes is None:
            return False
        return self._classes.find(name) is not None
