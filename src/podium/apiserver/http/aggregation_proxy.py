"""Requests for group versions that a service serves are passed on to it, and its answers back.

Who asks was found out, and whether they may, before; the service is told in the headers of an
authenticating proxy. Only the address that the service leads to is contacted: redirects are not
followed. A service that cannot be asked is looked at again and again until it can.
"""

import asyncio
import base64
import contextlib
import ssl
from collections.abc import AsyncGenerator, Sequence
from typing import Final, NamedTuple
from urllib.parse import quote

import aiohttp
from yarl import URL

from podium.apiserver.access.users import MASTERS, User
from podium.apiserver.aggregation import ApiServices, GroupVersion, RemoteResources, read_resources
from podium.apiserver.bodies import Unreadable, read_json
from podium.apiserver.http.messages import HttpRequest, Response, text_response
from podium.apiserver.http.outside_services import (
    ConnectionProgress,
    Unresolved,
    WebhookConnections,
    resolve_service,
)
from podium.apiserver.requests.registry import Registry
from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.api_service_availability import PASSED, failed_discovery, is_available
from podium.net.exchange_problems import cause_of
from podium.net.tls import TLSConfigError, cached_client_context

_CHECK_TIMEOUT_S: Final = 5.0
_CHECKED_AGAIN_S: Final = 1.0
"""While one is not available."""
_MAX_DISCOVERY_BYTES: Final = 3 << 20
_AGGREGATOR: Final = User("system:kube-aggregator", "", (MASTERS,))
_HOP_BY_HOP: Final = frozenset(
    (
        b"connection", b"content-length", b"host", b"keep-alive", b"proxy-authenticate",
        b"proxy-authorization", b"te", b"trailer", b"transfer-encoding", b"upgrade",
    )
)  # fmt: skip
_IN_HEADERS: Final = "!#$&'*+-.^_`|~"
_OF_THE_ASKER: Final = (b"authorization", b"x-remote-", b"impersonate-")


class ProxiedAnswer(NamedTuple):
    """What a service answers, passed on as it comes."""

    status: int
    headers: list[tuple[bytes, bytes]]
    chunks: AsyncGenerator[bytes, None]


