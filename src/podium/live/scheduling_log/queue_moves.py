"""Lines about what comes, changes and goes, and about where pods go in the queue.

Lines about nodes and pods that come, change and go (upstream: `eventhandlers.go`).
"""

from random import Random
from typing import Final

from podium.kubernetes.kinds.node import Node
from podium.live.scheduling_log.attempts import UNHANDLED
from podium.live.scheduling_log.line_writer import LineWriter, LogOfLines, as_set
from podium.scheduler.cluster.state import zone_key
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import ATTEMPT_FAILED, POPPED_EARLY
from podium.scheduler.engine.queue.queueing_hints import QueueingStrategy
from podium.scheduler.framework.events import Action, ClusterEvent, EventObject, Resource
from podium.scheduler.framework.log import ObjectRef, pod_ref
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code, Status

_MOVED: Final = "Pod moved to an internal scheduling queue"
_GATED: Final = "Pod moved to an internal scheduling queue, because the pod is gated"
_HINTS: Final = {
    QueueingStrategy.SKIP: 0,
    QueueingStrategy.AFTER_BACKOFF: 1,
    QueueingStrategy.IMMEDIATE: 2,
}


class GatedPods(LineWriter):
    level = 4

    def pod_gated(self, queued: QueuedPod, refusal: Status) -> None:
        if refusal.code is not Code.ERROR:
            pod, by = pod_ref(queued.info), refusal.plugin
            text = "Status after running PreEnqueue plugin"
            self.log.info(text, v=self.level, pod=pod, plugin=by, status=refusal.message)


class GateErrors(LineWriter):
    level = 0

    def pod_gated(self, queued: QueuedPod, refusal: Status) -> None:
        if refusal.code is Code.ERROR:
            pod, by, err = pod_ref(queued.info), refusal.plugin, refusal.message
            text = "Unexpected error running PreEnqueue plugin"
            self.log.error(text, err=err, logger=UNHANDLED, pod=pod, plugin=by)


class QueueMoves(LineWriter):
    level = 5

    def entered_queue(self, part: str, event: ClusterEvent, queued: QueuedPod) -> None:
        if event is POPPED_EARLY:
            return  # upstream: counted, and not told
        if part == "unschedulable":
            if queued.gating_plugin:
                self._write(_GATED, part, event, queued)
            elif not self.engine.gates["SchedulerQueueingHints"]:
                self._write(_MOVED, part, event, queued)
            return
        self._write(_MOVED, part, event, queued)

    def _write(self, text: str, part: str, event: ClusterEvent, queued: QueuedPod) -> None:
        pod, queue = pod_ref(queued.info), part.capitalize()
        self.log.info(text, v=self.level, pod=pod, event=str(event), queue=queue)


class ReturnedPods(LineWriter):
    """Pods whose attempt failed."""

    level = 3

    def __init__(self, engine: Engine, log: LogOfLines, randomness: Random) -> None:
        super().__init__(engine, log, randomness)
        self._part = ""
        self._hints = engine.gates["SchedulerQueueingHints"]

    def entered_queue(self, part: str, event: ClusterEvent, queued: QueuedPod) -> None:  # noqa: ARG002
        if event is ATTEMPT_FAILED:
            self._part = part.capitalize()

    def put_back_ended(self, queued: QueuedPod, strategy: QueueingStrategy, cycle: int) -> None:
        if not self._hints:
            return
        rejectors = {"unschedulable plugins": as_set(queued.rejectors | queued.pending)}
        self.log.info(
            _MOVED,
            v=self.level,
            pod=pod_ref(queued.info),
            event=str(ATTEMPT_FAILED),
            queue=self._part,
            schedulingCycle=cycle,
            hint=_HINTS[strategy],
            **rejectors,
        )


class EventsInFlight(LineWriter):
    level = 5

    def put_back_begun(self, queued: QueuedPod, events: int, pods: int) -> None:
        if (queued.rejectors or queued.pending) and not self.is_member(queued.info):
            self.log.info(
                "Checking events for in-flight pod",
                v=self.level,
                pod=pod_ref(queued.info),
                unschedulablePlugins=as_set(queued.rejectors),
                inFlightEventsSize=events + pods,
                inFlightPodsSize=pods,
            )

    def event_noted(self, event: ClusterEvent) -> None:
        text = "Event received while pods are in flight"
        self.log.info(text, v=self.level, event=str(event))

    def event_unhelpful(self, queued: QueuedPod, event: ClusterEvent) -> None:
        pod = pod_ref(queued.info)
        text = "Event is not making pod schedulable"
        self.log.info(text, v=self.level, pod=pod, event=str(event))


class IgnoredEvents(LineWriter):
    level = 6

    def event_ignored(self, event: ClusterEvent) -> None:
        shown = {
            "Resource": str(event.resource),
            "ActionType": int(event.action),
            "CustomLabel": event.label,
        }
        text = "receive an event that isn't interested by any enabled plugins"
        self.log.info(text, v=self.level, event=shown)


_KINDS: dict[Resource | str, str] = {
    Resource.NODE: "node",
    Resource.ASSIGNED_POD: "scheduled pod",
    Resource.UNSCHEDULABLE_POD: "unscheduled pod",
}


class ArrivalLines(LineWriter):
    level = 3

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:
        if event.action in (Action.ADD, Action.DELETE):
            verb = "Add" if event.action is Action.ADD else "Delete"
            _write(self, f"{verb} event for {_KINDS[event.resource]}", obj)


class Updates(LineWriter):
    level = 4

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:
        if event.action not in (Action.ADD, Action.DELETE):
            _write(self, f"Update event for {_KINDS[event.resource]}", obj)


class NodeTreeChanges(LineWriter):
    """upstream: `backend/cache/node_tree.go`"""

    level = 2

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:
        if not isinstance(obj, Node):
            return
        if event.action is Action.ADD:
            self._write("Added node to NodeTree", obj)
        elif event.action is Action.DELETE:
            self._write("Removed node from NodeTree", obj)
        else:
            nodes = self.engine.cluster.nodes
            old = nodes.node(nodes.row(obj.metadata.name))
            if zone_key(old) != zone_key(obj):
                self._write("Removed node from NodeTree", old)
                self._write("Added node to NodeTree", obj)

    def _write(self, message: str, node: Node) -> None:
        ref = ObjectRef(node.metadata.name)
        self.log.info(message, v=self.level, node=ref, zone=zone_key(node))


def _write(writer: LineWriter, message: str, obj: EventObject) -> None:
    metadata = obj.metadata
    if isinstance(obj, Node):
        writer.log.info(message, v=writer.level, node=ObjectRef(metadata.name))
    else:
        ref = ObjectRef(metadata.name, metadata.namespace)
        writer.log.info(message, v=writer.level, pod=ref)
