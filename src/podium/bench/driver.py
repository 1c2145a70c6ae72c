"""A driver for measuring: the whole way of every pod, with an API server that answers at once.

Pods wait in the engine's own queue; what the engine asks for is carried out as it is asked: pods
are bound and confirmed, statuses patched and echoed, victims evicted. Time is virtual, so that the
same things happen on a slow machine and on a fast one: an attempt takes two milliseconds, which is
about what the reference scheduler takes, so that what happens every so often meanwhile happens
about as often per pod as it does there.
"""

from collections.abc import Iterable
from time import perf_counter

from msgspec.structs import replace

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, PodCondition
from podium.bench.scene import Arrival, Churn, Scene, Turn
from podium.config.load import load_configuration
from podium.config.types import Configuration
from podium.engine import Engine
from podium.engine.binding_cycle import Binding
from podium.engine.choice import Seeded
from podium.engine.in_memory_api import InMemoryApi, carry_out, run_to_end
from podium.offline.in_memory_objects import with_next_version
from podium.engine.requests import Bind, Nominate, PatchStatus, PluginWrite, Preempt
from podium.framework.api_handle import DeferredWrite
from podium.plugins import in_tree_registry
from podium.user_code.plugins import equip

ATTEMPT_S = 0.002
TICK_EVERY_S = 1.0
MAX_ATTEMPTS_PER_POD = 20
"""An error that time does not heal would be retried for ever."""


class Driver:
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
        equipped = equip(configuration or load_configuration(None), in_tree_registry(), ())
        self.engine = Engine(
            equipped.configuration,
            equipped.registry,
            choice=Seeded(seed),
            clock=lambda: self._now,
            percentage=percentage,
        )
        self._api = InMemoryApi(self.engine)
        self._churn: list[_Churning] = []
        self._wanted: set[str] = set()
        self.bound = 0
        self.attempts = 0
        self.evicted = 0
        self.times_s: list[float] = []

    # what is there

    def load(self, scene: Scene) -> None:
        for node in scene.nodes:
            self.engine.intake.node_put(node)
        for obj in scene.objects:
            self.engine.intake.object_put(obj)
        for pod in scene.init:
            self.engine.intake.pod_put(pod)
        for name, value in scene.answers.items():
            self.engine.sources.put(name, value, self._now)
        self._carry_out_requests()
        self._churn = [_Churning(churn) for churn in scene.churn]

    def arrive(self, arrivals: Iterable[Arrival]) -> None:
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
        self._carry_out_requests()
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

    # what the engine asks for

    def _carry_out_requests(self) -> None:
        engine = self.engine
        while requests := engine.take_requests():
            for request in requests:
                match request:
                    case Bind():
                        self._bind(request.binding)
                    case PatchStatus():
                        self._patch(request)
                    case Preempt():
                        self._preempt(request)
                    case Nominate():
                        self._nominate(request.pod.key, request.node_name)
                    case PluginWrite() if isinstance(request.write, DeferredWrite):
                        carry_out(request.write, self._api)

    def _bind(self, binding: Binding) -> None:
        problem = run_to_end(binding.run(self._api))
        uid = binding.cycle.pod.uid
        self.engine.bindings.finished(binding, problem)
        if problem is None and uid in self._wanted:
            self._wanted.remove(uid)
            self.bound += 1

    def _patch(self, request: PatchStatus) -> None:
        current = self.engine.state.pods.get(request.pod.key)
        if current is None or current.spec.node_name:
            return
        condition = PodCondition(
            type="PodScheduled", status="False", reason=request.reason, message=request.message
        )
        status = replace(current.status, conditions=(condition,))
        if request.nominated_node is not None:
            status = replace(status, nominated_node_name=request.nominated_node)
        self.engine.intake.pod_put(with_next_version(replace(current, status=status)))

    def _nominate(self, key: str, node_name: str) -> None:
        current = self.engine.state.pods.get(key)
        if current is not None and not current.spec.node_name:
            status = replace(current.status, nominated_node_name=node_name)
            self.engine.intake.pod_put(with_next_version(replace(current, status=status)))

    def _preempt(self, request: Preempt) -> None:
        engine, preemptor = self.engine, request.preemptor
        for weaker in request.clear:
            self._nominate(weaker.key, "")
        for eviction in request.evict:
            engine.intake.pod_deleted(eviction.victim.pod)
            engine.preemptions.evicted(preemptor, eviction.victim, request.node_name)
        self.evicted += len(request.evict)
        engine.preemptions.finished(preemptor, None)


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
