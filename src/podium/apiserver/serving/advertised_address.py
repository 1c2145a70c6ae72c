"""The address by which others would reach the server, as its endpoints tell it.

upstream: a server on loopback, or on all addresses, advertises the address of the interface by
which the machine reaches others; endpoints on loopback are not allowed.
"""

import socket
from typing import Final

from podium.golang.ip_addresses import parse_ip

_ELSEWHERE: Final = (("192.0.2.1", socket.AF_INET), ("2001:db8::1", socket.AF_INET6))
"""Addresses of nobody. Nothing is sent there: the kernel is asked which way it would take."""


def find_advertised_address(host: str) -> str | None:
    """The address for a server on `host`; None if the machine has none beyond loopback."""
    try:
        own = parse_ip(host)
    except ValueError:
        own = None
    if own is not None and not own.is_loopback and not own.is_unspecified:
        return str(own)
    for address, family in _ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as way:
                way.connect((address, 9))
                found = parse_ip(way.getsockname()[0])
        except OSError:
            continue
        if not found.is_loopback and not found.is_link_local:
            return str(found)
    return None
