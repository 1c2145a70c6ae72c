"""The engine with somebody looking over its shoulder.

A decision can be taken apart afterwards, but not what the cluster looked like before it: so for
watched pods every filter is asked about every node just before the attempt. And whatever breaks in
an attempt is kept with its traceback and becomes that pod's failure, not the run's.
"""

import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from podium.cluster.pod_info import PodInfo
from podium.config.types import Configuration
from podium.engine import Attempt, Decision, Engine
from podium.engine.choice import Choice
from podium.framework.filtering import describe
from podium.framework.registry import Registry
from podium.simulator.examination import Examination, examine

CRASHED = "Podium failed while it looked for a node: "


@dataclass(frozen=True, slots=True)
class Look:
    """One attempt for a watched pod."""

    decision: Decision
    examination: Examination


@dataclass(slots=True)
class Sights:
    """What was seen: attempts of watched pods, and tracebacks of any pod, by key."""

    attempts: dict[str, list[Look]] = field(default_factory=dict)
    crashes: dict[str, str] = field(default_factory=dict)


class WatchingEngine(Engine):
    def __init__(
        self,
        configuration: Configuration,
        registry: Registry,
        *,
        choice: Choice,
        clock: Callable[[], float],
        watch: Collection[str] = (),
    ) -> None:
        super().__init__(configuration, registry, choice=choice, clock=clock)
        self.sights = Sights({key: [] for key in watch})

    def schedule(self, info: PodInfo) -> Attempt:
        looks = self.sights.attempts.get(info.key)
        try:
            examination = None if looks is None else examine(self, info)
            attempt = super().schedule(info)
        except Exception as problem:
            return Attempt(self._crashed(info, problem))
        if looks is not None and examination is not None:
            looks.append(Look(attempt.decision, examination))
        return attempt

    def _crashed(self, info: PodInfo, problem: Exception) -> Decision:
        self.sights.crashes[info.key] = traceback.format_exc()
        if self.cluster.is_assumed(info.uid):
            self.cluster.forget(info)
        return Decision(
            info,
            info.pod.spec.scheduler_name,
            (),
            message=CRASHED + describe(problem),
            is_error=True,
            nominated_node="",
        )
