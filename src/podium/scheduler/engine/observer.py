"""Who observes the engine, and the log of what happened to each pod.

The engine says in passing what happens and waits for no answer; nobody subclasses it to watch. An
`Observer` by itself does nothing, so that each overrides what it wants to hear. Parts of the queue
are named as users meet them: `active`, `backoff`, `unschedulable`.

What happened to each pod, in order, and the last decisions in full. Every transition leaves a line:
queued, attempted, rejected by whom, woken by what, placed, bound. `lines` gives a pod's lines back.
Lines are small and bounded in number; decisions hold a column per plugin and are bounded in bytes.
What is oldest is forgotten first.

A line is written for every attempt, so it holds what is at hand (names, a message that exists
anyway) and no text is made for it; whoever reads it finds the words.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.events import Action, ClusterEvent, EventObject, Resource

if TYPE_CHECKING:
    from podium.scheduler.cluster.catalog import GroupKey
    from podium.scheduler.cluster.pod_info import PodInfo
    from podium.scheduler.engine.binding_cycle import Binding
    from podium.scheduler.engine.queue.queueing_hints import QueueingStrategy
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

    def put_back_ended(self, queued: "QueuedPod", strategy: "QueueingStrategy", cycle: int) -> None:
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
        """The engine is notified of a node or pod that came, changed or went; nothing has happened
        yet. An update is one event, whatever it amounts to."""

    def event_handled(self, event: ClusterEvent, seconds: float) -> None:
        """The engine was notified of a change of the cluster and has acted on it."""

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


MAX_PODS = 10_000
MAX_LINES = 200
MAX_DECISION_BYTES = 16 * 1024 * 1024


LogLineKind = Literal[
    "queued",
    "held back",
    "tried",
    "woken",
    "backing off",
    "preempting",
    "preempted",
    "waiting",
    "bound",
    "binding failed",
    "trouble after binding",
    "undoing failed",
    "given up",
    "deleted",
]
"""What a line of a pod log may be about."""


class Line(Struct, frozen=True, gc=False):
    """One thing that happened to a pod.

    | what | detail | plugins | about |
    |---|---|---|---|
    | queued, deleted, given up (by a driver) | | | |
    | backing off (rejected, but not waiting for an event) | | | |
    | held back | | who holds it back | |
    | tried | why it failed | who rejected it | the node it goes to |
    | woken | the event's name | who waited for it | the object it happened to |
    | preempting | the victims | | the node |
    | preempted | | | for whom |
    | waiting | | who asked for it | the node |
    | bound | | | the node |
    | binding failed | why | whose fault it is | the node |
    | undoing failed | why | | |
    """

    at: float
    what: str
    detail: str = ""
    plugins: tuple[str, ...] = ()
    about: str = ""


class PodLog:
    def __init__(
        self,
        most_pods: int = MAX_PODS,
        most_lines: int = MAX_LINES,
        most_bytes: int = MAX_DECISION_BYTES,
    ) -> None:
        self._lines_by_pod: OrderedDict[str, list[Line]] = OrderedDict()
        self._most_pods = most_pods
        self._most_lines = most_lines
        self._decisions: OrderedDict[str, tuple[Decision, int]] = OrderedDict()
        self._most_bytes = most_bytes
        self.decision_bytes = 0

    def keep(self, decision: Decision) -> None:
        """Remember a pod's latest decision, forgetting the oldest ones to make room."""
        self._drop(decision.pod.key)
        size = decision.nbytes
        self._decisions[decision.pod.key] = (decision, size)
        self.decision_bytes += size
        while self.decision_bytes > self._most_bytes and len(self._decisions) > 1:
            self._drop(next(iter(self._decisions)))

    def decision(self, key: str) -> Decision | None:
        """A pod's latest decision, if it is still remembered."""
        held = self._decisions.get(key)
        return held[0] if held is not None else None

    def _drop(self, key: str) -> None:
        held = self._decisions.pop(key, None)
        if held is not None:
            self.decision_bytes -= held[1]

    def note(
        self,
        key: str,
        at: float,
        what: str,
        detail: str = "",
        plugins: tuple[str, ...] = (),
        about: str = "",
    ) -> None:
        lines = self._lines_by_pod.get(key)
        if lines is None:
            lines = self._lines_by_pod[key] = []
            if len(self._lines_by_pod) > self._most_pods:
                self._lines_by_pod.popitem(last=False)
        lines.append(Line(at, what, detail, plugins, about))
        if len(lines) > self._most_lines:
            del lines[1]

    def lines(self, key: str) -> list[Line]:
        """What happened to a pod so far, oldest first."""
        return list(self._lines_by_pod.get(key, ()))

    def pods(self) -> list[str]:
        return list(self._lines_by_pod)


class NoPodLog(PodLog):
    """For drivers whose pods are too many to write down, and that observe what they need."""

    def keep(self, decision: Decision) -> None:
        pass

    def note(
        self,
        key: str,
        at: float,
        what: str,
        detail: str = "",
        plugins: tuple[str, ...] = (),
        about: str = "",
    ) -> None:
        pass
