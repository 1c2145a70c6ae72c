"""The patches that a scheduler writes into the status of pods, as values.

All are strategic merge patches that carry the pod's UID, so that a pod of the same name that has
taken its place is not written to. A condition's time of transition moves only with its status
(`pkg/api/v1/pod/util.go`, `UpdatePodCondition`). `generations` is the gate
PodObservedGenerationTracking: whether a condition tells which generation of the pod it is about;
one that does goes on doing so.
"""

from typing import Any, Final

from podium.kubernetes.kinds.pod import POD_SCHEDULED, Pod

DISRUPTION_TARGET: Final = "DisruptionTarget"
PREEMPTED: Final = "PreemptionByScheduler"

Patch = dict[str, Any]


def failure_patch(
    pod: Pod,
    reason: str,
    message: str,
    nominated_node: str | None,
    now: str,
    *,
    generations: bool = True,
    announced: bool = False,
) -> Patch:
    """Why a pod is not scheduled; `nominated_node` None says nothing of a nomination. One that was
    `announced` may not show in the pod yet."""
    condition = _condition(
        pod, POD_SCHEDULED, "False", reason, message, now, generations=generations
    )
    status: Patch = {"conditions": [condition]}
    shown = pod.status.nominated_node_name
    if nominated_node is not None and (announced or nominated_node != shown):
        status["nominatedNodeName"] = nominated_node or None
    return _patch(pod, status)


def nomination_patch(pod: Pod, node_name: str) -> Patch:
    return _patch(pod, {"nominatedNodeName": node_name or None})


def disruption_patch(victim: Pod, message: str, now: str, *, generations: bool = True) -> Patch:
    condition = _condition(
        victim, DISRUPTION_TARGET, "True", PREEMPTED, message, now, generations=generations
    )
    return _patch(victim, {"conditions": [condition]})


def _patch(pod: Pod, status: Patch) -> Patch:
    return {"metadata": {"uid": pod.metadata.uid}, "status": status}


def _condition(
    pod: Pod, kind: str, status: str, reason: str, message: str, now: str, *, generations: bool
) -> Patch:
    held = next((each for each in pod.status.conditions or () if each.type == kind), None)
    kept = held is not None and held.status == status and held.last_transition_time
    condition: Patch = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": kept or now,
    }
    if pod.metadata.generation and (generations or (held and held.observed_generation)):
        condition["observedGeneration"] = pod.metadata.generation
    return condition
