"""Whether an event is worth another attempt for a pod, and how soon.

Only plugins that rejected the pod are asked. A plugin that said Pending made progress, so its pod
goes on at once; others wait out their backoff.

Source: `isPodWorthRequeuing` and `determineSchedulingHintForInFlightPod` in
`pkg/scheduler/backend/queue/scheduling_queue.go`.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.events import (
    Action,
    ClusterEvent,
    EventObject,
    Registration,
    Resource,
)
from podium.scheduler.framework.queued import QueuedPod

UNSCHEDULABLE_TIMEOUT = ClusterEvent(Resource.ANY, Action.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(Resource.ANY, Action.ALL, "ForceActivate")


class QueueingStrategy(enum.Enum):
    SKIP = "skip"
    AFTER_BACKOFF = "after backoff"
    IMMEDIATE = "immediate"


class Interest(NamedTuple):
    """A plugin's registration."""

    plugin: str
    registration: Registration


class Interests:
    """Registrations of all profiles."""

    def __init__(self, by_profile: Mapping[str, Sequence[Interest]]) -> None:
        self._by_profile = dict(by_profile)
        self._matching: dict[tuple[str, ClusterEvent], tuple[Interest, ...]] = {}
        self._plugins: dict[ClusterEvent, frozenset[str]] = {}

    def plugins(self, event: ClusterEvent) -> frozenset[str]:
        """Plugins of any profile that registered for an event."""
        found = self._plugins.get(event)
        if found is None:
            found = self._plugins[event] = frozenset(
                interest.plugin
                for profile in self._by_profile
                for interest in self.find_matching(profile, event)
            )
        return found

    def is_registered(self, resource: Resource) -> bool:
        """Whether anybody registered for this very resource."""
        return any(
            interest.registration.resource is resource
            for interests in self._by_profile.values()
            for interest in interests
        )

    def anyone(self, event: ClusterEvent) -> bool:
        """Whether any profile registered for an event."""
        return event.wildcard or bool(self.plugins(event))

    def find_matching(self, profile: str, event: ClusterEvent) -> tuple[Interest, ...]:
        key = (profile, event)
        found = self._matching.get(key)
        if found is None:
            found = self._matching[key] = tuple(
                interest
                for interest in self._by_profile.get(profile, ())
                if interest.registration.concerns(event)
            )
        return found

    def concerns_plugin(self, profile: str, plugin: str, event: ClusterEvent) -> bool:
        return any(interest.plugin == plugin for interest in self.find_matching(profile, event))

    def events_of(self, profile: str, plugin: str) -> list[ClusterEvent]:
        """What a plugin registered for, in its order; whether an event helps is for its hint."""
        return [
            ClusterEvent(registration.resource, registration.action)
            for name, registration in self._by_profile.get(profile, ())
            if name == plugin
        ]

    def requeue_strategy(
        self, queued: QueuedPod, event: ClusterEvent, old: EventObject, new: EventObject
    ) -> QueueingStrategy:
        """How soon a pod may try again because of an event; `helped_by` is who said so."""
        queued.helped_by = ""
        rejectors = queued.rejectors | queued.pending
        if not rejectors:
            return QueueingStrategy.AFTER_BACKOFF
        if event.wildcard:
            other = isinstance(new, Pod) and not queued.info.is_about(new)
            return QueueingStrategy.SKIP if other else QueueingStrategy.AFTER_BACKOFF
        strategy = QueueingStrategy.SKIP
        profile = queued.info.pod.spec.scheduler_name
        for plugin, registration in self.find_matching(profile, event):
            if plugin not in rejectors or not _says_queue(registration, queued, old, new):
                continue
            queued.helped_by = plugin
            if plugin in queued.pending:
                return QueueingStrategy.IMMEDIATE
            strategy = QueueingStrategy.AFTER_BACKOFF
            if not queued.pending:
                return strategy
        return strategy


def _says_queue(
    registration: Registration, queued: QueuedPod, old: EventObject, new: EventObject
) -> bool:
    if registration.hint is None:
        return True
    try:
        return registration.hint(queued.info, old, new)
    except Exception:  # a hint that breaks must not leave the pod waiting for ever
        return True


def in_flight_strategy(
    queued: QueuedPod,
    events: Iterable[tuple[ClusterEvent, EventObject, EventObject]] | None,
    interests: Interests,
) -> QueueingStrategy:
    """What the events during an attempt mean for the pod that failed it."""
    if events is None or not (queued.rejectors or queued.pending):
        return QueueingStrategy.AFTER_BACKOFF
    strategy = QueueingStrategy.SKIP
    for event, old, new in events:
        answer = interests.requeue_strategy(queued, event, old, new)
        if answer is QueueingStrategy.IMMEDIATE:
            return answer
        if answer is QueueingStrategy.AFTER_BACKOFF:
            strategy = answer
            if not queued.pending:
                return strategy
    return strategy
