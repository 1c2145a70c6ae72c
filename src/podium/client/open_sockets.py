"""The sockets of an HTTP client, so that who closes it can wait until they are gone.

aiohttp forgets a connection as soon as it decides to close it. Under TLS the closing takes a round
trip, and an event loop that ends before leaves the socket behind.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Final
from weakref import WeakSet

from aiohappyeyeballs import AddrInfoType

_GOODBYE_S: Final = 1.0
_TICK_S: Final = 0.01


def plain_socket(address: AddrInfoType) -> socket.socket:
    family, kind, protocol, *_ = address
    return socket.socket(family, kind, protocol)


class OpenSockets:
    """Give `made` to a connector as its socket factory."""

    def __init__(self, make: Callable[[AddrInfoType], socket.socket] = plain_socket) -> None:
        self._make = make
        self._known: WeakSet[socket.socket] = WeakSet()

    def made(self, address: AddrInfoType) -> socket.socket:
        made = self._make(address)
        made.setblocking(False)
        self._known.add(made)
        return made

    async def gone(self) -> None:
        """Return once all are closed, or after a second: a peer need not be waited for longer."""
        for _ in range(round(_GOODBYE_S / _TICK_S)):
            if all(each.fileno() < 0 for each in self._known):
                return
            await asyncio.sleep(_TICK_S)
