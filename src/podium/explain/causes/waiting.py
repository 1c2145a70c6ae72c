"""Pods that were never tried: gates, groups, claims that are not there, other schedulers."""

from podium.engine.scheduler import Engine
from podium.explain.cause import Cause
from podium.explain.causes.device_claims import find_device_claim_problem
from podium.explain.causes.pod_groups import find_gang_problem
from podium.explain.causes.wording import joined, sentence
from podium.framework.status import Status
from podium.kubernetes.kinds.pod import Pod
from podium.plugins.dynamic_resources import DynamicResources
from podium.plugins.gang_scheduling import GangScheduling
from podium.plugins.scheduling_gates import SchedulingGates


def find_waiting_cause(engine: Engine, pod: Pod) -> Cause | None:
    """Why a pod is not tried at all; None if nothing holds it back."""
    if pod.metadata.deletion_timestamp is not None:
        text = "The pod is being deleted and is not scheduled any more."
        return Cause("pod-deleting", "", "", text)
    if not engine.state.responsible(pod):
        name = pod.spec.scheduler_name
        known = joined(engine.profiles)
        text = f"The pod asks for scheduler {name}; the profiles here are {known}."
        return Cause("other-scheduler", "", name, text, facts={"schedulerName": name})
    refusal = engine.pre_enqueue(engine.cluster.infos.of(pod))
    if refusal is None:
        return None
    return _refused(engine, pod, refusal)


def _refused(engine: Engine, pod: Pod, refusal: Status) -> Cause:
    match refusal.plugin:
        case SchedulingGates.name:
            return _gates(pod)
        case GangScheduling.name:
            found = find_gang_problem(engine, pod)
            if found is not None:
                return found
        case DynamicResources.name:
            problem = find_device_claim_problem(engine, pod)
            if problem is not None:
                return problem
    code = "pre-enqueue-refusal" if refusal.code.rejected else "plugin-error"
    who = f"plugin {refusal.plugin}" if refusal.plugin else "a plugin"
    text = sentence([f'{who} holds the pod back from the queue: "{refusal.message}"'])
    return Cause(code, refusal.plugin, refusal.message, text)


def _gates(pod: Pod) -> Cause:
    names = [gate.name for gate in pod.spec.scheduling_gates or ()]
    noun = "scheduling gate" if len(names) == 1 else "scheduling gates"
    it = "it" if len(names) == 1 else "them"
    text = f"The pod waits for {noun} {joined(names)}; whoever set {it} has to remove {it}."
    return Cause(
        "scheduling-gates", SchedulingGates.name, ",".join(names), text, facts={"gates": [*names]}
    )
