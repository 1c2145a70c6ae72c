"""Taking connections: TLS for those who speak it, a word for those who do not.

The first byte is looked at without being taken. TLS begins with a certain one; a letter is the
beginning of a plain request, which gets an answer in plain text and no more.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from typing import Final

_LOG: Final = logging.getLogger("podium.live")
_FIRST_BYTE_S: Final = 32.0
_HANDSHAKE_S: Final = 10.0
_GOODBYE_S: Final = 1.0
_PAUSE_S: Final = 0.1
_PLAIN: Final = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"


class Greeting:
    def __init__(
        self, protocol: Callable[[], asyncio.Protocol], context: Callable[[], ssl.SSLContext]
    ) -> None:
        """`context` is asked for each connection anew."""
        self._protocol = protocol
        self._context = context
        self._under_way: set[asyncio.Task[None]] = set()

    async def at(self, door: socket.socket) -> None:
        """Take connections until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                guest, _ = await loop.sock_accept(door)
            except OSError as problem:  # too many open files, say: that may pass
                _LOG.error("a connection could not be taken: %s", problem)
                await asyncio.sleep(_PAUSE_S)
                continue
            task = loop.create_task(self._greet(guest))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def stop(self) -> None:
        """Drop whoever has not come to a request yet."""
        tasks = list(self._under_way)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _greet(self, guest: socket.socket) -> None:
        handed_over = False
        try:
            guest.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            async with asyncio.timeout(_FIRST_BYTE_S):
                first = await _peeked(guest)
            if first.isalpha():
                async with asyncio.timeout(_GOODBYE_S):
                    await _say_plainly(guest)
            elif first:
                handed_over = True
                await self._speak_tls(guest)
        except (OSError, TimeoutError) as problem:  # a failed handshake is an OSError, too
            _LOG.debug("a connection ended before its first request: %s", problem)
        finally:
            if not handed_over:
                guest.close()

    async def _speak_tls(self, guest: socket.socket) -> None:
        await asyncio.get_running_loop().connect_accepted_socket(
            self._protocol,
            guest,
            ssl=self._context(),
            ssl_handshake_timeout=_HANDSHAKE_S,
            ssl_shutdown_timeout=_GOODBYE_S,
        )


async def _peeked(guest: socket.socket) -> bytes:
    """The first byte, which stays where it is; nothing if the other side has gone."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return guest.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            readable = loop.create_future()
            loop.add_reader(guest, readable.set_result, None)
            try:
                await readable
            finally:
                loop.remove_reader(guest)


async def _say_plainly(guest: socket.socket) -> None:
    """Answer, and listen until the other side is done: closing early would lose the answer."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(guest, _PLAIN)
    guest.shutdown(socket.SHUT_WR)
    while await loop.sock_recv(guest, 65536):
        pass
