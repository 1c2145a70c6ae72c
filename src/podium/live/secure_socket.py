"""The socket that the endpoints are served on, and what is said if it cannot be had."""

import errno
import os
import socket

from podium.net.serving import bind_listener
from podium.scheduler.config.flags.client_settings import StartRefused
from podium.scheduler.config.flags.options import SecureServingFlags


def listen(flags: SecureServingFlags) -> socket.socket:
    """Raises StartRefused, in the words of Go."""
    address, port = flags.bind_address, flags.secure_port
    try:
        return bind_listener(address, port, dual_stack=True, shares_port=flags.permit_port_sharing)
    except OSError as problem:
        where = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        reason = os.strerror(problem.errno or errno.EIO).lower()
        raise StartRefused(
            f"failed to create listener: failed to listen on {where}: "
            f"listen tcp {where}: bind: {reason}"
        ) from None
