"""What the parts of the engine share, and the one entry point for calls from outside.

Each part (intake of events, attempts, failures, bindings) is a class of its own over this one
state, so that every transition has one place and `--validate` can look at the whole.

A transition is a call of a driver: an
event that comes in, the passing of time, the report of a binding or an eviction, a scheduling
cycle. Methods that are one carry `@transition`; everything else is called from within.

Upstream a cycle works on a snapshot: what changes in the cluster meanwhile is for the next one.
Here plugins read the cluster itself, which is right as long as nothing changes in the middle of a
cycle. A driver that lets other work go on while extenders are asked may therefore call at any time:
what it says is deferred, and released in the same order as soon as the cycle is over. The longest
that this can take is what the extenders' timeouts allow.

With `--validate`, the whole state is checked where a transition ends.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import partial, wraps
from inspect import GEN_CREATED, GEN_SUSPENDED, getgeneratorstate
from typing import Concatenate, Never, ParamSpec, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.catalog import IndexedPods, object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observers, PodLog
from podium.scheduler.engine.queue import SchedulingQueue
from podium.scheduler.engine.queue.queue import Concerns
from podium.scheduler.engine.queue.queueing_hints import FORCE_ACTIVATE
from podium.scheduler.engine.requests import Event, PluginWrite, Request
from podium.scheduler.framework.asking import Extenders, find_interested
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.events import ClusterEvent, EventObject, WatchedKind, unique_kinds
from podium.scheduler.framework.handle import Preempting
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.queued import QueuedPod, WaitingPods

P = ParamSpec("P")


class Validator(Protocol):
    def check(self, transition: str, *about: object) -> None:
        """Raise if the state cannot be; `about` are the things that the transition concerned."""


class Transitions:
    """Which cycle is under way, and which calls wait for its end."""

    def __init__(self) -> None:
        self.free = True
        """Whether a call may simply go through: no cycle is under way and nobody checks."""
        self._validator: Validator | None = None
        self._cycle: Generator[object, Never, object] | None = None
        self._deferred: list[Callable[[], None]] = []
        self._depth = 0

    def validate(self, validator: Validator) -> None:
        """Have the state checked from now on."""
        self._validator = validator
        self.free = False

    def begin_cycle(self, cycle: Generator[object, Never, object]) -> None:
        """A scheduling cycle is a transition; there is one at a time."""
        if self._cycle is not None and getgeneratorstate(self._cycle) != GEN_CREATED:
            raise RuntimeError("a scheduling cycle is under way; end or close it before the next")
        self._cycle = cycle
        self.free = False

    def end_cycle(self) -> None:
        """The cycle is over, or given up: what was deferred has its turn."""
        try:
            if self._deferred:
                self.release()
        finally:
            self._cycle = None
            self.free = self._validator is None

    def check(self, transition: str, *about: object) -> None:
        """See whether the state can be, if somebody wants to know."""
        if self._validator is not None and self._depth == 0:
            self._validator.check(transition, *about)

    def enter(self, title: str, call: Callable[[], None], *about: object) -> None:
        """A call from outside that may not simply go through."""
        cycle = GEN_CREATED if self._cycle is None else getgeneratorstate(self._cycle)
        if cycle == GEN_SUSPENDED:
            self.defer(call)
            return
        if cycle != GEN_CREATED:  # from within
            call()
            return
        self._depth += 1
        try:
            call()
        finally:
            self._depth -= 1
        self.check(title, *about)

    def defer(self, call: Callable[[], None]) -> None:
        """Keep a call until the cycle is over."""
        self._deferred.append(call)

    def release(self) -> None:
        """Let everybody in. Whatever goes wrong with one stops no other."""
        deferred, self._deferred = self._deferred, []
        problems: list[Exception] = []
        for call in deferred:
            try:
                call()
            except Exception as problem:
                problems.append(problem)
        if problems:
            raise ExceptionGroup("while events were applied that a cycle had kept back", problems)


class HasTransitions(Protocol):
    transitions: Transitions


S = TypeVar("S", bound=HasTransitions)


def transition(
    method: Callable[Concatenate[S, P], None],
) -> Callable[Concatenate[S, P], None]:
    """A way in from outside: deferred while a cycle waits, checked when it ends."""

    @wraps(method)
    def enter(part: S, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if part.transitions.free:
            method(part, *args, **kwargs)
        else:
            call = partial(method, part, *args, **kwargs)
            part.transitions.enter(method.__qualname__, call, *args)

    return enter


_DURING_BINDING = {"bind_started", "pod_bound"}


class Flight(Struct):
    """A pod between its placement and the end of its binding cycle; `announced` says that its
    node was to be written into its status."""

    queued: QueuedPod
    binding: Binding
    started: bool = False
    announced: bool = False


def place_pod(pod: Pod, node_name: str) -> Pod:
    """A pod's object as if it were on its node already; what an assumed pod looks like."""
    return replace(pod, spec=replace(pod.spec, node_name=node_name))


