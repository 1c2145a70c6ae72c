"""Workloads: how many pods there should be, are, and are ready."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.tables.printer import (
    NONE,
    UNSET,
    age,
    age_of,
    column,
    columns_of,
    human_duration,
    is_terminating,
    labels_text,
    name_of,
    seconds_or_none,
    spec_of,
    status_of,
)
from podium.kubernetes.validation.pod_specs import compile_selector

_WIDE: Final = ("Containers", "Images", "Selector")
_JOB_STATES: Final = (
    ("Complete", "Complete"),
    ("Failed", "Failed"),
    ("", "Terminating"),
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)


def _containers(template: JsonObject | None) -> tuple[str, str]:
    containers = ((template or {}).get("spec") or {}).get("containers") or ()
    names = ",".join(container.get("name") or "" for container in containers)
    images = ",".join(container.get("image") or "" for container in containers)
    return names, images


def selector_text(selector: JsonObject | None, *, empty: str = NONE) -> str:
    parsed = compile_selector(selector)
    if parsed is None:
        return "<error>"
    return empty if parsed.nothing or parsed.empty else str(parsed)


def _template_cells(spec: JsonObject) -> Cells:
    return [*_containers(spec.get("template")), selector_text(spec.get("selector"))]


def _scale(obj: JsonObject, now: float) -> Cells:
    wanted, found = spec_of(obj).get("replicas") or 0, status_of(obj).get("replicas") or 0
    return [name_of(obj), wanted, found, age_of(obj, now)]


def _deployment(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return [
        name_of(obj),
        f"{status.get('readyReplicas') or 0}/{spec.get('replicas') or 0}",
        status.get("updatedReplicas") or 0,
        status.get("availableReplicas") or 0,
        age_of(obj, now),
        *_containers(spec.get("template")),
        selector_text(spec.get("selector"), empty=""),
    ]


def _replica_set(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return [*_replicas(obj, spec, status), age_of(obj, now), *_template_cells(spec)]


def _replicas(obj: JsonObject, spec: JsonObject, status: JsonObject) -> Cells:
    return [
        name_of(obj),
        spec.get("replicas") or 0,
        status.get("replicas") or 0,
        status.get("readyReplicas") or 0,
    ]


def _replication_controller(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    names, images = _containers(spec.get("template"))
    selector = labels_text(spec.get("selector"))
    return [*_replicas(obj, spec, status), age_of(obj, now), names, images, selector]


def _daemon_set(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    template = (spec.get("template") or {}).get("spec") or {}
    return [
        name_of(obj),
        status.get("desiredNumberScheduled") or 0,
        status.get("currentNumberScheduled") or 0,
        status.get("numberReady") or 0,
        status.get("updatedNumberScheduled") or 0,
        status.get("numberAvailable") or 0,
        labels_text(template.get("nodeSelector")),
        age_of(obj, now),
        *_template_cells(spec),
    ]


def _stateful_set(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    ready = f"{status.get('readyReplicas') or 0}/{spec.get('replicas') or 0}"
    return [name_of(obj), ready, age_of(obj, now), *_containers(spec.get("template"))]


def _job(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    done, wanted = status.get("succeeded") or 0, spec.get("completions")
    if wanted is not None:
        completions = f"{done}/{wanted}"
    else:
        parallelism = spec.get("parallelism") or 0
        completions = f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"
    return [
        name_of(obj),
        _job_state(obj),
        completions,
        _job_duration(status, now),
        age_of(obj, now),
        *_template_cells(spec),
    ]


def _job_state(obj: JsonObject) -> str:
    conditions = {}
    for condition in reversed(status_of(obj).get("conditions") or ()):
        conditions[condition.get("type")] = condition.get("status")
    for condition, state in _JOB_STATES:
        if conditions.get(condition) == "True" or (not condition and is_terminating(obj)):
            return state
    return "Running"


def _job_duration(status: JsonObject, now: float) -> str:
    start = seconds_or_none(status.get("startTime") or "")
    if start is None:
        return ""
    end = seconds_or_none(status.get("completionTime") or "")
    return human_duration((now if end is None else end) - start)


def _cron_job(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    last, suspended = status.get("lastScheduleTime"), spec.get("suspend")
    return [
        name_of(obj),
        spec.get("schedule") or "",
        spec.get("timeZone") or NONE,
        UNSET if suspended is None else str(bool(suspended)),
        len(status.get("active") or ()),
        age(last, now) if last else NONE,
        age_of(obj, now),
        *_template_cells(job),
    ]


def _pod_template(obj: JsonObject, _now: float) -> Cells:
    template: JsonObject = obj.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    return [name_of(obj), *_containers(template), labels_text(labels)]


def _revision(obj: JsonObject, now: float) -> Cells:
    owners = (obj.get("metadata") or {}).get("ownerReferences") or ()
    controller = NONE
    for owner in owners:
        if owner.get("controller"):
            group = (owner.get("apiVersion") or "").rpartition("/")[0]
            kind = (owner.get("kind") or "").lower()
            controller = f"{kind}.{group}" if group else kind
            controller = f"{controller}/{owner.get('name') or ''}"
            break
    return [name_of(obj), controller, obj.get("revision") or 0, age_of(obj, now)]


_COUNTS: Final = ("Name", "Desired:integer", "Current:integer", "Ready:integer", "Age")

SCALE: Final = Printer(
    [column("Name"), column("Desired", "integer"), column("Available", "integer"), column("Age")],
    _scale,
)
DEPLOYMENT: Final = Printer(
    columns_of("Name", "Ready", "Up-to-date", "Available", "Age", wide=_WIDE), _deployment
)
REPLICA_SET: Final = Printer(columns_of(*_COUNTS, wide=_WIDE), _replica_set)
REPLICATION_CONTROLLER: Final = Printer(columns_of(*_COUNTS, wide=_WIDE), _replication_controller)
DAEMON_SET: Final = Printer(
    columns_of(
        "Name",
        "Desired:integer",
        "Current:integer",
        "Ready:integer",
        "Up-to-date:integer",
        "Available:integer",
        "Node Selector",
        "Age",
        wide=_WIDE,
    ),
    _daemon_set,
)
STATEFUL_SET: Final = Printer(
    columns_of("Name", "Ready", "Age", wide=("Containers", "Images")), _stateful_set
)
JOB: Final = Printer(
    columns_of("Name", "Status", "Completions", "Duration", "Age", wide=_WIDE), _job
)
CRON_JOB: Final = Printer(
    columns_of(
        "Name",
        "Schedule",
        "Timezone",
        "Suspend:boolean",
        "Active:integer",
        "Last Schedule",
        "Age",
        wide=_WIDE,
    ),
    _cron_job,
)
POD_TEMPLATE: Final = Printer(
    columns_of("Name", "Containers", "Images", "Pod Labels"), _pod_template
)
CONTROLLER_REVISION: Final = Printer(columns_of("Name", "Controller", "Revision", "Age"), _revision)
