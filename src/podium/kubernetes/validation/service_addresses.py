"""The addresses of a service: of the cluster, from outside, and who may reach its load balancer.

A service has its cluster address in two fields, the older for one and the newer for several; here
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
from podium.kubernetes.validation.object_meta import Errors

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
