"""A cluster and a scheduler in memory, on a clock that stands still, checked at every step.

    cluster = FakeCluster(make_node("a"), make_node("b"), plugins=[MyPlugin])
    decision = cluster.schedule(make_pod("web", requests={"cpu": "1"}))

A test says what happens and when: objects come and go, the clock moves, sources answer. `schedule`
takes one pod all the way to its node. For the steps in between, `attempt` tries the next pod of the
queue, and bindings end as they are told to; what the engine asks for is sorted into lists. The
default profile runs, with whatever plugins a test adds to it; among equal nodes the first by name
is chosen.

An API handle for binding plugins that stand alone: it remembers what it was asked for.

Time as a test wants it: it stands still until it is told to pass.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.driver.driver import OfflineDriver
from podium.offline.driver.in_memory_api import InMemoryApi, MemoryObjects, with_next_version
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.requests import (
    Event,
    Nominate,
    PatchPodGroupStatus,
    PatchStatus,
    Preempt,
    PreemptForGroup,
)
from podium.scheduler.engine.scheduler import Attempt, Engine
from podium.scheduler.engine.search import FirstByName
from podium.scheduler.framework.asking import Asker, BindAnswer, BindCall, CallFailed
from podium.scheduler.framework.points import Plugin, QueueSortPlugin
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins import in_tree_registry

DEFAULT_SCHEDULER: Final = "default-scheduler"


class NotTried(AssertionError):
    """A pod was not tried, and nothing says why."""


class FakeCluster:
    def __init__(
        self,
        *objects: KubeStruct,
        plugins: Iterable[type[Plugin]] = (),
        args: Mapping[str, Mapping[str, Any]] | None = None,
        weights: Mapping[str, int] | None = None,
        gates: Mapping[str, bool] | None = None,
        profiles: Iterable[str] = (DEFAULT_SCHEDULER,),
        disabled: Iterable[str] = (),
        validate: bool = True,
        ask: Asker | None = None,
        **configured: Any,
    ) -> None:
        """`args` and `weights` go by plugin name, in-tree plugins included; `disabled` are plugins
        that are not to run; `gates` may be those of an emulated release. `ask` speaks for
        extenders; other keywords are those of a configuration file."""
        self.ask = ask
        added = list(plugins)
        sorts = any(issubclass(plugin, QueueSortPlugin) for plugin in added)
        replaced = ["PrioritySort"] if sorts else []  # a profile has one order
        sets = {
            "multiPoint": {
                "enabled": _build_enabled([plugin.name for plugin in added], weights or {}),
                "disabled": [{"name": name} for name in dict.fromkeys([*disabled, *replaced])],
            }
        }
        switched = gates if isinstance(gates, FeatureGates) else FeatureGates(gates or {})
        configuration = load_configuration(
            {
                "apiVersion": API_VERSION,
                "kind": KIND,
                "profiles": [
                    {"schedulerName": name, "plugins": sets, "pluginConfig": _arguments(args or {})}
                    for name in profiles
                ],
                **configured,
            },
            gates=switched,
        )
        self.clock = FakeClock()
        self.engine = Engine(
            configuration,
            in_tree_registry().with_plugins(*added),
            gates=switched,
            choice=FirstByName(),
            clock=self.clock,
            validate=validate,
        )
        self.events: list[Event] = []
        self.patches: list[PatchStatus] = []
        self.nominations: list[Nominate] = []
        self.preemptions: list[Preempt] = []
        self.group_patches: list[PatchPodGroupStatus] = []
        self.group_preemptions: list[PreemptForGroup] = []
        self.bindings: dict[str, Binding] = {}
        self.api = FakeClusterApi(self)
        self._driver = _CollectingDriver(self)
        self.put(*objects)

    # the world

    def put(self, *objects: KubeStruct) -> None:
        for obj in objects:
            self.engine.intake.put(obj)

    def answer(self, source: str, value: object) -> None:
        """A source of a plugin answers now."""
        self.engine.sources.put(source, value, self.clock())

    def fail(self, source: str, problem: str) -> None:
        """A source of a plugin cannot be fetched."""
        self.engine.sources.fail(source, problem)

    def plugin(self, name: str) -> Plugin:
        """A plugin as the first profile has it."""
        return self.engine.first_profile.plugins[name]

    def pod(self, name: str) -> Pod:
        """A pod of the namespace `default`, or of another by `namespace/name`, as the engine last
        heard of it."""
        return self.engine.state.pods[name if "/" in name else f"default/{name}"]

    def change(self, name: str, **status: Any) -> None:
        """A pod's status changes; fields by their Python names."""
        pod = self.pod(name)
        self.put(with_next_version(replace(pod, status=replace(pod.status, **status))))

    def terminate(self, name: str) -> None:
        """A pod's deletion starts."""
        pod = self.pod(name)
        metadata = replace(pod.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
        self.put(with_next_version(replace(pod, metadata=metadata)))

    def delete(self, name: str) -> None:
        self.engine.intake.pod_deleted(self.pod(name))

    def confirm(self, name: str, node: str) -> None:
        """The API server says that a pod is on a node."""
        pod = self.pod(name)
        self.put(with_next_version(replace(pod, spec=replace(pod.spec, node_name=node))))

    # the engine at work

    def schedule(self, pod: Pod) -> Decision:
        """What is decided about a pod that arrives now, with whoever is due before it. Pods that
        get a node are bound; one that waits at Permit stays there."""
        self.put(pod)
        key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        while (attempt := self.attempt()) is not None:
            for name in list(self.bindings):
                self._bind(name)
            for one in (attempt, *attempt.others):
                if one.decision.pod.key == key:
                    return one.decision
        held = self.engine.queue.get(key)
        status = self.engine.pre_enqueue(held.info) if held is not None else None
        if held is not None and status is not None:
            return self.engine.record_gated(held.info, status)
        raise NotTried(f"pod {key} was not tried: {self.where().get(pod.metadata.name, 'unknown')}")

    def attempt(self) -> Attempt | None:
        attempt = self.engine.schedule_next(self.ask)
        self.collect()
        return attempt

    def run(self) -> list[str]:
        """Try pods until none is ready; their names in order."""
        return [attempt.decision.pod.pod.metadata.name for attempt in iter(self.attempt, None)]

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.engine.tick()
        self.collect()

    def collect(self) -> None:
        """Sort what the engine asks for; what plugins write is written at once."""
        self._driver.carry_out_requests()

    # bindings

    def run_binding(self, name: str) -> Status | None:
        """Let a binding cycle run; how it ended is not reported yet."""
        return asyncio.run(self.bindings[name].run(self.api))

    def finish(self, name: str, problem: Status | None = None) -> None:
        """Report how a binding ended."""
        self.engine.bindings.finish_binding(self.bindings.pop(name), problem)
        self.collect()

    def bound(self, name: str) -> None:
        """A binding goes well in every respect."""
        binding = self.bindings[name]
        self.finish(name, self.run_binding(name))
        self.confirm(binding.cycle.pod.key, binding.node_name)
        self.collect()

    def _bind(self, name: str) -> None:
        """A binding ends as its plugins would have it."""
        binding, problem = self.bindings[name], self.run_binding(name)
        self.finish(name, problem)
        if problem is None:
            self.confirm(binding.cycle.pod.key, binding.node_name)
            self.collect()

    # looking

    def where(self) -> dict[str, str]:
        """Pod -> part of the queue, `permit`, `binding`, or the node it is on."""
        state = self.engine.state
        parts = state.queue.parts()
        found = {
            queued.info.pod.metadata.name: part
            for part, pods in (
                ("active", parts.active),
                ("backoff", parts.backoff),
                ("error backoff", parts.error_backoff),
                ("unschedulable", parts.unschedulable),
                ("gated", parts.gated),
            )
            for queued in pods
        }
        for uid, held in state.cluster.placements.items():
            node = state.cluster.nodes.names[held.row]
            name = held.info.pod.metadata.name
            if state.waiting.get(uid) is not None:
                found[name] = "permit"
            elif uid in state.flights and held.assumed:
                found[name] = "binding"
            else:
                found[name] = node
        return found

    def nominated(self) -> dict[str, str]:
        return {info.pod.metadata.name: node for info, node in self.engine.cluster.nominator}

    def notes(self, reason: str = "FailedScheduling") -> list[str]:
        """Texts of the events so far that have a reason."""
        return [event.note for event in self.events if event.reason == reason]

    def story(self, name: str) -> list[str]:
        return [line.what for line in self.engine.state.pod_log.lines(f"default/{name}")]


class _CollectingDriver(OfflineDriver):
    """Leaves to the test what comes of a request."""

    def __init__(self, cluster: FakeCluster) -> None:
        super().__init__(cluster.engine, cluster.api)
        self._cluster = cluster

    def bind(self, binding: Binding) -> None:
        self._cluster.bindings[binding.cycle.pod.pod.metadata.name] = binding

    def patch_status(self, request: PatchStatus) -> None:
        self._cluster.patches.append(request)

    def nominate(self, request: Nominate) -> None:
        self._cluster.nominations.append(request)

    def preempt(self, request: Preempt | PreemptForGroup) -> None:
        if isinstance(request, Preempt):
            self._cluster.preemptions.append(request)
        else:
            self._cluster.group_preemptions.append(request)

    def patch_pod_group(self, request: PatchPodGroupStatus) -> None:
        self._cluster.group_patches.append(request)

    def record_event(self, event: Event) -> None:
        self._cluster.events.append(event)


class FakeClusterApi(InMemoryApi):
    """The API handle of its binding plugins: binding succeeds and says nothing more, events are
    among the cluster's."""

    def __init__(self, cluster: FakeCluster) -> None:
        super().__init__(cluster.engine)
        self._cluster = cluster
        self.bound: dict[str, str] = {}
        """`namespace/name` of pods -> the node that bind plugins bound them to."""

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        """What the API server then says of the pod is told by `confirm`."""
        self.bound[pod.key] = node_name

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        self._cluster.events.append(Event(pod, "Normal", reason, action, note))

    async def pause(self, seconds: float) -> None:
        self._cluster.clock.advance(seconds)

    async def ask_to_bind(self, call: BindCall) -> BindAnswer | CallFailed:
        ask = self._cluster.ask
        (answer,) = ask((call,)) if ask is not None else ()
        assert isinstance(answer, BindAnswer | CallFailed)
        return answer


def _build_enabled(names: Iterable[str], weights: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {"name": name, **({"weight": weights[name]} if name in weights else {})}
        for name in dict.fromkeys([*names, *weights])
    ]


def _arguments(args: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"name": name, "args": dict(given)} for name, given in args.items()]


K = TypeVar("K", bound=KubeObject)


class FakeApi(MemoryObjects):
    """Objects are those that it was made with and those that were written since."""

    def __init__(self, *objects: KubeObject) -> None:
        super().__init__()
        self.bound: dict[str, str] = {}
        """`namespace/name` of pods -> the node that they were bound to."""
        self.told: list[tuple[str, str]] = []
        """(reason, note) of events."""
        self.paused_s = 0.0
        self.objects: dict[tuple[type[KubeObject], str], KubeObject] = {}
        for obj in objects:
            self._store(obj)

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        self.bound[pod.key] = node_name

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:  # noqa: ARG002
        self.told.append((reason, note))

    async def pause(self, seconds: float) -> None:
        self.paused_s += seconds

    def _find(self, kind: type[K], name: str, namespace: str) -> K | None:
        key = f"{namespace}/{name}" if namespace else name
        found = self.objects.get((kind, key))
        return found if isinstance(found, kind) else None

    def _store(self, obj: KubeObject) -> None:
        self.objects[type(obj), object_key(obj.metadata)] = obj

    def _discard(self, obj: KubeObject) -> None:
        del self.objects[type(obj), object_key(obj.metadata)]


class FakeClock:
    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> float:
        self.now += seconds
        return self.now
