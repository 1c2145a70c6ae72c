"""Requests without sockets: to an application in this process, or in another thread's loop.

The application sees what a server such as uvicorn would show it. A streamed answer runs in a task
of its own; a reader that does not read holds the application up after a few pieces, as a full
socket would, and a reader that leaves is a client that disconnected.

Requests to a transport that lives in the event loop of another thread. A server in a thread of its
own goes on while this thread is held up. Requests are handed to its loop and answers handed back; a
streamed answer is read there a few pieces ahead of its reader here.

Contract: that of `Transport`. When the other loop has ended, the server is unreachable.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from podium.client.transport import MAX_BYTES, Reply, Request, Stream, Transport, Unreachable

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

_PIECES_AHEAD: Final = 16
_PATIENCE_S: Final = 5.0
_DISCONNECT: Final[Message] = {"type": "http.disconnect"}
_ADDRESS: Final = ("127.0.0.1", 0)


class AsgiTransport:
    """Calls one application; `headers` go with every request."""

    def __init__(self, application: Application, headers: Mapping[str, str] | None = None) -> None:
        self._application = application
        self._headers = [
            (name.lower().encode(), value.encode()) for name, value in (headers or {}).items()
        ]

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        call = _WholeCall(request)
        try:
            async with asyncio.timeout(timeout_s):
                await self._application(self._scope(request), call.receive, call.send)
        except TimeoutError:
            raise Unreachable(
                f"no answer to {request.method} {request.path} within {timeout_s:g} s",
                in_time=False,
            ) from None
        except Unreachable:
            raise
        except Exception as problem:
            raise _name_failure(request, problem) from problem
        return call.reply()

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
        call = _StreamedCall(request)
        running = asyncio.ensure_future(
            self._application(self._scope(request), call.receive, call.send)
        )
        running.add_done_callback(call.finish)
        try:
            yield await call.begun(timeout_s)
        finally:
            call.disconnect()
            try:
                await asyncio.wait((running,), timeout=_PATIENCE_S)
            finally:
                running.cancel()

    async def close(self) -> None:
        """The application is not this object's to stop."""

    def _scope(self, request: Request) -> dict[str, Any]:
        headers = list(self._headers)
        if request.body:
            headers.append((b"content-type", request.content_type.encode()))
            headers.append((b"content-length", str(len(request.body)).encode()))
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": unquote(request.path),
            "raw_path": request.path.encode(),
            "query_string": request.query_string.encode(),
            "root_path": "",
            "headers": headers,
            "client": _ADDRESS,
            "server": _ADDRESS,
        }


class _Call:
    """One request from the application's side, as far as both forms share it."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._is_read = False
        self._is_gone = asyncio.Event()
        self.status = 0
        self.headers: dict[str, str] = {}

    async def receive(self) -> Message:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": self._request.body, "more_body": False}
        await self._is_gone.wait()
        return _DISCONNECT

    def _take_head(self, message: Message) -> None:
        self.status = message["status"]
        self.headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in message.get("headers", ())
        }


class _WholeCall(_Call):
    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self._parts: list[bytes] = []
        self._size = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._take_head(message)
            return
        self._parts.append(message.get("body", b""))
        self._size += len(self._parts[-1])
        if self._size > MAX_BYTES:
            raise Unreachable(f"the answer to {self._request.path} is longer than {MAX_BYTES} B")
        if not message.get("more_body"):
            self._is_gone.set()

    def reply(self) -> Reply:
        if not self.status:
            raise Unreachable(f"no answer to {self._request.method} {self._request.path}")
        return Reply(self.status, self.headers, b"".join(self._parts))


class _StreamedCall(_Call):
    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self._head: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pieces: asyncio.Queue[bytes | Unreachable | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(_PIECES_AHEAD)

    async def send(self, message: Message) -> None:
        if self._is_gone.is_set():
            return
        if message["type"] == "http.response.start":
            self._take_head(message)
            if not self._head.done():
                self._head.set_result(None)
            return
        piece = message.get("body", b"")
        if piece:
            await self._room.acquire()
            self._pieces.put_nowait(piece)
        if not message.get("more_body"):
            self._pieces.put_nowait(None)

    def finish(self, running: "asyncio.Future[None]") -> None:
        """The application has returned, properly or not."""
        problem = None if running.cancelled() else running.exception()
        ending = _name_failure(self._request, problem) if problem else None
        if not self._head.done():
            missing = f"no answer to {self._request.method} {self._request.path}"
            self._head.set_exception(ending or Unreachable(missing))
            self._head.exception()  # who asked may have gone: then nobody misses it
        self._pieces.put_nowait(ending)

    async def begun(self, timeout_s: float) -> Stream:
        try:
            async with asyncio.timeout(timeout_s):
                # Not shielded: from Python 3.14 on a shield logs what fails after the timeout.
                await asyncio.wait((self._head,))
                self._head.result()
        except TimeoutError:
            raise Unreachable(
                f"no answer to {self._request.method} {self._request.path} within {timeout_s:g} s",
                in_time=False,
            ) from None
        return Stream(self.status, self.headers, self._read())

    def disconnect(self) -> None:
        self._is_gone.set()
        self._room.release()
        if self._head.done() and not self._head.cancelled():
            self._head.exception()
        self._head.cancel()

    async def _read(self) -> AsyncIterator[bytes]:
        while True:
            piece = await self._pieces.get()
            if piece is None:
                return
            if isinstance(piece, Unreachable):
                raise piece
            self._room.release()
            yield piece


def _name_failure(request: Request, problem: BaseException) -> Unreachable:
    what = f"{type(problem).__name__}: {problem}"
    return Unreachable(f"the application failed at {request.method} {request.path}: {what}")


T = TypeVar("T")

_PIECES_AHEAD_OF_THREAD: Final = 64


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
        self._room = asyncio.Semaphore(_PIECES_AHEAD_OF_THREAD)
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
