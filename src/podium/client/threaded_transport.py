"""Requests to a transport that lives in the event loop of another thread.

A server in a thread of its own goes on while this thread is held up. Requests are handed to its
loop and answers handed back; a streamed answer is read there a few pieces ahead of its reader here.

Contract: that of `Transport`. When the other loop has ended, the server is unreachable.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

from podium.client.transport import Reply, Request, Stream, Transport, Unreachable

T = TypeVar("T")

_PIECES_AHEAD: Final = 64


class ThreadedTransport:
    def __init__(self, transport: Transport, loop: asyncio.AbstractEventLoop) -> None:
        """`loop` is the one that the transport belongs to."""
        self._transport = transport
        self._loop = loop

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        sending = self._transport.send(request, timeout_s=timeout_s)
        return await asyncio.wrap_future(_submit(sending, self._loop, request))

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
        reading = _Reading(self._loop)
        work = reading.read(self._transport, request, timeout_s)
        running = _submit(work, self._loop, request)
        try:
            yield await reading.begun()
        finally:
            running.cancel()

    async def close(self) -> None:
        """The transport is closed by those who live with it."""


def _submit(
    work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, request: Request
) -> "Future[T]":
    try:
        return asyncio.run_coroutine_threadsafe(work, loop)
    except RuntimeError:
        work.close()
        raise Unreachable(f"no answer to {request.method} {request.path}", refused=True) from None


class _Reading:
    """One streamed answer: read in the loop of the server, handed out in the loop of the reader."""

    def __init__(self, there: asyncio.AbstractEventLoop) -> None:
        self._here = asyncio.get_running_loop()
        self._there = there
        self._head: asyncio.Future[Stream] = self._here.create_future()
        self._pieces: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self._room: asyncio.Semaphore | None = None

    # --- in the loop of the server ------------------------------------------------------------

    async def read(self, transport: Transport, request: Request, timeout_s: float) -> None:
        self._room = asyncio.Semaphore(_PIECES_AHEAD)
        ending: Exception | None = None
        try:
            async with transport.stream(request, timeout_s=timeout_s) as stream:
                self._tell(self._begin, stream)
                async for piece in stream.pieces:
                    await self._room.acquire()
                    self._tell(self._pieces.put_nowait, piece)
        except Exception as problem:
            ending = problem
        finally:
            self._tell(self._end, ending)

    def _tell(self, function: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # the reader's loop is closed
            self._here.call_soon_threadsafe(function, *args)

    # --- in the loop of the reader ------------------------------------------------------------

    async def begun(self) -> Stream:
        return await self._head

    def _begin(self, stream: Stream) -> None:
        if not self._head.done():
            self._head.set_result(Stream(stream.status, stream.headers, self._read()))

    def _end(self, ending: Exception | None) -> None:
        if not self._head.done():
            self._head.set_exception(ending or Unreachable("the server has ended"))
        self._pieces.put_nowait(ending)

    async def _read(self) -> AsyncIterator[bytes]:
        while True:
            piece = await self._pieces.get()
            if piece is None:
                return
            if isinstance(piece, Exception):
                raise piece
            if self._room is not None:
                with suppress(RuntimeError):  # the server's loop is closed: what was read is left
                    self._there.call_soon_threadsafe(self._room.release)
            yield piece
