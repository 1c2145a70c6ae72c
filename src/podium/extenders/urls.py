"""Addresses of extenders: put together, checked and shown as Go does it (extenders spec 3).

Nothing checks `urlPrefix` when a configuration is read (upstream does not), so a bad one is found
when the extender is called, and has to be told well then: the address without its scheme is the
most frequent mistake of all.
"""

import re
from typing import Final
from urllib.parse import SplitResult, quote, urlsplit

from podium.api.errors import PodiumError
from podium.api.go_quoting import quoted

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_PORT: Final = re.compile(r":[0-9]*\Z")
_PATH_CHARACTERS: Final = "/%:@!$&'()*+,;=~-._"
_QUERY_CHARACTERS: Final = _PATH_CHARACTERS + '?[]"\\^`{|}<>'


class AddressProblem(PodiumError, ValueError):
    """An address that cannot be called; the text is Go's, with the address in it."""


def verb_url(prefix: str, verb: str) -> str:
    """The address of one verb.

    >>> verb_url("http://h/e1//", "filter")
    'http://h/e1/filter'
    """
    return f"{prefix.rstrip('/')}/{verb}"


def checked(url: str) -> SplitResult:
    """The parts of an address that can be called over HTTP."""
    problem = _parse_problem(url)
    if problem:
        raise AddressProblem(f"parse {quoted(url)}: {problem}")
    try:
        parts = urlsplit(url)
    except ValueError as invalid:
        raise AddressProblem(f"parse {quoted(url)}: {invalid}") from None
    if parts.scheme not in ("http", "https"):
        raise AddressProblem(
            f'Post {quoted(shown(url))}: unsupported protocol scheme "{parts.scheme}"'
        )
    if not parts.hostname:
        raise AddressProblem(f"Post {quoted(shown(url))}: http: no Host in request URL")
    return parts


def wire_form(parts: SplitResult) -> str:
    """The address as it is sent: what was escaped stays so, what must be is."""
    path = quote(parts.path, safe=_PATH_CHARACTERS)
    query = quote(parts.query, safe=_QUERY_CHARACTERS)
    return parts._replace(path=path, query=query, fragment="").geturl()


def shown(url: str) -> str:
    """The address for messages: a password in it is nobody's business."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    if not separator or not at or ":" not in user:
        return url
    return f"{scheme}://{user.partition(':')[0]}:***@{host}{slash}{path}"


def _parse_problem(url: str) -> str:
    if _CONTROL.search(url):
        return "net/url: invalid control character in URL"
    if url.startswith(":"):
        return "missing protocol scheme"
    if not _SCHEME.match(url) and ":" in url.partition("/")[0]:
        return "first path segment in URL cannot contain colon"
    path, _, _ = url.partition("?")
    bad_escape = _ESCAPE.search(path)
    if bad_escape:
        return f"invalid URL escape {quoted(bad_escape[0])}"
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
        return f"invalid port {quoted(port)} after host"
    if not host.startswith("[") and " " in host:
        return 'invalid character " " in host name'
    return ""
