"""A way to the API server on which things go wrong as a test says: refusals, breaks, delays."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from support.live.virtual_loop import sleep_virtually

from podium.client import KubeClient, Transport
from podium.client.transport import Reply, Request, Stream

Judge = Callable[[Request], Reply | Exception | float | None]


class Moody:
    """A way to the server that, as `judge` says, answers itself, breaks, or dawdles."""

    def __init__(self, transport: Transport, judge: Judge) -> None:
        self._transport = transport
        self._judge = judge

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        verdict = self._judge(request)
        if isinstance(verdict, Exception):
            raise verdict
        if isinstance(verdict, Reply):
            return verdict
        if verdict is not None:
            await sleep_virtually(verdict)
        return await self._transport.send(request, timeout_s=timeout_s)

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
        verdict = self._judge(request)
        if isinstance(verdict, Exception):
            raise verdict
        async with self._transport.stream(request, timeout_s=timeout_s) as stream:
            yield stream

    async def close(self) -> None:
        await self._transport.close()


def moody(judge: Judge) -> Callable[[KubeClient], KubeClient]:
    return lambda client: KubeClient(Moody(client.transport, judge))


def refusal(code: int, reason: str, message: str) -> Reply:
    status = {"kind": "Status", "status": "Failure", "code": code, "reason": reason}
    return Reply(code, {}, msgspec.json.encode({**status, "message": message}))


class Times:
    """Says yes the first few times."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> bool:
        self.left -= 1
        return self.left >= 0


def binds(request: Request, name: str) -> bool:
    return request.method == "POST" and request.path.endswith(f"/pods/{name}/binding")
