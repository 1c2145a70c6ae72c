"""Where the pods of the queue are: active, backing off, or unschedulable.

A pod is in at most one of the parts. PreEnqueue plugins are asked on its way to being tried, and
whoever they hold back stays among the unschedulable ones. Why pods move is `queue.py`'s.
"""

from collections.abc import Callable, Iterator

from podium.scheduler.engine.observer import Observer
from podium.scheduler.engine.queue.backoff import Backoff
from podium.scheduler.engine.queue.heap import KeyedHeap
from podium.scheduler.engine.queue.parts import QueueParts, QueueSizes, split_by_gate
from podium.scheduler.engine.queue.pool import Pool
from podium.scheduler.engine.queue.queueing_hints import Strategy
from podium.scheduler.framework.events import ClusterEvent
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.sort_keys import SortKey
from podium.scheduler.framework.status import Status

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
        self._unschedulable = Pool()
        self._backoffs = (self._backing_off, self._error_backoff)
        self._heaps = (self._active, *self._backoffs)

    def _backoff_order(self, queued: QueuedPod) -> tuple[float, SortKey]:
        return (self._backoff.expiry(queued), self._sort_key(queued))

    # moving

    def _requeue(self, queued: QueuedPod, strategy: Strategy, event: ClusterEvent) -> bool:
        """Put a pod where a strategy sends it; true if it left (or passed by) the pool."""
        if strategy is Strategy.SKIP:
            self._keep(queued, event)
            return False
        if strategy is Strategy.AFTER_BACKOFF and self._backoff.backing_off(queued, self._clock()):
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
