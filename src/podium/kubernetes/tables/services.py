"""Services and the addresses behind them."""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.tables.printer import (
    NONE,
    UNSET,
    age_of,
    columns_of,
    labels_text,
    name_of,
    spec_of,
    status_of,
)

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
