"""IP addresses and ranges in fields, in the one spelling that newer servers accept."""

import ipaddress
import re
from collections.abc import Collection
from typing import Final

from podium.golang.json_values import ReadOnlyJson
from podium.golang.urls import parse_ip
from podium.kubernetes.rules.field_errors import invalid
from podium.kubernetes.validation.object_meta import Errors

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
