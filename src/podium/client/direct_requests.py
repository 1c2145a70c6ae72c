"""Writes to an API server over kept connections, with as little in between as HTTP allows.

A scheduler that is busy writes twice for every pod, and a general HTTP client costs more than all
the rest of such a write. Here the head of a request is text that was put together before but for
two lines, and connections are taken from a stack, the one used last first.

Contract: no more connections than allowed; one that was silent for too long is not used again.
Whoever leaves in the middle of an exchange takes the connection with him. A PUT or DELETE for which
a kept connection turns out to be gone is sent once more; a POST or PATCH may have been carried out
and is not.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from podium.client.credentials import Credential
from podium.client.http_exchange import AnswerLost, HttpExchange
from podium.client.transport import Reply, Request

_REPEATABLE: Final = ("PUT", "DELETE")

Opener = Callable[[], Awaitable[HttpExchange]]


class DirectRequests:
    def __init__(
        self,
        opened: Opener,
        *,
        host: str,
        prefix: str,
        headers: tuple[tuple[str, str], ...],
        most: int,
        idle_s: float,
    ) -> None:
        """`prefix` is the path under which the API is; `opened` raises OSError."""
        self._opened = opened
        self._prefix = prefix
        self._headers = (("Host", host), *headers)
        self._idle_s = idle_s
        self._places = asyncio.Semaphore(most)
        self._idle: list[tuple[HttpExchange, float]] = []
        self._head: tuple[Credential, str] | None = None
        self._keeps = True

    async def send(self, request: Request, credential: Credential) -> Reply:
        """Raises Unreachable, OSError if no connection can be had, and ValueError for what cannot
        be written into a head."""
        sent = self._written(request, credential)
        async with self._places:
            exchange = self._kept() or await self._opened()
            try:
                return await self._asked(exchange, sent)
            except AnswerLost as problem:
                kept = exchange.asked > 1
                if not kept or problem.begun or request.method not in _REPEATABLE:
                    raise
            return await self._asked(await self._opened(), sent)

    def close(self) -> None:
        """Close what is idle now, and what is under way once its answer is there."""
        self._keeps = False
        idle, self._idle = self._idle, []
        for exchange, _ in idle:
            exchange.close()

    async def _asked(self, exchange: HttpExchange, sent: bytes) -> Reply:
        try:
            reply = await exchange.ask(sent)
        except BaseException:
            exchange.abort()
            raise
        if exchange.is_open and self._keeps:
            self._idle.append((exchange, asyncio.get_running_loop().time()))
        else:
            exchange.close()
        return reply

    def _kept(self) -> HttpExchange | None:
        if not self._idle:
            return None
        oldest = asyncio.get_running_loop().time() - self._idle_s
        while self._idle:
            exchange, since = self._idle.pop()
            if since >= oldest and exchange.is_open:
                return exchange
            exchange.close()
        return None

    # --- heads --------------------------------------------------------------------------------

    def _written(self, request: Request, credential: Credential) -> bytes:
        target = f"{self._prefix}{request.target}"
        content_type = request.content_type
        _check_line(target, content_type)
        head = (
            f"{request.method} {target} HTTP/1.1\r\n"
            f"Content-Type: {content_type}\r\nContent-Length: {len(request.body)}\r\n"
            f"{self._same_for_all(credential)}\r\n"
        )
        return head.encode("latin-1") + request.body

    def _same_for_all(self, credential: Credential) -> str:
        if self._head is None or self._head[0] is not credential:
            headers = (*self._headers, *credential.headers.items())
            _check_line(*(part for header in headers for part in header))
            text = "".join(f"{name}: {value}\r\n" for name, value in headers)
            self._head = (credential, text)
        return self._head[1]


def _check_line(*parts: str) -> None:
    if any(mark in part for part in parts for mark in "\r\n\0"):
        raise ValueError("a line break in the head of a request")
