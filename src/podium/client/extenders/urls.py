"""Addresses of extenders: put together, checked and shown as Go does it.

Nothing checks `urlPrefix` when a configuration is read (upstream does not), so a bad one is found
when the extender is called, and has to be told well then: the address without its scheme is the
most frequent mistake of all.

Source: `send` in `pkg/scheduler/extender.go`, and Go's `net/url`.
"""

from typing import Final
from urllib.parse import SplitResult, quote, urlsplit

from podium.golang.errors import PodiumError
from podium.golang.quoting import quoted
from podium.golang.urls import url_problem

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
    problem = url_problem(url)
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
