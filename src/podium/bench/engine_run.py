"""Scheduling in-process and timing it, with an API server that answers at once.

Loading is not counted. What is counted is the whole way of every pod: its arrival, the queue, the
scheduling cycle, the binding cycle against an in-memory API, and the confirmation that turns the
assumed pod into a running one. The pods of a named workload arrive all at once, as the reference
suite creates them; those of a workload file arrive one after the other, each when the one before
is done.

A driver for measuring: the whole way of every pod, with an API server that answers at once. Pods
wait in the engine's own queue; what the engine asks for is carried out as it is asked
(`podium.offline.driver.driver`). Time is virtual, so that the same things happen on a slow machine
and on a fast one: an attempt takes two milliseconds, which is about what the reference scheduler
takes, so that what happens every so often meanwhile happens about as often per pod as it does
there.
"""

import os
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import chain
from time import perf_counter

import msgspec

from podium.bench.cases import CASES
from podium.bench.results import Figures, percentile_ms
from podium.bench.templates import ArrivingPod, BenchmarkPlan, Churn, Scene, Turn
from podium.golang.errors import InputError
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.nodes import default_allocatable
from podium.offline.driver.driver import OfflineDriver
from podium.offline.driver.in_memory_api import InMemoryApi
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.load import load_configuration, load_file
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.garbage import seldom_collected
from podium.scheduler.engine.requests import Preemptor
from podium.scheduler.engine.search import Seeded
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins import in_tree_registry
from podium.user_code.plugins import equip

ATTEMPT_S = 0.002
TICK_EVERY_S = 1.0
MAX_ATTEMPTS_PER_POD = 20
"""An error that time does not heal would be retried for ever."""


class Driver(OfflineDriver):
    def __init__(
        self,
        *,
        percentage: int = 100,
        seed: int = 0,
        configuration: Configuration | None = None,
    ) -> None:
        """Without a `configuration` all is as by default; plugins of Podium's own are found by
        their names. Raises InputError."""
        self._now = 0.0
        self._next_tick = TICK_EVERY_S
        equipped = equip(
            configuration or load_configuration(None, gates=FeatureGates()), in_tree_registry(), ()
        )
        engine = Engine(
            equipped.configuration,
            equipped.registry,
            choice=Seeded(seed),
            clock=lambda: self._now,
            percentage=percentage,
            gates=FeatureGates(),
        )
        super().__init__(engine, InMemoryApi(engine))
        self._churn: list[_Churning] = []
        self._wanted: set[str] = set()
        self.bound = 0
        self.attempts = 0
        self.evicted = 0
        self.times_s: list[float] = []

    # what is there

    def load(self, scene: Scene) -> None:
        self.engine.intake.put_all(chain(scene.nodes, scene.objects, scene.init))
        for name, value in scene.answers.items():
            self.engine.sources.put(name, value, self._now)
        self.carry_out_requests()
        self._churn = [_Churning(churn) for churn in scene.churn]

    def arrive(self, arrivals: Iterable[ArrivingPod]) -> None:
        """Pods that are to be bound."""
        intake = self.engine.intake
        for arrival in arrivals:
            for obj in arrival.objects:
                intake.object_put(obj)
            intake.pod_put(arrival.pod)
            self._wanted.add(arrival.pod.metadata.uid)

    def put(self, obj: KubeStruct) -> None:
        self.engine.intake.put(obj)

    def delete(self, obj: KubeStruct) -> None:
        intake = self.engine.intake
        match obj:
            case Node():
                intake.node_deleted(obj.metadata.name)
            case Pod():
                intake.pod_deleted(obj)
            case _:
                intake.object_deleted(obj)

    # work

    def step(self) -> bool:
        """One attempt and all that follows from it; false when nothing is left to do."""
        started = perf_counter()
        attempt = self.engine.schedule_next()
        self.carry_out_requests()
        if attempt is None:
            return self._jump_ahead()
        self.times_s.append(perf_counter() - started)
        self.attempts += 1
        self._pass(self._now + ATTEMPT_S)
        return True

    @property
    def finished(self) -> bool:
        """Whether every pod that arrived is bound."""
        return not self._wanted

    def _pass(self, now: float) -> None:
        """Let time pass, and happen what happens in it."""
        self._now = now
        for churning in self._churn:
            while churning.due_s <= now:
                turn = churning.next_turn()
                for obj in turn.put:
                    self.put(obj)
                for obj in turn.delete:
                    self.delete(obj)
        if now >= self._next_tick:
            self._next_tick = now + TICK_EVERY_S
            self.engine.tick()

    def _jump_ahead(self) -> bool:
        """Move the clock to the end of the next backoff; false if nobody waits for one."""
        wake = self.engine.queue.next_wake()
        if wake is None:
            return False
        self._now = max(self._now, wake)
        self.engine.tick()
        return True

    # what has come of it

    def binding_ended(self, binding: Binding, problem: Status | None) -> None:
        uid = binding.cycle.pod.uid
        if problem is None and uid in self._wanted:
            self._wanted.remove(uid)
            self.bound += 1

    def victim_evicted(self, preemptor: Preemptor, victim: PodInfo, node_name: str) -> None:  # noqa: ARG002
        self.evicted += 1


class _Churning:
    """A churn and when its next turn is due."""

    def __init__(self, churn: Churn) -> None:
        self._churn = churn
        self._number = 0
        self.due_s = 0.0

    def next_turn(self) -> Turn:
        turn = self._churn.turn(self._number)
        self._number += 1
        self.due_s += self._churn.every_s
        return turn


PROGRESS_EVERY = 100

Progress = Callable[[int], None]


class WorkloadFile(msgspec.Struct):
    """A workload as a file has it."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    init: tuple[Pod, ...] = ()


def read_workload(data: bytes, source: str) -> WorkloadFile:
    try:
        read = msgspec.json.decode(data, type=WorkloadFile)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise InputError(
            f"not a workload: {problem}",
            source=source,
            remedy='a workload is {"nodes": [...], "init": [bound pods], "pods": [pending pods]}',
        ) from problem
    nodes = tuple(map(default_allocatable, read.nodes))
    pods, init = (tuple(map(_identify_pod, pods)) for pods in (read.pods, read.init))
    return WorkloadFile(nodes=nodes, pods=pods, init=init)


def _identify_pod(pod: Pod) -> Pod:
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
    workload: WorkloadFile,
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
            driver.arrive((ArrivingPod(pod),))
            driver.step()
            now = clock()
            times_s.append(now - last)
            last = now
            if progress is not None and index % PROGRESS_EVERY == 0:
                progress(index)
    plan = BenchmarkPlan(len(workload.nodes), len(workload.init), len(times_s))
    return _figures(driver, times_s, loading, watch, plan)


def _read_configuration(scene: Scene, text: str | None) -> Configuration | None:
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
    plan: BenchmarkPlan,
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
    configured = _read_configuration(scene, configuration)
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
    driver: Driver,
    times_s: Sequence[float],
    loading: Stopwatch,
    watch: Stopwatch,
    plan: BenchmarkPlan,
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
