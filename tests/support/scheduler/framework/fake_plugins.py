"""Plugins that do as they are told, and engines made of them.

Each function makes a plugin class that gives fixed answers, so a test can say "this filter rejects
these nodes" and look at what the framework makes of it. Calls are written down in `log` where the
order of calls is the point.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.growth import Ints, Rows, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND, Configuration
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.search import Choice, FirstByName
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis, Verdict, per_row
from podium.scheduler.framework.handle import ApiHandle, Handle
from podium.scheduler.framework.points import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    PermitResult,
    Plugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFlight,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.queued import QueuedPod, WaitingPods
from podium.scheduler.framework.registry import PluginRegistry
from podium.scheduler.framework.status import Status

Log = list[str]
T = TypeVar("T")


class Arrival(QueueSortPlugin):
    """Every profile needs one way to sort its queue."""

    name = "Arrival"

    def sort_key(self, queued: QueuedPod) -> float:
        return queued.timestamp


class Binder(BindPlugin):
    """Every profile needs something that binds."""

    name = "Binder"

    async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        await api.bind(cycle.pod, node_name)
        return None


def made(*kinds: type[Plugin], cluster: Cluster | None = None) -> list[Any]:
    """Instances of plugins, for tests that need no profile around them."""
    handle = Handle(cluster or Cluster(ALL_REQUESTS), FeatureGates(), WaitingPods())
    return [kind(None, handle) for kind in kinds]


def configuration_of(
    plugins: Iterable[type[Plugin]],
    *,
    names: Sequence[str] = ("default-scheduler",),
    weights: Mapping[str, int] | None = None,
    **more: Any,
) -> Configuration:
    """Profiles that have just these plugins, in this order."""
    enabled = [{"name": p.name, "weight": (weights or {}).get(p.name, 0)} for p in plugins]
    sets = {"multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled}}
    profiles = [{"schedulerName": name, "plugins": sets} for name in names]
    return load_configuration(
        {"apiVersion": API_VERSION, "kind": KIND, "profiles": profiles, **more},
        gates=FeatureGates(),
    )


def make_engine(
    *plugins: type[Plugin],
    nodes: Iterable[Node] = (),
    pods: Iterable[Pod] = (),
    choice: Choice | None = None,
    clock: Callable[[], float] = lambda: 0.0,
    names: Sequence[str] = ("default-scheduler",),
    weights: Mapping[str, int] | None = None,
    percentage: int | None = None,
) -> Engine:
    """An engine over fake plugins; a queue sort and a binder are added where there is none."""
    given = list(plugins)
    if not any(issubclass(p, QueueSortPlugin) for p in given):
        given.append(Arrival)
    if not any(issubclass(p, BindPlugin) for p in given):
        given.append(Binder)
    engine = Engine(
        configuration_of(given, names=names, weights=weights),
        PluginRegistry(given),
        choice=choice or FirstByName(),
        clock=clock,
        percentage=percentage,
        gates=FeatureGates(),
    )
    for node in nodes:
        engine.cluster.put_node(node)
    for pod in pods:
        engine.cluster.add_pod(pod)
    return engine


def gate(title: str, answer: Status | Exception | None) -> type[Plugin]:
    class Fake(PreEnqueuePlugin):
        name = title

        def pre_enqueue(self, pod: PodInfo) -> Status | None:
            return _given(answer)

    return Fake


def pre_filter(
    title: str, answer: Status | frozenset[str] | Exception | None, log: Log | None = None
) -> type[PreFilterPlugin]:
    class Fake(PreFilterPlugin):
        name = title

        def pre_filter(self, cycle: Cycle) -> Status | frozenset[str] | None:
            if log is not None:
                log.append(title)
            return _given(answer)

    return Fake


def filter_by(
    title: str, answers: Mapping[str, Status] | Exception, log: Log | None = None
) -> type[FilterPlugin]:
    """A filter that rejects nodes by name, or breaks altogether."""

    class Fake(FilterPlugin):
        name = title

        def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
            if log is not None:
                log.append(title)
            if isinstance(answers, Exception):
                raise answers
            names = [cycle.nodes.names[row] for row in indices(rows)]
            rejected = {i: answers[name] for i, name in enumerate(names) if name in answers}
            return per_row(rejected, len(names))

    return Fake


def crowd_filter(title: str, most: int, rejected: Status, log: Log | None = None) -> type[Plugin]:
    """A filter over the number of pods on a node, which it knows in trials by its state alone."""

    class Counts:
        def __init__(self, delta: int = 0) -> None:
            self.delta = delta

        def clone(self) -> "Counts":
            return Counts(self.delta)

    class Fake(PreFilterPlugin, PreFilterExtensions, FilterPlugin):
        name = title

        def pre_filter(self, cycle: Cycle) -> None:
            cycle.write(title, Counts())

        def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
            cycle.read(title, Counts).delta += 1
            if log is not None:
                log.append(f"add {pod.key}")

        def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
            cycle.read(title, Counts).delta -= 1
            if log is not None:
                log.append(f"remove {pod.key}")

        def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
            counts = cycle.cluster.usage.pod_count[rows] + cycle.read(title, Counts).delta
            full = {i: rejected for i, n in enumerate(counts) if n >= most}
            return per_row(full, len(counts))

    return Fake


def post_filter(
    title: str, answer: PostFilterResult | Exception, log: Log | None = None
) -> type[PostFilterPlugin]:
    class Fake(PostFilterPlugin):
        name = title

        def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
            if log is not None:
                log.append(title)
            return _given(answer)

    return Fake


def score_by(
    title: str,
    scores: Mapping[str, int] | Exception,
    *,
    prepare: Status | Exception | None = None,
    normalized: Callable[[Ints], Ints] | Exception | None = None,
    log: Log | None = None,
) -> type[Plugin]:
    """A score by node name (0 for others), with its PreScore and Normalize answers."""

    class Fake(PreScorePlugin, ScorePlugin):
        name = title

        def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:
            if log is not None:
                log.append(f"prepare {title}")
            return _given(prepare)

        def score(self, cycle: Cycle, rows: Rows) -> Ints:
            if log is not None:
                log.append(f"score {title}")
            if isinstance(scores, Exception):
                raise scores
            names = [cycle.nodes.names[row] for row in indices(rows)]
            return np.array([scores.get(name, 0) for name in names], dtype=np.int64)

        def normalize(self, cycle: Cycle, rows: Rows, raw: Ints) -> Ints:
            if log is not None:
                log.append(f"normalize {title}")
            if isinstance(normalized, Exception):
                raise normalized
            return raw if normalized is None else normalized(raw)

    return Fake


def reserve(
    title: str,
    answer: Status | Exception | None,
    log: Log,
    undoing: Exception | None = None,
) -> type[ReservePlugin]:
    class Fake(ReservePlugin):
        name = title

        def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
            log.append(f"reserve {title} {node_name}")
            return _given(answer)

        def unreserve(self, cycle: Cycle, node_name: str) -> None:
            held = cycle.cluster.is_assumed(cycle.pod.uid)
            log.append(f"unreserve {title} {node_name}{'' if held else ' too late'}")
            _given(undoing)

    return Fake


def permit(title: str, answer: PermitResult | Exception | None) -> type[PermitPlugin]:
    class Fake(PermitPlugin):
        name = title

        def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
            return _given(answer)

    return Fake


def pre_bind(
    title: str,
    flight: PreFlight | Exception,
    answer: Status | Exception | None = None,
    log: Log | None = None,
) -> type[PreBindPlugin]:
    class Fake(PreBindPlugin):
        name = title

        def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
            return _given(flight)

        async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
            if log is not None:
                log.append(f"prebind {title}")
            return _given(answer)

    return Fake


def binder(title: str, answer: Status | Exception | None, log: Log) -> type[BindPlugin]:
    class Fake(BindPlugin):
        name = title

        async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
            log.append(f"bind {title}")
            return _given(answer)

    return Fake


def _given(answer: T | Exception) -> T:
    if isinstance(answer, Exception):
        raise answer
    return answer
