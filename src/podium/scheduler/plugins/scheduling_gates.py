"""SchedulingGates: a pod with gates is not queued until the last one is gone.

People are told which gates a pod waits for; proposed is the pod without them.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import join_words
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

        return explain_gates(pod.pod)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        return propose_no_gates(situation)

    def events(self) -> Sequence[Registration]:
        if not self.handle.gates["SchedulerQueueingHints"]:
            return ()  # any update of the pod itself lets it try again
        eliminated = Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        return (Registration(Resource.POD, eliminated, self._pod_hint),)

    def _pod_hint(self, waiting: PodInfo, _old: Pod | None, new: Pod) -> bool:
        return waiting.is_about(new)


def explain_gates(pod: Pod) -> RefusalCause:
    names = [gate.name for gate in pod.spec.scheduling_gates or ()]
    noun = "scheduling gate" if len(names) == 1 else "scheduling gates"
    it = "it" if len(names) == 1 else "them"
    text = f"The pod waits for {noun} {join_words(names)}; whoever set {it} has to remove {it}."
    return RefusalCause(
        "scheduling-gates", ",".join(names), text, {"gates": [*names]}, keeps_message=True
    )


def propose_no_gates(situation: Situation) -> Iterator[ProposedChange]:
    gates = situation.pod.spec.scheduling_gates
    if situation.refusal is None or not gates:
        return
    pod = situation.pod
    told = " and ".join(gate.name for gate in gates)
    yield situation.change_pod(
        "remove-scheduling-gate",
        f"remove the scheduling gate{'s' if len(gates) > 1 else ''} {told}",
        disturbance.REMOVE_GATE,
        replace(pod, spec=replace(pod.spec, scheduling_gates=None)),
    )
