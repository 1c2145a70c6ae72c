"""The ASGI application: reads requests, lets the service answer, writes answers.

Who asks and whether they may is found out before anything of a body is read. One request is
answered without giving way to others between reading its body and having its answer; only then does
it wait, for the disk or for a slow client. Where webhooks have a say it waits for them too, and is
then gone through again from its beginning. Bodies are bounded on the way in; long lists go out in
chunks, and a client that does not take them in time is left.
"""

import asyncio
import contextlib
import logging
import zlib
from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from podium.apiserver.http.aggregation_proxy import AggregationProxy, ProxiedAnswer
from podium.apiserver.http.commits import Commits
from podium.apiserver.http.log_stream import CONTENT_TYPE, LogAnswer, LogStream
from podium.apiserver.http.messages import (
    MAX_BODY_BYTES,
    HttpRequest,
    Response,
    parameters_of,
    refusal,
    request_from,
)
from podium.apiserver.http.outside_services import WebhookConnections
from podium.apiserver.http.resource_handlers import WatchAnswer
from podium.apiserver.http.service import Admitted, RequestHandler
from podium.apiserver.http.watch_stream import WatchStream
from podium.apiserver.http.webhook_caller import WebhookCaller
from podium.apiserver.webhooks.reviews import WebhooksNeeded
from podium.kubernetes import status_errors
from podium.kubernetes.status_errors import StatusError
from podium.net.serving import BodyTooLarge, ClientGone, Message, Receive, Scope, Send, read_body

