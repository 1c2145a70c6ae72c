"""An API server of few words: a transport whose answers a test writes down beforehand."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from podium.client.transport import Reply, Request, Stream, Unreachable

Answer = Reply | Unreachable
END = object()


def reply(body: Any = None, status: int = 200, **headers: str) -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, named, content)


def refusal(code: int, reason: str, message: str = "no", **details: Any) -> Reply:
    return reply(status_object(code, reason, message, **details), code)


def status_object(code: int, reason: str, message: str = "no", **details: Any) -> dict[str, Any]:
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
    return {**status, "message": message, "reason": reason, "code": code, "details": details}


def make_object(
    name: str, version: int | str, namespace: str = "ns", **more: Any
) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "resourceVersion": str(version)}
    return {"metadata": metadata, **more}


def make_list(version: int | str, *items: dict[str, Any], following: str = "") -> Reply:
    metadata = {"resourceVersion": str(version), "continue": following}
    return reply({"kind": "PodList", "metadata": metadata, "items": list(items)})


def line(kind: str, obj: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def bookmark(version: int | str, *, ends_list: bool = False) -> bytes:
    metadata: dict[str, Any] = {"resourceVersion": str(version)}
    if ends_list:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    return line("BOOKMARK", {"metadata": metadata})


class OpenWatch:
    """A watch that a test feeds while it is open."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.parameters = dict(request.query)
        self._pieces: asyncio.Queue[Any] = asyncio.Queue()

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._pieces.put_nowait(piece)

    def end(self) -> None:
        self._pieces.put_nowait(END)

    def break_off(self) -> None:
        self._pieces.put_nowait(Unreachable("the answer broke off"))

    async def pieces(self) -> AsyncIterator[bytes]:
        while True:
            piece = await self._pieces.get()
            if piece is END:
                return
            if isinstance(piece, Exception):
                raise piece
            yield piece


class ScriptedServer:
    """Answers in the order in which they were given; watches without an answer stay open."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.watch_refusals: list[Answer] = []
        self.requests: list[Request] = []
        self.watches: list[OpenWatch] = []
        self.on_watch: Callable[[OpenWatch], None] = lambda _: None

    def parameters(self, index: int) -> dict[str, str]:
        return dict(self.requests[index].query)

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Unreachable):
            raise answer
        return answer

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
        self.requests.append(request)
        if self.watch_refusals:
            answer = self.watch_refusals.pop(0)
            if isinstance(answer, Unreachable):
                raise answer
            yield Stream(answer.status, answer.headers, _once(answer.body))
            return
        watch = OpenWatch(request)
        self.watches.append(watch)
        self.on_watch(watch)
        yield Stream(200, {}, watch.pieces())

    async def close(self) -> None:
        pass


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
