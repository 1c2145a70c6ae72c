"""Services outside that the server calls: where they are, and connections to them.

Connections to webhooks, kept for the next call; so many at once and no more.

Where the endpoints of a service are, for a webhook that is named by one. upstream: as
kube-apiserver finds them with `--enable-aggregator-routing`, which needs no proxy on the way.
Where a service has no slices its Endpoints are taken. Beyond upstream, a service of the type
ExternalName is called under that name: pods of a simulated cluster have no network, so it is
how a service leads to a process beside it.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Final, NamedTuple

import aiohttp

from podium.client.http_transport import OpenSockets
from podium.golang.json_values import JsonObject
from podium.kubernetes.admission.lookup import Lookup

MAX_CALLS: Final = 100
"""At once, of all requests together; further ones wait, within their timeouts."""
_IDLE_S: Final = 30


class WebhookConnections:
    """Opened by the first call, in whose event loop they are used and closed."""

    def __init__(self) -> None:
        self._open: aiohttp.ClientSession | None = None
        self._sockets = OpenSockets()

    def session(self) -> aiohttp.ClientSession:
        if self._open is None:
            self._open = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=MAX_CALLS,
                    keepalive_timeout=_IDLE_S,
                    use_dns_cache=False,
                    socket_factory=self._sockets.made,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                trace_configs=[_noting_reuse()],
            )
        return self._open

    async def close(self) -> None:
        if self._open is not None:
            await self._open.close()
            self._open = None
            await self._sockets.gone()


class ConnectionProgress(SimpleNamespace):
    """What is known of a call's connection; goes with the call as its trace context."""

    is_reused = False


def _noting_reuse() -> aiohttp.TraceConfig:
    async def note(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.is_reused = True

    traces = aiohttp.TraceConfig()
    traces.on_connection_reuseconn.append(note)
    return traces


_SERVICE_LABEL: Final = "kubernetes.io/service-name"
_DEFAULT_PORT: Final = 443
_TYPES: Final = ("ClusterIP", "LoadBalancer", "NodePort")


class Address(NamedTuple):
    host: str
    port: int


class Unresolved(Exception):
    """A service leads nowhere; the text is upstream's."""


def resolve_service(lookup: Lookup, reference: JsonObject) -> Address:
    """Raises Unresolved."""
    namespace, name = reference["namespace"], reference["name"]
    number = reference.get("port") or _DEFAULT_PORT
    service = lookup.find("", "services", namespace, name)
    if service is None:
        raise Unresolved(f'service "{name}" not found')
    spec = service["spec"]
    port = next((each for each in spec.get("ports") or () if each["port"] == number), None)
    if spec.get("type") == "ExternalName":
        target = (port or {}).get("targetPort")
        return Address(spec["externalName"], target if isinstance(target, int) else number)
    if spec.get("type") not in _TYPES:
        raise Unresolved(f'unsupported service type "{spec.get("type")}"')
    if port is None:
        raise Unresolved(f'no service port {number} found for service "{name}"')
    found = _of_slices(lookup, namespace, name, port.get("name") or "")
    found = found or _of_endpoints(lookup, namespace, name, port.get("name") or "")
    if found is None:
        raise Unresolved(f'no endpoints available for service "{name}"')
    return found


def _of_slices(lookup: Lookup, namespace: str, service: str, port: str) -> Address | None:
    slices = lookup.summaries("discovery.k8s.io", "endpointslices", namespace, _read_slice)
    for _, (of_service, ports, addresses) in slices:
        if of_service == service and port in ports and addresses:
            return Address(addresses[0], ports[port])
    return None


class _Slice(NamedTuple):
    service: str
    ports: dict[str, int]
    addresses: Sequence[str]
    """Of endpoints that are ready."""


def _read_slice(obj: JsonObject) -> _Slice:
    labels = obj["metadata"].get("labels") or {}
    return _Slice(
        labels.get(_SERVICE_LABEL, ""),
        {each.get("name") or "": each["port"] for each in obj.get("ports") or () if "port" in each},
        [
            each["addresses"][0]
            for each in obj.get("endpoints") or ()
            if (each.get("conditions") or {}).get("ready") is not False
        ],
    )


def _of_endpoints(lookup: Lookup, namespace: str, service: str, port: str) -> Address | None:
    endpoints = lookup.find("", "endpoints", namespace, service)
    for subset in (endpoints or {}).get("subsets") or ():
        ports = {each.get("name") or "": each["port"] for each in subset.get("ports") or ()}
        addresses = subset.get("addresses") or ()
        if port in ports and addresses:
            return Address(addresses[0]["ip"], ports[port])
    return None
