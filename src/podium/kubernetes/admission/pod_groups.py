"""Pod groups: made from a workload that exists, with the priority of their class."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.admission.priorities import class_of
from podium.kubernetes.resources.resource import Resource

_GROUP: Final = "scheduling.k8s.io"


def set_priority(resource: Resource, group: JsonObject, lookup: Lookup) -> None:
    """Resolve the class of a new group, unless groups have no priorities of their own."""
    if any(path[-1] == "priority" for _, path in resource.gated_fields):
        return
    spec, name = group.get("spec") or {}, group["metadata"].get("name", "")
    chosen = class_of(resource, name, spec.get("priorityClassName"), lookup)
    priority = 0 if chosen is None else chosen.value
    given = spec.get("priority")
    if given is not None and given != priority:
        why = (
            f"priority set in the pod group ({given}) must match the priority computed"
            f" ({priority}) based on the priority class set in the spec"
        )
        raise status_errors.forbidden(resource, name, why)
    spec["priority"] = priority
    if chosen is not None:
        spec["priorityClassName"] = chosen.name
    group["spec"] = spec


def refuse_without_template(resource: Resource, group: JsonObject, lookup: Lookup) -> None:
    """Of a group that says which template of which workload it was made from."""
    reference = ((group.get("spec") or {}).get("podGroupTemplateRef") or {}).get("workload")
    if reference is None:
        return
    metadata, wanted = group["metadata"], reference.get("workloadName") or ""
    workload = lookup.find(_GROUP, "workloads", metadata["namespace"], wanted, "v1alpha2")
    template = reference.get("podGroupTemplateName") or ""
    if workload is None:
        why = f'Workload "{wanted}" not found'
    elif workload["metadata"].get("deletionTimestamp"):
        why = f'Workload "{wanted}" is being deleted'
    elif any(each.get("name") == template for each in workload["spec"]["podGroupTemplates"]):
        return
    else:
        why = f'PodGroupTemplate "{template}" not found in Workload "{wanted}"'
    raise status_errors.forbidden(resource, metadata.get("name", ""), f"PodGroup rejected: {why}")
