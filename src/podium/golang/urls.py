"""What Go's `net/url` has against an address, in its words.

IP addresses as Go's `net.ParseIP` reads them: an IPv4-mapped IPv6 address is the IPv4 address.
Python's module keeps the two apart, and says differently from release to release which of them are
loopback, link-local or unspecified and how they are written: `::ffff:127.0.0.1` is a loopback
address from 3.13 on, and `::ffff:0.0.0.0` unspecified from 3.14 on. What is read here has the same
properties and the same text in all of them.
"""

import ipaddress
import re
from typing import Final

from podium.golang.quoting import go_quote

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_PORT: Final = re.compile(r":[0-9]*\Z")


def url_problem(url: str) -> str:
    """What `url.Parse` has against a text, without the text itself; empty if nothing."""
    if _CONTROL.search(url):
        return "net/url: invalid control character in URL"
    if url.startswith(":"):
        return "missing protocol scheme"
    if not _SCHEME.match(url) and ":" in url.partition("/")[0]:
        return "first path segment in URL cannot contain colon"
    path, _, _ = url.partition("?")
    bad_escape = _ESCAPE.search(path)
    if bad_escape:
        return f"invalid URL escape {go_quote(bad_escape[0])}"
    host = path.partition("://")[2].partition("/")[0].rpartition("@")[2]
    return _host_problem(host)


def _host_problem(host: str) -> str:
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            return "missing ']' in host"
        port = host[end + 1 :]
    else:
        port = host[host.index(":") :] if ":" in host else ""
    if port and (not _PORT.match(port) or int(port[1:] or 0) > 65535):
        return f"invalid port {go_quote(port)} after host"
    if not host.startswith("[") and " " in host:
        return 'invalid character " " in host name'
    return ""


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
