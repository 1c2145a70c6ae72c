"""Assigning a pod to a node: the `binding` subresource.

A binding happens once: a pod that has a node, waits at a gate or is being deleted refuses it. The
node need not exist; upstream does not look.

Conditions in a pod's status, as the server itself writes them.
"""

from typing import Final

from podium.apiserver.requests.call import Call
from podium.apiserver.requests.creating import place_in_namespace
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.registry import Registry
from podium.apiserver.requests.updating import uid_conflict, version_conflict
from podium.golang.json_values import JsonObject
from podium.kubernetes import admission, status_errors
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.schema import schema_of
from podium.kubernetes.validation import validate_binding


def set_condition(pod: JsonObject, condition: JsonObject, now: str) -> None:
    """Add a condition or replace the one of its type.

    The time of the last transition stays when the status does.
    """
    status = pod.setdefault("status", {})
    conditions: list[JsonObject] = status.setdefault("conditions", [])
    new: JsonObject = {"lastProbeTime": None, "lastTransitionTime": now, **condition}
    for place, known in enumerate(conditions):
        if known["type"] == condition["type"]:
            if known["status"] == condition["status"]:
                new["lastTransitionTime"] = known.get("lastTransitionTime")
            conditions[place] = new
            return
    conditions.append(new)


_SUCCESS: Final = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Success",
    "code": 201,
}


def bind(
    registry: Registry, namespace: str, name: str, binding: JsonObject, call: Call
) -> JsonObject:
    """Carry out a Binding; `name` is the one of the path."""
    metadata = binding["metadata"]
    pods = registry.table.named("pods")
    place_in_namespace(pods, namespace, metadata)
    admission.admit_binding(binding, registry.lookup)
    _mutate(registry, pods, namespace, name, binding, call)
    if metadata.get("name", "") != name:
        raise status_errors.bad_request("name in URL does not match name in Binding object")
    problems = validate_binding(binding)
    if problems:
        told = [str(problem) for problem in problems]
        raise status_errors.internal(told[0] if len(told) == 1 else f"[{', '.join(told)}]")
    before = registry.get(pods, namespace, name)
    pod = registry.read(pods, before)
    stored = pod["metadata"]
    uid = metadata.get("uid")
    if uid and uid != stored["uid"]:
        raise uid_conflict(pods, before, uid, stored["uid"])
    version = metadata.get("resourceVersion")
    if version and version != stored["resourceVersion"]:
        raise version_conflict(pods, before, version, stored["resourceVersion"])
    _refuse_if_not_free(pods, pod)
    review_write(registry, pods, namespace, name, binding, None, call, subresource="binding")
    _assign(pod, binding, call.now)
    registry.replace(pods, before, pod, dry_run=call.options.dry_run)
    return dict(_SUCCESS)


def _mutate(
    registry: Registry, pods: Resource, namespace: str, name: str, binding: JsonObject, call: Call
) -> None:
    def admit(changed: JsonObject) -> None:
        admission.admit_binding(changed, registry.lookup)

    schema = schema_of("", "v1", "Binding")
    where = (registry, pods, namespace, name, binding, None, call)
    if mutate_write(*where, subresource="binding", schema=schema, admit=admit):
        place_in_namespace(pods, namespace, binding["metadata"])


def _refuse_if_not_free(pods: Resource, pod: JsonObject) -> None:
    metadata, spec = pod["metadata"], pod["spec"]
    name = metadata["name"]
    if metadata.get("deletionTimestamp"):
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif spec.get("nodeName"):
        why = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    elif spec.get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
    else:
        return
    raise status_errors.StatusError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {pods.plural}/binding "{name}": {why}',
        {"name": name, "kind": f"{pods.plural}/binding"},
    )


def _assign(pod: JsonObject, binding: JsonObject, now: str) -> None:
    pod["spec"]["nodeName"] = binding["target"]["name"]
    set_condition(pod, {"type": "PodScheduled", "status": "True"}, now)
    pod["status"].pop("nominatedNodeName", None)
    for part in ("annotations", "labels"):
        given = binding["metadata"].get(part)
        if given:
            pod["metadata"][part] = {**(pod["metadata"].get(part) or {}), **given}
