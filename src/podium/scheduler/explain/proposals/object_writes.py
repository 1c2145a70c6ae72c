"""What commands write of objects: creations, replacements, changes.

The commands that are printed and the rehearsal that tries them both go by this, so that what is
tried is what is printed.

Commands that change a pod: in place where Kubernetes allows it, otherwise where it is made. A pod
may be given more tolerations and lose scheduling gates; everything else about it is fixed once it
exists. A pod with an owner is changed in the owner's template, and where that does not replace the
waiting pod by itself, the pod is deleted; a Job's template is fixed as well, so the Job is made
anew. A pod without an owner is made anew.

The difference between two pod specs as a strategic merge patch. Lists of named things (containers,
volumes, claims) are patched by name, so that what a server or an admission plugin has added stays.
Lists without names are given as a whole; in what is meant for a template they are first freed of
what was added to the pod alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import msgspec

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.controllers.provisioning import PROVISIONED_BY
from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod, PodSpec
from podium.kubernetes.kinds.storage import CSINode, PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.rules.merge_patch import difference
from podium.kubernetes.rules.node_affinity import NAME_FIELD
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.pod_info import uid_of
from podium.scheduler.explain.proposals.shell import Kubectl, comment
from podium.scheduler.explain.proposals.workload import OwnedPods
from podium.scheduler.framework.plugin import BY_HAND

_BY_ITSELF = (CSINode, ResourceSlice)
"""Kinds that come with a node."""
_BINDING = ("pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller")


class Verb(Enum):
    CREATE = "create"
    DELETE = "delete"
    REPLACE = "replace"
    """Delete and create again."""
    PATCH = "patch"


@dataclass(frozen=True, slots=True)
class ObjectWrite:
    """`body` is the object to create, or a merge patch."""

    verb: Verb
    obj: KubeObject
    before: KubeObject | None
    body: JsonObject


def list_object_writes(
    objects: Iterable[KubeObject], pod: Pod, catalog: Catalog
) -> Iterator[ObjectWrite]:
    """What turns the objects that there are into those that are supposed for a pod."""
    for obj in objects:
        write = _write_of(obj, catalog.get(type(obj), obj.name, obj.namespace), pod)
        if write is not None:
            yield write


def _write_of(obj: KubeObject, before: KubeObject | None, pod: Pod) -> ObjectWrite | None:
    if isinstance(obj, _BY_ITSELF):
        return None
    if isinstance(obj, PersistentVolume):
        if obj.metadata.annotation(PROVISIONED_BY) != BY_HAND:
            return None
        return ObjectWrite(Verb.CREATE, obj, None, _without_marks(obj))
    if any(owner.uid == uid_of(pod) for owner in obj.metadata.owner_references or ()):
        return ObjectWrite(Verb.DELETE, obj, before, {}) if before is not None else None
    if before is None:
        return ObjectWrite(Verb.CREATE, obj, None, _without_marks(obj))
    change = _change_of(before, obj)
    if not change:
        return None
    if isinstance(before, PersistentVolumeClaim | ResourceClaim):
        return ObjectWrite(Verb.REPLACE, obj, before, {**change, "status": None})
    return ObjectWrite(Verb.PATCH, obj, before, change)


def _change_of(before: KubeObject, after: KubeObject) -> JsonObject:
    """What a user would write to turn an object into another; what binding leaves in a claim is
    left to binding."""
    change = difference(_write_object(before), _write_object(after))
    found: JsonObject = change if isinstance(change, dict) else {}
    if isinstance(before, PersistentVolumeClaim) and isinstance(after, PersistentVolumeClaim):
        was, will = before.spec.volume_name, after.spec.volume_name
        if was and was != will:
            found["spec"] = {**found.get("spec", {}), "volumeName": None}
            found["metadata"] = {"annotations": dict.fromkeys(_BINDING)}
    return found


def _write_object(obj: KubeObject) -> JsonObject:
    """What a user writes of an object: no status, and of a claim not which volume it got."""
    body: JsonObject = msgspec.to_builtins(obj)
    found = {key: value for key, value in body.items() if key not in ("metadata", "status")}
    if isinstance(obj, PersistentVolumeClaim):
        found["spec"] = {k: v for k, v in found.get("spec", {}).items() if k != "volumeName"}
    return found


def _without_marks(obj: KubeObject) -> JsonObject:
    body = _write_object(obj)
    metadata: JsonObject = {"name": obj.name}
    if obj.namespace:
        metadata["namespace"] = obj.namespace
    if obj.metadata.labels:
        metadata["labels"] = obj.metadata.labels
    spec = body.get("spec")
    if isinstance(obj, PersistentVolume) and isinstance(spec, dict):
        spec.get("claimRef", {}).pop("uid", None)
        spec["persistentVolumeReclaimPolicy"] = "Retain"
        spec["hostPath"] = {"path": f"/mnt/{obj.name}"}
    if isinstance(obj, DeviceClass):
        body.setdefault("spec", {})
    return {"apiVersion": obj.api_version, "kind": obj.kind, "metadata": metadata, **body}


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
    kubectl: Kubectl, before: Pod, after: Pod, workload: OwnedPods | None, unavailable: int | None
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
    before: Pod, after: Pod, workload: OwnedPods, unavailable: int | None
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
    workload: OwnedPods,
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


_BY_NAME = ("containers", "initContainers", "volumes", "resourceClaims")
_SET_BY_ADMISSION = ("priority", "preemptionPolicy")
"""Follow from the class of a pod, and a server refuses them where they contradict it."""
_ADDED_TOLERATIONS = "node.kubernetes.io/"


def spec_patch(before: PodSpec, after: PodSpec, *, for_template: bool) -> JsonObject:
    """What has to be said to turn one spec into the other; empty if they are equal."""
    old, new = msgspec.to_builtins(before), msgspec.to_builtins(after)
    patch: JsonObject = {}
    for key in sorted({*old, *new}):
        was, will = old.get(key), new.get(key)
        if was == will:
            continue
        if key in _SET_BY_ADMISSION:
            patch[key] = None
        elif key in _BY_NAME:
            patch[key] = _patch_items(was or [], will or [], "name")
        elif key == "schedulingGates":
            kept = {gate["name"] for gate in will or []}
            gone = [gate["name"] for gate in was or [] if gate["name"] not in kept]
            patch[key] = [{"$patch": "delete", "name": name} for name in gone]
        elif key == "topologySpreadConstraints":
            patch[key] = _patch_constraints(was or [], will or [])
        elif key == "tolerations":
            left = [t for t in was or [] if not (for_template and _was_added(t))]
            patch[key] = [*left, *(t for t in will or [] if t not in (was or []))]
        else:
            patch[key] = difference(was, will)
    if for_template and "affinity" in patch:
        patch["affinity"] = _as_written(patch["affinity"])
    return patch


def _patch_items(was: Sequence[Any], will: Sequence[Any], name: str) -> list[JsonValue]:
    before = {item.get(name): item for item in was}
    found: list[JsonValue] = []
    for item in will:
        old = before.get(item.get(name))
        if old == item:
            continue
        if old is None:
            found.append(item)
            continue
        change = difference(old, item)
        if isinstance(change, dict):
            if "ports" in change:
                change["ports"] = _patch_ports(old.get("ports") or [], item.get("ports") or [])
            found.append({name: item.get(name), **change})
    kept = {item.get(name) for item in will}
    found.extend({"$patch": "delete", name: each} for each in before if each not in kept)
    return found


def _patch_ports(was: Sequence[Any], will: Sequence[Any]) -> list[JsonValue]:
    numbers = [port.get("containerPort") for port in will]
    if len(set(numbers)) < len(numbers):  # the same port for two protocols
        return [{"$patch": "replace"}, *will]
    return _patch_items(was, will, "containerPort")


def _patch_constraints(was: Sequence[Any], will: Sequence[Any]) -> list[JsonValue]:
    keys = [[c.get("topologyKey") for c in each] for each in (was, will)]
    if keys[0] != keys[1] or len(set(keys[0])) < len(keys[0]):
        return [{"$patch": "replace"}, *_as_written(list(will))]
    return _patch_items(was, will, "topologyKey")


def _was_added(toleration: JsonObject) -> bool:
    """Whether a toleration comes from admission or a daemon controller, and not from a template."""
    key = toleration.get("key", "")
    return bool(key.startswith(_ADDED_TOLERATIONS)) and toleration.get("operator") == "Exists"


def _as_written(value: Any) -> Any:
    """Selectors without what a server has merged into them from label keys, and node terms without
    the name that a daemon controller gave to one pod."""
    if isinstance(value, list):
        kept = [_as_written(item) for item in value]
        return [item for item in kept if not _is_daemon_field(item)]
    if not isinstance(value, dict):
        return value
    found = {key: _as_written(item) for key, item in value.items()}
    merged = {*(value.get("matchLabelKeys") or ()), *(value.get("mismatchLabelKeys") or ())}
    selector = found.get("labelSelector")
    if merged and isinstance(selector, dict) and selector.get("matchExpressions"):
        written = [e for e in selector["matchExpressions"] if e.get("key") not in merged]
        found["labelSelector"] = {**selector, "matchExpressions": written or None}
    return found


def _is_daemon_field(item: Any) -> bool:
    return isinstance(item, dict) and item.get("key") == NAME_FIELD
