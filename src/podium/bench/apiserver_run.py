"""What `podium apiserver` can take: creations, watchers, objects, hostile requests.

The server runs in a process of its own and the load comes from this one, so that on two processors
neither is in the other's way. Beside pods a second the server's processor time per request is told:
where other programs run too, that is the figure to compare.

What hostile requests cost the API server: its processor time for each, one after the other. Every
request is sent alone to a server that has nothing else to do, and changes nothing (`dryRun`). How
much work a request may make is bounded by tests, which know no seconds; these figures say what the
bound means on a machine.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from socket import create_connection
from time import perf_counter
from typing import Any, ClassVar, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from podium.bench import hostile_bodies
from podium.bench.http_load import Connection, LoadError, connect, in_fast_loop, request, watch
from podium.bench.results import percentile_ms
from podium.bench.scheduler_process import ServedApi, served_api
from podium.bench.templates import IMAGE, SMALL
from podium.golang.document_structs import Amount, Count, Document

PODS: Final = "/api/v1/namespaces/default/pods"
_PATIENCE_S: Final = 60.0


class ApiFigures(Document, kw_only=True, frozen=True, rename=None, omit_defaults=True):
    """One run of `podium bench apiserver`. Figures that are zero are left out."""

    KIND: ClassVar[str] = "ApiserverBenchmark"
    LISTED: ClassVar[str] = "What `podium bench apiserver --json` prints."

    measure: str
    """What was measured."""
    requests: Count
    """Requests or events."""
    seconds: Amount
    """Duration."""
    per_s: Amount
    """Requests or events a second."""
    cpu_ms: Amount
    """The server's processor time per request, in milliseconds."""
    cores: Amount
    """The server's processor time per second: 1.0 is one core, fully used."""
    p50_ms: Amount = 0.0
    """Time of a request or an event, in milliseconds: the median."""
    p99_ms: Amount = 0.0
    """Time of a request or an event, in milliseconds: the 99th percentile."""
    rss_mb: Amount = 0.0
    """The server's memory, in megabytes."""
    watchers: Count = 0
    """Watchers."""
    lost: Count = 0
    """Events that a watcher did not get, or not in the order of the others."""
    load: Amount = 0.0
    """The machine's one-minute load at the end."""


class LoadPlan(msgspec.Struct, kw_only=True, frozen=True):
    """How much of everything."""

    pods: int = 10_000
    connections: int = 32
    watchers: int = 50
    events_per_s: int = 500
    seconds: int = 10
    objects: int = 100_000
    tls: bool = False


def measure_creations(plan: LoadPlan, *, durable: bool) -> ApiFigures:
    """As many creations as the server can take."""
    with served_api(durable=durable, tls=plan.tls) as api:
        name = "creations, durable" if durable else "creations, in memory"
        return in_fast_loop(_create(api, name, plan.pods, plan.connections))


def measure_objects(plan: LoadPlan) -> ApiFigures:
    """How much memory many pods take."""
    with served_api(tls=plan.tls) as api:
        return in_fast_loop(
            _create(api, f"{plan.objects:,} pods kept", plan.objects, plan.connections)
        )


def measure_watchers(plan: LoadPlan) -> ApiFigures:
    """Events at a steady rate to many watchers; times are from a creation to its event."""
    with served_api(tls=plan.tls) as api:
        return in_fast_loop(_follow(api, plan))


def measure_hostile(plan: LoadPlan) -> list[ApiFigures]:
    """Requests that are as hard to serve as one can be, each with its own figures."""

    with served_api(tls=plan.tls) as api:
        costs = measure_hostile_requests(api, list_hostile_requests())
        return [
            _figures(api, each.what, [each.seconds], each.seconds, each.cpu_s) for each in costs
        ]


