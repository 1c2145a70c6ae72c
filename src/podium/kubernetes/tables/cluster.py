"""Nodes, namespaces and events."""

from typing import Final

from podium.golang.json_values import DecodedValue, JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.tables.printer import (
    NONE,
    UNKNOWN,
    age,
    age_of,
    column,
    columns_of,
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


def _name_and_age(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), age_of(obj, now)]


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
NAME_AND_AGE: Final = Printer(columns_of("Name", "Age"), _name_and_age)
