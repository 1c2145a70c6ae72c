"""How fast a scheduler process binds pods in a cluster, and what that costs it.

The API server, the scheduler and the load are three processes, as in a cluster they would be; every
run has new ones. The clock starts with the first creation, when the scheduler has shown by a pod
before that it is at work, and stops when the last pod is seen on a node. Processor time is counted
until the scheduler has come to rest, since events are still to be written when all pods are bound.

What the API server can take is part of every figure. It is the same for all schedulers of a run.

A workload as the requests that bring it into a cluster. The scenes are those that the engine is
measured with. What is there before comes in the order in which it is needed: namespaces, nodes,
pods on nodes. No kubelet runs, so nodes are created ready and pods stay bound.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Final

import msgspec

from podium.bench.cases import CASES, full_name
from podium.bench.http_load import Connection, LoadError, connect, in_fast_loop, request, watch
from podium.bench.results import Figures, percentile_ms
from podium.bench.scheduler_process import (
    OWN_COMMAND,
    SchedulerProcess,
    ServedApi,
    scheduler_process,
    served_api,
)
from podium.bench.templates import BenchmarkPlan, Scene, make_pod
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Namespace

FIRST = "default/first"
"""The pod by which it is seen that a scheduler is at work."""


@dataclass(frozen=True, slots=True)
class LiveScene:
    """Requests by what they are for; pods that are to be bound carry their keys."""

    before: tuple[Sequence[bytes], ...]
    """Each of the groups is there before the next begins."""
    first: bytes
    measured: Sequence[tuple[str, bytes]]


def live_scene(api: ServedApi, scene: Scene) -> LiveScene:
    init = list(scene.init)
    measured = [arrival.pod for arrival in scene.measured]
    known = [each for each in scene.objects if isinstance(each, Namespace)]
    return LiveScene(
        before=(
            _creations(
                api,
                "/api/v1/namespaces",
                (*known, *_find_missing_namespaces(known, (*init, *measured))),
            ),
            _creations(api, "/api/v1/nodes", scene.nodes),
            [_creation_of(api, pod) for pod in init],
        ),
        first=_creation_of(api, make_pod("first")),
        measured=[(_key(pod), _creation_of(api, pod)) for pod in measured],
    )


def _find_missing_namespaces(
    known: Iterable[Namespace], pods: Iterable[Pod]
) -> Iterable[Namespace]:
    """The namespaces that pods name and nobody else makes."""
    there = {"default", *(namespace.metadata.name for namespace in known)}
    named = dict.fromkeys(pod.metadata.namespace for pod in pods)
    for name in named:
        if name not in there:
            yield msgspec.convert({"metadata": {"name": name}}, Namespace)


def _creations(api: ServedApi, path: str, objects: Iterable[Node | Namespace]) -> list[bytes]:
    return [request(api, "POST", path, msgspec.json.encode(each)) for each in objects]


def _creation_of(api: ServedApi, pod: Pod) -> bytes:
    path = f"/api/v1/namespaces/{pod.metadata.namespace}/pods"
    return request(api, "POST", path, msgspec.json.encode(pod))


def _key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


_BOUND_PODS: Final = "/api/v1/pods?watch=true&fieldSelector=spec.nodeName!%3D"
_LOOK_S: Final = 0.2
_PATIENCE_S: Final = 60.0
_REST_S: Final = 0.5
_RESTLESS: Final = 0.05
"""Of a processor; a scheduler that uses less has nothing left to do."""
_LONGEST_TAIL_S: Final = 30.0


class LiveOrder(msgspec.Struct, kw_only=True, frozen=True):
    """What to measure; `command` is the scheduler's, with placeholders for files."""

    workload: str
    plan: BenchmarkPlan
    command: tuple[str, ...] = OWN_COMMAND
    connections: int = 16
    tls: bool = False


class _Meta(msgspec.Struct):
    name: str
    namespace: str = "default"


class _Object(msgspec.Struct):
    metadata: _Meta


class _Event(msgspec.Struct):
    object: _Object


_EVENTS: Final = msgspec.json.Decoder(_Event)


class _Bindings:
    """When pods were created, and when they were first seen on a node."""

    def __init__(self, progress: Callable[[int], None] | None) -> None:
        self._progress = progress
        self._sent: dict[str, float] = {}
        self._news = asyncio.Event()
        self.times: list[float] = []
        self.last = 0.0

    def sent(self, key: str, now: float) -> None:
        self._sent[key] = now

    def note_event(self, line: bytes, now: float) -> None:
        """An event of the watch for pods that have a node."""
        metadata = _EVENTS.decode(line).object.metadata
        sent = self._sent.pop(f"{metadata.namespace}/{metadata.name}", None)
        if sent is not None:
            self.times.append(now - sent)
            self.last = now
            self._news.set()

    async def until(self, count: int, scheduler: SchedulerProcess) -> bool:
        """Wait until so many pods are bound; false if nothing has happened for long.

        Raises SchedulerEnded.
        """
        quiet_since = perf_counter()
        while len(self.times) < count:
            scheduler.check()
            if perf_counter() - quiet_since > _PATIENCE_S:
                return False
            try:
                async with asyncio.timeout(_LOOK_S):
                    await self._news.wait()
            except TimeoutError:
                continue
            self._news.clear()
            quiet_since = perf_counter()
            if self._progress is not None:
                self._progress(len(self.times))
        return True


