"""One request on its way: who sends it, which page answers, and in which thread.

An ASGI application. Every answer says that it must not be cached, refusals too; a page that breaks
is that request's trouble alone.

Source: `buildHandlerChain` in `cmd/kube-scheduler/app/server.go`.

Health, metrics and the like, served by another thread than the scheduler's. Health is answered
where it is asked, so that a plugin that computes does not make a scheduler look dead. What reads
the scheduler is read in its loop; where that does not answer, metrics are those of before, with the
header `Age` (RFC 9111, 5.1), and all else is refused with 503.
"""

import asyncio
import inspect
import logging
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from podium.golang.quoting import go_quote
from podium.live.serving.authentication import (
    Authenticator,
    DelegatingAuthorizer,
    ReviewFailed,
    UserInfo,
)
from podium.live.serving.exchange import PageRequest, PageResponse, plain_error, refusal
from podium.live.serving.pages import METRICS, Pages
from podium.live.serving.surface import UI, Application
from podium.net.serving import BadQuery, BodyTooLarge, ClientGone, Receive, Scope, Send, read_body
from podium.net.serving.loop_calls import LoopBusy, LoopCalls


class RelayedPages:
    def __init__(self, pages: Pages, calls: LoopCalls) -> None:
        self._pages = pages
        self._calls = calls
        self._metrics: tuple[float, PageResponse] | None = None

    async def prepare(self) -> None:
        """Read metrics once, so that there are some whenever somebody asks."""
        await self.answer(PageRequest("GET", METRICS))

    async def answer(self, request: PageRequest) -> PageResponse:
        if not self._pages.reads_scheduler(request.path):
            return self._pages.answer(request)
        try:
            if request.path == METRICS and request.method == "GET":
                return await self._answer_metrics(request)
            return await self._calls.call(lambda: self._pages.answer(request))
        except LoopBusy as busy:
            return refusal(request, 503, "ServiceUnavailable", f"{busy}; try again in a moment")

    async def _answer_metrics(self, request: PageRequest) -> PageResponse:
        # Compressed or not is up to each client, so the text is what is kept.
        plain = replace(request, headers={})
        try:
            found = await self._calls.call(lambda: self._pages.answer(plain))
            self._metrics = (time.monotonic(), found)
        except LoopBusy:
            if self._metrics is None:
                raise
            at, found = self._metrics
            age = ("Age", str(round(time.monotonic() - at)))
            found = replace(found, headers=(*found.headers, age))
        return self._pages.compress(request, found)


_LOG: Final = logging.getLogger("podium.live")
_MAX_BODY_BYTES: Final = 64 * 1024
_NO_CACHING: Final = (b"cache-control", b"no-cache, private")
_BROKEN: Final = "This request broke the scheduler's page. Its log says more."


class ManagementApplication:
    def __init__(
        self,
        pages: Pages | RelayedPages,
        authenticator: Authenticator,
        authorizer: DelegatingAuthorizer,
        ui: Application | None = None,
    ) -> None:
        self._pages = pages
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._ui = ui

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = _request(scope)
        ui = self._ui if _is_below_ui(request.path) else None
        try:
            answer = await self._refusal(request)
            if answer is None and ui is None:
                answer = await self._answer(request, scope, receive)
        except ClientGone:
            return
        except BodyTooLarge:
            answer = plain_error(413, "http: request body too large")
        except BadQuery as problem:
            answer = plain_error(400, str(problem))
        except Exception:
            _LOG.exception("%s %s broke", scope["method"], scope["path"])
            answer = plain_error(500, _BROKEN)
        if answer is not None:
            await _send(answer, send)
        elif ui is not None:
            # It tells its own mistakes; a second answer on top of a begun one helps nobody.
            await ui(scope, receive, send)

    async def _refusal(self, request: PageRequest) -> PageResponse | None:
        """Why nothing is answered, if somebody may not ask this."""
        user = await self._authenticator.user_of(request)
        if user is None:
            return refusal(request, 401, "Unauthorized", "Unauthorized")
        try:
            verdict = await self._authorizer.verdict(user, request)
        except ReviewFailed as problem:
            _LOG.error("%s could not be authorized: %s", request.path, problem)
            words = f"Internal Server Error: {go_quote(request.target)}: {problem}"
            return plain_error(500, _harmless(words))
        if not verdict.allowed:
            return _answer_forbidden(user, request, verdict.reason)
        return None

    async def _answer(self, request: PageRequest, scope: Scope, receive: Receive) -> PageResponse:
        if request.method == "PUT":
            body = await read_body(scope["headers"], receive, _MAX_BODY_BYTES)
            request = replace(request, body=bytes(body))
        found = self._pages.answer(request)
        return await found if inspect.isawaitable(found) else found


def _is_below_ui(path: str) -> bool:
    return path == UI or path.startswith(f"{UI}/")


def _answer_forbidden(user: UserInfo, request: PageRequest, reason: str) -> PageResponse:
    who, what = go_quote(user.name), go_quote(request.path)
    words = _harmless(f"User {who} cannot {request.verb} path {what}")
    because = f": {reason}" if reason else ""
    return refusal(request, 403, "Forbidden", f"forbidden: {words}{because}", details={})


def _harmless(words: str) -> str:
    """Nothing that a browser could take for HTML."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _request(scope: Scope) -> PageRequest:
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        headers[key] = (*headers.get(key, ()), value.decode("latin-1"))
    tls = (scope.get("extensions") or {}).get("tls", {})
    return PageRequest(
        scope["method"],
        scope["path"],
        scope["query_string"].decode("latin-1"),
        headers,
        certificates=tuple(tls.get("client_cert_chain", ())),
    )


async def _send(answer: PageResponse, send: Send) -> None:
    body = answer.body
    headers = [(b"content-type", answer.content_type.encode()), _NO_CACHING]
    headers.extend((name.lower().encode(), value.encode()) for name, value in answer.headers)
    if isinstance(body, bytes):
        headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if isinstance(body, bytes):
        await send({"type": "http.response.body", "body": body})
        return
    await _send_pieces(body, send)


async def _send_pieces(pieces: Iterable[bytes], send: Send) -> None:
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await asyncio.sleep(0)
    await send({"type": "http.response.body", "body": b""})