@dataclass(slots=True)
class EngineState:
    cluster: Cluster
    profiles: dict[str, Profile]
    queue: SchedulingQueue
    waiting: WaitingPods
    preempting: Preempting
    gates: FeatureGates
    clock: Callable[[], float]
    pod_log: PodLog
    extenders: Extenders = ()
    observers: Observers = field(default_factory=Observers)
    transitions: Transitions = field(default_factory=Transitions)
    _expected: bool = field(init=False)
    pods: IndexedPods = field(default_factory=IndexedPods)
    flights: dict[str, Flight] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._expected = self.gates["NominatedNodeNameForExpectation"]

    @property
    def watched_kinds(self) -> tuple[WatchedKind, ...]:
        """Kinds that plugins read beside those that every scheduler watches."""
        return unique_kinds(kind for p in self.profiles.values() for kind in p.watched_kinds)

    def responsible(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self.profiles

    def new_binding(self, cycle: Cycle, profile: Profile, node_name: str) -> Binding:
        """The way from a held node to a bound pod."""
        binders: Extenders = ()
        if self.extenders:
            wanting = find_interested(self.extenders, cycle.pod.pod)
            binders = tuple(extender for extender in wanting if extender.bind_verb)
        heard = self.observers.heard
        clock = self.clock if "binding_ended" in heard else None
        observer = self.observers if heard & _DURING_BINDING else None
        return Binding(
            cycle, profile, node_name, self._expected, binders, clock=clock, observer=observer
        )

    def ask(self, request: Request) -> None:
        self.requests.append(request)

    def tell(
        self,
        pod: PodInfo,
        type_: str,
        reason: str,
        action: str,
        note: str,
        related: PodInfo | PodGroup | None = None,
    ) -> None:
        """Ask for an event about a pod."""
        event = Event(pod, type_, reason, action, note, related)
        self.ask(event)
        self.observers.event_told(event)

    def note(
        self,
        key: str,
        what: str,
        detail: str = "",
        *,
        plugins: tuple[str, ...] = (),
        about: str = "",
    ) -> None:
        """Leave a line in the pod log; `Line` says what belongs where."""
        self.pod_log.note(key, self.clock(), what, detail, plugins, about)

    def note_attempt(self, decision: Decision) -> None:
        """Remember an attempt: who rejected the pod and why, or where it goes."""
        if decision.bound is not None:
            self.note(decision.pod.key, "tried", about=decision.bound)
        else:
            rejectors = tuple(sorted(decision.rejectors))
            self.note(decision.pod.key, "tried", decision.message or "", plugins=rejectors)
        self.pod_log.keep(decision)
        self.observers.pod_decided(decision)

    def wake(
        self,
        event: ClusterEvent,
        old: EventObject,
        new: EventObject,
        concerns: Concerns | None = None,
    ) -> None:
        """Something changed in the cluster: let the pods try again that it may help."""
        moved = self.queue.move_on_event(event, old, new, concerns)
        if not moved:
            return
        name, about = str(event), describe_object(new if new is not None else old)
        for queued in moved:
            self.note_woken(queued, name, about)

    def note_woken(self, queued: QueuedPod | None, event: str, about: str = "") -> None:
        if queued is not None:
            by = (queued.helped_by,) if queued.helped_by else ()
            self.note(queued.info.key, "woken", event, plugins=by, about=about)

    def activate(self, pods: Iterable[PodInfo]) -> None:
        """Bring pods forward because a plugin asked for it."""
        for info in self.queue.activate(pods):
            self.note(info.key, "woken", FORCE_ACTIVATE.label)

    def ask_writes(self, pod: PodInfo, writes: list[object]) -> None:
        """Hand on the API writes that plugins asked for, each of them once."""
        for write in writes:
            self.ask(PluginWrite(pod, write))
        writes.clear()


def describe_object(obj: EventObject) -> str:
    """An object in a line of the pod log: `Pod default/web-0`, `Node n1`."""
    return f"{obj.kind} {object_key(obj.metadata)}" if obj is not None else ""
