"""The engine with somebody looking over its shoulder.

A decision can be taken apart afterwards, but not what the cluster looked like before it: so for
watched pods every filter is asked about every node just before the attempt. A member of a pod group
is looked for several times before anything is decided; what counts is the attempt that made it
into the journal, and that is the moment at which a look is kept.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from podium.cluster.pod_info import PodInfo
from podium.config.feature_gates import FeatureGates
from podium.config.types import Configuration
from podium.engine import Decision, Engine
from podium.engine.attempt import Attempts
from podium.engine.choice import Choice
from podium.engine.extended_attempt import ExtendedAttempts
from podium.engine.journal import Journal
from podium.framework.asking import Asking
from podium.framework.cycle import Cycle
from podium.framework.pod_group_cycle import PodGroupCycle
from podium.framework.profile import Profile
from podium.framework.registry import Registry
from podium.simulator.examination import Examination, examine


@dataclass(frozen=True, slots=True)
class Look:
    """One attempt for a watched pod.

    Without an examination the pod was never looked for: the attempt broke, or its group had failed
    before it was its turn.
    """

    decision: Decision
    examination: Examination | None


class Looks:
    """Attempts of watched pods by key, oldest first."""

    def __init__(self, watch: Collection[str]) -> None:
        self.kept: dict[str, list[Look]] = {key: [] for key in watch}
        self._examined: dict[str, list[tuple[Decision, Examination]]] = {}

    def watches(self, key: str) -> bool:
        return key in self.kept

    def examined(self, decision: Decision, examination: Examination) -> None:
        self._examined.setdefault(decision.pod.key, []).append((decision, examination))

    def decided(self, decision: Decision) -> None:
        tries = self._examined.pop(decision.pod.key, [])
        found = next((seen for tried, seen in tries if tried is decision), None)
        self.kept[decision.pod.key].append(Look(decision, found))


class WatchingJournal(Journal):
    """Remembers as many pods as a run has, and every decision about watched ones."""

    def __init__(self, looks: Looks, most_pods: int) -> None:
        super().__init__(most_pods=most_pods)
        self._looks = looks

    def keep(self, decision: Decision) -> None:
        super().keep(decision)
        if self._looks.watches(decision.pod.key):
            self._looks.decided(decision)


class WatchingAttempts(ExtendedAttempts):
    """Asks every filter about every node before it looks for one, if the pod is watched."""

    engine: "WatchingEngine"

    def find(
        self, info: PodInfo, profile: Profile, group: PodGroupCycle | None = None
    ) -> tuple[Decision, Cycle]:
        looks = self.engine.looks
        if not looks.watches(info.key):
            return super().find(info, profile, group)
        examination = examine(self.engine, info)
        decision, cycle = super().find(info, profile, group)
        looks.examined(decision, examination)
        return decision, cycle

    def finding(
        self, info: PodInfo, profile: Profile, group: PodGroupCycle | None = None
    ) -> Asking[tuple[Decision, Cycle]]:
        looks = self.engine.looks
        if not looks.watches(info.key):
            return (yield from super().finding(info, profile, group))
        examination = examine(self.engine, info)
        decision, cycle = yield from super().finding(info, profile, group)
        looks.examined(decision, examination)
        return decision, cycle


class WatchingEngine(Engine):
    def __init__(
        self,
        configuration: Configuration,
        registry: Registry,
        *,
        choice: Choice,
        clock: Callable[[], float],
        gates: FeatureGates | None = None,
        watch: Collection[str] = (),
        validate: bool = False,
        most_pods: int = 0,
    ) -> None:
        """`watch` are keys of pods, `most_pods` says how many the journal has to remember."""
        self.looks = Looks(watch)
        super().__init__(
            configuration,
            registry,
            gates=gates,
            choice=choice,
            clock=clock,
            validate=validate,
            journal=WatchingJournal(self.looks, most_pods),
        )

    def _build_attempts(self, choice: Choice, percentage: int) -> Attempts:
        extenders = self.configuration.extenders
        attempts = WatchingAttempts(self.cluster, choice, percentage, self.clock, extenders)
        attempts.engine = self
        return attempts
