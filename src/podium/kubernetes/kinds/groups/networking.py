"""Ingresses, their classes, network policies."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.tables.printer import (
    NONE,
    Cells,
    Printer,
    age_of,
    columns_of,
    name_of,
    spec_of,
    status_of,
)
from podium.kubernetes.tables.workloads import selector_text

_MAX_HOSTS: Final = 3
_DEFAULT_CLASS: Final = "ingressclass.kubernetes.io/is-default-class"


def _ingress(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    name = spec.get("ingressClassName")
    return [
        name_of(obj),
        NONE if name is None else name,
        _hosts(spec.get("rules") or []),
        _address(status_of(obj)),
        "80, 443" if spec.get("tls") else "80",
        age_of(obj, now),
    ]


def _hosts(rules: list[JsonObject]) -> str:
    found: list[str] = []
    for rule in rules:
        if len(found) == _MAX_HOSTS:
            # upstream: what is left out is counted among all rules, also those without a host
            return f"{','.join(found)} + {len(rules) - _MAX_HOSTS} more..."
        if rule.get("host"):
            found.append(rule["host"])
    return ",".join(found) or "*"


def _address(status: JsonObject) -> str:
    points = (status.get("loadBalancer") or {}).get("ingress") or ()
    found = sorted({point.get("ip") or point.get("hostname") or "" for point in points} - {""})
    return ",".join(found)


def _ingress_class(obj: JsonObject, now: float) -> Cells:
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    mark = " (default)" if annotations.get(_DEFAULT_CLASS) == "true" else ""
    spec, parameters = spec_of(obj), spec_of(obj).get("parameters")
    shown = NONE
    if parameters is not None:
        group = parameters.get("apiGroup")
        kind = parameters.get("kind") or ""
        kind = kind if group is None else f"{kind}.{group}"
        shown = f"{kind}/{parameters.get('name') or ''}"
    return [f"{name_of(obj)}{mark}", spec.get("controller") or "", shown, age_of(obj, now)]


def _network_policy(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), selector_text(spec_of(obj).get("podSelector")), age_of(obj, now)]


INGRESS: Final = Printer(columns_of("Name", "Class", "Hosts", "Address", "Ports", "Age"), _ingress)
INGRESS_CLASS: Final = Printer(
    columns_of("Name", "Controller", "Parameters", "Age"), _ingress_class
)
NETWORK_POLICY: Final = Printer(columns_of("Name", "Pod-Selector", "Age"), _network_policy)


def _service_cidr(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), ",".join(spec_of(obj).get("cidrs") or ()), age_of(obj, now)]


def _ip_address(obj: JsonObject, _now: float) -> Cells:
    parent = spec_of(obj).get("parentRef")
    if parent is None:
        return [name_of(obj), NONE]
    group, resource = parent.get("group") or "", parent.get("resource") or ""
    what = f"{resource}.{group}" if group else resource
    where = (what, parent.get("namespace") or "", parent.get("name") or "")
    return [name_of(obj), "/".join(part for part in where if part)]


SERVICE_CIDR: Final = Printer(columns_of("Name", "CIDRs", "Age"), _service_cidr)
IP_ADDRESS: Final = Printer(columns_of("Name", "ParentRef"), _ip_address)
