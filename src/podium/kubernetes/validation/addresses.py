"""IP addresses and ranges: in fields, and as the kinds IPAddress and ServiceCIDR.

Fields have the one spelling that newer servers accept.

The kinds are ranges of service addresses, and addresses that are taken from them.
"""

import ipaddress
import re
from collections.abc import Collection, Sequence
from typing import Final

from podium.golang.json_values import JsonObject, ReadOnlyJson
from podium.golang.urls import parse_ip
from podium.kubernetes.rules.field_errors import IMMUTABLE, invalid, required
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.names import path_segment_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)

_NOT_AN_IP: Final = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
_NOT_A_RANGE: Final = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_ZEROS: Final = "must not have leading 0s"
_RANGE_ZEROS: Final = "must not have leading 0s in IP or prefix length"
_LEADING_ZEROS: Final = re.compile(r"\b0+(?=[0-9])")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Range = ipaddress.IPv4Network | ipaddress.IPv6Network


def address_of(text: str) -> Address | None:
    """None if the text is no IP address."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def check_address(errors: Errors, text: str, path: str, known: Collection[str] = ()) -> None:
    """`known`: addresses that the object already has, which stay as they are."""
    if text in known:
        return
    address = address_of(text)
    if address is None:
        has_zeros = address_of(_LEADING_ZEROS.sub("", text)) is not None
        errors.append(invalid(path, text, _ZEROS if has_zeros else _NOT_AN_IP))


def check_reachable(errors: Errors, text: str, path: str) -> None:
    """An address must be one that packets can come from, from anywhere."""
    try:
        address = parse_ip(text)
    except ValueError:
        return
    if address.is_unspecified:
        errors.append(invalid(path, text, f"may not be unspecified ({text})"))
    if address.is_loopback:
        detail = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
        errors.append(invalid(path, text, detail))
    if address.is_link_local:
        detail = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        errors.append(invalid(path, text, detail))


def range_of(text: str) -> Range | None:
    """None if the text is no range of addresses, such as `10.9.8.0/24`."""
    if not text.rpartition("/")[2].isdecimal():
        return None
    try:
        return ipaddress.ip_network(text, strict=False) if "/" in text else None
    except ValueError:
        return None


def check_range(errors: Errors, text: str, path: str) -> None:
    found = range_of(text)
    if found is None:
        has_zeros = range_of(_LEADING_ZEROS.sub("", text)) is not None
        errors.append(invalid(path, text, _RANGE_ZEROS if has_zeros else _NOT_A_RANGE))
    elif found.network_address != address_of(text.partition("/")[0]):
        detail = "must not have bits set beyond the prefix length"
        errors.append(invalid(path, text, detail))


def check_families(errors: Errors, addresses: list[str], shown: ReadOnlyJson, path: str) -> None:
    """At most one address of each IP family."""
    found = [address_of(address) for address in addresses]
    versions = [address.version for address in found if address is not None]
    if len(addresses) > 1 and (len(addresses) > 2 or len(set(versions)) != len(addresses)):
        detail = "may specify no more than one IP for each IP family"
        errors.append(invalid(path, shown, detail))


_PATH: Final = "spec.cidrs"
_FAMILIES: Final = (
    "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
)


def _cidrs(obj: JsonObject) -> Sequence[str]:
    return (obj.get("spec") or {}).get("cidrs") or []


def range_create_errors(obj: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(obj), False, subdomain_problems)
    _check_ranges(errors, _cidrs(obj))
    return errors


def _check_ranges(errors: Errors, cidrs: Sequence[str]) -> None:
    if not cidrs:
        errors.append(required(_PATH, "at least one CIDR required"))
        return
    if len(cidrs) > 2:
        shown = {"CIDRs": list(cidrs)}
        errors.append(invalid(_PATH, shown, "may only hold up to 2 values"))
        return
    for index, cidr in enumerate(cidrs):
        check_range(errors, cidr, f"{_PATH}[{index}]")
    found = [range_of(cidr) for cidr in cidrs]
    families = [each.version for each in found if each is not None]
    if len(families) == 2 and families[0] == families[1]:
        errors.append(invalid(_PATH, list(cidrs), _FAMILIES))


def range_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    now, before = _cidrs(new), _cidrs(old)
    if len(now) == len(before):
        for index, cidr in enumerate(before):
            if now[index] != cidr:
                errors.append(invalid(f"{_PATH}[{index}]", now[index], IMMUTABLE))
    elif len(before) == 1 and len(now) == 2:
        if now[0] != before[0]:
            errors.append(invalid(f"{_PATH}[0]", now[0], IMMUTABLE))
        _check_ranges(errors, now)
    else:
        errors.append(invalid(_PATH, list(now), IMMUTABLE))
    return errors


def address_create_errors(obj: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(obj), False, _address_problems)
    parent = (obj.get("spec") or {}).get("parentRef")
    if parent is None:
        errors.append(required("spec.parentRef"))
        return errors
    path, group = "spec.parentRef", parent.get("group") or ""
    for problem in subdomain_problems(group) if group else ():
        errors.append(invalid(f"{path}.group", group, problem))
    for field in ("resource", "name", "namespace"):
        text = parent.get(field) or ""
        if not text and field != "namespace":
            errors.append(required(f"{path}.{field}"))
        for problem in path_segment_problems(text):
            errors.append(invalid(f"{path}.{field}", text, problem))
    return errors


def _address_problems(name: str) -> list[str]:
    """The name of an address is itself."""
    errors: Errors = []
    check_address(errors, name, "")
    return [error.detail for error in errors]


def address_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    now, before = ((each.get("spec") or {}).get("parentRef") for each in (new, old))
    if now != before:
        shown = now and go_form("networking", "ParentReference", now)
        errors.append(invalid("spec.parentRef", shown, IMMUTABLE))
    return errors
