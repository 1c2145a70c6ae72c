"""SchedulingGates: a pod with gates is not queued until the last one is gone."""

from collections.abc import Iterator, Sequence

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.plugin import ProposedChange, RefusalCause
from podium.scheduler.framework.points import PreEnqueuePlugin
from podium.scheduler.framework.status import Status, unresolvable


class SchedulingGates(PreEnqueuePlugin):
    name = "SchedulingGates"

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        gates = pod.pod.spec.scheduling_gates
        if not gates:
            return None
        names = " ".join(gate.name for gate in gates)
        return unresolvable(f"waiting for scheduling gates: [{names}]")

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause:  # noqa: ARG002
        from podium.scheduler.plugins.scheduling_gates.causes import explain_gates

        return explain_gates(pod.pod)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.scheduling_gates.proposals import propose_no_gates

        return propose_no_gates(situation)

    def events(self) -> Sequence[Registration]:
        if not self.handle.gates["SchedulerQueueingHints"]:
            return ()  # any update of the pod itself lets it try again
        eliminated = Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        return (Registration(Resource.POD, eliminated, self._pod_hint),)

    def _pod_hint(self, waiting: PodInfo, _old: Pod | None, new: Pod) -> bool:
        return waiting.is_about(new)
