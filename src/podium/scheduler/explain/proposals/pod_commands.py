"""Commands that change a pod: in place where Kubernetes allows it, otherwise where it is made.

A pod may be given more tolerations and lose scheduling gates; everything else about it is fixed
once it exists. A pod with an owner is changed in the owner's template, and where that does not
replace the waiting pod by itself, the pod is deleted; a Job's template is fixed as well, so the Job
is made anew. A pod without an owner is made anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.explain.proposals.pod_patches import spec_patch
from podium.scheduler.explain.proposals.shell import Kubectl, comment
from podium.scheduler.explain.proposals.workload import Workload

_JOB_LABELS = (
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
)


@dataclass(slots=True)
class PodChange:
    """The lines that change a pod, and what they delete."""

    lines: list[str] = field(default_factory=list)
    disruptions: list[str] = field(default_factory=list)

    def delete(self, kubectl: Kubectl, pods: Sequence[Pod]) -> None:
        namespace = pods[0].metadata.namespace
        names = [f"pod/{pod.name}" for pod in pods]
        # The workload's controller deletes some of them itself once its template has changed. For
        # such a pod kubectl would wait until its name is gone, which a StatefulSet's never is.
        gone = ("--ignore-not-found", "--wait=false")
        self.lines.append(kubectl.run("delete", *names, options=gone, namespace=namespace))
        told = ", ".join(f"{namespace}/{pod.name}" for pod in pods)
        rest = "is" if len(pods) == 1 else "are"
        self.disruptions.append(f"deletes {told}, which {rest} made again")


def change_pod(
    kubectl: Kubectl, before: Pod, after: Pod, workload: Workload | None, unavailable: int | None
) -> PodChange:
    """`unavailable` is how many pods of the workload have to be allowed to be missing meanwhile, if
    that has to be said."""
    made = PodChange()
    changed = spec_patch(before.spec, after.spec, for_template=False)
    if not changed:
        return made
    name, namespace = f"pod/{before.name}", before.metadata.namespace
    gates = changed.pop("schedulingGates", None)
    if gates is not None and not changed:
        for pod in workload.waiting if workload is not None else (before,):
            change: JsonObject = {"spec": {"schedulingGates": gates}}
            made.lines.append(kubectl.patch(f"pod/{pod.name}", change, namespace=namespace))
        return made
    if workload is not None:
        _change_template(made, kubectl, before, after, workload, unavailable)
        return made
    if set(changed) == {"tolerations"}:
        if gates is not None:
            in_place: JsonObject = {"spec": {"schedulingGates": gates}}
            made.lines.append(kubectl.patch(name, in_place, namespace=namespace))
        more = _more_tolerations(before, after)
        made.lines.append(kubectl.patch(name, more, namespace=namespace, kind="json"))
        return made
    everything = spec_patch(before.spec, after.spec, for_template=False)
    made.lines.append(kubectl.replace_with(name, {"spec": everything}, namespace=namespace))
    made.disruptions.append(f"deletes pod {namespace}/{before.name} and creates it again")
    return made


def _more_tolerations(before: Pod, after: Pod) -> list[JsonValue]:
    had = before.spec.tolerations or ()
    new = msgspec.to_builtins((after.spec.tolerations or ())[len(had) :])
    # A server gives every pod tolerations of its own; only of a stored pod it is known that it has
    # none.
    if before.metadata.resource_version and not had:
        return [{"op": "add", "path": "/spec/tolerations", "value": new}]
    return [{"op": "add", "path": "/spec/tolerations/-", "value": each} for each in new]


def template_change(
    before: Pod, after: Pod, workload: Workload, unavailable: int | None
) -> JsonObject:
    """What a command says about the object that has the template: a strategic merge patch."""
    spec = spec_patch(before.spec, after.spec, for_template=True)
    change = workload.owner.template_patch(spec)
    if workload.owner.kind == "Job":
        change["spec"]["selector"] = None
        change["spec"]["template"]["metadata"] = {"labels": dict.fromkeys(_JOB_LABELS)}
    elif unavailable is not None:
        change["spec"]["strategy"] = {"rollingUpdate": {"maxUnavailable": unavailable}}
    return change


def _change_template(
    made: PodChange,
    kubectl: Kubectl,
    before: Pod,
    after: Pod,
    workload: Workload,
    unavailable: int | None,
) -> None:
    owner, namespace = workload.owner, workload.namespace
    if not owner.has_template:
        made.lines.append(comment(f"{owner.kind} {owner.name} makes this pod: change its template"))
        made.lines.append(kubectl.run("edit", owner.target, namespace=namespace))
        return
    change = template_change(before, after, workload, unavailable)
    if owner.kind == "Job":
        made.lines.append(kubectl.replace_with(owner.target, change, namespace=namespace))
        made.disruptions.append(f"deletes {owner.target} and creates it again")
        return
    if unavailable is not None:
        made.disruptions.append(
            f"lets {unavailable} pods of {owner.target} be unavailable at a time, from now on"
        )
    made.lines.append(kubectl.patch(owner.target, change, namespace=namespace))
    if not workload.replaces_waiting:
        made.delete(kubectl, workload.waiting)
