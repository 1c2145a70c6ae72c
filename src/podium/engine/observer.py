"""Who observes the engine: metrics, lines on a screen, events for people, the simulator's reports.

The engine says in passing what happens and waits for no answer; nobody subclasses it to watch. An
`Observer` by itself does nothing, so that each overrides what it wants to hear. Parts of the queue
are named as users meet them: `active`, `backoff`, `unschedulable`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from podium.framework.events import Action, ClusterEvent, Resource

if TYPE_CHECKING:
    from podium.cluster.pod_info import PodInfo
    from podium.engine.binding_cycle import Binding
    from podium.engine.decision import Decision
    from podium.engine.requests import Event
    from podium.framework.queued import QueuedPod
    from podium.framework.status import Code, Status

POD_ADDED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD)
POD_UPDATED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE)
ATTEMPT_FAILED = ClusterEvent(Resource.ANY, Action.ALL, "ScheduleAttemptFailure")
BACKOFF_COMPLETE = ClusterEvent(Resource.ANY, Action.ALL, "BackoffComplete")
POPPED_EARLY = ClusterEvent(Resource.ANY, Action.ALL, "PopFromBackoffQ")


class Observer:
    """Hears everything and does nothing about it."""

    def entered_queue(self, part: str, event: ClusterEvent) -> None:
        """A pod came into a part of the queue because of an event."""

    def search_started(self, pod: "PodInfo") -> None:
        """A node is about to be looked for; for a member of a pod group that may happen several
        times before anything is decided."""

    def search_ended(self, decision: "Decision") -> None:
        """A node was found, or none; nothing is held yet."""

    def pod_decided(self, decision: "Decision") -> None:
        """An attempt has ended, in whichever way, and this is its record."""

    def pod_failed(self, queued: "QueuedPod", *, rejected: bool, message: str) -> None:
        """An attempt or a binding failed: the pod was rejected, or something broke. The message is
        empty where nobody is told."""

    def wait_ended(self, code: "Code", seconds: float) -> None:
        """A wait at Permit is over."""

    def binding_ended(
        self, queued: "QueuedPod", binding: "Binding", problem: "Status | None"
    ) -> None:
        """A binding cycle that the driver ran has ended; None: the pod is bound."""

    def event_handled(self, event: ClusterEvent, seconds: float) -> None:
        """The engine was told of a change of the cluster and has acted on it."""

    def victims_chosen(self, count: int) -> None:
        """Room is about to be made, and so many pods have to go for it."""

    def preemption_ended(self, problem: str | None, seconds: float) -> None:
        """All victims of one preemption are evicted, or that failed."""

    def event_told(self, event: "Event") -> None:
        """There is an event that people are to read."""

    def group_tried(self, profile: str, result: str, seconds: float, deciding_s: float) -> None:
        """A pod group was tried: `scheduled`, `unschedulable`, `waiting_on_preemption` or `error`;
        `deciding_s` is the part of the time that it took to decide."""


_METHODS = tuple(name for name in vars(Observer) if not name.startswith("_"))


def raise_error(_: Observer, problem: Exception) -> None:
    raise problem


class Observers(Observer):
    """Several observers as one, told in the order in which they came.

    Who does not override a method is not called for it, and what nobody wants to hear costs next
    to nothing: `heard` are the methods that somebody overrides. `on_error` is called with an
    observer that breaks; by default its error is the engine's. A driver for which observers are
    somebody else's trouble says so here.
    """

    def __init__(self) -> None:
        self._listeners: dict[str, tuple[tuple[Observer, Callable[..., None]], ...]] = (  # type: ignore[explicit-any]  # each method has its own
            dict.fromkeys(_METHODS, ())
        )
        self.heard: set[str] = set()
        self.on_error: Callable[[Observer, Exception], None] = raise_error

    def add(self, observer: Observer) -> None:
        """Let somebody observe from now on."""
        for name in _METHODS:
            if getattr(type(observer), name) is not getattr(Observer, name):
                self._listeners[name] += ((observer, getattr(observer, name)),)
                self.heard.add(name)

    def _tell(self, name: str, *args: object, **named: object) -> None:
        for observer, listen in self._listeners[name]:
            try:
                listen(*args, **named)
            except Exception as problem:
                self.on_error(observer, problem)

    def entered_queue(self, part: str, event: ClusterEvent) -> None:
        if "entered_queue" in self.heard:
            self._tell("entered_queue", part, event)

    def search_started(self, pod: "PodInfo") -> None:
        if "search_started" in self.heard:
            self._tell("search_started", pod)

    def search_ended(self, decision: "Decision") -> None:
        if "search_ended" in self.heard:
            self._tell("search_ended", decision)

    def pod_decided(self, decision: "Decision") -> None:
        if "pod_decided" in self.heard:
            self._tell("pod_decided", decision)

    def pod_failed(self, queued: "QueuedPod", *, rejected: bool, message: str) -> None:
        if "pod_failed" in self.heard:
            self._tell("pod_failed", queued, rejected=rejected, message=message)

    def wait_ended(self, code: "Code", seconds: float) -> None:
        if "wait_ended" in self.heard:
            self._tell("wait_ended", code, seconds)

    def binding_ended(
        self, queued: "QueuedPod", binding: "Binding", problem: "Status | None"
    ) -> None:
        if "binding_ended" in self.heard:
            self._tell("binding_ended", queued, binding, problem)

    def event_handled(self, event: ClusterEvent, seconds: float) -> None:
        if "event_handled" in self.heard:
            self._tell("event_handled", event, seconds)

    def victims_chosen(self, count: int) -> None:
        if "victims_chosen" in self.heard:
            self._tell("victims_chosen", count)

    def preemption_ended(self, problem: str | None, seconds: float) -> None:
        if "preemption_ended" in self.heard:
            self._tell("preemption_ended", problem, seconds)

    def event_told(self, event: "Event") -> None:
        if "event_told" in self.heard:
            self._tell("event_told", event)

    def group_tried(self, profile: str, result: str, seconds: float, deciding_s: float) -> None:
        if "group_tried" in self.heard:
            self._tell("group_tried", profile, result, seconds, deciding_s)
