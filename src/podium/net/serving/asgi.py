"""What an ASGI application is given: a body that may never end, and the query of its URL.

The query of a URL as parameters: all of it or an error, never a part. Go's servers drop what they
cannot read (`a;b`, `%zz`) and go on with the rest; a deletion whose `dryRun` or selector is dropped
does something else than was requested. Here such a query is refused, and so is one with more
parameters than Go reads.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from podium.golang.errors import PodiumError

Scope = MutableMapping[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class BodyTooLarge(PodiumError):
    """A body is longer than what is taken."""


class ClientGone(PodiumError):
    """A client has left, or has run out of time, in the middle of its body or of its answer."""


async def read_body(
    headers: Iterable[tuple[bytes, bytes]], receive: Receive, limit: int
) -> bytes | bytearray:
    """The whole body; one that is announced as too long is refused before it is read.

    Raises BodyTooLarge, and ClientGone rather than taking a part of a body for the whole.
    """
    for name, value in headers:
        if name == b"content-length":
            if value.isdigit() and int(value) > limit:
                raise BodyTooLarge
            break
    first = await _part(receive)
    body: bytes | bytearray = first.get("body", b"")
    if len(body) > limit:
        raise BodyTooLarge
    if not first.get("more_body"):
        return body
    body = bytearray(body)
    more = True
    while more:
        message = await _part(receive)
        body += message.get("body", b"")
        if len(body) > limit:
            raise BodyTooLarge
        more = message.get("more_body", False)
    return body


async def _part(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    return message


MAX_PARAMETERS: Final = 10_000
"""upstream: Go's net/url reads as many, and none if there are more."""
_BAD_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)


class BadQuery(PodiumError, ValueError):
    """A query that cannot be read; says why."""


def parse_query(query: bytes) -> dict[str, list[str]]:
    """The values of each parameter, in their order; a name alone has an empty one."""
    parameters: dict[str, list[str]] = {}
    if not query:
        return parameters
    if query.count(b"&") >= MAX_PARAMETERS:
        raise BadQuery("number of URL query parameters exceeded limit")
    if b";" in query:
        raise BadQuery("invalid semicolon separator in query")
    for pair in query.split(b"&"):
        if pair:
            name, _, value = pair.partition(b"=")
            parameters.setdefault(_unescape_text(name), []).append(_unescape_text(value))
    return parameters


def _unescape_text(written: bytes) -> str:
    raw = written.replace(b"+", b" ")
    if b"%" in raw:
        bad = _BAD_ESCAPE.search(raw)
        if bad is not None:
            raise BadQuery(f'invalid URL escape "{bad[0].decode("ascii", "replace")}"')
        raw = unquote_to_bytes(raw)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise BadQuery("the query is not valid UTF-8") from None
