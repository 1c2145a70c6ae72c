"""A lease on a server that is far away: requests and answers take their time or get lost.

The server knows one Lease with resource versions, and takes events. A candidate reaches it over a
`Line` of its own. What happens to a request there does not depend on whether anybody still waits
for the answer, as with a real server.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from support.live.scripted_server import refusal, reply
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import Clock, KubeClient, LoopClock, Unreachable
from podium.client.transport import Reply, Request, Stream
from podium.golang.durations import Duration
from podium.live.leader_election import LeaderElection
from podium.scheduler.config.types import LeaderElectionConfiguration

BEGIN_S = 1_800_000_000
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
SETTINGS = LeaderElectionConfiguration(
    lease_duration=Duration.of_seconds(15),
    renew_deadline=Duration.of_seconds(10),
    retry_period=Duration.of_seconds(2),
    resource_lock="leases",
    resource_name="kube-scheduler",
    resource_namespace="kube-system",
)


class LeaseServer:
    def __init__(self) -> None:
        self.lease: dict[str, Any] | None = None
        self.history: list[tuple[float, dict[str, Any]]] = []
        """The spec after every write, with its time."""
        self.events: list[dict[str, Any]] = []
        self.refuses_events = False
        self._version = 0

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        found: dict[str, Any] = self.lease["spec"]
        return found

    @property
    def holder(self) -> str:
        return "" if self.lease is None else str(self.spec.get("holderIdentity") or "")

    def store(self, lease: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        uid = (self.lease or {"metadata": {"uid": f"u{self._version}"}})["metadata"]["uid"]
        metadata = {**lease["metadata"], "uid": uid, "resourceVersion": str(self._version)}
        self.lease = {**lease, "metadata": metadata}
        self.history.append((asyncio.get_running_loop().time(), lease["spec"]))
        return self.lease

    def put(self, labels: dict[str, str] | None = None, **spec: Any) -> None:
        """What somebody else writes."""
        metadata = {"name": "kube-scheduler", "namespace": "kube-system"}
        before = self.lease or {"metadata": metadata, "spec": {}}
        changed = {**before["metadata"], **({"labels": labels} if labels else {})}
        self.store({**before, "metadata": changed, "spec": {**before["spec"], **spec}})

    def answer(self, request: Request) -> Reply:
        if request.path.endswith("/events"):
            if self.refuses_events:
                return refusal(403, "Forbidden", "no events")
            self.events.append(json.loads(request.body))
            return reply({}, 201)
        match request.method:
            case "GET":
                return reply(self.lease) if self.lease else refusal(404, "NotFound", "not found")
            case "POST":
                if self.lease:
                    return refusal(409, "AlreadyExists", "already exists")
                return reply(self.store(json.loads(request.body)), 201)
            case _:
                return self._update(json.loads(request.body))

    def _update(self, body: dict[str, Any]) -> Reply:
        if self.lease is None:
            return refusal(404, "NotFound", "not found")
        known, given = self.lease["metadata"], body["metadata"]
        if any(known[name] != given.get(name) for name in ("uid", "resourceVersion")):
            return refusal(409, "Conflict", "the object has been modified")
        return reply(self.store(body))


@dataclass
class Way:
    """How a request fares."""

    there_s: float = 0.0
    back_s: float = 0.0
    arrives: bool = True
    is_answered: bool = True
    is_refused: bool = False
    instead: Reply | None = None
    """What comes back in place of it; the server does not hear of the request."""


class Line:
    """A transport to the server; `way` says how each request fares."""

    def __init__(self, server: LeaseServer) -> None:
        self.way: Callable[[Request], Way] = lambda _: Way()
        self.requests: list[tuple[float, Request]] = []
        self._server = server

    @property
    def methods(self) -> list[str]:
        """What was asked of the lease."""
        return [r.method for _, r in self.requests if not r.path.endswith("/events")]

    def cut(self) -> None:
        self.way = lambda _: Way(arrives=False)

    def mend(self) -> None:
        self.way = lambda _: Way()

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        loop = asyncio.get_running_loop()
        self.requests.append((loop.time(), request))
        way = self.way(request)
        answered: asyncio.Future[Reply] = loop.create_future()

        def arrive() -> None:
            found = self._server.answer(request)
            if way.is_answered:
                loop.call_later(way.back_s, deliver, found)

        def deliver(found: Reply) -> None:
            if not answered.done():
                answered.set_result(found)

        if way.is_refused:
            raise Unreachable("connection refused", refused=True)
        if way.instead is not None:
            loop.call_later(way.there_s + way.back_s, deliver, way.instead)
        elif way.arrives:
            loop.call_later(way.there_s, arrive)
        try:
            async with asyncio.timeout(timeout_s):
                return await answered
        except TimeoutError:
            raise Unreachable("no answer", in_time=False) from None

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        raise AssertionError("leader election watches nothing")

    async def close(self) -> None:
        pass


class SkewedClock:
    """A clock that began somewhere else, and runs at a speed of its own."""

    def __init__(self, begin_s: float = 0.0, rate: float = 1.0) -> None:
        self.begin_s = begin_s
        self._rate = rate

    def now(self) -> float:
        return self.begin_s + self._rate * asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await sleep_virtually(seconds / self._rate)


@dataclass
class NotedLog:
    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def info(self, message: str, *, v: int = 0, **fields: Any) -> None:
        if v == 0:
            self.lines.append((message, fields))

    def error(self, message: str, **fields: Any) -> None:
        self.lines.append((message, fields))

    @property
    def messages(self) -> list[str]:
        return [message for message, _ in self.lines]


class Elector:
    """A candidate with its line to the server, and the times at which it worked."""

    def __init__(
        self,
        server: LeaseServer,
        identity: str,
        *,
        clock: Clock | None = None,
        settings: LeaderElectionConfiguration = SETTINGS,
        **callbacks: Any,
    ) -> None:
        self.line = Line(server)
        self.log = NotedLog()
        self.wall_offset_s = 0.0
        self.wall_rate = 1.0
        self.worked: list[tuple[float, float]] = []
        self.began_at: float | None = None
        self.on_begin: Callable[[], None] = lambda: None
        self.election = LeaderElection(
            KubeClient(self.line),
            settings,
            identity,
            clock=clock or LoopClock(),
            wall=self._wall,
            randomness=Random(identity),
            log=self.log,
            **callbacks,
        )

    def _wall(self) -> float:
        passed_s = asyncio.get_running_loop().time()
        return BEGIN_S + self.wall_offset_s + self.wall_rate * passed_s

    def works(self) -> bool:
        return self.began_at is not None

    def leads(self) -> bool:
        return self.election.is_leader

    def start(
        self, work: Callable[[], Coroutine[Any, Any, None]] | None = None
    ) -> "asyncio.Task[None]":
        return asyncio.create_task(self.election.lead(work or self.work))

    async def work(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        self.began_at = loop.time()
        self.on_begin()
        try:
            await loop.create_future()
        finally:
            self.worked.append((self.began_at, loop.time()))
            self.began_at = None


async def stopped(*tasks: "asyncio.Task[None]") -> list[BaseException | None]:
    """Cancel tasks and wait for their end; how each ended."""
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


def play(
    scenario: Callable[[LeaseServer, Elector, Elector], Coroutine[Any, Any, None]],
    **callbacks: Any,
) -> None:
    """A scenario with a server and two candidates, `a` and `b`; `a` has the callbacks."""

    async def main() -> None:
        server = LeaseServer()
        await scenario(server, Elector(server, "a", **callbacks), Elector(server, "b"))

    run_virtually(main())


BRISK = LeaderElectionConfiguration(
    lease_duration=Duration.of_seconds(2),
    renew_deadline=Duration.of_seconds(1),
    retry_period=Duration(50_000_000),
    resource_lock=SETTINGS.resource_lock,
    resource_name=SETTINGS.resource_name,
    resource_namespace=SETTINGS.resource_namespace,
)


class RenewalLine(Line):
    """Sets an event when the lease was renewed so often."""

    def __init__(self, server: LeaseServer, after: int = 5) -> None:
        super().__init__(server)
        self.renewed = threading.Event()
        self.closed_in = ""
        self._after = after

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        answer = await super().send(request, timeout_s=timeout_s)
        if self.methods.count("PUT") >= self._after:
            self.renewed.set()
        return answer

    async def close(self) -> None:
        self.closed_in = threading.current_thread().name
