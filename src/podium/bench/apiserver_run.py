"""What `podium apiserver` can take: creations, watchers, objects, hostile requests.

The server runs in a process of its own and the load comes from this one, so that on two processors
neither is in the other's way. Beside pods a second the server's processor time per request is told:
where other programs run too, that is the figure to compare.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from itertools import islice
from time import perf_counter
from typing import Final

import msgspec

from podium.bench.figures import percentile_ms
from podium.bench.http_load import Connection, LoadError, connect, in_fast_loop, request, watch
from podium.bench.served_api import ServedApi, served_api
from podium.bench.templates import IMAGE, SMALL

PODS: Final = "/api/v1/namespaces/default/pods"
_PATIENCE_S: Final = 60.0


class ApiFigures(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One measurement; CPU time and memory are those of the server's process alone."""

    measure: str
    requests: int
    seconds: float
    per_s: float
    cpu_ms: float
    """Processor time per request."""
    cores: float
    """Processor time per second: 1.0 is one core, fully used."""
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    rss_mb: float = 0.0
    watchers: int = 0
    lost: int = 0
    """Events that a watcher did not get, or not in the order of the others."""
    load: float = 0.0


class Plan(msgspec.Struct, kw_only=True, frozen=True):
    """How much of everything."""

    pods: int = 10_000
    connections: int = 32
    watchers: int = 50
    events_per_s: int = 500
    seconds: int = 10
    objects: int = 100_000
    tls: bool = False


def measure_creations(plan: Plan, *, durable: bool) -> ApiFigures:
    """As many creations as the server can take."""
    with served_api(durable=durable, tls=plan.tls) as api:
        name = "creations, durable" if durable else "creations, in memory"
        return in_fast_loop(_create(api, name, plan.pods, plan.connections))


def measure_objects(plan: Plan) -> ApiFigures:
    """How much memory many pods take."""
    with served_api(tls=plan.tls) as api:
        return in_fast_loop(
            _create(api, f"{plan.objects:,} pods kept", plan.objects, plan.connections)
        )


def measure_watchers(plan: Plan) -> ApiFigures:
    """Events at a steady rate to many watchers; times are from a creation to its event."""
    with served_api(tls=plan.tls) as api:
        return in_fast_loop(_follow(api, plan))


def measure_hostile(plan: Plan) -> list[ApiFigures]:
    """Requests that are as hard to serve as one can be, each with its own figures."""
    from podium.bench.hostile_run import list_hostile_requests, measure_hostile_requests

    with served_api(tls=plan.tls) as api:
        costs = measure_hostile_requests(api, list_hostile_requests())
        return [
            _figures(api, each.what, [each.seconds], each.seconds, each.cpu_s) for each in costs
        ]


MEASURES: Final[dict[str, Callable[[Plan], list[ApiFigures]]]] = {
    "create": lambda plan: [measure_creations(plan, durable=False)],
    "create-durable": lambda plan: [measure_creations(plan, durable=True)],
    "watch": lambda plan: [measure_watchers(plan)],
    "objects": lambda plan: [measure_objects(plan)],
    "hostile": measure_hostile,
}
"""Figures of one run, a row each; every run of a measurement has the same rows."""


def creation(api: ServedApi, name: str) -> bytes:
    """The creation of a small pod, as a client would send it."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": "bench"}},
        "spec": {
            "containers": [
                {
                    "name": "pause",
                    "image": IMAGE,
                    "ports": [{"containerPort": 80}],
                    "resources": {"requests": SMALL, "limits": SMALL},
                }
            ]
        },
    }
    return request(api, "POST", PODS, msgspec.json.encode(pod))


async def _create(api: ServedApi, measure: str, pods: int, connections: int) -> ApiFigures:
    wires = [await connect(api) for _ in range(connections)]
    for number, wire in enumerate(wires):
        _expect(await wire.ask(creation(api, f"warm-up-{number}")))
    names = iter(range(pods))
    times: list[float] = []
    cpu, began = api.cpu_s(), perf_counter()
    await asyncio.gather(*(_post(api, wire, names, times) for wire in wires))
    seconds, cpu = perf_counter() - began, api.cpu_s() - cpu
    figures = _figures(api, measure, times, seconds, cpu)
    await asyncio.gather(*(wire.hang_up() for wire in wires))
    return figures


async def _post(api: ServedApi, wire: Connection, names: Iterator[int], times: list[float]) -> None:
    """Create until all names are used up; requests are put together a few at a time."""
    while batch := [creation(api, f"pod-{number:06d}") for number in islice(names, 8)]:
        for sent in batch:
            began = perf_counter()
            _expect(await wire.ask(sent))
            times.append(perf_counter() - began)


def _expect(status: int) -> None:
    if status != 201:
        raise LoadError(f"a creation was answered with {status}")


async def _follow(api: ServedApi, plan: Plan) -> ApiFigures:
    total = plan.events_per_s * plan.seconds
    sent_at: dict[bytes, float] = {}
    times: list[float] = []

    def look(line: bytes, now: float) -> None:
        """Read the events of one watcher: which pod, and how long ago it was sent."""
        place = line.index(b'"name":"pod-') + len(b'"name":"')
        times.append(now - sent_at.pop(line[place : line.index(b'"', place)]))

    path = f"{PODS}?watch=true&resourceVersion=0"
    watches = [await watch(api, path, look)]
    watches += [await watch(api, path) for _ in range(plan.watchers - 1)]
    wires = [await connect(api) for _ in range(min(plan.connections, 8))]
    cpu, began = api.cpu_s(), perf_counter()
    for number in range(total):
        wait = began + number / plan.events_per_s - perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        name = f"pod-{number:06d}"
        sent_at[name.encode()] = perf_counter()
        answer = wires[number % len(wires)].ask(creation(api, name))
        answer.add_done_callback(lambda done: _expect(done.result()))
    while any(each.events < total and not each.lost.is_set() for each in watches):
        if perf_counter() - began > plan.seconds + _PATIENCE_S:
            break
        await asyncio.sleep(0.01)
    seconds, cpu = perf_counter() - began, api.cpu_s() - cpu
    figures = _figures(api, "watched events", times, seconds, cpu)
    figures.watchers = plan.watchers
    figures.lost = sum(
        max(total - each.events, each.digest != watches[0].digest) for each in watches
    )
    await asyncio.gather(*(each.hang_up() for each in (*watches, *wires)))
    return figures


def _figures(
    api: ServedApi, measure: str, times: list[float], seconds: float, cpu: float
) -> ApiFigures:
    times.sort()
    requests = len(times)
    return ApiFigures(
        measure=measure,
        requests=requests,
        seconds=round(seconds, 3),
        per_s=round(requests / seconds, 1),
        cpu_ms=round(1000 * cpu / max(1, requests), 4),
        cores=round(cpu / seconds, 2),
        p50_ms=percentile_ms(times, 50),
        p99_ms=percentile_ms(times, 99),
        rss_mb=api.rss_mb(),
        load=round(os.getloadavg()[0], 2),
    )
