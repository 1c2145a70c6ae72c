"""PodGroups of gangs whose pods have all gone: they go too, so that a long run does not fill up."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.offline.simulate.timed_events import ObjectRemoval, TimedEvent
from podium.scheduler.engine import Engine

_EVERY_S: Final = 600.0


class GangGroups:
    """A reactor that looks now and then."""

    def __init__(self) -> None:
        self._next = _EVERY_S

    def next_s(self) -> float | None:
        return self._next

    def react(self, now_s: float, engine: Engine) -> Iterable[TimedEvent]:
        self._next = now_s + _EVERY_S
        members = Counter(
            (pod.metadata.namespace, pod.spec.scheduling_group.pod_group_name)
            for pod in engine.state.pods.values()
            if pod.spec.scheduling_group is not None
        )
        groups = list(engine.cluster.catalog.all(PodGroup))
        return [ObjectRemoval(now_s, group) for group in groups if not members[group.metadata.key]]
