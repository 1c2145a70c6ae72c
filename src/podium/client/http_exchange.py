"""HTTP/1.1 connections that carry one request after the other, for writes to an API server.

It is there for the many small writes of a scheduler: nothing of an exchange is built that nobody
looks at. Bytes go out as they are given, and an answer is put together by the parser's callbacks.

Contract: `ask` is not called before the last answer has come. An answer that does not come whole is
an `Unreachable`; the connection is of no use then. `is_open` says whether it can carry another.

Writes to an API server over kept connections, with as little in between as HTTP allows. A scheduler
that is busy writes twice for every pod, and a general HTTP client costs more than all the rest of
such a write. Here the head of a request is text that was put together before but for two lines, and
connections are taken from a stack, the one used last first.

Contract: no more connections than allowed; one that was silent for too long is not used again.
Whoever leaves in the middle of an exchange takes the connection with him. A PUT or DELETE for which
a kept connection turns out to be gone is sent once more; a POST or PATCH may have been carried out
and is not.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Final, cast

import httptools
from aiohappyeyeballs import AddrInfoType, start_connection

from podium.client.credentials import Credential
from podium.client.transport import MAX_BYTES, Reply, Request, Unreachable

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


_REPEATABLE: Final = ("PUT", "DELETE")

Opener = Callable[[], Awaitable[HttpExchange]]


class DirectRequests:
    def __init__(
        self,
        opened: Opener,
        *,
        host: str,
        prefix: str,
        headers: tuple[tuple[str, str], ...],
        most: int,
        idle_s: float,
    ) -> None:
        """`prefix` is the path under which the API is; `opened` raises OSError."""
        self._opened = opened
        self._prefix = prefix
        self._headers = (("Host", host), *headers)
        self._idle_s = idle_s
        self._places = asyncio.Semaphore(most)
        self._idle: list[tuple[HttpExchange, float]] = []
        self._head: tuple[Credential, str] | None = None
        self._keeps = True

    async def send(self, request: Request, credential: Credential) -> Reply:
        """Raises Unreachable, OSError if no connection can be had, and ValueError for what cannot
        be written into a head."""
        sent = self._encode_request(request, credential)
        async with self._places:
            exchange = self._kept() or await self._opened()
            try:
                return await self._ask_and_keep(exchange, sent)
            except AnswerLost as problem:
                kept = exchange.asked > 1
                if not kept or problem.begun or request.method not in _REPEATABLE:
                    raise
            return await self._ask_and_keep(await self._opened(), sent)

    def close(self) -> None:
        """Close what is idle now, and what is under way once its answer is there."""
        self._keeps = False
        idle, self._idle = self._idle, []
        for exchange, _ in idle:
            exchange.close()

    async def _ask_and_keep(self, exchange: HttpExchange, sent: bytes) -> Reply:
        try:
            reply = await exchange.ask(sent)
        except BaseException:
            exchange.abort()
            raise
        if exchange.is_open and self._keeps:
            self._idle.append((exchange, asyncio.get_running_loop().time()))
        else:
            exchange.close()
        return reply

    def _kept(self) -> HttpExchange | None:
        if not self._idle:
            return None
        oldest = asyncio.get_running_loop().time() - self._idle_s
        while self._idle:
            exchange, since = self._idle.pop()
            if since >= oldest and exchange.is_open:
                return exchange
            exchange.close()
        return None

    # --- heads --------------------------------------------------------------------------------

    def _encode_request(self, request: Request, credential: Credential) -> bytes:
        target = f"{self._prefix}{request.target}"
        content_type = request.content_type
        _check_line(target, content_type)
        head = (
            f"{request.method} {target} HTTP/1.1\r\n"
            f"Content-Type: {content_type}\r\nContent-Length: {len(request.body)}\r\n"
            f"{self._same_for_all(credential)}\r\n"
        )
        return head.encode("latin-1") + request.body

    def _same_for_all(self, credential: Credential) -> str:
        if self._head is None or self._head[0] is not credential:
            headers = (*self._headers, *credential.headers.items())
            _check_line(*(part for header in headers for part in header))
            text = "".join(f"{name}: {value}\r\n" for name, value in headers)
            self._head = (credential, text)
        return self._head[1]


def _check_line(*parts: str) -> None:
    if any(mark in part for part in parts for mark in "\r\n\0"):
        raise ValueError("a line break in the head of a request")
