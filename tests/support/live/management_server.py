"""The management server on a real socket, and a client that shows what it was told."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from support.live.management_pages import settings, surface

from podium.live.serving import ManagementServer

LOOPBACK = ("--bind-address=127.0.0.1", "--secure-port=0")
Run = Callable[[Awaitable[Any]], Any]


@dataclass
class Heard:
    status: int
    head: str
    body: str
    certificate: bytes = b""


def blind() -> ssl.SSLContext:
    """A client that believes any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def ask(
    server: ManagementServer,
    path: str,
    context: ssl.SSLContext | None = None,
    method: str = "GET",
    name: str | None = None,
) -> Heard:
    """One request on a connection of its own; without a context in plain text."""
    where = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(
        "127.0.0.1",
        where.port,
        ssl=context,
        server_hostname=(name or "localhost") if context is not None else None,
    )
    try:
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        connection = writer.get_extra_info("ssl_object")
        shown = connection.getpeercert(binary_form=True) if connection is not None else b""
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    finally:
        writer.close()
        await writer.wait_closed()
    return Heard(int(head.split()[1]), head, body, shown)


def server(*flags: str, **fields: Any) -> ManagementServer:
    reviewers = fields.pop("reviewers", None)
    arguments = (surface(**fields), settings(*LOOPBACK, *flags))
    return ManagementServer(*arguments, reviewers) if reviewers else ManagementServer(*arguments)


async def answer_of(endpoints: ManagementServer, path: str, *rest: Any, **named: Any) -> Heard:
    async with endpoints:
        return await ask(endpoints, path, *rest, **named)
