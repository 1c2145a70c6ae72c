"""A socket to listen on, and what is said if it cannot be had."""

import errno
import socket
from typing import Final

from podium.golang.errors import InputError

_UNSPECIFIED: Final = ("0.0.0.0", "::")
_BACKLOG: Final = 1024


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """Port 0 is any free one; `option` is where users say which. Raises InputError."""
    try:
        return bind_listener(host, port)
    except (OSError, OverflowError) as problem:
        # Some errors of the socket library explain themselves at length in brackets.
        reason = (getattr(problem, "strerror", None) or str(problem)).partition(" (")[0].lower()
        is_taken = isinstance(problem, OSError) and problem.errno == errno.EADDRINUSE
        remedy = f"{option} 0 takes any free one" if is_taken else ""
        raise InputError(f"cannot listen on {host}:{port}: {reason}", remedy=remedy) from None


def bind_listener(
    host: str, port: int, *, dual_stack: bool = False, shares_port: bool = False
) -> socket.socket:
    """With `dual_stack` all addresses means those of both kinds of IP, where the machine has both.

    Raises OSError and OverflowError.
    """
    dual = dual_stack and host in _UNSPECIFIED and socket.has_dualstack_ipv6()
    if dual:
        host, family = "::", socket.AF_INET6
    else:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family = socket.AddressFamily(found[0][0])
    listener = socket.create_server(
        (host, port),
        family=family,
        backlog=_BACKLOG,
        reuse_port=shares_port,
        dualstack_ipv6=dual,
    )
    listener.setblocking(False)
    return listener
