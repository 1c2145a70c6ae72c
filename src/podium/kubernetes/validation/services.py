"""Services and the endpoints behind them.

The addresses of a service: of the cluster, from outside, and who may reach its load balancer. A
service has its cluster address in two fields, the older for one and the newer for several; here
stands what both must agree on before addresses are handed out.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.validation.addresses import (
    address_of,
    check_address,
    check_range,
    check_reachable,
)
from podium.kubernetes.validation.names import (
    label_problems,
    port_name_problems,
    port_number_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    check_label_key,
    check_labels,
    meta_of,
)

_TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_AFFINITIES: Final = ("ClientIP", "None")
_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameZone", "PreferSameNode")
_POLICIES: Final = ("Cluster", "Local")
_MAX_AFFINITY_S: Final = 86400


def create_errors(service: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(service), True, label_problems)
    _check_service(errors, service.get("spec") or {}, {})
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    spec: JsonObject = new.get("spec") or {}
    before: JsonObject = old.get("spec") or {}
    if "ExternalName" not in (spec.get("type"), before.get("type")):
        addresses, earlier = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
        if earlier and addresses[:1] != earlier[:1]:
            shown = addresses or None
            detail = "may not change once set"
            errors.append(invalid("spec.clusterIPs[0]", shown, detail))
    _check_service(errors, spec, before)
    return errors


def _check_service(errors: Errors, spec: JsonObject, before: JsonObject) -> None:
    kind = spec.get("type") or ""
    addresses = spec.get("clusterIPs") or []
    headless = addresses[:1] == ["None"]
    ports = spec.get("ports") or []
    if not ports and not headless and kind != "ExternalName":
        errors.append(required("spec.ports"))
    if kind in ("LoadBalancer", "NodePort") and headless:
        detail = f"may not be set to 'None' for {kind} services"
        errors.append(invalid("spec.clusterIPs[0]", "None", detail))
    if kind == "ExternalName":
        _check_external_name(errors, spec)
    names: set[str] = set()
    for index, port in enumerate(ports):
        _check_port(errors, port, len(ports) > 1, names, f"spec.ports[{index}]")
    if spec.get("selector"):
        check_labels(errors, spec["selector"], "spec.selector")
    _check_affinity(errors, spec)
    if kind != "ExternalName":
        check_cluster_addresses(errors, spec, before)
    check_external_addresses(errors, spec, before)
    if not kind:
        errors.append(required("spec.type"))
    elif kind not in _TYPES:
        errors.append(not_supported("spec.type", kind, _TYPES))
    _check_distinct_ports(errors, ports, kind)
    check_load_balancer(errors, spec, kind)
    _check_traffic(errors, spec, kind)


def _check_external_name(errors: Errors, spec: JsonObject) -> None:
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            detail = "may not be set for ExternalName services"
            errors.append(forbidden(f"spec.{field}", detail))
    name = (spec.get("externalName") or "").removesuffix(".")
    if name:
        check_each(errors, subdomain_problems(name), name, "spec.externalName")
    else:
        errors.append(required("spec.externalName"))


def _check_port(errors: Errors, port: JsonObject, named: bool, names: set[str], path: str) -> None:
    name, number = port.get("name") or "", port.get("port") or 0
    if named and not name:
        errors.append(required(f"{path}.name"))
    elif name:
        check_each(errors, label_problems(name), name, f"{path}.name")
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    check_each(errors, port_number_problems(number), number, f"{path}.port")
    protocol = port.get("protocol") or ""
    if not protocol:
        errors.append(required(f"{path}.protocol"))
    elif protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    target = port.get("targetPort") or 0
    problems = (
        port_name_problems(target) if isinstance(target, str) else port_number_problems(target)
    )
    check_each(errors, problems, target, f"{path}.targetPort")
    if port.get("appProtocol") is not None:
        check_label_key(errors, port["appProtocol"], f"{path}.appProtocol")


def _check_affinity(errors: Errors, spec: JsonObject) -> None:
    affinity = spec.get("sessionAffinity") or ""
    if not affinity:
        errors.append(required("spec.sessionAffinity"))
    elif affinity not in _AFFINITIES:
        errors.append(not_supported("spec.sessionAffinity", affinity, _AFFINITIES))
    elif affinity == "ClientIP":
        timeout = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < timeout <= _MAX_AFFINITY_S:
            at = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            detail = f"must be greater than 0 and less than {_MAX_AFFINITY_S}"
            errors.append(invalid(at, timeout, detail))


def _check_distinct_ports(errors: Errors, ports: list[JsonObject], kind: str) -> None:
    node_ports: set[tuple[str, int]] = set()
    numbers: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        if kind == "ClusterIP" and port.get("nodePort"):
            detail = "may not be used when `type` is 'ClusterIP'"
            errors.append(forbidden(f"spec.ports[{index}].nodePort", detail))
    for index, port in enumerate(ports):
        key = (port.get("protocol") or "", port.get("nodePort") or 0)
        if key[1] and key in node_ports:
            errors.append(duplicate(f"spec.ports[{index}].nodePort", key[1]))
        node_ports.add(key)
    for index, port in enumerate(ports):
        protocol, number = port.get("protocol") or "", port.get("port") or 0
        if (protocol, number) in numbers:
            shown = {
                "Name": "",
                "Protocol": protocol,
                "AppProtocol": None,
                "Port": number,
                "TargetPort": 0,
                "NodePort": 0,
            }
            errors.append(duplicate(f"spec.ports[{index}]", shown))
        numbers.add((protocol, number))


def _check_traffic(errors: Errors, spec: JsonObject, kind: str) -> None:
    outward = kind in ("LoadBalancer", "NodePort") or bool(spec.get("externalIPs"))
    policy = spec.get("externalTrafficPolicy") or ""
    at = "spec.externalTrafficPolicy"
    if not outward:
        if policy:
            detail = "may only be set for externally-accessible services"
            errors.append(invalid(at, policy, detail))
    elif policy not in _POLICIES:
        errors.append(not_supported(at, policy, _POLICIES) if policy else required(at))
    inward = spec.get("internalTrafficPolicy")
    if inward is not None and inward not in _POLICIES:
        errors.append(not_supported("spec.internalTrafficPolicy", inward, _POLICIES))
    spread = spec.get("trafficDistribution")
    if spread is not None and spread not in _DISTRIBUTIONS:
        errors.append(not_supported("spec.trafficDistribution", spread, _DISTRIBUTIONS))


def status_errors(new: JsonObject, old: JsonObject) -> Errors:
    """Only load balancers have addresses in their status."""
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    balancer = (new.get("status") or {}).get("loadBalancer") or {}
    is_balancer = (new.get("spec") or {}).get("type") == "LoadBalancer"
    if balancer.get("ingress") and not is_balancer:
        detail = "may only be used when `spec.type` is 'LoadBalancer'"
        errors.append(forbidden("status.loadBalancer.ingress", detail))
    return errors


_CLUSTER_IPS: Final = "spec.clusterIPs"
_FAMILIES: Final = ("IPv4", "IPv6")
_FAMILY_POLICIES: Final = ("PreferDualStack", "RequireDualStack", "SingleStack")
_NONE: Final = "None"
_ONLY_FOR_BALANCERS: Final = "may only be used when `type` is 'LoadBalancer'"


def check_cluster_addresses(errors: Errors, spec: JsonObject, before: JsonObject) -> None:
    """Cluster addresses and families of a service that is no external name."""
    addresses, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    single = spec.get("clusterIP") or ""
    if single and not addresses:
        errors.append(required(_CLUSTER_IPS))
    elif single and addresses[0] != single:
        errors.append(invalid(_CLUSTER_IPS, addresses, "first value must match `clusterIP`"))
    elif addresses and not single:
        detail = "must be empty when `clusterIP` is not specified"
        errors.append(invalid(_CLUSTER_IPS, addresses, detail))
    seen: set[str] = set()
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            errors.append(not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES))
        if family in seen:
            errors.append(duplicate(f"spec.ipFamilies[{index}]", family))
        seen.add(family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _FAMILY_POLICIES:
        errors.append(not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES))
    wrong = _address_errors(addresses, before.get("clusterIPs") or [])
    errors.extend(wrong)
    if len(addresses) > 2:
        errors.append(invalid(_CLUSTER_IPS, addresses, "may only hold up to 2 values"))
    if not wrong:
        _check_families(errors, addresses, families)


def _address_errors(addresses: list[str], known: list[str]) -> list[FieldError]:
    errors: Errors = []
    for index, address in enumerate(addresses):
        if index == 0 and address == _NONE:
            if len(addresses) > 1:
                detail = "'None' must be the first and only value"
                errors.append(invalid(_CLUSTER_IPS, addresses, detail))
        else:
            check_address(errors, address, f"{_CLUSTER_IPS}[{index}]", known)
    return errors


def _check_families(errors: Errors, addresses: list[str], families: list[str]) -> None:
    found = [address_of(address) for address in addresses if address != _NONE]
    versions = [address.version for address in found if address is not None]
    if len(versions) > 1 and sorted(set(versions)) != [4, 6]:
        detail = "may specify no more than one IP for each IP family"
        errors.append(invalid(_CLUSTER_IPS, addresses, detail))
    for index, (version, family) in enumerate(zip(versions, families, strict=False)):
        if family in _FAMILIES and family != f"IPv{version}":
            detail = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            errors.append(invalid(f"{_CLUSTER_IPS}[{index}]", addresses[index], detail))


def check_external_addresses(errors: Errors, spec: JsonObject, before: JsonObject) -> None:
    """Addresses outside of the cluster must be ones that packets can come from."""
    known = before.get("externalIPs") or []
    for index, address in enumerate(spec.get("externalIPs") or ()):
        at = f"spec.externalIPs[{index}]"
        count = len(errors)
        check_address(errors, address, at, known)
        if len(errors) == count:
            check_reachable(errors, address, at)


def check_load_balancer(errors: Errors, spec: JsonObject, kind: str) -> None:
    """What only load balancers have."""
    ranges = spec.get("loadBalancerSourceRanges") or ()
    at = "spec.LoadBalancerSourceRanges"  # upstream: told with a capital letter
    if ranges and kind != "LoadBalancer":
        errors.append(forbidden(at, _ONLY_FOR_BALANCERS))
    for index, text in enumerate(ranges):
        check_range(errors, text.strip(), f"{at}[{index}]")
    if spec.get("allocateLoadBalancerNodePorts") is not None and kind != "LoadBalancer":
        errors.append(forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_FOR_BALANCERS))
