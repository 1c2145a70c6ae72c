"""An API server that knows nothing but events, and a recorder that writes to it.

It keeps what is created and patched, remembers when it was asked for what, and lets a test decide
how it fails. Time is the loop's.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from random import Random
from typing import Any

from support.live.scripted_server import refusal, reply
from support.live.virtual_loop import sleep_virtually

from podium.client import KubeClient, LoopClock, Unreachable
from podium.client.transport import Reply, Request, Stream
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.live.event_recorder import EventRecorder
from podium.scheduler.cluster.pod_info import PodInfo, PodInfos
from podium.scheduler.engine.requests import Event
from podium.testing import make_pod

BEGIN_S = 1_800_000_000
DISCOVERY = "/apis/events.k8s.io/v1"

Trouble = Callable[[Request], Reply | Unreachable | None]


@dataclass(frozen=True)
class Sent:
    at_s: float
    method: str
    path: str
    content_type: str
    body: Any


class EventServer:
    """`has_series` False: one that serves core/v1 alone."""

    def __init__(self, *, has_series: bool = True, latency_s: float = 0.01) -> None:
        self.has_series = has_series
        self.latency_s = latency_s
        self.trouble: Trouble = lambda _: None
        self.stored: dict[str, Any] = {}
        self.sent: list[Sent] = []
        self.most_at_once = 0
        self._at_once = 0

    @property
    def writes(self) -> list[Sent]:
        return [sent for sent in self.sent if sent.method != "GET"]

    @property
    def methods(self) -> list[str]:
        return [sent.method for sent in self.writes]

    @property
    def counts(self) -> list[int]:
        """How often each stored event was seen."""
        return [body.get("series", {}).get("count", 1) for body in self.stored.values()]

    def expire(self) -> None:
        """Forget every event, as a server does after an hour."""
        self.stored.clear()

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        now = asyncio.get_running_loop().time()
        body = json.loads(request.body) if request.body else None
        self.sent.append(Sent(now, request.method, request.path, request.content_type, body))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await sleep_virtually(self.latency_s)
        finally:
            self._at_once -= 1
        answer = self.trouble(request) or self._answer(request, body)
        if isinstance(answer, Unreachable):
            raise answer
        return answer

    def _answer(self, request: Request, body: Any) -> Reply:
        if request.path == DISCOVERY:
            return reply({}) if self.has_series else refusal(404, "NotFound")
        if request.method == "POST":
            path = f"{request.path}/{body['metadata']['name']}"
            if path in self.stored:
                return refusal(409, "AlreadyExists")
            self.stored[path] = body
            return reply(body, 201)
        if request.path not in self.stored:
            return refusal(404, "NotFound")
        self.stored[request.path] = {**self.stored[request.path], **body}
        return reply(self.stored[request.path])

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        raise AssertionError("events are not watched")

    async def close(self) -> None:
        pass


def make_recorder(server: EventServer, *, wall: Callable[[], float] | None = None) -> EventRecorder:
    loop = asyncio.get_running_loop()
    clock = LoopClock()
    return EventRecorder(
        KubeClient(server, clock=clock),
        host="tower",
        clock=clock,
        wall=wall or (lambda: BEGIN_S + loop.time()),
        randomness=Random(1),
    )


@contextlib.asynccontextmanager
async def running(recorder: EventRecorder) -> AsyncIterator[EventRecorder]:
    task = asyncio.ensure_future(recorder.run())
    try:
        yield recorder
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.asynccontextmanager
async def recording(server: EventServer) -> AsyncIterator[EventRecorder]:
    async with running(make_recorder(server)) as recorder:
        yield recorder


def pod_info(name: str = "web-0", *, version: int = 7, scheduler: str = "gold") -> PodInfo:
    metadata = {"resourceVersion": str(version)}
    return PodInfos(ALL_REQUESTS).of(make_pod(name, metadata=metadata, schedulerName=scheduler))


def failed(pod: PodInfo, note: str = "0/1 nodes are available") -> Event:
    return Event(pod, "Warning", "FailedScheduling", "Scheduling", note)


def scheduled(pod: PodInfo) -> Event:
    return Event(pod, "Normal", "Scheduled", "Binding", f"Successfully assigned {pod.key} to n1")
