"""What follows a failed attempt or binding: bookkeeping, the queue, an event, a condition.

The order is upstream's (`pkg/scheduler/schedule_one.go`, `handleSchedulingFailure`): the pod goes
back to the queue and its nomination changes before anything is written, so the next attempt already
sees both.
"""

from collections.abc import Iterable

from podium.kubernetes.kinds.pod import POD_SCHEDULED
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.queue.queueing_hints import QueueingStrategy
from podium.scheduler.engine.requests import PatchStatus, shorten_note
from podium.scheduler.engine.state import EngineState
from podium.scheduler.framework.queued import QueuedPod

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


class Failures:
    def __init__(self, state: EngineState) -> None:
        self._state = state

    def handle(
        self,
        queued: QueuedPod,
        *,
        rejected: bool,
        message: str,
        rejectors: Iterable[str] = (),
        pending: Iterable[str] = (),
        nominated_node: str | None,
        announced: bool = False,
    ) -> None:
        """`nominated_node` None keeps the pod's nomination, an empty string clears it; one that was
        `announced` is cleared even if nobody has heard of it yet."""
        state = self._state
        queued.rejectors = set(rejectors)
        queued.pending = set(pending)
        queued.gating_plugin = ""
        state.observers.pod_failed(queued, rejected=rejected, message=message)
        info = queued.info
        current = state.pods.get(info.key)
        if current is not None and not info.is_about(current):
            state.queue.done(info.uid)
            return
        if current is None or current.spec.node_name:
            state.queue.done(info.uid)
            state.cluster.nominator.drop(info.uid)
        else:
            info = queued.info = state.cluster.infos.of(current)
            strategy = state.queue.put_back(queued)
            if (queued.rejectors or queued.pending) and strategy not in (
                None,
                QueueingStrategy.SKIP,
            ):
                state.note(info.key, "backing off")
            self._nominate(info, nominated_node)
        if not message:
            return
        state.tell(info, "Warning", "FailedScheduling", "Scheduling", shorten_note(message))
        reason = UNSCHEDULABLE if rejected else SCHEDULER_ERROR
        state.observers.status_asked(info, reason, nominated_node)
        if announced or self._needs_patch(info, reason, message, nominated_node):
            state.ask(PatchStatus(info, reason, message, nominated_node, announced))

    def handle_decision(self, queued: QueuedPod, decision: Decision) -> None:
        """The failure of an attempt, as its record tells it."""
        self.handle(
            queued,
            rejected=not decision.is_error,
            message=decision.message or "",
            rejectors=decision.rejectors,
            pending=decision.pending_plugins,
            nominated_node=decision.nominated_node,
        )

    def _nominate(self, info: PodInfo, nominated_node: str | None) -> None:
        """Keeping means: what the object says, even if memory was ahead of it."""
        nominator = self._state.cluster.nominator
        name = info.pod.status.nominated_node_name if nominated_node is None else nominated_node
        if name:
            nominator.nominate(info, name)
        else:
            nominator.drop(info.uid)

    def _needs_patch(
        self, info: PodInfo, reason: str, message: str, nominated_node: str | None
    ) -> bool:
        """Nothing to change means no API call.

        upstream: pkg/scheduler/schedule_one.go, updatePod; pkg/api/v1/pod/util.go,
        UpdatePodCondition.
        """
        status = info.pod.status
        if nominated_node is not None and nominated_node != status.nominated_node_name:
            return True
        held = next((c for c in status.conditions or () if c.type == POD_SCHEDULED), None)
        return held is None or (held.status, held.reason, held.message) != (
            "False",
            reason,
            message,
        )
