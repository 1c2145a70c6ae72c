"""Extenders over real sockets that do exactly what a test tells them, and calls to ask of them."""

import asyncio
import json
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from podium.client.extenders.client import ExtenderClient
from podium.client.extenders.objects import TypedObjects
from podium.golang.durations import Duration
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.config.types import Extender
from podium.scheduler.framework.asking import (
    BindCall,
    ExtenderAnswer,
    ExtenderCall,
    FilterCall,
    PreemptCall,
    PreemptVictims,
    PrioritizeCall,
)
from podium.testing import make_node, make_pod

NODES = ("n1", "n2", "n3")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def decoded(self) -> Any:
        return json.loads(self.body)


Answer = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """Where it is, and what it was asked."""

    url: str
    requests: list[Request] = field(default_factory=list)
    connections: int = 0


@asynccontextmanager
async def serving(answer: Answer, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """A server on a free port; `answer` writes what it likes to each request."""
    tasks: set[asyncio.Task[None]] = set()
    server = Server("")

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            while not writer.is_closing():
                request = await _request(reader)
                server.requests.append(request)
                await answer(request, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(talk(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listening = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def serving_in_thread(answer: Answer) -> Iterator[Server]:
    """The same for callers that block: the server has a loop and a thread of its own."""
    loop = asyncio.new_event_loop()
    started: Future[Server] = Future()
    stop = asyncio.Event()

    async def serve() -> None:
        async with serving(answer) as server:
            started.set_result(server)
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        yield started.result()
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path, headers, body)


def reply(
    writer: asyncio.StreamWriter,
    body: bytes = b"",
    status: str = "200 OK",
    headers: Iterable[str] = (),
) -> None:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    writer.write("\r\n".join(lines).encode() + body)


def answering(body: bytes, status: str = "200 OK", headers: Iterable[str] = ()) -> Answer:
    async def answer(_: Request, writer: asyncio.StreamWriter) -> None:
        reply(writer, body, status, headers)

    return answer


async def never(_: Request, __: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


# --- the asking side --------------------------------------------------------------------------


def make_extender(url: str, timeout: str = "60s", **fields: Any) -> Extender:
    verbs = {
        "filter_verb": "filter",
        "prioritize_verb": "prioritize",
        "preempt_verb": "preempt",
        "bind_verb": "bind",
    }
    settings = {**verbs, "weight": 1, "node_cache_capable": True, **fields}
    return Extender(url_prefix=url, http_timeout=Duration.parse(timeout), **settings)


def filter_call(extender: Extender, pod: Pod | None = None, **fields: Any) -> FilterCall:
    return FilterCall(extender, pod or make_pod("web-0"), fields.pop("nodes", NODES), **fields)


def prioritize_call(extender: Extender, pod: Pod | None = None) -> PrioritizeCall:
    return PrioritizeCall(extender, pod or make_pod("web-0"), NODES)


def preempt_call(extender: Extender, pod: Pod | None = None) -> PreemptCall:
    victims = {"n1": PreemptVictims((make_pod("low-0"),), 1)}
    return PreemptCall(extender, pod or make_pod("web-0"), victims)


def bind_call(extender: Extender, pod: Pod | None = None) -> BindCall:
    return BindCall(extender, pod or make_pod("web-0"), "n1")


def make_client(
    *extenders: Extender,
    nodes: Iterable[Node] | None = None,
    environment: Mapping[str, str] | None = None,
) -> ExtenderClient:
    known = {node.metadata.name: node for node in nodes or map(make_node, NODES)}
    objects = TypedObjects(known.__getitem__)
    return ExtenderClient(extenders, objects, environment=environment or {})


async def ask(
    *calls: ExtenderCall, nodes: Iterable[Node] | None = None
) -> tuple[ExtenderAnswer, ...]:
    """One client for one batch of calls."""
    client = make_client(*(call.extender for call in calls), nodes=nodes)
    try:
        return await client.ask(calls)
    finally:
        await client.close()
