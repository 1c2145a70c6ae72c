"""Who observes the engine: metrics, lines on a screen, events for people, the simulator's reports.

The engine says in passing what happens and waits for no answer; nobody subclasses it to watch. An
`Observer` by itself does nothing, so that each overrides what it wants to hear. Parts of the queue
are named as users meet them: `active`, `backoff`, `unschedulable`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from podium.scheduler.framework.events import Action, ClusterEvent, EventObject, Resource

if TYPE_CHECKING:
    from podium.scheduler.cluster.pod_group_state import GroupKey
    from podium.scheduler.cluster.pod_info import PodInfo
    from podium.scheduler.engine.binding_cycle import Binding
    from podium.scheduler.engine.decision import Decision
    from podium.scheduler.engine.queue.queueing_hints import Strategy
    from podium.scheduler.engine.requests import Event, Preemptor
    from podium.scheduler.framework.queued import QueuedPod, WaitingPod
    from podium.scheduler.framework.status import Status

POD_ADDED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD)
POD_UPDATED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE)
ATTEMPT_FAILED = ClusterEvent(Resource.ANY, Action.ALL, "ScheduleAttemptFailure")
BACKOFF_COMPLETE = ClusterEvent(Resource.ANY, Action.ALL, "BackoffComplete")
POPPED_EARLY = ClusterEvent(Resource.ANY, Action.ALL, "PopFromBackoffQ")


class Observer:
    """Hears everything and does nothing about it."""

    # the queue

    def entered_queue(self, part: str, event: ClusterEvent, queued: "QueuedPod") -> None:
        """A pod came into a part of the queue because of an event; one with a `gating_plugin` is
        held back."""

    def pod_gated(self, queued: "QueuedPod", refusal: "Status") -> None:
        """A PreEnqueue plugin does not let a pod in."""

    def pod_popped(self, queued: "QueuedPod") -> None:
        """A pod has its turn; whether it is tried is seen next."""

    def pod_skipped(self, pod: "PodInfo") -> None:
        """A pod that is being deleted is not tried."""

    def put_back_begun(self, queued: "QueuedPod", events: int, pods: int) -> None:
        """A pod whose attempt failed comes back; so many events and pods are in flight, and one of
        the events may help it."""

    def put_back_ended(self, queued: "QueuedPod", strategy: "Strategy", cycle: int) -> None:
        """It is in the queue again, at the end of a scheduling cycle with this number."""

    def event_unhelpful(self, queued: "QueuedPod", event: ClusterEvent) -> None:
        """A pod was asked whether an event helps it, and stays where it is."""

    def event_noted(self, event: ClusterEvent) -> None:
        """An event is remembered for pods that are being tried."""

    def event_ignored(self, event: ClusterEvent) -> None:
        """An event interests no plugin at all."""

    # attempts

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

    def status_asked(self, pod: "PodInfo", reason: str, nominated_node: str | None) -> None:
        """A pod's status is to say why it is not scheduled, or nothing of that if there is no
        reason; and, unless None, which node is nominated."""

    def group_started(self, group: "GroupKey") -> None:
        """The members of a pod group are about to be tried together."""

    def group_submitted(self, group: "GroupKey", result: str, placed: int, unplaced: int) -> None:
        """So many members go to nodes and so many back to the queue; `result` as in
        `group_tried`."""

    def group_tried(self, profile: str, result: str, seconds: float, deciding_s: float) -> None:
        """A pod group was tried: `scheduled`, `unschedulable`, `waiting_on_preemption` or `error`;
        `deciding_s` is the part of the time that it took to decide."""

    # bindings

    def wait_started(self, waiting: "WaitingPod") -> None:
        """A pod waits at Permit."""

    def wait_ended(self, waiting: "WaitingPod", seconds: float) -> None:
        """A wait at Permit is over; its outcome is there."""

    def bind_started(self, binding: "Binding", plugin: str) -> None:
        """A Bind plugin is about to be called."""

    def pod_bound(self, binding: "Binding") -> None:
        """A pod is bound; PostBind is still to come."""

    def binding_ended(
        self, queued: "QueuedPod", binding: "Binding", problem: "Status | None"
    ) -> None:
        """A binding cycle that the driver ran has ended; None: the pod is bound."""

    # preemption

    def preemption_started(
        self, preemptor: "Preemptor", victims: Sequence["PodInfo"], node_name: str
    ) -> None:
        """Room is about to be made, and these pods have to go for it or are going already."""

    def victim_stopped(
        self, preemptor: "Preemptor", victim: "PodInfo", node_name: str, *, waiting: bool
    ) -> None:
        """A victim that existed in memory alone is stopped: it waited at Permit, or was on its way
        to be bound."""

    def victim_evicted(
        self, preemptor: "Preemptor", victim: "PodInfo", node_name: str, *, was_gone: bool
    ) -> None:
        """A victim is evicted, or had gone by itself."""

    def preemption_ended(
        self, preemptor: "Preemptor", node_name: str, problem: str | None, seconds: float
    ) -> None:
        """All victims of one preemption are evicted, or that failed."""

    # what comes from outside, and what people are told

    def event_received(self, event: ClusterEvent, obj: EventObject) -> None:
        """The engine is told of a node or pod that came, changed or went; nothing has happened
        yet. An update is one event, whatever it amounts to."""

    def event_handled(self, event: ClusterEvent, seconds: float) -> None:
        """The engine was told of a change of the cluster and has acted on it."""

    def event_told(self, event: "Event") -> None:
        """There is an event that people are to read."""


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
                self._connect(name)

    def remove(self, observer: Observer) -> None:
        """Tell somebody nothing any more."""
        for name in _METHODS:
            told = self._listeners[name]
            self._listeners[name] = tuple(each for each in told if each[0] is not observer)
            self._connect(name)

    def _connect(self, name: str) -> None:
        """A method that somebody wants to hear is covered by one that tells them."""
        if self._listeners[name]:
            self.heard.add(name)
            self.__dict__[name] = partial(self._tell, name)
        else:
            self.heard.discard(name)
            self.__dict__.pop(name, None)

    def _tell(self, name: str, *args: object, **named: object) -> None:
        for observer, listen in self._listeners[name]:
            try:
                listen(*args, **named)
            except Exception as problem:
                self.on_error(observer, problem)
