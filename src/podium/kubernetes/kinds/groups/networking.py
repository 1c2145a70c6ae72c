"""The kinds of the group `networking.k8s.io`."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, Warnings, WriteStrategy
from podium.kubernetes.tables.printer import NONE, age_of, columns_of, name_of, spec_of, status_of
from podium.kubernetes.tables.workloads import selector_text
from podium.kubernetes.validation import ingresses, network_policies
from podium.kubernetes.validation.addresses import (
    address_create_errors,
    address_update_errors,
    range_create_errors,
    range_update_errors,
)
from podium.kubernetes.warnings.networking import about_ingress, about_network_policy

_GROUP: Final = "networking.k8s.io"
_MAX_HOSTS: Final = 3
_DEFAULT_CLASS: Final = "ingressclass.kubernetes.io/is-default-class"


def _set_network_policy_defaults(policy: JsonObject) -> None:
    spec = policy.get("spec")
    if spec is None:
        spec = policy["spec"] = {}
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            if port.get("protocol") is None:
                port["protocol"] = "TCP"
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _set_ingress_class_defaults(ingress_class: JsonObject) -> None:
    parameters = (ingress_class.get("spec") or {}).get("parameters")
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


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


_INGRESS: Final = Printer(columns_of("Name", "Class", "Hosts", "Address", "Ports", "Age"), _ingress)
_INGRESS_CLASS: Final = Printer(
    columns_of("Name", "Controller", "Parameters", "Age"), _ingress_class
)
_NETWORK_POLICY: Final = Printer(columns_of("Name", "Pod-Selector", "Age"), _network_policy)


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


_SERVICE_CIDR: Final = Printer(columns_of("Name", "CIDRs", "Age"), _service_cidr)
_IP_ADDRESS: Final = Printer(columns_of("Name", "ParentRef"), _ip_address)


KINDS: Final = (
    Kind(
        _GROUP,
        "IngressClass",
        "ingressclasses",
        description="A name for those who act on ingresses.",
        namespaced=False,
        defaults=_set_ingress_class_defaults,
        validation=Validation(ingresses.class_create_errors, ingresses.class_update_errors),
        strategy=WriteStrategy(counted=("spec",)),
        printer=_INGRESS_CLASS,
    ),
    Kind(
        _GROUP,
        "Ingress",
        "ingresses",
        ("ing",),
        description="Hosts and paths by which requests from outside reach services.",
        has_status=True,
        validation=Validation(
            ingresses.create_errors, ingresses.update_errors, ingresses.status_errors
        ),
        strategy=WriteStrategy(empty_status={"loadBalancer": {}}, counted=("spec",)),
        printer=_INGRESS,
        warnings=Warnings(create=about_ingress),
    ),
    Kind(
        _GROUP,
        "IPAddress",
        "ipaddresses",
        ("ip",),
        description="An address that an object has taken.",
        namespaced=False,
        validation=Validation(address_create_errors, address_update_errors),
        printer=_IP_ADDRESS,
    ),
    Kind(
        _GROUP,
        "NetworkPolicy",
        "networkpolicies",
        ("netpol",),
        description="Which traffic is let through to and from a set of pods.",
        defaults=_set_network_policy_defaults,
        validation=Validation(network_policies.create_errors, network_policies.update_errors),
        strategy=WriteStrategy(counted=("spec",)),
        printer=_NETWORK_POLICY,
        warnings=Warnings(always=about_network_policy),
    ),
    Kind(
        _GROUP,
        "ServiceCIDR",
        "servicecidrs",
        description="A range of addresses for services.",
        namespaced=False,
        has_status=True,
        validation=Validation(range_create_errors, range_update_errors),
        strategy=WriteStrategy(empty_status={}, keeps_metadata=True),
        printer=_SERVICE_CIDR,
    ),
)
