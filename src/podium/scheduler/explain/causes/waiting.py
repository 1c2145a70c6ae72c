"""Pods that were never tried: gates, groups, claims that are not there, other schedulers."""

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.causes.refusals import cause_of, explain_refusal
from podium.scheduler.framework.explanations.finding import joined, sentence
from podium.scheduler.framework.status import Status


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
    told = explain_refusal(engine, pod, refusal)
    if told is not None:
        return cause_of(refusal.plugin, told)
    code = "pre-enqueue-refusal" if refusal.code.rejected else "plugin-error"
    who = f"plugin {refusal.plugin}" if refusal.plugin else "a plugin"
    text = sentence([f'{who} holds the pod back from the queue: "{refusal.message}"'])
    return Cause(code, refusal.plugin, refusal.message, text)
