"""Who may ask an extender: in front of the service, before a body is read.

An extender can have any pod bound anywhere, so whoever reaches it must be allowed to. With a CA for
clients everybody shows a certificate of it. Without one it should be reached from its own machine
alone, and then browsers there are what is left: a page of somebody else gives itself away by the
host that it asks for, by its origin, or by a body that is no JSON
(`podium.net.serving.foreign_pages`). kube-scheduler sends `application/json`, no origin, and the
host of its `urlPrefix`.

Health and readiness are told to everybody: a kubelet has no certificate.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple

from podium.net.serving import Receive, Scope, Send
from podium.net.serving.foreign_pages import (
    JSON,
    find_foreign_origin,
    is_address,
    is_loopback,
    read_host_name,
    read_media_type,
)

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
