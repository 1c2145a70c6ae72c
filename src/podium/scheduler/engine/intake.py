"""Events in: what the API server says becomes cluster changes and wake-ups.

Pods are routed by whether they are on a node and whether a profile of ours serves them; the order
of cache change and wake-up is upstream's (`pkg/scheduler/eventhandlers.go`, `addAllEventHandlers`).

Which cluster events an update of an object amounts to. A pod that was rejected is woken by what
changed, not by the fact that something did: a heartbeat is no event, a label is.

Source: `PodSchedulingPropertiesChange` and `NodeSchedulingPropertiesChange` in
`pkg/scheduler/framework/events.go`.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from podium.kubernetes.kinds.devices import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceSlice,
)
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.rules.requests import RequestRules, pod_requests
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo, uid_of
from podium.scheduler.engine.interests import InformedPlugins, PreChecks
from podium.scheduler.engine.queue.queue import Concerns
from podium.scheduler.engine.state import EngineState, describe_object, place_pod, transition
from podium.scheduler.framework.events import Action, ClusterEvent, EventObject, Resource
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.plugins.dynamic_resources.taint_rules import retaint_slices

FINISHED = ("Succeeded", "Failed")

NODE_ADDED = ClusterEvent(Resource.NODE, Action.ADD)
NODE_UPDATED = ClusterEvent(Resource.NODE, Action.UPDATE)
NODE_DELETED = ClusterEvent(Resource.NODE, Action.DELETE)
POD_ADDED = ClusterEvent(Resource.ASSIGNED_POD, Action.ADD)
POD_DELETED = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)
POD_UPDATED = ClusterEvent(Resource.ASSIGNED_POD, Action.UPDATE)
SLICE_UPDATED = ClusterEvent(Resource.RESOURCE_SLICE, Action.UPDATE)
PENDING_POD_ADDED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD)
PENDING_POD_UPDATED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE)
PENDING_POD_DELETED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.DELETE)

_RESOURCES: dict[type[KubeStruct], Resource] = {
    PersistentVolume: Resource.PERSISTENT_VOLUME,
    PersistentVolumeClaim: Resource.PERSISTENT_VOLUME_CLAIM,
    StorageClass: Resource.STORAGE_CLASS,
    CSINode: Resource.CSI_NODE,
    CSIDriver: Resource.CSI_DRIVER,
    CSIStorageCapacity: Resource.CSI_STORAGE_CAPACITY,
    VolumeAttachment: Resource.VOLUME_ATTACHMENT,
    ResourceClaim: Resource.RESOURCE_CLAIM,
    ResourceSlice: Resource.RESOURCE_SLICE,
    DeviceClass: Resource.DEVICE_CLASS,
}
_WITH_GROUPS: dict[type[KubeStruct], Resource] = {**_RESOURCES, PodGroup: Resource.POD_GROUP}


class Intake:
    def __init__(self, state: EngineState) -> None:
        self.transitions = state.transitions
        self._state = state
        self._resources: dict[type[KubeStruct], Resource | str] = {
            **(_WITH_GROUPS if state.gates["GenericWorkload"] else _RESOURCES),
            **{kind.struct: kind.event_resource for kind in state.watched_kinds},
        }
        # upstream: only gangs hear of pods that have come and wait; here, whoever asks to
        self._tells_of_pending = state.gates[
            "GangScheduling"
        ] or state.queue.interests.is_registered(Resource.UNSCHEDULABLE_POD)
        self._taint_rules = state.gates["DRADeviceTaintRules"]
        self._hints = state.gates["SchedulerQueueingHints"]
        self._checks = PreChecks(state.cluster, state.gates)
        self._heard = state.observers.heard
        self._informed = InformedPlugins(state.profiles.values())

    # nodes

    @transition
    def node_put(self, node: Node) -> None:
        """A node appeared or changed."""
        begun = self._state.clock()
        cluster = self._state.cluster
        name = node.metadata.name
        old = (
            cluster.nodes.node(cluster.nodes.row(name)) if cluster.nodes.is_present(name) else None
        )
        self._state.observers.event_received(NODE_ADDED if old is None else NODE_UPDATED, node)
        cluster.put_node(node)
        if old is None:
            self._state.wake(NODE_ADDED, None, node, self._checks.of_node(name))
            self._note_handled(NODE_ADDED, begun)
        else:
            self._wake_each(node_changes(old, node), old, node, begun)
        self._informed.tell(old, node)

    @transition
    def node_deleted(self, name: str) -> None:
        begun = self._state.clock()
        cluster = self._state.cluster
        if cluster.nodes.is_present(name):
            old = cluster.nodes.node(cluster.nodes.row(name))
            self._state.wake(NODE_DELETED, old, None)
            self._state.observers.event_received(NODE_DELETED, old)
            cluster.remove_node(name)
            self._note_handled(NODE_DELETED, begun)
            self._informed.tell(old, None)

    # everything else

    def put(self, obj: KubeStruct) -> None:
        """An object of any kind appeared or changed."""
        match obj:
            case Node():
                self.node_put(obj)
            case Pod():
                self.pod_put(obj)
            case _:
                self.object_put(obj)

    @transition
    def put_all(self, objects: Iterable[KubeStruct]) -> None:
        """Objects of any kind that were there before anything happened, as one transition."""
        for obj in objects:
            self.put(obj)

    @transition
    def object_put(self, obj: KubeStruct) -> None:
        """An object that is neither node nor pod appeared or changed."""
        begun = self._state.clock()
        catalog = self._state.cluster.catalog
        metadata = getattr(obj, "metadata")  # noqa: B009 - every catalog kind has metadata
        old = catalog.get(type(obj), metadata.name, metadata.namespace)
        catalog.put(obj)
        self._object_event(Action.ADD if old is None else Action.UPDATE, old, obj, begun)
        self._informed.tell(old, obj)

    @transition
    def object_deleted(self, obj: KubeStruct) -> None:
        begun = self._state.clock()
        self._state.cluster.catalog.remove(obj)
        self._object_event(Action.DELETE, obj, None, begun)
        self._informed.tell(obj, None)

    def _object_event(
        self, action: Action, old: EventObject, new: EventObject, begun: float
    ) -> None:
        if isinstance(new if new is not None else old, DeviceTaintRule):
            self._taint_rule_event(old, new, begun)
            return
        resource = self._resources.get(type(new if new is not None else old))
        if resource is not None:
            event = ClusterEvent(resource, action)
            if self._checks.tells(new, event):
                self._state.wake(event, old, new)
            self._note_handled(event, begun)

    def _taint_rule_event(
        self, old: DeviceTaintRule | None, new: DeviceTaintRule | None, begun: float
    ) -> None:
        """A rule is heard of as a change of the slices that it changes."""
        if self._taint_rules:
            slices = self._state.cluster.catalog.all(ResourceSlice)
            for changed in retaint_slices(slices, old, new):
                self._state.wake(SLICE_UPDATED, changed, changed)
                self._note_handled(SLICE_UPDATED, begun)

    # pods

    @transition
    def pod_put(self, pod: Pod) -> None:
        """A pod appeared or changed."""
        state = self._state
        begun = state.clock() if "event_handled" in self._heard else 0.0
        key = object_key(pod.metadata)
        old = state.pods.get(key)
        if pod.status.phase in FINISHED:
            if old is not None:
                self.pod_deleted(old)
            return
        if old is not None and old.metadata.uid != pod.metadata.uid:
            self.pod_deleted(old)
            old = None
        if old is not None and not old.spec.node_name and _same_version(old, pod):
            return
        held = state.cluster.placements.get(uid_of(pod)) if old is not None else None
        info = state.cluster.infos.of(pod, held.info if held is not None else None)
        pod = state.pods[key] = info.pod
        if pod.spec.node_name and (old is None or not old.spec.node_name):
            self._became_assigned(info, begun, was_pending=old is not None)
        elif old is None:
            self._add_pending(info, begun)
        elif old.spec.node_name:
            self._assigned_changed(old, info, begun)
        elif state.responsible(pod):
            self._pending_changed(old, info, begun)
        self._informed.tell(old, pod)

    @transition
    def pod_deleted(self, pod: Pod) -> None:
        """A pod is gone; one that was never heard of, or has finished before, changes nothing."""
        state = self._state
        begun = state.clock()
        key = object_key(pod.metadata)
        known = state.pods.get(key)
        if known is None or uid_of(known) != uid_of(pod):
            return
        pod = state.pods.pop(key)
        info = state.cluster.infos.of(pod)
        state.note(key, "deleted")
        if pod.spec.node_name:
            state.observers.event_received(POD_DELETED, pod)
            state.cluster.remove_pod(info.uid)
            self._state.wake(POD_DELETED, pod, None)
            self._note_handled(POD_DELETED, begun)
        elif state.responsible(pod):
            state.observers.event_received(PENDING_POD_DELETED, pod)
            self._pending_deleted(info)
            self._note_handled(PENDING_POD_DELETED, begun)
        self._informed.tell(pod, None)

    def _add_pending(self, info: PodInfo, begun: float) -> None:
        state = self._state
        if state.responsible(info.pod):
            if "event_received" in self._heard:
                state.observers.event_received(PENDING_POD_ADDED, info.pod)
            state.cluster.pod_groups.put(info)
            self._note_queued(state.queue.add(info))
            if self._tells_of_pending:
                state.wake(PENDING_POD_ADDED, None, info.pod)
            if "event_handled" in self._heard:
                self._note_handled(PENDING_POD_ADDED, begun)

    def _note_queued(self, queued: QueuedPod) -> None:
        if queued.gating_plugin:
            self._state.note(queued.info.key, "held back", plugins=(queued.gating_plugin,))
        else:
            self._state.note(queued.info.key, "queued")

    def _became_assigned(self, info: PodInfo, begun: float, *, was_pending: bool) -> None:
        state = self._state
        is_received, is_handled = "event_received" in self._heard, "event_handled" in self._heard
        if is_received:
            state.observers.event_received(POD_ADDED, info.pod)
        info = state.cluster.add(info)
        state.wake(POD_ADDED, None, info.pod, self._checks.of_assigned_pod(info.pod, POD_ADDED))
        if is_handled:
            self._note_handled(POD_ADDED, begun)
        if state.responsible(info.pod):
            begun = state.clock() if is_handled else 0.0
            if was_pending and is_received:
                state.observers.event_received(PENDING_POD_DELETED, info.pod)
            state.queue.delete(info)
            if was_pending and is_handled:
                self._note_handled(PENDING_POD_DELETED, begun)

    def _assigned_changed(self, old: Pod, info: PodInfo, begun: float) -> None:
        self._state.observers.event_received(POD_UPDATED, info.pod)
        self._state.cluster.update(info)
        events = pod_changes(old, info.pod, self._state.cluster.infos.rules)
        self._wake_each(events, old, info.pod, begun)
        if POD_UPDATED not in events:
            self._note_handled(POD_UPDATED, begun)

    def _pending_changed(self, old: Pod, info: PodInfo, begun: float) -> None:
        events = pod_changes(old, info.pod, self._state.cluster.infos.rules)
        self._update_pending(old, info, events)
        for event in events:
            self._note_handled(event, begun)
        if PENDING_POD_UPDATED not in events:
            self._note_handled(PENDING_POD_UPDATED, begun)

    def _update_pending(self, old: Pod, info: PodInfo, events: list[ClusterEvent]) -> None:
        state, pod = self._state, info.pod
        state.cluster.pod_groups.put(info)
        if state.cluster.is_assumed(info.uid):
            if info.terminating and old.metadata.deletion_timestamp is None:
                self._assumed_deleted(info)
            return
        state.observers.event_received(PENDING_POD_UPDATED, pod)
        before = state.cluster.infos.of(old)
        if not self._hints:
            events = [PENDING_POD_UPDATED] if is_updated(old, pod) else []
        event = state.queue.update(before, info, events)
        if event is not None:
            state.note_woken(state.queue.get(info.key), str(event), describe_object(pod))
        nominated = old.status.nominated_node_name
        if nominated and nominated != pod.status.nominated_node_name:
            self._state.wake(
                POD_DELETED, old, None, lambda other: other.info.priority <= before.priority
            )

    def _pending_deleted(self, info: PodInfo) -> None:
        state = self._state
        state.queue.delete(info)
        state.cluster.pod_groups.remove(info)
        if state.cluster.is_assumed(info.uid):
            self._assumed_deleted(info)
        elif info.pod.status.nominated_node_name:
            self._state.wake(
                POD_DELETED, info.pod, None, lambda other: other.info.priority <= info.priority
            )

    def _assumed_deleted(self, info: PodInfo) -> None:
        """A pod that holds a node is going: end its wait, or forget it at once."""
        state = self._state
        held = state.cluster.placements[info.uid]
        assumed = place_pod(held.info.pod, state.cluster.nodes.names[held.row])
        waiting = state.waiting.get(info.uid)
        if waiting is None or not waiting.reject("", "removed"):
            state.cluster.forget(info)
        self._state.wake(POD_DELETED, assumed, None)

    def _wake_each(
        self,
        events: Sequence[ClusterEvent],
        old: EventObject,
        new: Node | Pod,
        begun: float,
    ) -> None:
        """Tell of all that an update amounts to; each event takes as long as the update itself and
        its own wake-ups."""
        clock = self._state.clock
        updated_s = clock() - begun
        for event in events:
            waking = clock()
            self._state.wake(event, old, new, self._concerns(event, new))
            self._note_handled(event, waking - updated_s)

    def _concerns(self, event: ClusterEvent, new: Node | Pod) -> Concerns | None:
        if isinstance(new, Pod):
            return self._checks.of_assigned_pod(new, event)
        return self._checks.of_node(new.metadata.name)

    def _note_handled(self, event: ClusterEvent, begun: float) -> None:
        observers = self._state.observers
        if "event_handled" in observers.heard:
            observers.event_handled(event, self._state.clock() - begun)


def _same_version(old: Pod, new: Pod) -> bool:
    version = old.metadata.resource_version
    return bool(version) and version == new.metadata.resource_version


_NANO_PER_MILLI = 10**6


def pod_changes(old: Pod, new: Pod, rules: RequestRules) -> list[ClusterEvent]:
    """Events of a pod update; a generic update when nothing particular is recognised."""
    resource = Resource.ASSIGNED_POD if new.spec.node_name else Resource.UNSCHEDULABLE_POD
    actions: list[Action] = []
    if (old.metadata.labels or {}) != (new.metadata.labels or {}):
        actions.append(Action.UPDATE_POD_LABEL)
    if _scaled_down(old, new, rules):
        actions.append(Action.UPDATE_POD_SCALE_DOWN)
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        actions.append(Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    if len(old.spec.tolerations or ()) != len(new.spec.tolerations or ()):
        actions.append(Action.UPDATE_POD_TOLERATION)
    if _claims(old) != _claims(new):
        actions.append(Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    return [ClusterEvent(resource, action) for action in actions or [Action.UPDATE]]


def is_updated(old: Pod, new: Pod) -> bool:
    """Whether a pending pod may fare better by an update of its own; without queueing hints that is
    any but those of its status."""

    def strip(pod: Pod) -> tuple[object, ...]:
        metadata = replace(pod.metadata, resource_version="", generation=0, finalizers=None)
        return metadata, pod.spec, _claims(pod)

    return strip(old) != strip(new)


def _scaled_down(old: Pod, new: Pod, rules: RequestRules) -> bool:
    if old.spec is new.spec and old.status is new.status:
        return False
    # upstream: pod-level requests count here even while their gate is off
    rules = rules._replace(pod_level=True)
    after = pod_requests(new, status_resources=True, rules=rules)
    return any(
        name not in after or _milli(after[name]) < _milli(amount)
        for name, amount in pod_requests(old, status_resources=True, rules=rules).items()
    )


def _milli(nano_units: int) -> int:
    return -(-nano_units // _NANO_PER_MILLI)


def _claims(pod: Pod) -> tuple[object, object]:
    status = pod.status
    return (status.resource_claim_statuses or (), status.extended_resource_claim_status)


def node_changes(old: Node, new: Node) -> list[ClusterEvent]:
    """Events of a node update; none at all when nothing that matters changed."""
    actions: list[Action] = []
    if old.spec.unschedulable and not new.spec.unschedulable:
        actions.append(Action.UPDATE_NODE_TAINT)
    if old.status.allocatable != new.status.allocatable and _amounts(old) != _amounts(new):
        actions.append(Action.UPDATE_NODE_ALLOCATABLE)
    if (old.metadata.labels or {}) != (new.metadata.labels or {}):
        actions.append(Action.UPDATE_NODE_LABEL)
    if (old.spec.taints or ()) != (new.spec.taints or ()):
        actions.append(Action.UPDATE_NODE_TAINT)
    if _conditions(old) != _conditions(new):
        actions.append(Action.UPDATE_NODE_CONDITION)
    if (old.metadata.annotations or {}) != (new.metadata.annotations or {}):
        actions.append(Action.UPDATE_NODE_ANNOTATION)
    if (old.status.declared_features or ()) != (new.status.declared_features or ()):
        actions.append(Action.UPDATE_NODE_DECLARED_FEATURE)
    return [ClusterEvent(Resource.NODE, action) for action in actions]


def _amounts(node: Node) -> dict[str, int]:
    """Allocatable as numbers: `1` and `1000m` are no change."""
    return {name: nano(amount) for name, amount in (node.status.allocatable or {}).items()}


def _conditions(node: Node) -> dict[str, str]:
    return {c.type: c.status for c in node.status.conditions or ()}
