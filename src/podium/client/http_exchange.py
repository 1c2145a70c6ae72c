"""One HTTP/1.1 connection that carries one request after the other.

It is there for the many small writes of a scheduler: nothing of an exchange is built that nobody
looks at. Bytes go out as they are given, and an answer is put together by the parser's callbacks.

Contract: `ask` is not called before the last answer has come. An answer that does not come whole is
an `Unreachable`; the connection is of no use then. `is_open` says whether it can carry another.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Final, cast

import httptools
from aiohappyeyeballs import AddrInfoType, start_connection

from podium.client.transport import MAX_BYTES, Reply, Unreachable

_INFORMATIONAL: Final = 200
"""Answers below are not the answer yet."""
_NEXT_ADDRESS_S: Final = 0.25
"""How long one address of a name is tried before the next is tried beside it."""
_FRAMED_BY: Final = ("content-length", "transfer-encoding")


class AnswerLost(Unreachable):
    """The connection went away; `begun` says whether a part of the answer had come."""

    def __init__(self, cause: str, *, begun: bool) -> None:
        super().__init__(f"the answer broke off: {cause}")
        self.begun = begun


class HttpExchange(asyncio.Protocol):
    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._answer: asyncio.Future[Reply] | None = None
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._begun = False
        self._has_head = False
        self._ends = False
        self.asked = 0
        """How many requests it has carried."""

    @property
    def is_open(self) -> bool:
        transport = self._transport
        return transport is not None and not self._ends and not transport.is_closing()

    def ask(self, sent: bytes) -> "asyncio.Future[Reply]":
        assert self._transport is not None
        self.asked += 1
        self._begun = False
        answer = self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(sent)
        return answer

    def abort(self) -> None:
        """Leave at once, in the middle of an answer or not."""
        self._answer = None
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Say goodbye, as TLS has it."""
        if self._transport is not None:
            self._transport.close()

    # --- the connection -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._begun = True
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade, Unreachable) as problem:
            self._fail(AnswerLost(str(problem), begun=True))

    def connection_lost(self, problem: Exception | None) -> None:
        if self._has_head and not any(name in self._headers for name in _FRAMED_BY):
            # An answer of no told length ends with the connection.
            self.on_message_complete()
        cause = str(problem) if problem is not None else "the server hung up"
        self._fail(AnswerLost(cause, begun=self._begun))

    def _fail(self, problem: AnswerLost) -> None:
        self._ends = True
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(problem)
        if self._transport is not None:
            self._transport.abort()

    # --- what the parser finds ----------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._headers = {}
        self._body = []
        self._size = 0
        self._has_head = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._has_head = self._parser.get_status_code() >= _INFORMATIONAL

    def on_body(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > MAX_BYTES:
            self._fail(AnswerLost(f"it is longer than {MAX_BYTES} B", begun=True))
            return
        self._body.append(piece)

    def on_message_complete(self) -> None:
        if not self._has_head:
            return
        self._has_head = False
        self._ends = not self._parser.should_keep_alive()
        answer, self._answer = self._answer, None
        if answer is None:
            # Nobody asked: whatever it is, the next answer could not be told from it.
            self._ends = True
        elif not answer.done():
            status = self._parser.get_status_code()
            answer.set_result(Reply(status, self._headers, b"".join(self._body)))


async def open_exchange(
    host: str,
    port: int,
    *,
    tls: ssl.SSLContext | None,
    server_name: str | None,
    make: Callable[[AddrInfoType], socket.socket],
    within_s: float,
) -> HttpExchange:
    """A connection to whichever address of a host answers first; `make` makes the sockets.

    Raises OSError, also if it takes too long.
    """
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(within_s):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            reached = await start_connection(
                found,
                happy_eyeballs_delay=_NEXT_ADDRESS_S,
                interleave=1,
                socket_factory=make,
            )
            _, exchange = await loop.create_connection(
                HttpExchange, sock=reached, ssl=tls, server_hostname=server_name
            )
    except TimeoutError:
        raise TimeoutError(f"no connection within {within_s:g} s") from None
    return exchange
