"""Requests to an API server over HTTP: kept connections, TLS, credentials, proxies.

aiohttp is used because it takes proxies, compressed answers, and long streams that can be left at
any moment. Writes, of which there are thousands, go over connections of their own without it
(`direct_requests`), unless there is a proxy. At most 64 connections of each sort are open at a
time, watches apart, so that a burst of writes neither queues behind watches nor floods the server.
Connections are probed while they are silent: a peer that vanished is noticed within a minute.

Contract: that of `Transport`. A server that refuses the credentials (401) is asked once more if
there may be new ones. Redirects are not followed: nobody else is given the token.

The sockets of an HTTP client, so that who closes it can wait until they are gone. aiohttp forgets a
connection as soon as it decides to close it. Under TLS the closing takes a round trip, and an event
loop that ends before leaves the socket behind.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass
from weakref import WeakSet

import aiohttp
from aiohappyeyeballs import AddrInfoType
from multidict import CIMultiDict
from yarl import URL

from podium.client.credentials import Certificate, Credential, Credentials, tls_context
from podium.client.http_exchange import DirectRequests, HttpExchange, open_exchange
from podium.client.transport import JSON, MAX_BYTES, Reply, Request, Stream, Unreachable
from podium.golang.errors import InputError
from podium.scheduler.config.kubeconfig import ClusterEntry

_CONNECTIONS: Final = 64
_IDLE_S: Final = 60.0
_CONNECT_S: Final = 10.0
_PROBE_AFTER_S: Final = 20
_PROBE_EVERY_S: Final = 10
_PROBES: Final = 4
_UNAUTHORIZED: Final = 401


class HttpTransport:
    """One API server, spoken to as one user."""

    def __init__(
        self,
        cluster: ClusterEntry,
        credentials: Credentials,
        *,
        headers: Iterable[tuple[str, str]] = (),
        uses_proxy: bool = True,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`uses_proxy` False goes straight to the server, whatever the environment says; no more
        than `max_bytes` of an answer are read."""
        self._cluster = cluster
        self._max_bytes = max_bytes
        self._server = _server(cluster.server)
        self._credentials = credentials
        encoding = "identity" if cluster.disable_compression else "gzip"
        self._given = tuple(headers)
        self._headers = (("Accept", JSON), ("Accept-Encoding", encoding), *self._given)
        self._proxy = _proxy(cluster, self._server) if uses_proxy else None
        # An address with a name and password in it, or of other letters, is left to aiohttp.
        self._is_direct = not self._proxy and self._server.isascii() and "@" not in self._server
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        self._writes: DirectRequests | None = None
        self._certificate: Certificate | None = None
        self._sockets = OpenSockets(_probed_socket)

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        try:
            async with asyncio.timeout(timeout_s):
                if request.body and self._is_direct:
                    return await self._write(request)
                async with self._response(request, streams=False) as response:
                    body = await _whole(response, self._max_bytes)
                    return Reply(response.status, _lower(response.headers), body)
        except TimeoutError:
            raise _late(request, timeout_s) from None

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
        opening = self._response(request, streams=True)
        try:
            async with asyncio.timeout(timeout_s):
                response = await opening.__aenter__()
        except TimeoutError:
            raise _late(request, timeout_s) from None
        try:
            yield Stream(response.status, _lower(response.headers), _pieces(response))
        finally:
            # A stream that is left early is cut, so that the server stops sending at once.
            connection = response.connection
            if connection is not None and connection.transport is not None:
                connection.transport.abort()
            response.close()
            await opening.__aexit__(None, None, None)

    async def close(self) -> None:
        """Connections may take a moment to say goodbye; who closes the event loop next waits."""
        if self._writes is not None:
            self._writes.close()
            self._writes = None
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            await session.close()
        await self._sockets.gone()

    # --- writes -------------------------------------------------------------------------------

    async def _write(self, request: Request) -> Reply:
        for may_try_again in (True, False):
            credential = await self._credentials.current()
            await self._notice(credential.certificate)
            if self._writes is None:
                self._writes = self._new_writes()
            try:
                reply = await self._writes.send(request, credential)
            except (OSError, ValueError) as problem:
                raise _unreachable(self._cluster.server, problem) from None
            if not (
                reply.status == _UNAUTHORIZED
                and may_try_again
                and self._credentials.handle_unauthorized()
            ):
                break
        return reply

    def _new_writes(self) -> DirectRequests:
        parts = urlsplit(self._server)
        host, is_secure = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if is_secure else 80)
        tls = tls_context(self._cluster, self._certificate) if is_secure else None
        name = (self._cluster.tls_server_name or host.rstrip(".")) if is_secure else None

        async def open_new() -> HttpExchange:
            return await open_exchange(
                host, port, tls=tls, server_name=name, make=self._sockets.made, within_s=_CONNECT_S
            )

        return DirectRequests(
            open_new,
            host=parts.netloc,
            prefix=parts.path,
            headers=(("Accept", JSON), *self._given),
            most=_CONNECTIONS,
            idle_s=_IDLE_S,
        )

    # --- everything else ----------------------------------------------------------------------

    @asynccontextmanager
    async def _response(
        self, request: Request, *, streams: bool
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        for may_try_again in (True, False):
            credential = await self._credentials.current()
            session = await self._session(credential.certificate, streams=streams)
            try:
                opened = await self._open(session, request, credential)
            except (aiohttp.ClientError, OSError, ValueError) as problem:
                raise _unreachable(self._cluster.server, problem) from None
            try:
                refused = opened.status == _UNAUTHORIZED
                if refused and may_try_again and self._credentials.handle_unauthorized():
                    continue
                yield opened
                return
            finally:
                opened.release()

    async def _open(
        self, session: aiohttp.ClientSession, request: Request, credential: Credential
    ) -> aiohttp.ClientResponse:
        headers = CIMultiDict((*self._headers, *credential.headers.items()))
        if request.body:
            headers["Content-Type"] = request.content_type
        secure: dict[str, Any] = {}
        if self._cluster.tls_server_name:
            secure["server_hostname"] = self._cluster.tls_server_name
        return await session.request(
            request.method,
            URL(f"{self._server}{request.target}", encoded=True),
            data=request.body or None,
            headers=headers,
            allow_redirects=False,
            proxy=self._proxy,
            **secure,
        )

    async def _session(
        self, certificate: Certificate | None, *, streams: bool
    ) -> aiohttp.ClientSession:
        await self._notice(certificate)
        session = self._sessions.get(streams)
        if session is None:
            session = self._sessions[streams] = self._new_session(streams=streams)
        return session

    async def _notice(self, certificate: Certificate | None) -> None:
        """A new client certificate needs new connections."""
        if certificate != self._certificate:
            self._certificate = certificate
            await self.close()

    def _new_session(self, *, streams: bool) -> aiohttp.ClientSession:
        secure: dict[str, Any] = {}
        if self._server.startswith("https:"):
            secure["ssl"] = tls_context(self._cluster, self._certificate)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0 if streams else _CONNECTIONS,
                keepalive_timeout=_IDLE_S,
                socket_factory=self._sockets.made,
                **secure,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S),
        )


