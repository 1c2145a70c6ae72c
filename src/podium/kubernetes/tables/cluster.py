"""Nodes, namespaces, events and the small kinds around them."""

from typing import Final

from podium.golang.json_values import DecodedValue, JsonObject
from podium.kubernetes.tables.ages import UNKNOWN, age
from podium.kubernetes.tables.printer import (
    NONE,
    Cells,
    Printer,
    age_of,
    column,
    columns_of,
    is_terminating,
    name_of,
    spec_of,
    status_of,
)

_ROLE_PREFIX: Final = "node-role.kubernetes.io/"
_ROLE: Final = "kubernetes.io/role"


def _node(obj: JsonObject, now: float) -> Cells:
    status = status_of(obj)
    info: JsonObject = status.get("nodeInfo") or {}
    kernel = info.get("kernelVersion") or UNKNOWN
    if info.get("architecture"):
        kernel = f"{kernel} ({info['architecture']})"
    return [
        name_of(obj),
        _node_state(obj),
        _roles(obj),
        age_of(obj, now),
        info.get("kubeletVersion") or "",
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        kernel,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _node_state(node: JsonObject) -> str:
    state = "Unknown"
    for condition in status_of(node).get("conditions") or ():
        if condition.get("type") == "Ready":
            state = "Ready" if condition.get("status") == "True" else "NotReady"
    return f"{state},SchedulingDisabled" if spec_of(node).get("unschedulable") else state


def _roles(node: JsonObject) -> str:
    roles = set()
    for key, value in ((node.get("metadata") or {}).get("labels") or {}).items():
        if key.startswith(_ROLE_PREFIX):
            roles.add(key.removeprefix(_ROLE_PREFIX))
        elif key == _ROLE:
            roles.add(value)
    return ",".join(sorted(roles - {""})) or NONE


def _address(status: JsonObject, kind: str) -> str:
    for address in status.get("addresses") or ():
        if address.get("type") == kind:
            return str(address.get("address") or "")
    return NONE


def _namespace(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), status_of(obj).get("phase") or "", age_of(obj, now)]


def _event(obj: JsonObject, now: float) -> Cells:
    """An event of either group; the newer one has other names for most fields."""
    series = obj.get("series")
    first = age(_either(obj, "firstTimestamp", "deprecatedFirstTimestamp"), now)
    if first == UNKNOWN:
        first = age(obj.get("eventTime"), now)
    last = age(_either(obj, "lastTimestamp", "deprecatedLastTimestamp"), now)
    if last == UNKNOWN:
        last = first
    count = _either(obj, "count", "deprecatedCount") or 1
    if series is not None:
        last = age(series.get("lastObservedTime"), now)
        count = series.get("count") or 0
    about: JsonObject = _either(obj, "involvedObject", "regarding") or {}
    kind, name = (about.get("kind") or "").lower(), about.get("name") or ""
    message = _either(obj, "message", "note") or ""
    return [
        last,
        obj.get("type") or "",
        obj.get("reason") or "",
        f"{kind}/{name}" if name else kind,
        about.get("fieldPath") or "",
        _event_source(obj),
        message.strip(),
        first,
        count,
        name_of(obj),
    ]


def _either(obj: JsonObject, name: str, other: str) -> DecodedValue:
    return obj.get(name) or obj.get(other)


def _event_source(obj: JsonObject) -> str:
    source: JsonObject = _either(obj, "source", "deprecatedSource") or {}
    reporter = obj.get("reportingComponent") or obj.get("reportingController") or ""
    component = source.get("component") or reporter
    instance = source.get("host") or obj.get("reportingInstance") or ""
    return f"{component}, {instance}" if instance else str(component)


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


def _budget(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return [
        name_of(obj),
        _count_or_not(spec.get("minAvailable")),
        _count_or_not(spec.get("maxUnavailable")),
        status.get("disruptionsAllowed") or 0,
        age_of(obj, now),
    ]


def _count_or_not(count: int | str | None) -> str:
    return "N/A" if count is None else str(count)


def _lease(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), spec_of(obj).get("holderIdentity") or "", age_of(obj, now)]


def _runtime_class(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), obj.get("handler") or "", age_of(obj, now)]


def _name_and_age(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), age_of(obj, now)]


def _resource_claim(obj: JsonObject, now: float) -> Cells:
    status = status_of(obj)
    states = ["deleted"] if is_terminating(obj) else []
    if status.get("allocation") is not None:
        states.append("allocated")
        if status.get("reservedFor"):
            states.append("reserved")
    elif not states:
        states.append("pending")
    return [name_of(obj), ",".join(states), age_of(obj, now)]


def _resource_slice(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    pool = (spec.get("pool") or {}).get("name") or ""
    node, driver = spec.get("nodeName") or "", spec.get("driver") or ""
    return [name_of(obj), node, driver, pool, age_of(obj, now)]


NODE: Final = Printer(
    columns_of(
        "Name",
        "Status",
        "Roles",
        "Age",
        "Version",
        wide=("Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"),
    ),
    _node,
)
NAMESPACE: Final = Printer(columns_of("Name", "Status", "Age"), _namespace)
EVENT: Final = Printer(
    [
        *columns_of("Last Seen", "Type", "Reason", "Object", wide=("Subobject", "Source")),
        column("Message"),
        *columns_of(wide=("First Seen", "Count")),
        column("Name", form="name", priority=1),
    ],
    _event,
)
PRIORITY_CLASS: Final = Printer(
    columns_of("Name", "Value:integer", "Global-Default:boolean", "Age", "PreemptionPolicy"),
    _priority_class,
)
POD_GROUP: Final = Printer(columns_of("Name", "Policy", "Workload", "Status", "Age"), _pod_group)
BUDGET: Final = Printer(
    columns_of("Name", "Min Available", "Max Unavailable", "Allowed Disruptions:integer", "Age"),
    _budget,
)
LEASE: Final = Printer(columns_of("Name", "Holder", "Age"), _lease)
RUNTIME_CLASS: Final = Printer(columns_of("Name", "Handler", "Age"), _runtime_class)
NAME_AND_AGE: Final = Printer(columns_of("Name", "Age"), _name_and_age)
RESOURCE_CLAIM: Final = Printer(columns_of("Name", "State", "Age"), _resource_claim)
RESOURCE_SLICE: Final = Printer(
    columns_of("Name", "Node", "Driver", "Pool", "Age"), _resource_slice
)
