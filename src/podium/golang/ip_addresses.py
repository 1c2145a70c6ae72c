"""IP addresses as Go's `net.ParseIP` reads them: an IPv4-mapped IPv6 address is the IPv4 address.

Python's module keeps the two apart, and says differently from release to release which of them are
loopback, link-local or unspecified and how they are written: `::ffff:127.0.0.1` is a loopback
address from 3.13 on, and `::ffff:0.0.0.0` unspecified from 3.14 on. What is read here has the same
properties and the same text in all of them.
"""

import ipaddress

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


def parse_ip(text: str) -> IpAddress:
    """ValueError for a text that is no address.

    >>> parse_ip("::ffff:127.0.0.1").is_loopback
    True
    >>> str(parse_ip("::FFFF:10.0.0.1"))
    '10.0.0.1'
    """
    address = ipaddress.ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
