"""Where the pods of the queue are: active, backing off, or unschedulable, and in which order.

A pod is in at most one of the parts. PreEnqueue plugins are asked on its way to being tried, and
whoever they hold back stays among the unschedulable ones. Why pods move is `queue.py`'s.

A heap whose members can be found, replaced and removed by key. Removal marks an entry as gone and
the heap drops it when it comes up, so every operation stays logarithmic. Members with equal order
come out in the order in which they came in; replacing a member by one of the same order does not
cost it its place.

Pods that wait for an event, found by the plugins that keep them waiting. Every binding is an event,
and a thousand pods that lack memory need not be asked about each: they are grouped by the set of
plugins that rejected them, and an event looks only at the groups with a plugin that cares for it.
Order is order of arrival.

What is where in the queue, for looking at.

Who may be tried before its backoff is over, when nobody else waits. Everybody may but members of
pod groups and pods of which a plugin said so. As no event brings members back, they are here after
every attempt, and upstream tries a group that does not fit over and over without a pause; a gang
whose members wake each other by giving up would do the same.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from podium.scheduler.engine.observer import Observer
from podium.scheduler.engine.queue.backoff import Backoff
from podium.scheduler.engine.queue.queueing_hints import QueueingStrategy
from podium.scheduler.framework.events import ClusterEvent
from podium.scheduler.framework.queued import QueuedPod, SortKey
from podium.scheduler.framework.status import Status

T = TypeVar("T")

_MAX_GONE = 1024


class KeyedHeap(Generic[T]):
    def __init__(self, order: Callable[[T], SortKey]) -> None:
        self._order = order
        self._heap: list[tuple[SortKey, int, str]] = []
        self.members: dict[str, tuple[int, SortKey, T]] = {}
        """By key, with their order: for looking up, which every event does."""
        self._sequence = 0

    def push(self, key: str, member: T) -> None:
        """Add a member, or put it in its new place."""
        order = self._order(member)
        held = self.members.get(key)
        if held is not None and held[1] == order:
            self.members[key] = (held[0], order, member)
            return
        self._sequence += 1
        self.members[key] = (self._sequence, order, member)
        heapq.heappush(self._heap, (order, self._sequence, key))
        if len(self._heap) > 2 * len(self.members) + _MAX_GONE:
            self._compact()

    def pop(self) -> T | None:
        member = self.peek()
        if member is not None:
            _, _, key = heapq.heappop(self._heap)
            del self.members[key]
        return member

    def peek(self) -> T | None:
        while self._heap:
            _, sequence, key = self._heap[0]
            held = self.members.get(key)
            if held is not None and held[0] == sequence:
                return held[2]
            heapq.heappop(self._heap)
        return None

    def remove(self, key: str) -> T | None:
        held = self.members.pop(key, None)
        return held[2] if held is not None else None

    def get(self, key: str) -> T | None:
        held = self.members.get(key)
        return held[2] if held is not None else None

    def _compact(self) -> None:
        alive = {sequence for sequence, _, _ in self.members.values()}
        self._heap = [entry for entry in self._heap if entry[1] in alive]
        heapq.heapify(self._heap)

    def __contains__(self, key: str) -> bool:
        return key in self.members

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[T]:
        return (member for _, _, member in tuple(self.members.values()))


class UnschedulablePool:
    def __init__(self) -> None:
        self._pods: dict[str, QueuedPod] = {}
        self._arrivals: dict[str, int] = {}
        self._group_of: dict[str, frozenset[str]] = {}
        self._groups: dict[frozenset[str], dict[str, None]] = {}
        self._next = 0

    def put(self, queued: QueuedPod) -> None:
        """Add a pod, or note that its rejectors changed; it keeps its place."""
        key = queued.info.key
        if key not in self._arrivals:
            self._next += 1
            self._arrivals[key] = self._next
        self._pods[key] = queued
        group = frozenset(queued.rejectors | queued.pending)
        held = self._group_of.get(key)
        if held == group:
            return
        if held is not None:
            self._leave(key, held)
        self._group_of[key] = group
        self._groups.setdefault(group, {})[key] = None

    def pop(self, key: str) -> QueuedPod | None:
        queued = self._pods.pop(key, None)
        if queued is not None:
            del self._arrivals[key]
            self._leave(key, self._group_of.pop(key))
        return queued

    def get(self, key: str) -> QueuedPod | None:
        return self._pods.get(key)

    def kept_by(self, plugins: frozenset[str]) -> list[QueuedPod]:
        """Pods that one of the plugins keeps waiting, and those that nobody does."""
        keys = [
            key
            for group, members in self._groups.items()
            if not group or not group.isdisjoint(plugins)
            for key in members
        ]
        return [self._pods[key] for key in sorted(keys, key=self._arrivals.__getitem__)]

    def _leave(self, key: str, group: frozenset[str]) -> None:
        members = self._groups[group]
        del members[key]
        if not members:
            del self._groups[group]

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(tuple(self._pods.values()))

    def __contains__(self, key: str) -> bool:
        return key in self._pods

    def __len__(self) -> int:
        return len(self._pods)


@dataclass(slots=True)
class QueueParts:
    """The members of each part; a pod is in one of them at most."""

    active: list[QueuedPod] = field(default_factory=list)
    backoff: list[QueuedPod] = field(default_factory=list)
    error_backoff: list[QueuedPod] = field(default_factory=list)
    unschedulable: list[QueuedPod] = field(default_factory=list)
    gated: list[QueuedPod] = field(default_factory=list)

    def summary(self) -> str:
        backoff = len(self.backoff) + len(self.error_backoff)
        waiting = len(self.unschedulable) + len(self.gated)
        return f"activeQ:{len(self.active)}; backoffQ:{backoff}; unschedulablePods:{waiting}"


class QueueSizes(NamedTuple):
    """How many pods are in each part; both kinds of backoff count as one."""

    active: int
    backoff: int
    unschedulable: int
    gated: int


def split_by_gate(waiting: Iterable[QueuedPod]) -> tuple[list[QueuedPod], list[QueuedPod]]:
    """(pods that an event may help, pods that a plugin holds back)"""
    free: list[QueuedPod] = []
    gated: list[QueuedPod] = []
    for queued in waiting:
        (gated if queued.gating_plugin else free).append(queued)
    return free, gated


Gate = Callable[[QueuedPod], Status | None]
"""Runs PreEnqueue plugins, the one that gates the pod first; None lets the pod in."""


class QueueContents:
    def __init__(
        self,
        *,
        clock: Callable[[], float],
        sort_key: Callable[[QueuedPod], SortKey],
        gate: Gate,
        backoff: Backoff,
        pop_from_backoff: bool,
        observer: Observer,
    ) -> None:
        self._clock = clock
        self._sort_key = sort_key
        self._gate = gate
        self._backoff = backoff
        self._pop_from_backoff = pop_from_backoff
        self._observer = observer
        self._active: KeyedHeap[QueuedPod] = KeyedHeap(sort_key)
        self._backing_off: KeyedHeap[QueuedPod] = KeyedHeap(
            self._backoff_order if pop_from_backoff else backoff.expiry
        )
        self._error_backoff: KeyedHeap[QueuedPod] = KeyedHeap(backoff.expiry)
        self._unschedulable = UnschedulablePool()
        self._backoffs = (self._backing_off, self._error_backoff)
        self._heaps = (self._active, *self._backoffs)

    def _backoff_order(self, queued: QueuedPod) -> tuple[float, SortKey]:
        return (self._backoff.expiry(queued), self._sort_key(queued))

    # moving

    def _requeue(self, queued: QueuedPod, strategy: QueueingStrategy, event: ClusterEvent) -> bool:
        """Put a pod where a strategy sends it; true if it left (or passed by) the pool."""
        if strategy is QueueingStrategy.SKIP:
            self._keep(queued, event)
            return False
        if strategy is QueueingStrategy.AFTER_BACKOFF and self._backoff.backing_off(
            queued, self._clock()
        ):
            return self._enter_backoff(queued, event)
        return self._enter_active(queued, event)

    def _enter_active(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        if not self._may_enter(queued, event):
            return False
        self._activate_now(queued, event)
        return True

    def _enter_backoff(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        if self._pop_from_backoff and not self._may_enter(queued, event):
            return False
        self._unschedulable.pop(queued.info.key)
        errors = not (queued.rejectors or queued.pending)
        heap = self._error_backoff if errors else self._backing_off
        heap.push(queued.info.key, queued)
        self._observer.entered_queue("backoff", event, queued)
        return True

    def _leave_backoff(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        """From backoff to active; plugins were asked on the way in, if they are asked there."""
        if not self._pop_from_backoff:
            return self._enter_active(queued, event)
        self._activate_now(queued, event)
        return True

    def _activate_now(self, queued: QueuedPod, event: ClusterEvent) -> None:
        self._unschedulable.pop(queued.info.key)
        if queued.initial_attempt_timestamp is None:
            queued.initial_attempt_timestamp = self._clock()
        self._active.push(queued.info.key, queued)
        self._observer.entered_queue("active", event, queued)

    def _keep(self, queued: QueuedPod, event: ClusterEvent) -> None:
        if queued.info.key not in self._unschedulable:
            self._observer.entered_queue("unschedulable", event, queued)
        self._unschedulable.put(queued)

    def _may_enter(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        refusal = self._gate(queued)
        if refusal is None:
            queued.gating_plugin = ""
            return True
        self._observer.pod_gated(queued, refusal)
        queued.rejectors.add(refusal.plugin)
        queued.gating_plugin = refusal.plugin
        queued.flushed = False
        if self._heap_of(queued.info.key) is None:
            self._keep(queued, event)
        return False

    # looking

    def _heap_of(self, key: str) -> KeyedHeap[QueuedPod] | None:
        for heap in self._heaps:
            if key in heap.members:
                return heap
        return None

    def get(self, key: str) -> QueuedPod | None:
        heap = self._heap_of(key)
        return heap.get(key) if heap is not None else self._unschedulable.get(key)

    def sizes(self) -> QueueSizes:
        active, *backoffs = map(len, self._heaps)
        return QueueSizes(active, sum(backoffs), *map(len, split_by_gate(self._unschedulable)))

    def is_at_rest(self) -> bool:
        """Whether nobody is to be tried, now or after a backoff."""
        return not any(map(len, self._heaps))

    def parts(self) -> QueueParts:
        backoffs = list(self._backing_off), list(self._error_backoff)
        active = sorted(self._active, key=self._sort_key)
        return QueueParts(active, *backoffs, *split_by_gate(self._unschedulable))

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[QueuedPod]:
        for part in (*self._heaps, self._unschedulable):
            yield from tuple(part)

    def __len__(self) -> int:
        return sum(map(len, self._heaps)) + len(self._unschedulable)


def pop_early(
    backing_off: KeyedHeap[QueuedPod],
    waits_it_out: Callable[[QueuedPod], bool],
    order: Callable[[QueuedPod], SortKey],
) -> QueuedPod | None:
    """Take the first out who need not wait its backoff out."""
    first = backing_off.peek()
    if first is None or not waits_it_out(first):
        return backing_off.pop()
    others = (queued for queued in backing_off if not waits_it_out(queued))
    found = min(others, key=order, default=None)
    return backing_off.remove(found.info.key) if found is not None else None
