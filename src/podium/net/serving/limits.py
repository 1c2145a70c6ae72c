"""How much of everything a client may take before it has said who it is, and after.

Figures that Go's net/http or kube-apiserver have are theirs; the others are ours, and each is far
above what an honest client needs.
"""

import resource
from dataclasses import dataclass
from typing import Final

_RESERVED_FILES: Final = 64
"""Open files that are left for everything but connections: the store, logs, other servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    max_connections: int = 10_000
    """Further ones wait in the backlog until one ends. Fewer if the process may not have as many
    open files."""
    max_head_bytes: int = (1 << 20) + 4096
    """Request line and headers. upstream: Go reads 4096 bytes more than its limit of 1 MiB."""
    max_headers: int = 1000
    max_unfinished_bytes: int = 64 << 20
    """Of what waits to be parsed, all connections together: heads that are not complete yet, and
    requests behind one that is being answered."""
    max_discarded_bytes: int = 256 << 10
    """Of a body that nobody wants, to keep the connection. upstream: as Go."""
    handshake_timeout_s: float = 10.0
    head_timeout_s: float = 32.0
    """upstream: kube-apiserver's ReadHeaderTimeout."""
    body_timeout_s: float = 60.0
    """upstream: kube-apiserver's --request-timeout."""
    idle_timeout_s: float = 90.0
    """Between two requests. upstream: kube-apiserver's IdleTimeout."""
    write_timeout_s: float = 60.0
    """For a client to take the next part of an answer."""
    linger_s: float = 0.5
    """How long a refused client is still listened to, so that it can read why. upstream: as Go."""

    def connections(self) -> int:
        """How many connections there can be, given the open files that this process may have."""
        allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if allowed == resource.RLIM_INFINITY:
            return self.max_connections
        return max(1, min(self.max_connections, allowed - _RESERVED_FILES))
