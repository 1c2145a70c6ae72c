"""Serving an extender from a process of its own: sockets, TLS, signals.

SIGTERM and SIGINT stop it gracefully: no new connections, calls under way are answered, then the
process ends with success. A second signal does not wait.
"""

import signal
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn

from podium.api.errors import InputError
from podium.extenders.extender import Extender
from podium.extenders.service import DEFAULT_BODY_LIMIT, ExtenderService

# A scheduler keeps idle connections for 90 s; the side that closes second loses no request.
_KEEP_ALIVE_S: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where to listen, and with which certificates; port 0 lets the system choose."""

    host: str = "127.0.0.1"
    port: int = 8888
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    body_limit: int = DEFAULT_BODY_LIMIT
    patience_s: int = 30

    def url(self, port: int) -> str:
        scheme = "http" if self.certificate is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{port}"


def serve(extender: Extender, listening: Listening, announce: Callable[[str], None]) -> None:
    """Serve until told to stop; `announce` hears the address. Raises InputError."""
    _check(listening)
    config = uvicorn.Config(
        ExtenderService(extender, body_limit=listening.body_limit),
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=listening.patience_s,
        ssl_certfile=listening.certificate,
        ssl_keyfile=listening.key,
        ssl_ca_certs=str(listening.client_ca) if listening.client_ca else None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if listening.client_ca else ssl.CERT_NONE,
    )
    try:
        config.load()
    except (OSError, ValueError) as problem:
        raise InputError(f"the certificates cannot be used: {problem}") from None
    listener = _listener(listening)
    url = listening.url(listener.getsockname()[1])
    _Server(config, lambda: announce(url)).run(sockets=[listener])


def _check(listening: Listening) -> None:
    for path in (listening.certificate, listening.key, listening.client_ca):
        if path is not None and not path.is_file():
            raise InputError("there is no such file", source=str(path))
    if not 0 <= listening.port <= 65535:
        raise InputError(f"{listening.port} is no port: they go from 0 to 65535")
    if (listening.certificate is None) is not (listening.key is None):
        raise InputError("a certificate and its key belong together: give both or none")
    if listening.client_ca is not None and listening.certificate is None:
        raise InputError("client certificates need TLS: give a certificate and a key as well")


def _listener(listening: Listening) -> socket.socket:
    try:
        family, *_ = socket.getaddrinfo(listening.host, None, type=socket.SOCK_STREAM)[0]
        return socket.create_server((listening.host, listening.port), family=family)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        where = f"{listening.host}:{listening.port}"
        raise InputError(f"cannot listen on {where}: {reason}") from None


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stopping when told to is success: the signal is not raised again at the end."""
        del frame
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True
