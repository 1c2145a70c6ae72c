"""A web server in this event loop, and clients that send it any bytes whatever."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from podium.net.serving import Limits, WebServer, listen

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

Application = Callable[[Any, Any, Any], Awaitable[None]]


@dataclass
class Heard:
    status: int
    headers: dict[str, str]
    body: bytes


class RawClient:
    """One connection; what is read is taken apart only as far as tests need it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def hear(self) -> Heard:
        """The next answer."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *rest = head.strip().split("\r\n")
        headers = {
            name.lower(): value for name, _, value in (each.partition(": ") for each in rest)
        }
        if headers.get("transfer-encoding") == "chunked":
            body = await self._chunks()
        else:
            body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Heard(int(line.split()[1]), headers, body)

    async def ask(self, data: bytes) -> Heard:
        self.send(data)
        return await self.hear()

    async def until_closed(self) -> bytes:
        """What comes before the server ends the connection."""
        with contextlib.suppress(ConnectionError):
            return await self.reader.read()
        return b""

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return body


@dataclass
class Served:
    port: int
    server: WebServer | None = None

    @contextlib.asynccontextmanager
    async def client(self, context: ssl.SSLContext | None = None) -> AsyncIterator[RawClient]:
        name = "localhost" if context is not None else None
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=context, server_hostname=name, limit=1 << 24
        )
        try:
            yield RawClient(reader, writer)
        finally:
            writer.transport.abort()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def ask(self, data: bytes) -> Heard:
        """One request on a connection of its own."""
        async with self.client() as client:
            return await client.ask(data)

    def socket(self) -> socket.socket:
        """A connection that nobody reads unless the test does."""
        small = socket.socket()
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        small.connect(("127.0.0.1", self.port))
        small.setblocking(False)
        return small


@contextlib.asynccontextmanager
async def served(
    application: Application,
    limits: Limits | None = None,
    context: ssl.SSLContext | None = None,
) -> AsyncIterator[Served]:
    listener = listen("127.0.0.1", 0)
    server = WebServer(
        application,
        limits=limits or Limits(),
        grace_s=1,
        context=(lambda: context) if context else None,
    )
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    await server.accepting.wait()
    try:
        yield Served(listener.getsockname()[1], server)
    finally:
        server.should_exit = True
        await serving


async def answer(send: Any, body: bytes = b"ok", status: int = 200) -> None:
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Echo:
    """Answers with what it was sent; keeps the scopes of what it was asked."""

    def __init__(self) -> None:
        self.scopes: list[dict[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            more = message["more_body"]
        await answer(send, body or b"ok")


class Deaf:
    """Answers without reading anything."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await answer(send, b"no", 403)
