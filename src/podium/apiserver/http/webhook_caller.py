"""Calls webhooks over HTTPS.

Only the address that a configuration names is contacted: redirects are not followed and proxies not
used. A call ends by the webhook's own timeout and by that of the whole request, whatever the other
side does, and keeps no more than `MAX_ANSWER_BYTES` of what it says. The certificate has to be
vouched for by the configuration's `caBundle`, or by the system's where there is none.

What a webhook's HTTP status says, in the words of Kubernetes' client for Go.
"""

import asyncio
import base64
import ssl
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Final

import aiohttp
from yarl import URL

from podium.apiserver.bodies import Unreadable, read_json
from podium.apiserver.http.outside_services import (
    ConnectionProgress,
    Unresolved,
    WebhookConnections,
    resolve_service,
)
from podium.apiserver.webhooks.reviews import Review, WebhookCallFailed
from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.admission.lookup import Lookup
from podium.net.exchange_problems import cause_of
from podium.net.tls import TLSConfigError, cached_client_context

_MAX_TEXT_BYTES: Final = 2048
_TOLD: Final[Mapping[int, str]] = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be"
    " processing the request",
}
_IN_OWN_WORDS: Final = frozenset({403, 406, 415})


def told_by_status(status: int, body: bytes, content_type: str) -> str:
    """Why an answer with this status, which is not one of success, is none."""
    message = _message_of(body)
    if message:
        return message
    is_text = not content_type or content_type.startswith("text/")
    said = body[:_MAX_TEXT_BYTES].decode(errors="replace").strip() if is_text else "unknown"
    if status in _IN_OWN_WORDS:
        return said
    if status in _TOLD:
        return _TOLD[status]
    if status >= 500:
        return (
            f"an error on the server ({go_quote(said)}) has prevented the request from succeeding"
        )
    return f"the server responded with the status code {status} but did not return more information"


def _message_of(body: bytes) -> str:
    """Of an answer that is a Status."""
    try:
        found = read_json(body).value
    except Unreadable:
        return ""
    if not isinstance(found, dict) or found.get("kind") != "Status":
        return ""
    message = found.get("message")
    return message if isinstance(message, str) and found.get("status") != "Success" else ""


MAX_ANSWER_BYTES: Final = 5 << 20
"""A patch of everything that a body may have, in base64, and some room."""
_REQUEST_TIMEOUT_S: Final = 34.0
"""For all webhooks of one request. upstream: the upper bound of its handlers."""
_HEADERS: Final = {
    "Accept": "application/json, */*",
    "Content-Type": "application/json",
    "User-Agent": "kube-apiserver-admission",
}


class WebhookCaller:
    """Calls on behalf of one request, which has so much time and no more."""

    def __init__(self, lookup: Lookup, connections: WebhookConnections) -> None:
        self._lookup = lookup
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + _REQUEST_TIMEOUT_S

    def left_s(self) -> float:
        return self._deadline - self._loop.time()

    async def ask_all(self, reviews: Iterable[Review]) -> Sequence[bytes | WebhookCallFailed]:
        return await asyncio.gather(*(self._ask_or_fail(review) for review in reviews))

    async def _ask_or_fail(self, review: Review) -> bytes | WebhookCallFailed:
        try:
            return await self.ask(review)
        except WebhookCallFailed as problem:
            return problem

    async def ask(self, review: Review) -> bytes:
        hook = review.hook
        client: JsonObject = hook.spec["clientConfig"]
        timeout_s = min(float(hook.timeout_s), self.left_s())
        url = f"{_address(client)}?timeout={ceil(timeout_s)}s"
        context = _context_of(client)
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    progress = ConnectionProgress()
                    try:
                        return await self._post(client, url, context, review.body, progress)
                    except aiohttp.ServerDisconnectedError:
                        # A kept connection that turns out to be closed is nobody's fault.
                        if not progress.is_reused:
                            raise
        except TimeoutError:
            cause = "context deadline exceeded"
        except Unresolved as problem:
            cause = str(problem)
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            cause = cause_of(problem)
        raise _make_failure(f"Post {go_quote(url)}: {cause}")

    async def _post(
        self,
        client: JsonObject,
        url: str,
        context: ssl.SSLContext,
        body: bytes,
        progress: ConnectionProgress,
    ) -> bytes:
        target, server_name = URL(url, encoded=True), None
        headers = dict(_HEADERS)
        service = client.get("service")
        if service is not None:
            headers["Host"] = f"{target.host}:{target.port}"
            server_name = target.host
            found = resolve_service(self._lookup, service)
            target = target.with_host(found.host).with_port(found.port)
        async with self._connections.session().post(
            target,
            data=body,
            headers=headers,
            allow_redirects=False,
            ssl=context,
            server_hostname=server_name,
            timeout=aiohttp.ClientTimeout(total=None),
            trace_request_ctx=progress,
        ) as response:
            answer = await _read(response)
            written = response.headers.get("Content-Type", "")
            if not 200 <= response.status <= 206:
                raise _make_failure(told_by_status(response.status, answer, written))
            if not answer:
                told = f"status code: {response.status} and content type: {written}"
                raise _make_failure(f"0-length response with {told}")
            return answer


async def _read(response: aiohttp.ClientResponse) -> bytes:
    received = bytearray()
    async for piece in response.content.iter_any():
        received += piece
        if len(received) > MAX_ANSWER_BYTES:
            raise _make_failure(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
    return bytes(received)


def _make_failure(why: str) -> WebhookCallFailed:
    return WebhookCallFailed(f"failed to call webhook: {why}")


def _address(client: JsonObject) -> str:
    """Where a webhook is, as errors show it."""
    service = client.get("service")
    if service is None:
        url: str = client["url"]
        scheme, _, rest = url.partition("://")
        return url if "/" in rest else f"{scheme}://{rest}/"
    host = f"{service['name']}.{service['namespace']}.svc:{service.get('port') or 443}"
    path = service.get("path") or ""
    return f"https://{host}/{path.removeprefix('/')}"


def _context_of(client: JsonObject) -> ssl.SSLContext:
    bundle = client.get("caBundle")
    try:
        # Connections are kept by context, and those to one server under two names are two.
        service = client.get("service") or {}
        name = f"{service.get('name')}.{service.get('namespace')}"
        return cached_client_context(base64.b64decode(bundle) if bundle else None, name)
    except TLSConfigError as problem:
        raise WebhookCallFailed(f"could not get REST client: {problem}") from None