MEASURES: Final[dict[str, Callable[[LoadPlan], list[ApiFigures]]]] = {
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


async def _follow(api: ServedApi, plan: LoadPlan) -> ApiFigures:
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
    lost = sum(max(total - each.events, each.digest != watches[0].digest) for each in watches)
    await asyncio.gather(*(each.hang_up() for each in (*watches, *wires)))
    return replace(figures, watchers=plan.watchers, lost=lost)


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


_PODS = "/api/v1/namespaces/default/pods"
_CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_QUEUES = "/apis/example.com/v1/namespaces/default/queues"
_JSON = "application/json"
_HOSTILE_PATIENCE_S = 600.0


class HostileRequest(NamedTuple):
    what: str
    method: str
    path: str
    body: bytes = b""
    content_type: str = _JSON


class RequestCost(NamedTuple):
    """One request: how long it took, and the processor time of the server for it."""

    what: str
    seconds: float
    cpu_s: float


def list_hostile_requests() -> Iterator[HostileRequest]:
    """One for each of the hostile bodies."""
    dry = "dryRun=All"
    encode: Callable[[Any], bytes] = msgspec.json.encode
    for what, pod in hostile_bodies.PODS.items():
        yield HostileRequest(f"pod: {what}", "POST", f"{_PODS}?{dry}", encode(pod))
    for what, change in hostile_bodies.STRATEGIC_MERGES.items():
        name = "f" if "metadata" in change else "v"
        merge = "application/strategic-merge-patch+json"
        path = f"{_PODS}/{name}?{dry}"
        yield HostileRequest(f"strategic merge: {what}", "PATCH", path, encode(change), merge)
    for what, metadata in hostile_bodies.METADATA.items():
        target = {"kind": "Node", "name": "a"}
        binding = encode({"metadata": {"name": "f", **metadata}, "target": target})
        yield HostileRequest(f"binding: {what}", "POST", f"{_PODS}/f/binding?{dry}", binding)
    for what, spec in hostile_bodies.QUEUE_SPECS.items():
        kind = {"apiVersion": "example.com/v1", "kind": "Queue", "metadata": {"name": "a"}}
        queue = encode({**kind, "spec": spec})
        yield HostileRequest(f"custom resource: {what}", "POST", f"{_QUEUES}?{dry}", queue)
    for what, operations in hostile_bodies.JSON_PATCHES.items():
        patch, path = "application/json-patch+json", f"{_CONFIG_MAPS}/a?{dry}"
        yield HostileRequest(f"JSON patch: {what}", "PATCH", path, encode(operations), patch)
    for what, text in hostile_bodies.YAML.items():
        path = f"{_CONFIG_MAPS}?{dry}"
        yield HostileRequest(f"YAML: {what}", "POST", path, text, "application/yaml")
    for what, text in hostile_bodies.JSON.items():
        path = f"{_CONFIG_MAPS}?{dry}&fieldValidation=Strict"
        yield HostileRequest(f"JSON: {what}", "POST", path, text)
    for what, message in hostile_bodies.PROTOBUF.items():
        protobuf = "application/vnd.kubernetes.protobuf"
        yield HostileRequest(f"protobuf: {what}", "POST", f"{_PODS}?{dry}", message, protobuf)
    for what, query in hostile_bodies.QUERIES.items():
        fitting = query.replace(" ", "%20").replace("\\", "%5C")[: 1 << 20]
        yield HostileRequest(f"query: {what}", "GET", f"{_PODS}?{fitting}")


def measure_hostile_requests(
    api: ServedApi, requests: Iterator[HostileRequest]
) -> list[RequestCost]:
    """Prepare the server and send it the requests, each over a connection of its own."""
    config_map = {"metadata": {"name": "a"}, "data": {"a": "b"}}
    for path, prepared in (
        (_CONFIG_MAPS, config_map),
        (_DEFINITIONS, hostile_bodies.QUEUE_DEFINITION),
        (_PODS, hostile_bodies.POD_WITH_VOLUMES),
        (_PODS, hostile_bodies.POD_WITH_FINALIZERS),
    ):
        body = msgspec.json.encode(prepared)
        if (status := _send(api, HostileRequest("", "POST", path, body))) != 201:
            raise LoadError(f"a creation at {path} was answered with {status}")
    costs = []
    for each in requests:
        cpu, began = api.cpu_s(), perf_counter()
        _send(api, each)  # whether it is refused is for the tests to say
        costs.append(RequestCost(each.what, perf_counter() - began, api.cpu_s() - cpu))
    return costs


def _send(api: ServedApi, each: HostileRequest) -> int:
    """The status of the answer, which is read to its end: it may have thousands of headers."""
    lines = [f"{each.method} {each.path} HTTP/1.1", f"Host: {api.host}", "Connection: close"]
    lines += [f"Content-Type: {each.content_type}", f"Content-Length: {len(each.body)}"]
    lines += [f"Authorization: Bearer {api.token}"] if api.token else []
    with ExitStack() as opened:
        wire = opened.enter_context(create_connection((api.host, api.port), _HOSTILE_PATIENCE_S))
        if api.tls is not None:
            wire = opened.enter_context(api.tls.wrap_socket(wire, server_hostname=api.host))
        # An answer may come before the whole body was sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            wire.sendall("\r\n".join((*lines, "", "")).encode() + each.body)
        answer = b""
        with suppress(ConnectionResetError):
            while part := wire.recv(1 << 20):
                answer = answer or part
        return int(answer[9:12] or b"0")
