"""The engine with somebody looking over its shoulder.

A decision can be taken apart afterwards, but not what the cluster looked like before it: so for
watched pods every filter is asked about every node just before the attempt.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from podium.cluster.pod_info import PodInfo
from podium.config.types import Configuration
from podium.engine import Attempt, Decision, Engine
from podium.engine.choice import Choice
from podium.framework.registry import Registry
from podium.simulator.examination import Examination, examine


@dataclass(frozen=True, slots=True)
class Look:
    """One attempt for a watched pod."""

    decision: Decision
    examination: Examination


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
        """`watch` are keys of pods; `looks` holds their attempts, oldest first."""
        super().__init__(configuration, registry, choice=choice, clock=clock)
        self.looks: dict[str, list[Look]] = {key: [] for key in watch}

    def schedule(self, info: PodInfo) -> Attempt:
        looks = self.looks.get(info.key)
        if looks is None:
            return super().schedule(info)
        examination = examine(self, info)
        attempt = super().schedule(info)
        looks.append(Look(attempt.decision, examination))
        return attempt
