"""Nodes, namespaces, events, services and the addresses behind them."""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import DecodedValue, JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.tables.printer import (
    NONE,
    UNKNOWN,
    UNSET,
    age,
    age_of,
    column,
    columns_of,
    labels_text,
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


_SHOWN: Final = 3


def _service(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    addresses = spec.get("clusterIPs") or ()
    return [
        name_of(obj),
        spec.get("type") or "",
        addresses[0] if addresses else NONE,
        _external(spec, status_of(obj)),
        ",".join(map(_port, spec.get("ports") or ())) or NONE,
        age_of(obj, now),
        labels_text(spec.get("selector")),
    ]


def _external(spec: JsonObject, status: JsonObject) -> str:
    kind, own = spec.get("type"), spec.get("externalIPs") or []
    if kind == "ExternalName":
        return str(spec.get("externalName") or "")
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(own) or NONE
    if kind != "LoadBalancer":
        return "<unknown>"
    points = (status.get("loadBalancer") or {}).get("ingress") or ()
    given = sorted({point.get("ip") or point.get("hostname") or "" for point in points} - {""})
    return ",".join([*given, *own]) or "<pending>"


def _port(port: JsonObject) -> str:
    number, on_node = port.get("port") or 0, port.get("nodePort") or 0
    shown = f"{number}:{on_node}" if on_node else str(number)
    return f"{shown}/{port.get('protocol') or ''}"


def _endpoints(obj: JsonObject, now: float) -> Cells:
    found: list[str] = []
    for subset in obj.get("subsets") or ():
        addresses = [address.get("ip") or "" for address in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        if not ports:
            found.extend(addresses)
        for port in ports:
            found.extend(_with_port(address, port.get("port") or 0) for address in addresses)
    shown = _first_few(found, "") if obj.get("subsets") else NONE
    return [name_of(obj), shown, age_of(obj, now)]


def _with_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _first_few(items: Sequence[str], empty: str) -> str:
    shown = ",".join(items[:_SHOWN])
    if len(items) > _SHOWN:
        return f"{shown} + {len(items) - _SHOWN} more..."
    return shown or empty


def _endpoint_slice(obj: JsonObject, now: float) -> Cells:
    ports = [
        str(port["port"]) if port.get("port") is not None else port.get("name") or "*"
        for port in obj.get("ports") or ()
    ]
    addresses = [
        address
        for endpoint in obj.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
    ]
    return [
        name_of(obj),
        obj.get("addressType") or "",
        _first_few(ports, UNSET),
        _first_few(addresses, UNSET),
        age_of(obj, now),
    ]


SERVICE: Final = Printer(
    columns_of("Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", wide=("Selector",)),
    _service,
)
ENDPOINTS: Final = Printer(columns_of("Name", "Endpoints", "Age"), _endpoints)
ENDPOINT_SLICE: Final = Printer(
    columns_of("Name", "AddressType", "Ports", "Endpoints", "Age"), _endpoint_slice
)
