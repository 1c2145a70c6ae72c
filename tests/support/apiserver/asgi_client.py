"""Talks to an ASGI application without a server: one exchange at a time.

`in_virtual_time` runs a coroutine in an event loop whose clock jumps: where a real one would wait
for a timer, it is at once that much later.
"""

import asyncio
import json
import selectors
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

from support.apiserver.api_calls import TOKEN
from support.waiting import PATIENCE_S

from podium.apiserver.http.app import Application


@dataclass
class Exchange:
    """One request and what has come back of its answer so far."""

    application: Application
    method: str
    path: str
    chunks: list[bytes] = field(default_factory=lambda: [b""])
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 0
    answered: dict[bytes, bytes] = field(default_factory=dict)
    all_headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    sent_parts: int = 0
    ended: bool = False
    reads: bool = True
    """False: what is sent after the headers is never taken off the wire."""
    hangs_up: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> "Exchange":
        path, _, query = self.path.partition("?")
        sent = {"authorization": f"Bearer {TOKEN}", **self.headers}
        scope = {
            "type": "http",
            "method": self.method,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
        }
        await self.application(scope, self._receive, self._send)
        self.ended = True
        self.arrived.set()
        return self

    async def _receive(self) -> dict[str, Any]:
        if self.sent_parts < len(self.chunks):
            part = self.chunks[self.sent_parts]
            self.sent_parts += 1
            more = self.sent_parts < len(self.chunks)
            return {"type": "http.request", "body": part, "more_body": more}
        await self.hangs_up.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.all_headers = list(message["headers"])
            self.answered = dict(self.all_headers)
        elif not self.reads:
            await asyncio.Event().wait()
        else:
            self.body += message.get("body", b"")
        self.arrived.set()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.body.splitlines()]

    async def until_lines(self, count: int) -> list[dict[str, Any]]:
        """Wait for so many events of a watch."""
        while len(self.body.splitlines()) < count and not self.ended:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), PATIENCE_S)
        return self.lines


async def exchange(
    application: Application,
    method: str,
    path: str,
    chunks: Iterable[bytes] = (b"",),
    **headers: str,
) -> Exchange:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await Exchange(application, method, path, list(chunks), named).run()


class _Jumping(selectors.SelectSelector):
    """Never waits for a timer: it tells the loop that the time has passed."""

    loop: "_JumpingLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.loop.now += timeout
        return ready


class _JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.now = 1000.0
        selector = _Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now


def in_virtual_time(main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=_JumpingLoop) as runner:
        runner.run(main)