def _server(written: str) -> str:
    """The server's address without a slash at its end. Raises InputError."""
    server = written if "://" in written else f"https://{written}"
    try:
        parts = urlsplit(server)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        known = False
    if not known:
        raise InputError(
            f'"{written}" is no address of a server',
            path="cluster.server",
            remedy="write it as https://HOST:PORT",
        )
    return server.rstrip("/")


def _proxy(cluster: ClusterEntry, server: str) -> str | None:
    """The proxy that the kubeconfig names, or the environment."""
    parts = urlsplit(server)
    proxy: str | None = cluster.proxy_url
    if not proxy:
        excepted = proxy_bypass(parts.netloc)
        proxy = None if excepted else getproxies_environment().get(parts.scheme)
    if proxy and urlsplit(proxy).scheme not in ("http", "https"):
        raise InputError(
            f'"{urlsplit(proxy).scheme}" proxies are not supported',
            path="cluster.proxy-url",
            remedy="http and https are",
        )
    return proxy or None


def _probed_socket(address: AddrInfoType) -> socket.socket:
    """A socket that notices when the other side is gone without a word."""
    made = plain_socket(address)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", _PROBE_AFTER_S),
        ("TCP_KEEPINTVL", _PROBE_EVERY_S),
        ("TCP_KEEPCNT", _PROBES),
    ):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made


async def _whole(response: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for piece in _pieces(response):
        size += len(piece)
        if size > max_bytes:
            raise Unreachable(f"the answer is longer than {max_bytes} B")
        parts.append(piece)
    return b"".join(parts)


async def _pieces(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except (aiohttp.ClientError, OSError) as problem:
        raise Unreachable(f"the answer broke off: {_first_line(problem)}") from None


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _late(request: Request, timeout_s: float) -> Unreachable:
    why = f"no answer to {request.method} {request.path} within {timeout_s:g} s"
    return Unreachable(why, in_time=False)


def _unreachable(server: str, problem: Exception) -> Unreachable:
    refused = isinstance(getattr(problem, "os_error", problem), ConnectionRefusedError)
    return Unreachable(f"{server}: {_first_line(problem)}", refused=refused)


def _first_line(problem: Exception) -> str:
    lines = str(problem).strip().splitlines()
    return lines[0] if lines else type(problem).__name__


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
