"""Scheduling in-process and timing it.

Loading is not counted. What is counted is the whole way of every pod: its arrival, the queue, the
scheduling cycle, the binding cycle against an in-memory API, and the confirmation that turns the
assumed pod into a running one. The pods of a named workload arrive all at once, as the reference
suite creates them; those of a workload file arrive one after the other, each when the one before
is done.
"""

import os
import resource
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import msgspec

from podium.bench.cases import CASES
from podium.bench.driver import MAX_ATTEMPTS_PER_POD, Driver
from podium.bench.figures import Figures, percentile_ms
from podium.bench.scene import Arrival, Plan, Scene
from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.node_status import default_allocatable
from podium.scheduler.config.load import load_configuration, load_file
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine.garbage import seldom_collected

PROGRESS_EVERY = 100

Progress = Callable[[int], None]


class Workload(msgspec.Struct):
    """A workload as a file has it."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    init: tuple[Pod, ...] = ()


def read_workload(data: bytes, source: str) -> Workload:
    try:
        read = msgspec.json.decode(data, type=Workload)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise InputError(
            f"not a workload: {problem}",
            source=source,
            remedy='a workload is {"nodes": [...], "init": [bound pods], "pods": [pending pods]}',
        ) from problem
    nodes = tuple(map(default_allocatable, read.nodes))
    pods, init = (tuple(map(_identified, pods)) for pods in (read.pods, read.init))
    return Workload(nodes=nodes, pods=pods, init=init)


def _identified(pod: Pod) -> Pod:
    """The pod with a namespace and a UID, by which the engine tells pods apart."""
    metadata = pod.metadata
    namespace = metadata.namespace or "default"
    uid = metadata.uid or f"{namespace}/{metadata.name}"
    if (namespace, uid) == (metadata.namespace, metadata.uid):
        return pod
    known = msgspec.structs.replace(metadata, namespace=namespace, uid=uid)
    return msgspec.structs.replace(pod, metadata=known)


class Stopwatch:
    """Wall and CPU time between entering and leaving."""

    def __enter__(self) -> "Stopwatch":
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.cpu_s = time.process_time() - self._cpu


def measure_file(
    workload: Workload,
    *,
    percentage: int = 100,
    seed: int = 0,
    progress: Progress | None = None,
) -> Figures:
    """Load a workload, schedule its pods one by one in order, and report."""
    driver = Driver(percentage=percentage, seed=seed)
    with Stopwatch() as loading:
        driver.load(Scene(nodes=workload.nodes, init=workload.init, measured=()))
    times_s: list[float] = []
    clock = time.perf_counter
    with seldom_collected(), Stopwatch() as watch:
        last = clock()
        for index, pod in enumerate(workload.pods):
            driver.arrive((Arrival(pod),))
            driver.step()
            now = clock()
            times_s.append(now - last)
            last = now
            if progress is not None and index % PROGRESS_EVERY == 0:
                progress(index)
    plan = Plan(len(workload.nodes), len(workload.init), len(times_s))
    return _figures(driver, times_s, loading, watch, plan)


def _configured(scene: Scene, text: str | None) -> Configuration | None:
    """What was asked for, or else what the workload is about. Raises ConfigurationError."""
    if text is not None:
        return load_file(text.encode(), source="the configuration", gates=FeatureGates())
    return (
        load_configuration(scene.configuration, gates=FeatureGates())
        if scene.configuration is not None
        else None
    )


def measure_case(
    name: str,
    plan: Plan,
    *,
    percentage: int = 100,
    seed: int = 0,
    configuration: str | None = None,
    progress: Progress | None = None,
    profiler: AbstractContextManager[object] | None = None,
) -> Figures:
    """Build a named workload, load it, schedule its pods, and report; `profiler` looks on, and
    `configuration` is the text of one that is not the workload's."""
    scene = CASES[name].build(plan)
    configured = _configured(scene, configuration)
    driver = Driver(percentage=percentage, seed=seed, configuration=configured)
    with Stopwatch() as loading:
        driver.load(scene)
    arrivals = list(scene.measured)
    most = MAX_ATTEMPTS_PER_POD * max(1, len(arrivals))
    with seldom_collected(), profiler or nullcontext(), Stopwatch() as watch:
        driver.arrive(arrivals)
        while not driver.finished and driver.attempts < most and driver.step():
            if progress is not None and driver.attempts % PROGRESS_EVERY == 0:
                progress(driver.bound)
    return _figures(driver, driver.times_s, loading, watch, replace(plan, pods=len(arrivals)))


def _figures(
    driver: Driver, times_s: Sequence[float], loading: Stopwatch, watch: Stopwatch, plan: Plan
) -> Figures:
    times_s = sorted(times_s)
    return Figures(
        nodes=plan.nodes,
        init=plan.init,
        pods=plan.pods,
        bound=driver.bound,
        failed=plan.pods - driver.bound,
        attempts=driver.attempts,
        evicted=driver.evicted,
        load_cpu_seconds=round(loading.cpu_s, 4),
        seconds=round(watch.wall_s, 4),
        cpu_seconds=round(watch.cpu_s, 4),
        pods_per_s=_rate(plan.pods, watch.wall_s),
        pods_per_cpu_s=_rate(plan.pods, watch.cpu_s),
        p50_ms=percentile_ms(times_s, 50),
        p99_ms=percentile_ms(times_s, 99),
        peak_rss_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        load=round(os.getloadavg()[0], 2),
    )


def _rate(pods: int, seconds: float) -> float:
    return round(pods / seconds, 1) if seconds else 0.0
