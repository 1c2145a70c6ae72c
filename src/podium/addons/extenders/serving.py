"""Serving an extender from a process of its own: sockets, TLS, signals, and who may ask it.

SIGTERM and SIGINT stop it gracefully: no new connections, calls under way are answered, then the
process ends with success. A second signal does not wait.

Who may ask an extender: in front of the service, before a body is read. An extender can have any
pod bound anywhere, so whoever reaches it must be allowed to. With a CA for clients everybody shows
a certificate of it. Without one it should be reached from its own machine alone, and then browsers
there are what is left: a page of somebody else gives itself away by the host that it asks for, by
its origin, or by a body that is no JSON (`podium.net.serving.foreign_pages`). kube-scheduler sends
`application/json`, no origin, and the host of its `urlPrefix`.

Health and readiness are told to everybody: a kubelet has no certificate.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from podium.addons.extenders.service import DEFAULT_BODY_LIMIT, ExtenderService
from podium.client.extenders.extender import Extender
from podium.golang.errors import InputError
from podium.net.serving import Limits, Receive, Scope, Send, WebServer, listen, run_until_signal
from podium.net.serving.foreign_pages import (
    JSON,
    find_foreign_origin,
    is_address,
    is_loopback,
    read_host_name,
    read_media_type,
)
from podium.net.tls import server_context_of_files

_FOR_EVERYBODY: Final = ("/healthz", "/readyz")
_NO_CERTIFICATE: Final = "a certificate of this service's CA for clients is needed"
_WRONG_TYPE: Final = "bodies are taken as application/json"

Service = Callable[[Scope, Receive, Send], Awaitable[None]]


class Access(NamedTuple):
    """`allowed_hosts` are names beside addresses and loopback names; None for any, if the service
    is not at a loopback address."""

    asks_for_certificate: bool = False
    is_on_loopback: bool = True
    allowed_hosts: tuple[str, ...] | None = None


class _Refusal(NamedTuple):
    code: int
    text: str


class AccessGuard:
    """An ASGI application that lets through to another what is allowed."""

    def __init__(self, service: Service, access: Access) -> None:
        self._service = service
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        if refusal is None:
            await self._service(scope, receive, send)
            return
        body = f"{refusal.text}\n".encode()
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": refusal.code, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _refusal(self, scope: Scope) -> _Refusal | None:
        if scope["path"] in _FOR_EVERYBODY:
            return None
        host = next(iter(_values(scope, b"host")), "")
        if self._access.asks_for_certificate:
            if not _has_certificate(scope):
                return _Refusal(401, _NO_CERTIFICATE)
        elif not self._is_own(read_host_name(host)):
            return _Refusal(421, f"the host {host!r} is not one of this service's names")
        origin = find_foreign_origin(_values(scope, b"origin"), host)
        if origin is not None:
            return _Refusal(403, f"a page of {origin!r} may not ask")
        if scope["method"] == "POST":
            (content_type,) = _values(scope, b"content-type")[:1] or [""]
            if read_media_type(content_type) != JSON:
                return _Refusal(415, _WRONG_TYPE)
        return None

    def _is_own(self, name: str) -> bool:
        access = self._access
        if is_loopback(name) or name in (access.allowed_hosts or ()):
            return True
        return not access.is_on_loopback and (access.allowed_hosts is None or is_address(name))


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _has_certificate(scope: Scope) -> bool:
    """One that is not of the CA never comes so far."""
    shown: Any = (scope.get("extensions") or {}).get("tls", {})
    return bool(shown.get("client_cert_chain"))


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
