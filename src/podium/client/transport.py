"""What carries a request to an API server and its answer back.

Two forms exist: HTTP over sockets and an ASGI application in the same process. Everything above
sees this interface only, so the same client, reflectors and controllers run against both.

Contract: `send` ends within its time. A stream hands out its pieces as they come, waits for its
reader before it takes more, and is over when it is left. Whatever keeps an answer from coming is
an `Unreachable`; an answer that says no is an answer.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, Protocol
from urllib.parse import quote

from podium.golang.errors import PodiumError

JSON: Final = "application/json"
MAX_BYTES: Final = 512 << 20
"""An answer that is longer is not read to its end."""


class RequestFailed(PodiumError):
    """A request did not do what it was for: the server said no (`ApiError`), or said nothing."""


class Unreachable(RequestFailed):
    """No answer came, or not all of it."""

    def __init__(self, cause: str, *, refused: bool = False, in_time: bool = True) -> None:
        super().__init__(cause)
        self.refused = refused
        """Nobody listens there: the server is not up, which says nothing about the request."""
        self.in_time = in_time
        """False if it was given up because it took too long."""


class Request(NamedTuple):
    """A request, ready to go; `path` is in the form that it has on the wire."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str = JSON

    @property
    def query_string(self) -> str:
        return "&".join(f"{quote(key)}={quote(value, safe='')}" for key, value in self.query)

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query_string}" if self.query else self.path


class Reply(NamedTuple):
    """A whole answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Stream(NamedTuple):
    """An answer whose body comes piece by piece."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]


class Transport(Protocol):
    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        """Raises Unreachable."""

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        """The time is for the head of the answer. Raises Unreachable, also between pieces."""

    async def close(self) -> None: ...
