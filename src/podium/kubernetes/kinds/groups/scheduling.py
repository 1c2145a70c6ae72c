"""The kinds of the group `scheduling.k8s.io`."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, WriteStrategy
from podium.kubernetes.rules.field_errors import forbidden, immutable, not_supported, required
from podium.kubernetes.rules.priorities import MAX_USER_PRIORITY, SYSTEM_PRIORITIES
from podium.kubernetes.tables.cluster import NAME_AND_AGE
from podium.kubernetes.tables.printer import NONE, age_of, columns_of, name_of, spec_of, status_of
from podium.kubernetes.validation import pod_groups
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)
from podium.kubernetes.validation.pod_specs import PREEMPTION_POLICIES

_SYSTEM: Final = "system-"
_GROUP: Final = "scheduling.k8s.io"
_GATED: Final = (
    ("DRAWorkloadResourceClaims", "resourceClaims"),
    ("TopologyAwareWorkloadScheduling", "schedulingConstraints"),
    ("WorkloadAwarePreemption", "disruptionMode"),
    ("WorkloadAwarePreemption", "priorityClassName"),
    ("WorkloadAwarePreemption", "priority"),
)
"""Fields of pod groups and of the templates that workloads have for them."""


def _prepare_pod_group(group: JsonObject, _now: str) -> None:
    # upstream: what is dropped while its gate is closed gets its default when it is stored
    group["spec"].setdefault("disruptionMode", "Pod")


def _set_priority_class_defaults(priority_class: JsonObject) -> None:
    if priority_class.get("preemptionPolicy") is None:
        priority_class["preemptionPolicy"] = "PreemptLowerPriority"


def _set_pod_group_defaults(group: JsonObject) -> None:
    spec = group.get("spec")
    if spec is not None and spec.get("disruptionMode") is None:
        spec["disruptionMode"] = "Pod"


def _priority_class_create_errors(priority_class: JsonObject) -> Errors:
    metadata = meta_of(priority_class)
    errors = built_in_meta_errors(metadata, False, subdomain_problems)
    name, value = metadata.get("name") or "", priority_class.get("value") or 0
    if name.startswith(_SYSTEM):
        problem = _system_problem(name, value, bool(priority_class.get("globalDefault")))
        if problem:
            detail = (
                f"priority class names with '{_SYSTEM}' prefix are reserved for system use only. "
                f"error: {problem}"
            )
            errors.append(forbidden("metadata.name", detail))
    elif value > MAX_USER_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}"
        errors.append(forbidden("value", detail))
    policy = priority_class.get("preemptionPolicy")
    if policy == "":
        errors.append(required("preemptionPolicy"))
    elif policy is not None and policy not in PREEMPTION_POLICIES:
        errors.append(not_supported("preemptionPolicy", policy, PREEMPTION_POLICIES))
    return errors


def _system_problem(name: str, value: int, is_default: bool) -> str:
    known = SYSTEM_PRIORITIES.get(name)
    if known is None:
        return f"{name} is not a known system priority class"
    if value != known:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def _priority_class_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    if (new.get("value") or 0) != (old.get("value") or 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        errors.append(immutable("preemptionPolicy", new.get("preemptionPolicy")))
    return errors


def _priority_class(obj: JsonObject, now: float) -> Cells:
    return [
        name_of(obj),
        obj.get("value") or 0,
        bool(obj.get("globalDefault")),
        age_of(obj, now),
        obj.get("preemptionPolicy") or "",
    ]


def _pod_group(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    policy = "Gang" if (spec.get("schedulingPolicy") or {}).get("gang") is not None else "Basic"
    conditions = {each.get("type"): each for each in status_of(obj).get("conditions") or ()}
    state = "Pending"
    scheduled, disrupted = conditions.get("PodGroupScheduled"), conditions.get("DisruptionTarget")
    if scheduled is not None:
        state = "Scheduled" if scheduled.get("status") == "True" else "Unschedulable"
    if disrupted is not None:
        state = disrupted.get("reason") or ""
    workload = (spec.get("podGroupTemplateRef") or {}).get("workload")
    source = NONE if workload is None else workload.get("workloadName") or ""
    return [name_of(obj), policy, source, state, age_of(obj, now)]


_PRIORITY_CLASS: Final = Printer(
    columns_of("Name", "Value:integer", "Global-Default:boolean", "Age", "PreemptionPolicy"),
    _priority_class,
)
_POD_GROUP: Final = Printer(columns_of("Name", "Policy", "Workload", "Status", "Age"), _pod_group)

KINDS: Final = (
    Kind(
        _GROUP,
        "PriorityClass",
        "priorityclasses",
        ("pc",),
        description="A name for a priority.",
        namespaced=False,
        defaults=_set_priority_class_defaults,
        validation=Validation(_priority_class_create_errors, _priority_class_update_errors),
        strategy=WriteStrategy(counted=()),
        printer=_PRIORITY_CLASS,
    ),
    Kind(
        _GROUP,
        "PodGroup",
        "podgroups",
        description="Pods that are scheduled together.",
        version="v1alpha2",
        has_status=True,
        gate="GenericWorkload",
        gated_fields=(
            *((gate, ("spec", field)) for gate, field in _GATED),
            ("DRAWorkloadResourceClaims", ("status", "resourceClaimStatuses")),
        ),
        defaults=_set_pod_group_defaults,
        validation=Validation(
            pod_groups.group_create_errors,
            pod_groups.group_update_errors,
            pod_groups.group_status_errors,
        ),
        strategy=WriteStrategy(
            empty_status={}, keeps_metadata=True, gates_each_field=True, create=_prepare_pod_group
        ),
        printer=_POD_GROUP,
    ),
    Kind(
        _GROUP,
        "Workload",
        "workloads",
        description="Groups of pods that belong together, as templates.",
        version="v1alpha2",
        gate="GenericWorkload",
        gated_fields=tuple((gate, ("spec", "podGroupTemplates", field)) for gate, field in _GATED),
        validation=Validation(pod_groups.workload_create_errors, pod_groups.workload_update_errors),
        strategy=WriteStrategy(gates_each_field=True),
        printer=NAME_AND_AGE,
    ),
)
