"""Scheduling a workload in-process and timing it.

Loading is not counted. Each pod takes the whole way: PreEnqueue, the scheduling cycle, the binding
cycle against an in-memory API, and the confirmation that turns the assumed pod into a running one.
"""

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
from podium.engine.choice import Seeded
from podium.engine.scheduler import Engine
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
        engine.cluster.put_node(node)
    for pod in workload.init:
        engine.cluster.add_pod(pod)
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
    cluster = engine.cluster
    info = cluster.infos.of(pod)
    if engine.pre_enqueue(info) is not None:
        return False
    attempt = engine.schedule(info)
    binding = attempt.binding
    if binding is None:
        return False
    work = binding.run(api)
    try:
        work.send(None)
    except StopIteration as ended:
        if ended.value is not None:
            engine.undo(binding)
            return False
    placed = msgspec.structs.replace(pod.spec, node_name=binding.node_name)
    cluster.add_pod(msgspec.structs.replace(pod, spec=placed))
    return True


def _percentile(times: list[float], percent: int) -> float:
    if not times:
        return 0.0
    return round(times[min(len(times) - 1, len(times) * percent // 100)] * 1000, 4)
