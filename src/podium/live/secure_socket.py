"""The socket that the endpoints are served on, and what is said if it cannot be had.

All addresses means those of both kinds of IP, where the machine has both.
"""

import errno
import os
import socket
from typing import Final

from podium.config.flags.options import SecureServing
from podium.config.flags.surroundings import StartRefused

_UNSPECIFIED: Final = ("0.0.0.0", "::")
_BACKLOG: Final = 128


def listen(flags: SecureServing) -> socket.socket:
    """Raises StartRefused, in the words of Go."""
    address, port = flags.bind_address, flags.secure_port
    dual = address in _UNSPECIFIED and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if dual or ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if flags.permit_port_sharing:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(not dual))
        listener.bind(("::" if dual else address, port))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
    except OSError as problem:
        listener.close()
        where = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        reason = os.strerror(problem.errno or errno.EIO).lower()
        raise StartRefused(
            f"failed to create listener: failed to listen on {where}: "
            f"listen tcp {where}: bind: {reason}"
        ) from None
    return listener