def live_plan(workload: str, nodes: int, init: int | None, pods: int | None) -> BenchmarkPlan:
    """How much of everything there is in a workload by its short name."""
    return CASES[full_name(workload)].plan(nodes, init=init, pods=pods)


def measure_live(order: LiveOrder, progress: Callable[[int], None] | None = None) -> Figures:
    """One run. Raises SchedulerEnded if the scheduler does not live to its end."""
    with served_api(tls=order.tls) as api:
        return in_fast_loop(_measure(api, order, progress))


async def _measure(
    api: ServedApi, order: LiveOrder, progress: Callable[[int], None] | None
) -> Figures:
    scene = live_scene(api, CASES[full_name(order.workload)].build(order.plan))
    async with AsyncExitStack() as stack:
        wires = [await connect(api) for _ in range(order.connections)]
        for wire in wires:
            stack.push_async_callback(wire.hang_up)
        for group in scene.before:
            await _create_all(wires, group)
        scheduler = stack.enter_context(scheduler_process(order.command, api.kubeconfig))
        await _until_at_work(api, wires[0], scene, scheduler)
        await _at_rest(scheduler)
        bindings = _Bindings(progress)
        async with _follow_bindings(api, bindings):
            cpu, began = scheduler.cpu_s(), perf_counter()
            await _create_all(wires, _note_requests(scene.measured, bindings))
            await bindings.until(len(scene.measured), scheduler)
        await _at_rest(scheduler)
        cpu = scheduler.cpu_s() - cpu
        return _figures(order.plan, bindings, began, cpu, scheduler.peak_rss_mb())


@asynccontextmanager
async def _follow_bindings(api: ServedApi, bindings: _Bindings) -> AsyncIterator[None]:
    """Watch pods that have a node."""
    following = await watch(api, _BOUND_PODS, bindings.note_event)
    try:
        yield
    finally:
        await following.hang_up()


async def _until_at_work(
    api: ServedApi, wire: Connection, scene: LiveScene, scheduler: SchedulerProcess
) -> None:
    bindings = _Bindings(None)
    bindings.sent(FIRST, perf_counter())
    async with _follow_bindings(api, bindings):
        await _create_all((wire,), (scene.first,))
        if not await bindings.until(1, scheduler):
            raise scheduler.trouble(f"has not bound a first pod within {_PATIENCE_S:.0f} s")


async def _at_rest(scheduler: SchedulerProcess) -> None:
    """Return when a scheduler has nothing left to do, or does not come to an end."""
    before, began = scheduler.cpu_s(), perf_counter()
    while perf_counter() - began < _LONGEST_TAIL_S:
        await asyncio.sleep(_REST_S)
        now = scheduler.cpu_s()
        if now - before <= _RESTLESS * _REST_S:
            return
        before = now


def _note_requests(measured: Sequence[tuple[str, bytes]], bindings: _Bindings) -> Iterator[bytes]:
    """Requests, each noted with the time at which it is taken to be sent."""
    for key, sent in measured:
        bindings.sent(key, perf_counter())
        yield sent


async def _create_all(wires: Sequence[Connection], requests: Iterable[bytes]) -> None:
    """Over all connections, each with one request at a time."""
    left = iter(requests)

    async def create(wire: Connection) -> None:
        for sent in left:
            status = await wire.ask(sent)
            if status != 201:
                raise LoadError(f"a creation was answered with {status}")

    await asyncio.gather(*map(create, wires))


def _figures(
    plan: BenchmarkPlan, bindings: _Bindings, began: float, cpu: float, peak_rss_mb: float
) -> Figures:
    times = sorted(bindings.times)
    bound = len(times)
    seconds = max(bindings.last - began, 1e-9) if bound else 0.0
    return Figures(
        nodes=plan.nodes,
        init=plan.init,
        pods=plan.pods,
        bound=bound,
        failed=plan.pods - bound,
        seconds=round(seconds, 3),
        cpu_seconds=round(cpu, 3),
        pods_per_s=round(bound / seconds, 1) if bound else 0.0,
        pods_per_cpu_s=round(bound / max(cpu, 0.01), 1),
        p50_ms=percentile_ms(times, 50),
        p99_ms=percentile_ms(times, 99),
        peak_rss_mb=peak_rss_mb,
        load=round(os.getloadavg()[0], 2),
    )
