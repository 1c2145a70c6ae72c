"""Lines about the queue: where pods go in it and why (upstream: `backend/queue`)."""

from random import Random
from typing import Final

from podium.live.scheduling_log.attempts import UNHANDLED
from podium.live.scheduling_log.line_writer import LineWriter, LogOfLines, as_set
from podium.scheduler.engine import Engine
from podium.scheduler.engine.observer import ATTEMPT_FAILED, POPPED_EARLY
from podium.scheduler.engine.queue.queueing_hints import Strategy
from podium.scheduler.framework.events import ClusterEvent
from podium.scheduler.framework.log import pod_ref
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code, Status

_MOVED: Final = "Pod moved to an internal scheduling queue"
_GATED: Final = "Pod moved to an internal scheduling queue, because the pod is gated"
_HINTS: Final = {Strategy.SKIP: 0, Strategy.AFTER_BACKOFF: 1, Strategy.IMMEDIATE: 2}


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

    def put_back_ended(self, queued: QueuedPod, strategy: Strategy, cycle: int) -> None:
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
