"""What a plugin may reach beyond its own answers: objects, sources, gates, writes, metrics.

Everything here is in memory and answers at once. What has to be requested over the network comes
through a source (`sources.py`); what has to be written, through the API handle of the binding
cycle.

What plugins of the binding cycle may have done on the API server; the driver carries it out.
Objects go in and come out typed, whatever their kind. A typed object holds the fields that
scheduling reads: `update` writes what was changed in it and leaves fields alone that it does not
know. It is one protocol for all plugins, those for volumes and devices included. Every driver has a
handle of its own: a client, or the cluster in memory (`offline/driver/in_memory_api.py`).

Numbers of plugins for whoever runs the scheduler: counted in memory, shown by the driver. A plugin
says by `Plugin.metrics` what it has to show: counters that it adds to, and gauges that are read
when somebody asks. A driver that serves `/metrics` shows them there under their names; others leave
them alone, and counting costs a look into a dictionary.

The plugins of several profiles are one program to those who look: counters of one name are added
up, and of gauges the first is shown that says something of the same labels.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, runtime_checkable

from podium.golang.json_values import ReadOnlyJson
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.catalog import IndexedPods, PodIndex
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.framework.asking import BindAnswer, BindCall, CallFailed, Extenders
from podium.scheduler.framework.events import Action
from podium.scheduler.framework.log import SILENT, Log
from podium.scheduler.framework.queued import WaitingPods
from podium.scheduler.framework.sources import Sources
from podium.scheduler.framework.status import Status

if TYPE_CHECKING:
    from podium.scheduler.framework.profile import Profile


_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_OF_THE_SCHEDULER: Final = (
    "scheduler_",
    "rest_client_",
    "leader_election_",
    "kubernetes_",
    "kube_",
    "process_",
)

Labels = tuple[str, ...]
Samples = Iterable[tuple[Labels, float]]


class MetricError(ValueError):
    """A metric is declared in a way that cannot be."""


class PluginMetric:
    """A name, a line of help, and the names of its labels."""

    def __init__(self, name: str, words: str, labels: Labels = ()) -> None:
        """Raises MetricError."""
        for text in (name, *labels):
            if not _NAME.fullmatch(text):
                raise MetricError(f"metric {name}: {text!r} is no name: right is a_name_like_this")
        if name.startswith(_OF_THE_SCHEDULER):
            raise MetricError(f"metric {name}: such names are the scheduler's own; begin otherwise")
        self.name = name
        self.words = words
        self.labels = labels

    def samples(self) -> Samples:
        """Values of the labels, in their order, and a number for each."""
        raise NotImplementedError

    def _check_labels(self, labels: Labels) -> Labels:
        if len(labels) != len(self.labels):
            raise MetricError(f"metric {self.name} has the labels {self.labels}, not {labels}")
        return labels


class CounterMetric(PluginMetric):
    """Something that is counted; its name ends with `_total`."""

    def __init__(self, name: str, words: str, labels: Labels = ()) -> None:
        super().__init__(name, words, labels)
        if not name.endswith("_total"):
            raise MetricError(f"counter {name}: right is {name}_total")
        self._counts: dict[Labels, int] = {}

    def add(self, *labels: str, amount: int = 1) -> None:
        known = self._counts.get(labels)
        if known is None:
            known = self._counts[self._check_labels(labels)] = 0
        self._counts[labels] = known + amount

    def samples(self) -> Samples:
        return list(self._counts.items())

    def reset(self) -> None:
        """Count from zero again."""
        self._counts.clear()


class GaugeMetric(PluginMetric):
    """Something that is read when somebody asks."""

    def __init__(
        self, name: str, words: str, labels: Labels = (), *, read: Callable[[], Samples]
    ) -> None:
        super().__init__(name, words, labels)
        self._read = read

    def samples(self) -> Samples:
        return [(self._check_labels(labels), number) for labels, number in self._read()]


class PluginMetrics:
    """All metrics of the plugins of one scheduler, by name."""

    def __init__(self) -> None:
        self._declared: dict[str, list[PluginMetric]] = {}
        self._declared_by: dict[str, str] = {}

    def declare(self, metric: PluginMetric, plugin: str) -> None:
        """Raises MetricError."""
        if not isinstance(metric, CounterMetric | GaugeMetric):
            raise MetricError(
                f"{type(metric).__name__} is no metric: make a CounterMetric or a GaugeMetric"
            )
        name = metric.name
        owner = self._declared_by.setdefault(name, plugin)
        known = self._declared.setdefault(name, [])
        alike = all(type(each) is type(metric) and each.labels == metric.labels for each in known)
        if owner != plugin or not alike:
            raise MetricError(
                f"metric {name} of plugin {plugin} is not the one that plugin {owner} declared:"
                " give it a name of its own"
            )
        known.append(metric)

    def all(self) -> Mapping[str, "list[PluginMetric]"]:
        """The metrics of each name, one for each profile that has the plugin."""
        return self._declared

    def plugin_of(self, name: str) -> str:
        return self._declared_by[name]


def joined_samples(metrics: Iterable[PluginMetric]) -> dict[Labels, float]:
    """What metrics of one name say together."""
    found: dict[Labels, float] = {}
    for metric in metrics:
        adds_up = isinstance(metric, CounterMetric)
        for labels, number in metric.samples():
            if adds_up:
                found[labels] = found.get(labels, 0) + number
            else:
                found.setdefault(labels, number)
    return found


K = TypeVar("K", bound=KubeObject)
E = TypeVar("E", bound=Hashable)


class Preempting:
    """Pods whose victims are being removed right now.

    A preemptor is held back until its last victim is on the way out, so that it is not tried again
    before there can be room.
    """

    def __init__(self) -> None:
        self._last_victims: dict[str, str] = {}

    def start(self, preemptor_uid: str) -> None:
        self._last_victims[preemptor_uid] = ""

    def reach_last(self, preemptor_uid: str, victim_uid: str) -> None:
        if preemptor_uid in self._last_victims:
            self._last_victims[preemptor_uid] = victim_uid

    def finish(self, preemptor_uid: str) -> None:
        self._last_victims.pop(preemptor_uid, None)

    def last_victim(self, preemptor_uid: str) -> str | None:
        """None if the pod is not preempting; empty while earlier victims are being removed."""
        return self._last_victims.get(preemptor_uid)


class Handle:
    """Shared by all plugins of a profile; `profile` is there once they are all built.

    `clock` tells the driver's time in seconds since 1970, `extenders` come in calling order.
    `client_settings` say how the API server is reached and as whom; None where there is none, as in
    simulations. `log` is the scheduler's log, silent where there is none. `metrics` are those that
    plugins declared.
    """

    profile: "Profile"

    def __init__(
        self,
        cluster: Cluster,
        gates: FeatureGates,
        waiting: WaitingPods,
        preempting: Preempting | None = None,
        clock: Callable[[], float] = lambda: 0.0,
        extenders: Extenders = (),
        *,
        sources: Sources | None = None,
        pods: IndexedPods | None = None,
        client_settings: ClientSettings | None = None,
        log: Log = SILENT,
        metrics: PluginMetrics | None = None,
    ) -> None:
        """`pods` are all pods that the engine has heard of."""
        self.cluster = cluster
        self.gates = gates
        self.waiting = waiting
        self.preempting = preempting or Preempting()
        self.clock = clock
        self.extenders = extenders
        self.sources = sources if sources is not None else Sources(cluster.nodes, clock)
        self.client_settings = client_settings
        self.log = log
        self.metrics = metrics if metrics is not None else PluginMetrics()
        self._pods = pods if pods is not None else IndexedPods()

    @property
    def new_node_actions(self) -> Action:
        """What brings nodes to pods that wait for another one. Without queueing hints they are told
        only of nodes that admit them, and a label or a taint can make a node do so."""
        if self.gates["SchedulerQueueingHints"]:
            return Action.ADD
        return Action.ADD | Action.UPDATE_NODE_TAINT | Action.UPDATE_NODE_LABEL

    def list(self, kind: type[K]) -> Iterator[K]:
        """The objects of a kind as they were seen last: nodes, pods on nodes and pods that wait,
        and every other kind that the scheduler watches (`kubernetes.kinds.typed_objects`)."""
        if issubclass(kind, Node):
            nodes = self.cluster.nodes
            found: Iterator[KubeObject | None] = iter(nodes.objects[: nodes.size])
        elif issubclass(kind, Pod):
            found = iter(list(self._pods.values()))
        else:
            found = iter(list(self.cluster.catalog.all(kind)))
        return (obj for obj in found if isinstance(obj, kind))

    def index_pods(self, entry_of: Callable[[Pod], E | None]) -> PodIndex[E]:
        """Pods by something that is worked out from each alone, kept up to date from now on: for
        those who would otherwise go through `list(Pod)` again and again."""
        return self._pods.index(entry_of)

    def get(self, kind: type[K], name: str, namespace: str = "") -> K | None:
        """One object as it was seen last; None if there is none."""
        found: KubeObject | None
        if issubclass(kind, Node):
            row = self.cluster.nodes.row(name)
            found = self.cluster.nodes.objects[row] if row >= 0 else None
        elif issubclass(kind, Pod):
            found = self._pods.get(f"{namespace}/{name}")
        else:
            return self.cluster.catalog.get(kind, name, namespace)
        return found if isinstance(found, kind) else None


class ApiCallFailed(RuntimeError):
    """The API server could not be asked, or said no."""


class ObjectNotFound(ApiCallFailed):
    """There is no such object, or no such kind."""


class ObjectExists(ApiCallFailed):
    """There is an object of that name already."""


class ObjectConflict(ApiCallFailed):
    """The object has changed since it was read: read it again and decide anew."""


class ApiHandle(Protocol):
    """All calls raise ApiCallFailed, or the one of its kinds that says why."""

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        """Put a pod on a node."""

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        """Record a Normal event about a pod, such as ("Provisioning", "Binding", "...")."""

    async def pause(self, seconds: float) -> None:
        """Let time pass; nothing else in the scheduler waits for it."""

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        """An object as it is stored now. `Handle.get` has what was seen last and does not wait."""
        ...

    async def create(self, obj: K, *, generate_name: str = "") -> K:
        """A new object, as it is stored then; `generate_name` has a name made that starts so."""
        ...

    async def update(self, obj: K, *, base: K | None = None, subresource: str = "") -> K:
        """Write what was changed in an object that was read before. The object's resource version,
        if it has one, must still be the stored one; its status is written by
        `subresource="status"` and by nothing else. With the `base` that was changed, nobody has to
        read the object first, and it must be the stored one in any case."""
        ...

    async def patch(
        self,
        kind: type[K],
        name: str,
        patch: Mapping[str, ReadOnlyJson],
        namespace: str = "",
        *,
        subresource: str = "",
    ) -> K:
        """Change an object by a JSON merge patch; fields are named as in YAML. A patch of a pod's
        status is tried again where that may help."""
        ...

    async def delete(self, obj: KubeObject) -> None:
        """Delete an object, unless another has taken its name since."""

    def take_turn(self, uid: str) -> AbstractAsyncContextManager[None]:
        """Wait until nobody else of this scheduler writes to an object; pods that share one would
        otherwise run into each other's versions."""
        ...


class DeferredWrite(ABC):
    """A write that a plugin asks for where it must not wait, by `cycle.writes`: after a failed
    attempt, or when a node is given back. The driver carries it out beside everything else, and
    nobody waits for the outcome: look before you write, as the cluster may have moved on."""

    @abstractmethod
    async def carry_out(self, api: ApiHandle) -> None:
        """Write it; ApiCallFailed is logged."""


@runtime_checkable
class ConcurrentApi(Protocol):
    """A handle under which several pieces of work can wait at the same time.

    Without it the members of a PreBind group take turns, which is right where nothing waits.
    """

    async def first_failure(
        self, work: Sequence[Coroutine[object, object, Status | None]]
    ) -> Status | None:
        """Run all of it together; the first failure ends the rest and is the answer."""
        ...


@runtime_checkable
class ExtenderApi(Protocol):
    """A handle that can ask an extender to bind. Engines with extenders need no other."""

    async def ask_to_bind(self, call: BindCall) -> BindAnswer | CallFailed: ...
