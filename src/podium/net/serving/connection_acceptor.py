"""Taking connections: as many as there may be, TLS for those who speak it, a word for the others.

Where TLS is spoken the first byte is looked at without being taken. TLS begins with a certain one;
a letter is the beginning of a plain request, which gets an answer in plain text and no more.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from typing import Final

from podium.net.serving.limits import Limits

_LOG: Final = logging.getLogger("podium.net.serving")
_GOODBYE_S: Final = 1.0
_PAUSE_S: Final = 0.1
_KEEP_ALIVE_S: Final = 15
_KEEP_ALIVE_PROBES: Final = 9
"""upstream: Go probes a silent connection as often; a peer that is gone is known after 150 s."""
_PLAIN: Final = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"

Context = Callable[[], ssl.SSLContext]
Protocol = Callable[[Callable[[], None]], asyncio.Protocol]
"""Makes the protocol of a connection; it is told what to call when the connection is over."""


class ConnectionAcceptor:
    def __init__(self, protocol: Protocol, limits: Limits, context: Context | None) -> None:
        """`context` is asked for each connection anew; without it nobody speaks TLS."""
        self._protocol = protocol
        self._limits = limits
        self._context = context
        self._room = asyncio.Semaphore(limits.connections())
        self._under_way: set[asyncio.Task[None]] = set()
        self._has_told_full = False

    async def accept_at(self, listener: socket.socket) -> None:
        """Take connections until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            if self._room.locked():
                self._tell_full()
            await self._room.acquire()
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError as problem:  # too many open files, say: that may pass
                self._room.release()
                _LOG.error("a connection could not be taken: %s", problem)
                await asyncio.sleep(_PAUSE_S)
                continue
            task = loop.create_task(self._greet(accepted))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def stop(self) -> None:
        """Drop whoever has not come to a request yet."""
        tasks = list(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tell_full(self) -> None:
        if not self._has_told_full:
            self._has_told_full = True
            most = self._limits.connections()
            _LOG.warning("there are %s connections: others wait until one ends", most)

    async def _greet(self, accepted: socket.socket) -> None:
        place = _Slot(self._room)
        is_handed_over = False
        try:
            _keep_alive(accepted)
            if self._context is not None and not await self._speaks_tls(accepted):
                return
            is_handed_over = True
            await self._connect(accepted, place)
        except (OSError, TimeoutError) as problem:  # a failed handshake is an OSError, too
            place.leave()
            _LOG.debug("a connection ended before its first request: %s", problem)
        finally:
            if not is_handed_over:
                accepted.close()
                place.leave()

    async def _speaks_tls(self, accepted: socket.socket) -> bool:
        async with asyncio.timeout(self._limits.head_timeout_s):
            first = await _peek(accepted)
        if first.isalpha():
            async with asyncio.timeout(_GOODBYE_S):
                await _answer_plainly(accepted)
        return bool(first) and not first.isalpha()

    async def _connect(self, accepted: socket.socket, place: "_Slot") -> None:
        loop = asyncio.get_running_loop()
        protocol = self._protocol(place.leave)
        if self._context is None:
            await loop.connect_accepted_socket(lambda: protocol, accepted)
            return
        await loop.connect_accepted_socket(
            lambda: protocol,
            accepted,
            ssl=self._context(),
            ssl_handshake_timeout=self._limits.handshake_timeout_s,
            ssl_shutdown_timeout=_GOODBYE_S,
        )


class _Slot:
    """One connection of those that there may be; left once, however often it is said."""

    def __init__(self, room: asyncio.Semaphore) -> None:
        self._room: asyncio.Semaphore | None = room

    def leave(self) -> None:
        if self._room is not None:
            self._room.release()
            self._room = None


def _keep_alive(accepted: socket.socket) -> None:
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _KEEP_ALIVE_S),
        ("TCP_KEEPINTVL", _KEEP_ALIVE_S),
        ("TCP_KEEPCNT", _KEEP_ALIVE_PROBES),
    ):
        option = getattr(socket, name, None)  # not every system has them all
        if option is not None:
            accepted.setsockopt(socket.IPPROTO_TCP, option, value)


async def _peek(accepted: socket.socket) -> bytes:
    """The first byte, which stays where it is; nothing if the other side has gone."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return accepted.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            readable = loop.create_future()
            loop.add_reader(accepted, readable.set_result, None)
            try:
                await readable
            finally:
                loop.remove_reader(accepted)


async def _answer_plainly(accepted: socket.socket) -> None:
    """Answer, and listen until the other side is done: closing early would lose the answer."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(accepted, _PLAIN)
    accepted.shutdown(socket.SHUT_WR)
    while await loop.sock_recv(accepted, 65536):
        pass