_LOG: Final = logging.getLogger("podium.apiserver")
_COMPRESSED_FROM: Final = 128 << 10
_COMPRESSION_LEVEL: Final = 1
MAX_WATCHES: Final = 10_000
_BODIES: Final = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_GZIP_WINDOW: Final = 31  # zlib's way to say: with gzip's header
_GZIP_HEADERS: Final = [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
_ANSWER_TIMEOUT_S: Final = 60.0
"""For a client to take a long answer that is no watch. upstream: kube-apiserver's
--request-timeout."""
_BUG: Final = "Internal error occurred: see the server's log"
_NO_CACHE: Final = (b"cache-control", b"no-cache, private")


class Application:
    """The server, as an ASGI callable."""

    def __init__(
        self,
        service: RequestHandler,
        randomness: Random,
        commits: Commits | None = None,
        guard: Callable[[HttpRequest], None] = lambda _: None,
    ) -> None:
        """`guard` raises StatusError for requests that are not even looked at."""
        self._service = service
        self._randomness = randomness
        self._commits = commits
        self._guard = guard
        self._stopping = asyncio.Event()
        self._wakes: set[Callable[[], None]] = set()
        self._webhooks = WebhookConnections()
        self._proxy = AggregationProxy(service.registry, service.api_services)
        self.most_watches = MAX_WATCHES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        request = request_from(scope)
        try:
            answer = await self._answer(request, scope, receive)
            if isinstance(answer, WatchAnswer):
                await self._stream(request, answer, receive, send)
            elif isinstance(answer, LogAnswer):
                await self._stream_log(request, answer, receive, send)
            elif isinstance(answer, ProxiedAnswer):
                await _pass_on(answer, receive, send)
            else:
                await _send(request, answer, send)
        except ClientGone:
            return

    def stop(self) -> None:
        """Say that the server is going: watches end, readiness fails."""
        self._service.others.is_ready = False
        self._stopping.set()
        for wake in list(self._wakes):
            wake()

    async def close(self) -> None:
        """Leave webhooks and other servers; in the event loop that served."""
        await self._proxy.close()
        await self._webhooks.close()

    async def _answer(
        self, request: HttpRequest, scope: Scope, receive: Receive
    ) -> Response | WatchAnswer | LogAnswer | ProxiedAnswer:
        try:
            self._guard(request)
            query = scope["query_string"]
            if query:
                request.parameters = parameters_of(query)
            admitted = self._service.admit(request)
            if request.method in _BODIES:
                request.body = bytes(await read_body(scope["headers"], receive, MAX_BODY_BYTES))
            remote = self._proxy.remote_of(admitted.parts)
            if remote is not None:
                return await self._proxy.forward(request, query, admitted.user, remote)
            try:
                answer = self._service.respond(admitted)
            except WebhooksNeeded as needed:
                answer = await self._respond_with_webhooks(admitted, needed)
            if self._service.api_services.remotes:
                self._proxy.keep_checking()
            if self._commits is not None:
                await self._commits.wait_until_durable()
        except StatusError as problem:
            return refusal(request, problem)
        except BodyTooLarge:
            return refusal(request, status_errors.too_large())
        except ClientGone:
            raise
        except Exception:
            _LOG.exception("%s %s failed", request.method, request.path)
            return refusal(request, StatusError(500, "InternalError", _BUG))
        return answer

    async def _respond_with_webhooks(
        self, admitted: Admitted, needed: WebhooksNeeded
    ) -> Response | WatchAnswer | LogAnswer:
        """Ask webhooks and go through the request again, until there is nobody left to ask."""
        caller = WebhookCaller(self._service.registry.lookup, self._webhooks)
        while True:
            await needed.ask(caller)
            if caller.left_s() <= 0:
                raise status_errors.request_timed_out()
            try:
                return self._service.respond(admitted)
            except WebhooksNeeded as more:
                needed = more

    async def _stream(
        self, request: HttpRequest, answer: WatchAnswer, receive: Receive, send: Send
    ) -> None:
        if await self._refuse_more(request, send):
            return
        schema = self._service.registry.rules(answer.resource).schema
        stream = WatchStream(answer, schema, self._stopping, self._randomness)
        self._wakes.add(stream.wake)
        try:
            await send(_start(200, answer.presenter.content_type, []))
            if await stream.run(receive, send):
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._wakes.discard(stream.wake)

    async def _stream_log(
        self, request: HttpRequest, answer: LogAnswer, receive: Receive, send: Send
    ) -> None:
        if await self._refuse_more(request, send):
            return
        stream = LogStream(answer, self._stopping)
        self._wakes.add(stream.wake)
        try:
            await send(_start(200, CONTENT_TYPE, []))
            await stream.run(receive, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._wakes.discard(stream.wake)

    async def _refuse_more(self, request: HttpRequest, send: Send) -> bool:
        """Whether so many watches are open that a request for another was refused."""
        if len(self._wakes) < self.most_watches:
            return False
        problem = status_errors.too_many_requests("too many watches", retry_after_s=10)
        await _send_bytes(send, refusal(request, problem))
        return True


async def _pass_on(answer: ProxiedAnswer, receive: Receive, send: Send) -> None:
    """Send what another server answers, for as long as the client is there."""

    async def pump() -> None:
        start = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
        await send(start)
        async with contextlib.aclosing(answer.chunks) as chunks:
            async for chunk in chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    pumping, leaving = asyncio.ensure_future(pump()), asyncio.ensure_future(gone())
    try:
        await asyncio.wait((pumping, leaving), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (pumping, leaving):
            task.cancel()
        done = await asyncio.gather(pumping, leaving, return_exceptions=True)
        for problem in done:
            if isinstance(problem, Exception) and not isinstance(problem, ClientGone):
                _LOG.info("another server's answer broke off: %s", problem)


def _start(status: int, content_type: bytes, headers: list[tuple[bytes, bytes]]) -> Message:
    return {
        "type": "http.response.start",
        "status": status,
        "headers": [
            *([(b"content-type", content_type)] if content_type else ()),
            _NO_CACHE,
            *headers,
        ],
    }


async def _send(request: HttpRequest, response: Response, send: Send) -> None:
    if request.method == "HEAD":
        response = Response(response.status, b"", response.content_type, response.headers)
    compresses = "gzip" in request.header(b"accept-encoding")
    if isinstance(response.body, bytes):
        if not compresses or len(response.body) < _COMPRESSED_FROM:
            await _send_bytes(send, response)
            return
        response.body = iter((response.body,))
    await _send_chunks(send, response, response.body, compresses=compresses)


async def _send_bytes(send: Send, response: Response) -> None:
    body = response.body
    assert isinstance(body, bytes), "chunks are sent otherwise"
    headers = [(b"content-length", str(len(body)).encode()), *response.headers]
    await send(_start(response.status, response.content_type, headers))
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _send_chunks(
    send: Send, response: Response, chunks: Iterator[bytes], *, compresses: bool
) -> None:
    """Send a body in parts; one that turns out to be short is sent whole."""
    gathered: list[bytes] = []
    size = 0
    while size < _COMPRESSED_FROM:
        chunk = next(chunks, None)
        if chunk is None:
            response.body = b"".join(gathered)
            await _send_bytes(send, response)
            return
        gathered.append(chunk)
        size += len(chunk)
        if not chunk:
            await asyncio.sleep(0)
    headers = list(response.headers)
    packer = None
    if compresses:
        packer = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
        headers += _GZIP_HEADERS
    with contextlib.suppress(TimeoutError):  # the protocol breaks off what has no end
        async with asyncio.timeout(_ANSWER_TIMEOUT_S):
            await send(_start(response.status, response.content_type, headers))
            for chunk in _prepend(b"".join(gathered), chunks):
                packed = packer.compress(chunk) if packer else chunk
                if packed:
                    await send({"type": "http.response.body", "body": packed, "more_body": True})
                # A client that takes everything at once would have the loop to itself.
                await asyncio.sleep(0)
            rest = packer.flush() if packer else b""
            await send({"type": "http.response.body", "body": rest, "more_body": False})


def _prepend(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest
