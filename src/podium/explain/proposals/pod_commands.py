"""Commands that change a pod: in place where Kubernetes allows it, otherwise where it is made.

A pod may be given more tolerations and lose scheduling gates; everything else about it is fixed
once it exists. A pod with an owner is changed in the owner's template, and where that does not
replace the waiting pod by itself, the pod is deleted; a Job's template is fixed as well, so the Job
is made anew. A pod without an owner is made anew.
"""

from collections.abc import Iterator

import msgspec

from podium.api.json_values import JsonValue
from podium.api.pod import Pod
from podium.cluster.catalog import Catalog
from podium.explain.proposals.owners import Owner, owner_of
from podium.explain.proposals.pod_patches import spec_patch
from podium.explain.proposals.shell import comment, kubectl, patch, replace_with

_ROLLS_OUT = frozenset({"Deployment", "DaemonSet"})
"""Kinds that replace a waiting pod by themselves when their template changes."""
_JOB_LABELS = (
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
)


def pod_commands(before: Pod, after: Pod, catalog: Catalog) -> Iterator[str]:
    changed = spec_patch(before.spec, after.spec, for_template=False)
    if not changed:
        return
    owner = owner_of(before, catalog)
    name, namespace = f"pod/{before.name}", before.metadata.namespace
    gates = changed.pop("schedulingGates", None)
    if gates is not None and not changed:
        yield patch(name, {"spec": {"schedulingGates": gates}}, namespace=namespace)
        return
    if owner is not None:
        yield from _owner_commands(before, after, owner)
        return
    if set(changed) == {"tolerations"}:
        if gates is not None:
            yield patch(name, {"spec": {"schedulingGates": gates}}, namespace=namespace)
        yield patch(name, _more_tolerations(before, after), namespace=namespace, kind="json")
        return
    everything = spec_patch(before.spec, after.spec, for_template=False)
    yield replace_with(name, {"spec": everything}, namespace=namespace)


def _more_tolerations(before: Pod, after: Pod) -> list[JsonValue]:
    had = before.spec.tolerations or ()
    new = msgspec.to_builtins((after.spec.tolerations or ())[len(had) :])
    # A server gives every pod tolerations of its own; only of a stored pod it is known that it has
    # none.
    if before.metadata.resource_version and not had:
        return [{"op": "add", "path": "/spec/tolerations", "value": new}]
    return [{"op": "add", "path": "/spec/tolerations/-", "value": each} for each in new]


def _owner_commands(before: Pod, after: Pod, owner: Owner) -> Iterator[str]:
    namespace = before.metadata.namespace
    spec = spec_patch(before.spec, after.spec, for_template=True)
    if not owner.has_template:
        yield comment(f"{owner.kind} {owner.name} makes this pod: change its template")
        yield kubectl("edit", owner.target, namespace=namespace)
        return
    change = owner.template_patch(spec)
    if owner.kind == "Job":
        labels = dict.fromkeys(_JOB_LABELS)
        change["spec"]["selector"] = None
        change["spec"]["template"]["metadata"] = {"labels": labels}
        yield replace_with(owner.target, change, namespace=namespace)
        return
    yield patch(owner.target, change, namespace=namespace)
    if owner.kind not in _ROLLS_OUT:
        yield kubectl("delete", f"pod/{before.name}", namespace=namespace)
