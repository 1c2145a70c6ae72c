"""Serving an extender from a process of its own: sockets, TLS, signals.

SIGTERM and SIGINT stop it gracefully: no new connections, calls under way are answered, then the
process ends with success. A second signal does not wait.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from podium.addons.extenders.access import Access, AccessGuard
from podium.addons.extenders.extender import Extender
from podium.addons.extenders.service import DEFAULT_BODY_LIMIT, ExtenderService
from podium.golang.errors import InputError
from podium.net.serving import Limits, WebServer, listen, run_until_signal
from podium.net.serving.foreign_pages import is_loopback
from podium.net.tls import server_context_of_files

_LIMITS: Final = Limits(max_connections=256, idle_timeout_s=120.0)
"""Bodies are large and whoever connects may ask, so that connections are few. A scheduler keeps
idle ones for 90 s; the side that closes second loses no request."""
_HOW_TO_CERTIFY: Final = "podium extender certificates makes a CA and what it signs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where to listen, with which certificates, and below which path besides the root; port 0 lets
    the system choose. `allowed_hosts` are names by which it may be reached, beside addresses and
    loopback names; None for any that is not at a loopback address."""

    host: str = "127.0.0.1"
    port: int = 8888
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    allowed_hosts: tuple[str, ...] | None = None
    body_limit: int = DEFAULT_BODY_LIMIT
    prefix: str = ""
    patience_s: int = 30
    limits: Limits = field(default=_LIMITS)

    def url(self, port: int) -> str:
        scheme = "http" if self.certificate is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{port}"

    @property
    def is_open_to_all(self) -> bool:
        """Whether whoever reaches this machine can ask, and can read along."""
        return self.certificate is None and not self.is_on_loopback

    @property
    def is_on_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def access(self) -> Access:
        return Access(
            asks_for_certificate=self.client_ca is not None,
            is_on_loopback=self.is_on_loopback,
            allowed_hosts=self.allowed_hosts,
        )


def serve(extender: Extender, listening: Listening, announce: Callable[[str], None]) -> None:
    """Serve until told to stop; `announce` hears the address. Raises InputError."""
    check_listening(listening)
    prefixes = (listening.prefix,) if listening.prefix else ()
    service = ExtenderService(extender, body_limit=listening.body_limit, prefixes=prefixes)
    server, listener, url = _server(service, listening)

    def stop() -> None:
        server.should_exit = True

    def hurry() -> None:
        server.force_exit = True

    run_until_signal(lambda: _serve_and_announce(server, listener, url, announce), stop, hurry)


async def serve_until(
    service: ExtenderService,
    listening: Listening,
    announce: Callable[[str], None],
    stopping: asyncio.Event,
) -> None:
    """Serve in a loop that others run as well, until the event is set and calls under way are
    answered. Raises InputError."""
    server, listener, url = _server(service, listening)
    serving = asyncio.ensure_future(_serve_and_announce(server, listener, url, announce))
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait((serving, stopped), return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        await serving
    finally:
        stopped.cancel()
        if not serving.done():  # whoever waits for this one was cancelled himself
            server.force_exit = True


def _server(service: ExtenderService, listening: Listening) -> tuple[WebServer, socket.socket, str]:
    context = _context(listening)
    listener = listen(listening.host, listening.port)
    server = WebServer(
        AccessGuard(service, listening.access),
        limits=listening.limits,
        grace_s=listening.patience_s,
        context=(lambda: context) if context else None,
    )
    return server, listener, listening.url(listener.getsockname()[1])


async def _serve_and_announce(
    server: WebServer, listener: socket.socket, url: str, announce: Callable[[str], None]
) -> None:
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    await server.accepting.wait()
    announce(url)
    await serving


def _context(listening: Listening) -> ssl.SSLContext | None:
    if listening.certificate is None or listening.key is None:
        return None
    return server_context_of_files(listening.certificate, listening.key, listening.client_ca)


def check_listening(listening: Listening) -> None:
    """Raises InputError for what cannot be listened with."""
    for path in (listening.certificate, listening.key, listening.client_ca):
        if path is not None and not path.is_file():
            problem = "there is no such file"
            raise InputError(problem, source=str(path), remedy=_HOW_TO_CERTIFY)
    if not 0 <= listening.port <= 65535:
        raise InputError(f"{listening.port} is no port: they go from 0 to 65535")
    if (listening.certificate is None) is not (listening.key is None):
        raise InputError("a certificate and its key belong together: give both or none")
    if listening.client_ca is not None and listening.certificate is None:
        raise InputError("client certificates need TLS: give a certificate and a key as well")
