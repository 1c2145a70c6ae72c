"""A driver for measuring: the whole way of every pod, with an API server that answers at once.

Pods wait in the engine's own queue; what the engine asks for is carried out as it is asked
(`podium.offline.driver.driver`). Time is virtual, so that the same things happen on a slow machine
and on a fast one: an attempt takes two milliseconds, which is about what the reference scheduler
takes, so that what happens every so often meanwhile happens about as often per pod as it does
there.
"""

from collections.abc import Iterable
from itertools import chain
from time import perf_counter

from podium.bench.scene import Arrival, Churn, Scene, Turn
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.offline.driver.driver import OfflineDriver
from podium.offline.driver.in_memory_api import InMemoryApi
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.binding_cycle import Binding
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
        equipped = equip(configuration or load_configuration(None), in_tree_registry(), ())
        engine = Engine(
            equipped.configuration,
            equipped.registry,
            choice=Seeded(seed),
            clock=lambda: self._now,
            percentage=percentage,
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
