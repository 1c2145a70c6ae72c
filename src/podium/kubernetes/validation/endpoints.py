"""Where services send their packets: endpoint slices, and the older endpoints."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    immutable,
    invalid,
    not_supported,
    required,
    too_many,
)
from podium.kubernetes.validation.addresses import address_of, check_address, check_reachable
from podium.kubernetes.validation.names import (
    label_problems,
    port_number_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    ErrorList,
    Errors,
    built_in_meta_errors,
    check_each,
    check_label_key,
    meta_of,
)

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
_MAX_ADDRESSES: Final = 100
_MAX_ENDPOINTS: Final = 1000


def slice_create_errors(
    endpoint_slice: JsonObject, known: list[JsonObject] | None = None
) -> Errors:
    """An EndpointSlice; `known` endpoints are not looked at again."""
    errors = built_in_meta_errors(meta_of(endpoint_slice), True, subdomain_problems)
    kind = endpoint_slice.get("addressType") or ""
    if not kind:
        errors.append(required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        errors.append(not_supported("addressType", kind, _ADDRESS_TYPES))
    _check_ports(errors, endpoint_slice.get("ports") or [])
    endpoints: list[JsonObject] = endpoint_slice.get("endpoints") or []
    if endpoints == known:
        return errors
    if len(endpoints) > _MAX_ENDPOINTS:
        errors.append(too_many("endpoints", len(endpoints), _MAX_ENDPOINTS))
        return errors
    for number, endpoint in enumerate(endpoints):
        _check_endpoint(errors, endpoint, kind, f"endpoints[{number}]")
    return errors


def slice_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = slice_create_errors(new, old.get("endpoints") or [])
    if new.get("addressType") != old.get("addressType"):
        errors.append(immutable("addressType", new.get("addressType")))
    return errors


def _check_ports(errors: Errors, ports: list[JsonObject]) -> None:
    names: set[str] = set()
    for number, port in enumerate(ports):
        at, name = f"ports[{number}]", port.get("name") or ""
        if name:
            check_each(errors, label_problems(name), name, f"{at}.name")
        if name in names:
            errors.append(duplicate(f"{at}.name", name))
        names.add(name)
        _check_protocol(errors, port, at)


def _check_protocol(errors: Errors, port: JsonObject, path: str) -> None:
    protocol = port.get("protocol") or ""
    if not protocol:
        errors.append(required(f"{path}.protocol"))
    elif protocol not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    if port.get("appProtocol") is not None:
        check_label_key(errors, port["appProtocol"], f"{path}.appProtocol")


def _check_endpoint(errors: Errors, endpoint: JsonObject, kind: str, path: str) -> None:
    at, addresses = f"{path}.addresses", endpoint.get("addresses") or []
    if not addresses:
        errors.append(required(at, "must contain at least 1 address"))
    elif len(addresses) > _MAX_ADDRESSES:
        errors.append(too_many(at, len(addresses), _MAX_ADDRESSES))
    for number, text in enumerate(addresses):
        if kind in ("IPv4", "IPv6"):
            address = address_of(text)
            check_address(errors, text, f"{at}[{number}]")
            if address is not None:
                if kind != f"IPv{address.version}":
                    errors.append(invalid(at, text, f"must be an {kind} address"))
                check_reachable(errors, text, f"{at}[{number}]")
    if endpoint.get("nodeName") is not None:
        node = endpoint["nodeName"]
        check_each(errors, subdomain_problems(node), node, f"{path}.nodeName")
    if endpoint.get("hostname") is not None:
        host = endpoint["hostname"]
        check_each(errors, label_problems(host), host, f"{path}.hostname")


def create_errors(endpoints: JsonObject) -> Errors:
    """Endpoints."""
    errors = built_in_meta_errors(meta_of(endpoints), True, subdomain_problems)
    errors.extend(_subset_errors(endpoints))
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(new), True, subdomain_problems)
    if (new.get("subsets") or None) != (old.get("subsets") or None):
        errors.extend(_subset_errors(new))
    return errors


def _subset_errors(endpoints: JsonObject) -> Errors:
    errors: Errors = ErrorList()
    for number, subset in enumerate(endpoints.get("subsets") or ()):
        path = f"subsets[{number}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            errors.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
        for field in ("addresses", "notReadyAddresses"):
            for place, address in enumerate(subset.get(field) or ()):
                _check_old_address(errors, address, f"{path}.{field}[{place}]")
        ports = subset.get("ports") or []
        for place, port in enumerate(ports):
            at, name = f"{path}.ports[{place}]", port.get("name") or ""
            if name:
                check_each(errors, label_problems(name), name, f"{at}.name")
            elif len(ports) > 1:
                errors.append(required(f"{at}.name"))
            found = port.get("port") or 0
            check_each(errors, port_number_problems(found), found, f"{at}.port")
            _check_protocol(errors, port, at)
    return errors


def _check_old_address(errors: Errors, address: JsonObject, path: str) -> None:
    text = address.get("ip") or ""
    check_address(errors, text, f"{path}.ip")
    if address.get("hostname"):
        host = address["hostname"]
        check_each(errors, label_problems(host), host, f"{path}.hostname")
    if address.get("nodeName") is not None:
        node = address["nodeName"]
        check_each(errors, subdomain_problems(node), node, f"{path}.nodeName")
    if address_of(text) is None:
        errors.append(invalid(f"{path}.ip", text, "must be a valid IP address"))
    else:
        check_reachable(errors, text, f"{path}.ip")
