"""What gives away that a page of somebody else asks, by way of a browser.

A server that takes requests without knowing who asks is reached by every page that is open in a
browser nearby. A page can give its own name the address of the server (DNS rebinding): `Host` says
so. It can send forms and texts anywhere without asking, and then `Origin` names it; a body of
`application/json` it may only send where the server agrees beforehand, which none here does.
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from podium.golang.text_cache import cache_short_texts
from podium.golang.urls import parse_ip

FORM_TYPES: Final = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
"""What a page may send to other origins without asking."""
JSON: Final = "application/json"


@cache_short_texts(64)
def read_host_name(host: str) -> str:
    """The name or address of a `Host` header, without its port and brackets; empty if it has none.

    >>> read_host_name("Example.com:80"), read_host_name("[::1]:6443"), read_host_name("a:b:c")
    ('example.com', '::1', '')
    """
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # a port that is none raises
        return parts.hostname or ""
    except ValueError:
        return ""


@cache_short_texts(64)
def is_loopback(name: str) -> bool:
    """Whether a name or address is this machine's own, for programs on it alone."""
    if name == "localhost":
        return True
    try:
        return parse_ip(name).is_loopback
    except ValueError:
        return False


def is_address(name: str) -> bool:
    """Whether it is an address: no page can give an address to itself."""
    try:
        parse_ip(name)
    except ValueError:
        return False
    return True


def find_foreign_origin(origins: Iterable[str], host: str) -> str | None:
    """The first of the `Origin` headers that is not of the server itself; None if all are."""
    return next((origin for origin in origins if _authority(origin) != host.lower()), None)


def read_media_type(content_type: str) -> str:
    """A `Content-Type` without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _authority(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
