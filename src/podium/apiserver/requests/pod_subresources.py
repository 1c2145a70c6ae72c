"""Pods are bound and evicted by writing to subresources of theirs.

A binding happens once: a pod that has a node, waits at a gate or is being deleted refuses it. The
node need not exist; upstream does not look.

The server itself writes conditions into the status of both.

An eviction is a deletion that disruption budgets may refuse (`kubernetes.admission.evictions`).
What an eviction uses up of a budget is written into the budget's status before the pod is deleted.
"""

from dataclasses import replace
from typing import Final

from podium.apiserver.requests import query
from podium.apiserver.requests.call import Call
from podium.apiserver.requests.creating import place_in_namespace
from podium.apiserver.requests.deleting import check_preconditions, delete
from podium.apiserver.requests.outside_admission import mutate_write, review_write
from podium.apiserver.requests.query import DeleteOptions
from podium.apiserver.requests.registry import Registry
from podium.apiserver.requests.updating import uid_conflict, version_conflict
from podium.apiserver.store.stored import Stored
from podium.golang.json_values import JsonObject
from podium.kubernetes import admission, status_errors
from podium.kubernetes.admission.evictions import admit_eviction, is_guarded
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.labels import object_selector
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
    pods = registry.table.get_required("pods")
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
    registry: Registry,
    pods: ApiResource,
    namespace: str,
    name: str,
    binding: JsonObject,
    call: Call,
) -> None:
    def admit(changed: JsonObject) -> None:
        admission.admit_binding(changed, registry.lookup)

    schema = schema_of("", "v1", "Binding")
    where = (registry, pods, namespace, name, binding, None, call)
    if mutate_write(*where, subresource="binding", schema=schema, admit=admit):
        place_in_namespace(pods, namespace, binding["metadata"])


def _refuse_if_not_free(pods: ApiResource, pod: JsonObject) -> None:
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


def evict(
    registry: Registry, namespace: str, name: str, eviction: JsonObject, call: Call
) -> JsonObject:
    if eviction["metadata"].get("name", "") != name:
        raise status_errors.bad_request("name in URL does not match name in Eviction object")
    pods = registry.table.get_required("pods")
    place_in_namespace(pods, namespace, eviction["metadata"])
    options = query.delete_options_of_body(eviction.get("deleteOptions") or {})
    dry_run = options.dry_run or call.options.dry_run
    where = (registry, pods, namespace, name, eviction, None, call)
    schema = schema_of("policy", "v1", "Eviction")
    if mutate_write(*where, subresource="eviction", dry_run=dry_run, schema=schema):
        options = query.delete_options_of_body(eviction.get("deleteOptions") or {})
    review_write(*where, subresource="eviction", dry_run=dry_run)
    before = registry.get(pods, namespace, name)
    pod = registry.read(pods, before)
    if is_guarded(pod):
        _ask_budgets(registry, namespace, pod, before, dry_run=dry_run, call=call)
    _delete(registry, namespace, name, options, call, dry_run=dry_run)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }


def _ask_budgets(
    registry: Registry,
    namespace: str,
    pod: JsonObject,
    version: Stored,
    *,
    dry_run: bool,
    call: Call,
) -> None:
    budgets = registry.table.get_required("poddisruptionbudgets", "policy")
    guarding = _find_guarding_budgets(registry, namespace, version)
    read = [registry.read(budgets, stored) for stored in guarding]
    charged = admit_eviction(pod, read, call.now)
    if charged is not None and not dry_run:
        registry.replace(budgets, guarding[0], charged, dry_run=False)


def _find_guarding_budgets(registry: Registry, namespace: str, pod: Stored) -> list[Stored]:
    """The budgets whose selectors match the pod's labels."""
    budgets = registry.table.get_required("poddisruptionbudgets", "policy")
    found: list[Stored] = []
    for stored in registry.collection(budgets).current(namespace):
        written = (stored.decode(budgets).get("spec") or {}).get("selector")
        if object_selector(written).matches(pod.labels):
            found.append(stored)
    return found


def _delete(
    registry: Registry,
    namespace: str,
    name: str,
    options: DeleteOptions,
    call: Call,
    *,
    dry_run: bool,
) -> None:
    """Tell in the pod's status why it goes, and delete it."""
    pods = registry.table.get_required("pods")
    before = registry.get(pods, namespace, name)
    pod = registry.read(pods, before)
    check_preconditions(pods, pod["metadata"], options)
    set_condition(
        pod,
        {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        },
        call.now,
    )
    registry.replace(pods, before, pod, dry_run=dry_run)
    # The preconditions held for the version before the condition was written.
    unconditional = replace(options, uid=None, resource_version=None, dry_run=dry_run)
    delete(registry, pods, namespace, name, unconditional, call, reviewed=False)
