"""What an ASGI application is given, and how it reads a body that may be too long or never end."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

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
