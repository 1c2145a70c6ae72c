"""Which events and answers of sources plugins want to hear of, and how they are delivered.

A plugin that can reject a pod and names no events hears of all of them.
Sources: `fillEnqueueExtensions` in `pkg/scheduler/framework/runtime/framework.go` and
`buildQueueingHintMap` in `pkg/scheduler/scheduler.go`.

Plugins that keep something of their own about objects: they are told of each as it comes,
changes and goes.

What an informer's event handlers are to plugins of kube-scheduler: `informed_of` names the kinds,
`on_add`, `on_update` and `on_delete` are called in the order in which things happen, after the
engine itself has taken them in. Contract: a handler that fails is logged and harms nobody else.

Answers of sources in: what a driver has fetched becomes a column, and a wake-up. Like every other
event, an answer that comes in the middle of a cycle takes effect when the cycle is over, so that
all plugins of one attempt read the same numbers.

Which waiting pods hear of an event at all while the gate SchedulerQueueingHints is off. Hints ask
each plugin about the very object; before them a few rules of the plugins in the tree stood here
instead: a node is shown only to pods that it would admit as it is, a pod on a node only to pods
that spread or are drawn to it, and a new storage class only if it waits for the first consumer. A
pod that none of them means waits on, even if a plugin of its own registered for the event. Sources:
`preCheckForNode` in `pkg/scheduler/eventhandlers.go` and
`getUnschedulablePodsWithCrossTopologyTerm` in `pkg/scheduler/backend/queue/scheduling_queue.go`.
"""

from collections.abc import Iterable, Iterator

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import StorageClass
from podium.kubernetes.kinds.workloads import Namespace
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.host_ports import conflicts
from podium.kubernetes.rules.tolerations import find_untolerated_taint
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.engine.queue.queue import Concerns
from podium.scheduler.engine.queue.queueing_hints import Interest, Interests
from podium.scheduler.engine.state import EngineState, transition
from podium.scheduler.framework.asking import EXTENDER
from podium.scheduler.framework.events import Action, ClusterEvent, Registration, Resource
from podium.scheduler.framework.faults import WrongAnswer, locate_problem
from podium.scheduler.framework.points import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
)
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.sources import SourceColumn, Sources
from podium.scheduler.plugins.volumes.pod_claims import WAIT_FOR_FIRST_CONSUMER

_REJECTING = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)

_EVERYTHING = tuple(
    Registration(resource, Action.ALL)
    for resource in (
        Resource.POD,
        Resource.NODE,
        Resource.PERSISTENT_VOLUME,
        Resource.PERSISTENT_VOLUME_CLAIM,
        Resource.CSI_NODE,
        Resource.CSI_DRIVER,
        Resource.CSI_STORAGE_CAPACITY,
        Resource.STORAGE_CLASS,
        Resource.RESOURCE_CLAIM,
        Resource.DEVICE_CLASS,
    )
)
_SOURCES = Registration(Resource.SOURCE, Action.ALL)
_WITH_GROUPS = (*_EVERYTHING, Registration(Resource.POD_GROUP, Action.ALL))


def interests_of(
    profiles: Iterable[Profile],
    *,
    pod_groups: bool = False,
    extenders: bool = False,
    hints: bool = True,
) -> Interests:
    """`pod_groups` says whether there are events about PodGroups, `extenders` whether there are
    any, which may change their minds whatever happens; without `hints` each event that a plugin
    registered for may help whomever it rejected."""
    everything = _WITH_GROUPS if pod_groups else _EVERYTHING
    theirs = tuple(Interest(EXTENDER, registration) for registration in everything)
    return Interests(
        {
            profile.name: tuple(
                Interest(plugin.name, registration if hints else registration._replace(hint=None))
                for plugin in profile.plugins.values()
                if isinstance(plugin, _REJECTING)
                for registration in _registrations(plugin, everything)
            )
            + (theirs if extenders else ())
            for profile in profiles
        }
    )


def _registrations(plugin: Plugin, everything: Iterable[Registration]) -> Iterable[Registration]:
    try:
        declared = plugin.events()
        if declared is not None and not all(isinstance(r, Registration) for r in declared):
            raise WrongAnswer("events", "None or Registrations", declared)
    except Exception as problem:
        raise ConfigurationError(
            f'asking plugin "{plugin.name}" for its events: {locate_problem(problem)}'
        ) from problem
    if declared is None:
        has_sources = type(plugin).sources is not Plugin.sources
        own = (Registration(kind.event_resource, Action.ALL) for kind in plugin.watched_kinds)
        return (*everything, *own, *((_SOURCES,) if has_sources else ()))
    nodes = [r for r in declared if r.resource is Resource.NODE]
    adds = any(r.action & Action.ADD for r in nodes)
    taints = any(r.action & Action.UPDATE_NODE_TAINT for r in nodes)
    if adds and not taints:
        # upstream: whoever waits for new nodes is also woken by every taint change
        return (*declared, Registration(Resource.NODE, Action.UPDATE_NODE_TAINT))
    return declared


