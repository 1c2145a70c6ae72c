"""An engine with a driver that does nothing by itself, on a virtual clock, checked at every step.

A test says what happens and when: objects come and go, the clock moves, bindings end as they are
told to. What the engine asks for is sorted into lists. The default profile runs with whatever fake
plugins a test adds to it.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from builders import make_pod
from msgspec.structs import replace
from virtual_clock import VirtualClock

from podium.api.meta import KubeStruct
from podium.api.node import Node
from podium.api.pod import Pod
from podium.cluster.pod_info import PodInfo
from podium.config.feature_gates import FeatureGates
from podium.config.load import load_configuration
from podium.config.types import API_VERSION, KIND
from podium.engine.binding_cycle import Binding
from podium.engine.choice import FirstByName
from podium.engine.requests import Bind, Event, Nominate, PatchStatus, Preempt
from podium.engine.scheduler import Attempt, Engine
from podium.framework.asking import Asker
from podium.framework.extender_calls import BindAnswer, BindCall, CallFailed
from podium.framework.points import Plugin
from podium.framework.status import Status
from podium.plugins import in_tree_registry

OURS = "default-scheduler"


def pending(name: str, **fields: Any) -> Pod:
    return make_pod(name, **{"schedulerName": OURS, **fields})


class SmallDriver:
    def __init__(
        self,
        *objects: KubeStruct,
        plugins: Iterable[type[Plugin]] = (),
        gates: Mapping[str, bool] | None = None,
        profiles: Iterable[str] = (OURS,),
        disabled: Iterable[str] = (),
        validate: bool = True,
        ask: Asker | None = None,
        **configured: Any,
    ) -> None:
        """`ask` speaks for extenders; other keywords are those of a configuration file."""
        self.ask = ask
        added = list(plugins)
        sets = {
            "multiPoint": {
                "enabled": [{"name": plugin.name} for plugin in added],
                "disabled": [{"name": name} for name in disabled],
            }
        }
        switched = FeatureGates(gates or {})
        configuration = load_configuration(
            {
                "apiVersion": API_VERSION,
                "kind": KIND,
                "profiles": [{"schedulerName": name, "plugins": sets} for name in profiles],
                **configured,
            },
            gates=switched,
        )
        self.clock = VirtualClock()
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
        self.bindings: dict[str, Binding] = {}
        self.put(*objects)

    # the world

    def put(self, *objects: KubeStruct) -> None:
        intake = self.engine.intake
        for obj in objects:
            match obj:
                case Node():
                    intake.node_put(obj)
                case Pod():
                    intake.pod_put(obj)
                case _:
                    intake.object_put(obj)

    def pod(self, name: str) -> Pod:
        """A pod as the engine last heard of it."""
        return self.engine.state.pods[f"default/{name}"]

    def change(self, name: str, **status: Any) -> None:
        """A pod's status changes; fields by their Python names."""
        pod = self.pod(name)
        self.put(replace(pod, status=replace(pod.status, **status)))

    def terminate(self, name: str) -> None:
        """A pod's deletion starts."""
        pod = self.pod(name)
        metadata = replace(pod.metadata, deletion_timestamp="2026-01-01T00:00:00Z")
        self.put(replace(pod, metadata=metadata))

    def delete(self, name: str) -> None:
        self.engine.intake.pod_deleted(self.pod(name))

    def confirm(self, name: str, node: str) -> None:
        """The API server says that a pod is on a node."""
        pod = self.pod(name)
        self.put(replace(pod, spec=replace(pod.spec, node_name=node)))

    # the engine at work

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
        """Sort what the engine asks for."""
        for request in self.engine.take_requests():
            match request:
                case Event():
                    self.events.append(request)
                case PatchStatus():
                    self.patches.append(request)
                case Nominate():
                    self.nominations.append(request)
                case Preempt():
                    self.preemptions.append(request)
                case Bind():
                    self.bindings[request.binding.cycle.pod.pod.metadata.name] = request.binding

    # bindings

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        """The API handle: binding succeeds and says nothing more."""

    async def ask_to_bind(self, call: BindCall) -> BindAnswer | CallFailed:
        (answer,) = self.ask((call,)) if self.ask is not None else ()
        assert isinstance(answer, BindAnswer | CallFailed)
        return answer

    def run_binding(self, name: str) -> Status | None:
        """Let a binding cycle run; how it ended is not reported yet."""
        return asyncio.run(self.bindings[name].run(self))

    def finish(self, name: str, problem: Status | None = None) -> None:
        """Report how a binding ended."""
        self.engine.bindings.finished(self.bindings.pop(name), problem)
        self.collect()

    def bound(self, name: str) -> None:
        """A binding goes well in every respect."""
        node = self.bindings[name].node_name
        self.finish(name, self.run_binding(name))
        self.confirm(name, node)
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