class AggregationProxy:
    """Reaches the services of one server's APIServices."""

    def __init__(self, registry: Registry, api_services: ApiServices) -> None:
        self._registry = registry
        self._api_services = api_services
        self._connections = WebhookConnections()
        self._checking: asyncio.Task[None] | None = None

    def remote_of(self, parts: Sequence[str]) -> JsonObject | None:
        """The APIService whose service serves a path; None for what is served here."""
        remotes = self._api_services.remotes
        if not remotes:
            return None
        if parts[:1] == ["apis"] and len(parts) > 2:
            return remotes.get((parts[1], parts[2]))
        return remotes.get(("", parts[1])) if parts[:1] == ["api"] and len(parts) > 1 else None

    async def close(self) -> None:
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)
        await self._connections.close()

    # --- passing on ---------------------------------------------------------------------------

    async def forward(
        self, request: HttpRequest, query: bytes, user: User, api_service: JsonObject
    ) -> Response | ProxiedAnswer:
        if not is_available(api_service):
            self.keep_checking()
            return text_response("service unavailable\n", 503)
        try:
            reached = self._reach(api_service)
        except TLSConfigError as problem:
            return text_response(f"{problem}\n", 500)
        except Unresolved:
            return text_response("service unavailable\n", 503)
        path = request.path + (f"?{query.decode('latin-1')}" if query else "")
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in request.headers.items()
            if name not in _HOP_BY_HOP and not name.startswith(_OF_THE_ASKER)
            for value in values
        ]
        try:
            answer = await self._connections.session().request(
                request.method,
                URL(f"{reached.base}{path}", encoded=True),
                data=request.body or None,
                headers=[*headers, *_identity(user), ("Host", reached.name)],
                allow_redirects=False,
                auto_decompress=False,
                ssl=reached.context,
                server_hostname=reached.name,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CHECK_TIMEOUT_S),
                trace_request_ctx=ConnectionProgress(),
            )
        except (aiohttp.ClientError, OSError, TimeoutError) as problem:
            self.keep_checking()
            return text_response(f"{cause_of(problem)}\n", 503)
        shown = [
            (name.lower().encode(), value.encode("latin-1"))
            for name, value in answer.headers.items()
            if name.lower().encode() not in _HOP_BY_HOP
        ]
        return ProxiedAnswer(answer.status, shown, _chunks(answer))

    def _reach(self, api_service: JsonObject) -> "_Reached":
        """Raises Unresolved or TLSConfigError."""
        spec = api_service["spec"]
        service = spec["service"]
        name = f"{service['name']}.{service['namespace']}.svc"
        found = resolve_service(self._registry.lookup, service)
        host = f"[{found.host}]" if ":" in found.host else found.host
        bundle = base64.b64decode(spec.get("caBundle") or "")
        verifies = not spec.get("insecureSkipTLSVerify")
        context = cached_client_context(bundle or None, name, verifies=verifies)
        return _Reached(f"https://{host}:{found.port}", name, context)

    # --- looking whether they can be asked ----------------------------------------------------

    def keep_checking(self) -> None:
        """See to it that services are looked at while there are any; in the event loop."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.ensure_future(self._check_again_and_again())

    async def _check_again_and_again(self) -> None:
        while self._api_services.remotes:
            for group_version in list(self._api_services.remotes):
                await self._check(group_version)
            await asyncio.sleep(_CHECKED_AGAIN_S)

    async def _check(self, group_version: GroupVersion) -> None:
        api_service = self._api_services.remotes.get(group_version)
        if api_service is None:
            return
        name = api_service["metadata"]["name"]
        known = self._api_services.remote_resources()[group_version].resources
        found = RemoteResources(known)
        if self._api_services.check(name):
            try:
                found = RemoteResources(await self._ask(api_service, group_version), True)
                availability = PASSED
            except _NoDiscovery as problem:
                availability = failed_discovery(str(problem))
            self._api_services.note_availability(name, availability)
        self._api_services.note_resources(group_version, found)

    async def _ask(self, api_service: JsonObject, group_version: GroupVersion) -> list[JsonObject]:
        """What a service says that it serves; raises _NoDiscovery."""
        group, version = group_version
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        try:
            reached = self._reach(api_service)
        except (Unresolved, TLSConfigError) as problem:
            raise _NoDiscovery(str(problem)) from None
        url = f"{reached.base}{path}"
        try:
            async with asyncio.timeout(_CHECK_TIMEOUT_S):
                return await self._discover(reached, url, group_version)
        except TimeoutError:
            cause = f'Get "{url}": context deadline exceeded'
        except (aiohttp.ClientError, OSError) as problem:
            cause = f'Get "{url}": {cause_of(problem)}'
        raise _NoDiscovery(f"failing or missing response from {url}: {cause}")

    async def _discover(
        self, reached: "_Reached", url: str, group_version: GroupVersion
    ) -> list[JsonObject]:
        async with self._connections.session().get(
            url,
            headers=[*_identity(_AGGREGATOR), ("Host", reached.name)],
            allow_redirects=False,
            ssl=reached.context,
            server_hostname=reached.name,
            trace_request_ctx=ConnectionProgress(),
        ) as answer:
            if not 200 <= answer.status < 300:
                why = f"bad status from {url}: {answer.status}"
                raise _NoDiscovery(f"failing or missing response from {url}: {why}")
            body = await answer.content.read(_MAX_DISCOVERY_BYTES)
        with contextlib.suppress(Unreadable):
            document = read_json(body).value
            if isinstance(document, dict):
                return read_resources(document, *group_version)
        return []


class _Reached(NamedTuple):
    base: str
    name: str
    context: ssl.SSLContext


class _NoDiscovery(Exception):
    """A service does not say what it serves; the text is upstream's."""


def _identity(user: User) -> list[tuple[str, str]]:
    """Who asks, in the headers of an authenticating proxy."""
    found = [("X-Remote-User", user.name)]
    if user.uid:
        found.append(("X-Remote-Uid", user.uid))
    found += [("X-Remote-Group", group) for group in user.groups]
    for key, values in user.extra.items():
        found += [(f"X-Remote-Extra-{quote(key, safe=_IN_HEADERS)}", value) for value in values]
    return found


async def _chunks(answer: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """The body; what is not read to its end leaves no connection behind."""
    try:
        async for piece in answer.content.iter_any():
            yield piece
    finally:
        connection = answer.connection
        if connection is not None and connection.transport is not None:
            # A server in the middle of a watch does not say goodbye, and is not waited for.
            connection.transport.abort()
        answer.close()