class InformedPlugins:
    def __init__(self, profiles: Iterable[Profile]) -> None:
        self._by_kind: dict[type, list[Plugin]] = {}
        for profile in profiles:
            for plugin in profile.plugins.values():
                for kind in plugin.informed_of:
                    self._by_kind.setdefault(kind, []).append(plugin)

    def tell(self, old: KubeStruct | None, new: KubeStruct | None) -> None:
        """An object has come (`old` is None), changed or gone (`new` is None)."""
        if not self._by_kind:
            return
        for plugin in self._by_kind.get(type(old if new is None else new), ()):
            try:
                _call(plugin, old, new)
            except Exception as problem:
                plugin.handle.log.error(
                    "Event handler of a plugin failed",
                    plugin=plugin.name,
                    err=locate_problem(problem),
                )


def _call(plugin: Plugin, old: KubeStruct | None, new: KubeStruct | None) -> None:
    if new is None:
        if old is not None:
            plugin.on_delete(old)
    elif old is None:
        plugin.on_add(new)
    else:
        plugin.on_update(old, new)


SOURCE_UPDATED = ClusterEvent(Resource.SOURCE, Action.UPDATE)


class SourceIntake:
    def __init__(self, state: EngineState, sources: Sources) -> None:
        self.transitions = state.transitions
        self._state = state
        self._sources = sources

    @transition
    def put(self, name: str, value: object, at: float) -> None:
        """A source has answered, at a time by the engine's clock. Raises SourceError for a name
        that nobody declared, and WrongAnswer for a value that means nothing."""
        column = self._sources.column(name)
        if column.keep(value, at):
            for queued in self._state.queue.move_on_event(SOURCE_UPDATED, None, column):
                self._state.note_woken(queued, str(SOURCE_UPDATED), name)

    @transition
    def fail(self, name: str, problem: str) -> None:
        """A source could not be fetched; what it said before stays until it is too old."""
        self._sources.column(name).problem = problem

    def column(self, name: str) -> SourceColumn:
        return self._sources.column(name)

    def __iter__(self) -> Iterator[SourceColumn]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)


_SPREAD = "PodTopologySpread"


class PreChecks:
    """Each answers None when every waiting pod is told, as it is with hints."""

    def __init__(self, cluster: Cluster, gates: FeatureGates) -> None:
        self._cluster = cluster
        self._hints = gates["SchedulerQueueingHints"]
        self._comparison = gates["TaintTolerationComparisonOperators"]

    def of_node(self, name: str) -> Concerns | None:
        """For a node that came or changed."""
        if self._hints:
            return None
        row = self._cluster.nodes.row(name)
        return lambda waiting: self._admits(row, waiting.info)

    def of_assigned_pod(self, pod: Pod, event: ClusterEvent) -> Concerns | None:
        """For a pod that came to a node or changed there."""
        if self._hints or event.action == Action.UPDATE_POD_SCALE_DOWN:
            return None
        namespace = self._cluster.catalog.get(Namespace, pod.metadata.namespace)
        labels = namespace.metadata.labels if namespace is not None else None
        return lambda waiting: _is_drawn_to(waiting, pod, labels)

    def tells(self, obj: object, event: ClusterEvent) -> bool:
        """Whether anybody hears of an object that is neither node nor pod."""
        if self._hints or event.action is not Action.ADD or not isinstance(obj, StorageClass):
            return True
        return obj.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    def _admits(self, row: int, info: PodInfo) -> bool:
        node, spec = self._cluster.nodes.node(row), info.pod.spec
        return (
            self._has_room(row, info)
            and info.shape.node_affinity.matches(node.metadata.labels, node.metadata.name)
            and spec.node_name in ("", node.metadata.name)
            and not conflicts(info.shape.ports, self._cluster.usage.ports.used_ports(row))
            and find_untolerated_taint(
                node.spec.taints, spec.tolerations, comparison=self._comparison
            )
            is None
        )

    def _has_room(self, row: int, info: PodInfo) -> bool:
        nodes, usage = self._cluster.nodes, self._cluster.usage
        usage.grow()
        if usage.pod_count[row] + 1 > nodes.allowed_pods[row]:
            return False
        for name, amount in info.shape.admission_requests.items():
            resource = nodes.resources.find(name)
            free = 0
            if resource >= 0:
                used = int(usage.requested_of(resource)[row])
                free = int(nodes.allocatable[resource, row]) - used
            if amount > max(free, 0):
                return False
        return True


def _is_drawn_to(waiting: QueuedPod, pod: Pod, namespace_labels: dict[str, str] | None) -> bool:
    namespace = pod.metadata.namespace
    if _SPREAD in waiting.rejectors and namespace == waiting.info.pod.metadata.namespace:
        return True
    terms = waiting.info.shape.affinity.required_affinity
    return any(term.matches(namespace, pod.metadata.labels, namespace_labels) for term in terms)
