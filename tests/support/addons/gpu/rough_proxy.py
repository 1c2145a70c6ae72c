"""An API server over real sockets between a process and the real one, on a rough day."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from support.addons.extenders.extender_servers import Request as HttpRequest
from support.addons.extenders.extender_servers import reply, serving

from podium.client import Transport, Unreachable
from podium.client.transport import JSON, Request

_WATCH_S = 3600.0
_ANSWER_S = 30.0


@asynccontextmanager
async def proxying(transport: Transport) -> AsyncIterator[str]:
    """The address of a server that hands everything to the transport. An answer that does not come
    is a connection that ends."""

    async def answer(asked: HttpRequest, writer: asyncio.StreamWriter) -> None:
        parts = urlsplit(asked.path)
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        content_type = asked.headers.get("content-type", JSON)
        request = Request(asked.method, parts.path, query, asked.body, content_type)
        try:
            if dict(query).get("watch") in ("1", "true"):
                await _watch(transport, request, writer)
            else:
                told = await transport.send(request, timeout_s=_ANSWER_S)
                reply(writer, told.body, f"{told.status} Told", ("Content-Type: application/json",))
        except Unreachable:
            writer.close()

    async with serving(answer) as server:
        yield server.url


async def _watch(transport: Transport, request: Request, writer: asyncio.StreamWriter) -> None:
    async with transport.stream(request, timeout_s=_WATCH_S) as stream:
        head = (f"HTTP/1.1 {stream.status} Told", "Content-Type: application/json")
        chunked = "Transfer-Encoding: chunked"
        writer.write("\r\n".join((*head, chunked, "", "")).encode())
        pieces: Any = stream.pieces
        async for piece in pieces:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
