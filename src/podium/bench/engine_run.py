"""Scheduling a workload in-process and timing it.

Loading is not counted. Each pod takes the whole way: PreEnqueue, the scheduling cycle, the binding
cycle against an in-memory API, and the confirmation that turns the assumed pod into a running one.
"""

import gc
import os
import resource
import time
from collections.abc import Callable
from typing import Any

import msgspec

from podium.api.errors import InputError
from podium.api.node import Node
from podium.api.pod import Pod
from podium.cluster.pod_info import PodInfo
from podium.config.load import load_configuration
from podium.engine.binding import Binding
from podium.engine.choice import Seeded
from podium.engine.requests import Bind
from podium.engine.scheduler import Engine
from podium.framework.status import Status
from podium.plugins import in_tree_registry


class Workload(msgspec.Struct):
    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    init: tuple[Pod, ...] = ()


class Figures(msgspec.Struct):
    """One measured run. Times are of the wall clock; `load` is the machine's one-minute load."""

    nodes: int
    pods: int
    bound: int
    failed: int
    seconds: float
    cpu_seconds: float
    pods_per_s: float
    p50_ms: float
    p99_ms: float
    peak_rss_mb: float
    load: float


class _MemoryApi:
    """Accepts every binding at once."""

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        pass


def read_workload(data: bytes, source: str) -> Workload:
    try:
        return msgspec.json.decode(data, type=Workload)
    except msgspec.DecodeError as problem:
        raise InputError(
            f"not a workload: {problem}",
            source=source,
            remedy='a workload is {"nodes": [...], "init": [bound pods], "pods": [pending pods]}',
        ) from problem


def workload_of(raw: dict[str, Any]) -> Workload:
    return msgspec.convert(raw, Workload)


def measure(
    workload: Workload,
    *,
    percentage: int = 100,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Figures:
    """Load a workload, schedule its pods in order, and report."""
    configuration = load_configuration(None)
    engine = Engine(configuration, in_tree_registry(), choice=Seeded(seed), percentage=percentage)
    for node in workload.nodes:
        engine.intake.node_put(node)
    for pod in workload.init:
        engine.intake.pod_put(pod)
    gc.collect()
    gc.freeze()
    times: list[float] = []
    bound = 0
    api = _MemoryApi()
    clock = time.perf_counter
    cpu_started, started = time.process_time(), clock()
    last = started
    for index, pod in enumerate(workload.pods):
        bound += _place(engine, pod, api)
        now = clock()
        times.append(now - last)
        last = now
        if progress is not None and index % 100 == 0:
            progress(index)
    seconds, cpu_seconds = clock() - started, time.process_time() - cpu_started
    gc.unfreeze()
    times.sort()
    return Figures(
        nodes=len(workload.nodes),
        pods=len(workload.pods),
        bound=bound,
        failed=len(workload.pods) - bound,
        seconds=round(seconds, 4),
        cpu_seconds=round(cpu_seconds, 4),
        pods_per_s=round(len(times) / seconds, 1) if seconds else 0.0,
        p50_ms=_percentile(times, 50),
        p99_ms=_percentile(times, 99),
        peak_rss_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        load=round(os.getloadavg()[0], 2),
    )


def _place(engine: Engine, pod: Pod, api: _MemoryApi) -> bool:
    """One pod's whole way; true if it was bound."""
    engine.intake.pod_put(pod)
    engine.schedule_next()
    placed = False
    for request in engine.take_requests():
        if isinstance(request, Bind):
            placed = _bind(engine, request.binding, api)
    return placed


def _bind(engine: Engine, binding: Binding, api: _MemoryApi) -> bool:
    problem = _run(binding, api)
    if problem is None:
        pod = binding.cycle.pod.pod
        spec = msgspec.structs.replace(pod.spec, node_name=binding.node_name)
        engine.intake.pod_put(msgspec.structs.replace(pod, spec=spec))
    engine.bindings.finished(binding, problem)
    return problem is None


def _run(binding: Binding, api: _MemoryApi) -> Status | None:
    work = binding.run(api)
    try:
        work.send(None)
    except StopIteration as ended:
        outcome: Status | None = ended.value
        return outcome
    raise RuntimeError("an in-memory binding must not wait")


def _percentile(times: list[float], percent: int) -> float:
    if not times:
        return 0.0
    return round(times[min(len(times) - 1, len(times) * percent // 100)] * 1000, 4)
