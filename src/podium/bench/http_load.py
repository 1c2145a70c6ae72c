"""HTTP load from one process, as cheap as it can be: the server is to be measured, not the client.

Connections speak HTTP/1.1 over bare asyncio protocols: requests are bytes that were put together
before, and of answers nothing is read but the status and the length. A watch counts its events and
notes when each came; what an event says is looked at only where it is asked for.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from time import perf_counter
from typing import Any, TypeVar, cast

from podium.bench.scheduler_process import ServedApi

T = TypeVar("T")

_HEAD_END = b"\r\n\r\n"


class LoadError(RuntimeError):
    """The server answered otherwise than the measurement needs."""


def request(api: ServedApi, method: str, path: str, body: bytes = b"") -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {api.host}", "Content-Type: application/json"]
    if api.token:
        lines.append(f"Authorization: Bearer {api.token}")
    lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + _HEAD_END + body


class _Wire(asyncio.Protocol):
    """What both kinds of connections are: a transport, and whether it is still there."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, problem: Exception | None) -> None:
        del problem
        self.lost.set()

    async def hang_up(self) -> None:
        if self._transport is not None:
            self._transport.abort()
            await self.lost.wait()


class Connection(_Wire):
    """Asks one thing after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[asyncio.Future[int]] = deque()

    def ask(self, sent: bytes) -> "asyncio.Future[int]":
        """The status of the answer, once it is there as a whole."""
        assert self._transport is not None
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        self._transport.write(sent)
        return answer

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while self._waiting:
            end = self._buffer.find(_HEAD_END)
            if end < 0:
                return
            head = bytes(self._buffer[:end]).lower()
            start = head.find(b"content-length:") + len(b"content-length:")
            whole = end + len(_HEAD_END) + int(head[start:].split(b"\r\n", 1)[0])
            if len(self._buffer) < whole:
                return
            del self._buffer[:whole]
            answer = self._waiting.popleft()
            if not answer.done():
                answer.set_result(int(head[9:12]))

    def connection_lost(self, problem: Exception | None) -> None:
        super().connection_lost(problem)
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(problem or LoadError("the server hung up"))


class WatchLoad(_Wire):
    """Follows a watch: how many events came, when, and what they said if somebody wants to know."""

    def __init__(self, sent: bytes, on_event: Callable[[bytes, float], None] | None = None) -> None:
        super().__init__()
        self._sent = sent
        self._on_event = on_event
        self._line = bytearray()
        self._started = False
        self.is_open = asyncio.Event()
        self.events = 0
        self.digest = 0
        """Tells streams apart: equal events in equal order give equal numbers."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        cast(asyncio.Transport, transport).write(self._sent)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._started:
            head, found, rest = bytes(self._buffer).partition(_HEAD_END)
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 200"):
                raise LoadError(head.decode("latin-1"))
            self._started = True
            self._buffer = bytearray(rest)
            self.is_open.set()
        self._take_chunks()

    def _take_chunks(self) -> None:
        """Undo the chunked encoding, as far as chunks are complete."""
        place, buffer = 0, self._buffer
        while (line_end := buffer.find(b"\r\n", place)) >= 0:
            size = int(buffer[place:line_end], 16)
            if len(buffer) < line_end + size + 4:
                break
            self._take(bytes(buffer[line_end + 2 : line_end + 2 + size]))
            place = line_end + size + 4
        del buffer[:place]

    def _take(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        now = perf_counter()
        for line in lines:
            if self._line:
                line = bytes(self._line) + line
                self._line.clear()
            self.events += 1
            self.digest = hash((self.digest, line))
            if self._on_event is not None:
                self._on_event(line, now)
        self._line += rest

    def connection_lost(self, problem: Exception | None) -> None:
        super().connection_lost(problem)
        self.is_open.set()


async def connect(api: ServedApi) -> Connection:
    _, made = await asyncio.get_running_loop().create_connection(
        Connection, api.host, api.port, ssl=api.tls
    )
    return made


async def watch(
    api: ServedApi, path: str, on_event: Callable[[bytes, float], None] | None = None
) -> WatchLoad:
    """A watch that the server has begun to answer."""
    sent = request(api, "GET", path)
    _, made = await asyncio.get_running_loop().create_connection(
        lambda: WatchLoad(sent, on_event), api.host, api.port, ssl=api.tls
    )
    await made.is_open.wait()
    return made


def in_fast_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run in the fast event loop where there is one."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
