"""The queue itself: which pods come into it, when they are tried, and what brings them back.

Time and events come from outside, so an hour of waiting is a call with a later clock. The rules are
those of `PriorityQueue` in `pkg/scheduler/backend/queue/scheduling_queue.go`; nominations follow
the pods. Where a pod is meanwhile, and how it moves from one part to another, is `contents.py`'s.
"""

from collections.abc import Callable, Iterable

from podium.scheduler.cluster.nominated_pods import Nominator
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.observer import (
    ATTEMPT_FAILED,
    BACKOFF_COMPLETE,
    POD_ADDED,
    POD_UPDATED,
    POPPED_EARLY,
    Observer,
)
from podium.scheduler.engine.queue.backoff import (
    MAX_UNSCHEDULABLE_S,
    RETRY_TIME,
    Backoff,
    RetryTimes,
    UnschedulableTimeout,
)
from podium.scheduler.engine.queue.contents import Gate, QueueContents, pop_early
from podium.scheduler.engine.queue.in_flight import Happened, InFlight, MoveRequests
from podium.scheduler.engine.queue.queueing_hints import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    Interests,
    QueueingStrategy,
)
from podium.scheduler.framework.events import ClusterEvent, EventObject
from podium.scheduler.framework.queued import QueuedPod, SortKey

Concerns = Callable[[QueuedPod], bool]
"""Whether a waiting pod is told of an event at all."""


class SchedulingQueue(QueueContents):
    def __init__(
        self,
        *,
        clock: Callable[[], float],
        sort_key: Callable[[QueuedPod], SortKey],
        gate: Gate,
        interests: Interests,
        nominator: Nominator,
        backoff: Backoff,
        pop_from_backoff: bool = True,
        pod_groups: bool = False,
        hints: bool = True,
        max_unschedulable_s: float = MAX_UNSCHEDULABLE_S,
        observer: Observer | None = None,
    ) -> None:
        """`hints` is the gate SchedulerQueueingHints."""
        super().__init__(
            clock=clock,
            sort_key=sort_key,
            gate=gate,
            backoff=backoff,
            pop_from_backoff=pop_from_backoff,
            observer=observer or Observer(),
        )
        self.interests = interests
        self._nominator = nominator
        self._pod_groups = pod_groups
        self.max_unschedulable_s = max_unschedulable_s
        self._unschedulable_timeout = UnschedulableTimeout(clock, max_unschedulable_s)
        self._retries = RetryTimes()
        self._hints = hints
        self._in_flight = InFlight() if hints else MoveRequests()
        self.cycle = 0

    # pods come, change and go

    def add(self, info: PodInfo, event: ClusterEvent = POD_ADDED) -> QueuedPod:
        """A new pending pod."""
        # upstream: a pod that is held back does not reserve its nominated node until it changes
        queued = QueuedPod(info, self._clock())
        if self._enter_active(queued, event):
            self._nominator.follow(None, info)
        return queued

    def update(
        self, old: PodInfo, new: PodInfo, changes: Iterable[ClusterEvent]
    ) -> ClusterEvent | None:
        """A pending pod's object changed; `changes` are the events its differences make. Returns
        the one that let the pod try again, if one did."""
        if new.uid in self._in_flight:
            for event in changes:
                self._in_flight.note(Happened(event, old.pod, new.pod))
            return None
        heap = self._heap_of(new.key)
        if heap is not None:
            queued = heap.get(new.key)
            if queued is not None:
                queued.info = new
                heap.push(new.key, queued)
                self._nominator.follow(old, new)
            return None
        queued = self._unschedulable.get(new.key)
        if queued is None:
            self.add(new, POD_UPDATED)
            return None
        queued.info = new
        self._nominator.follow(old, new)
        for event in changes:
            strategy = QueueingStrategy.AFTER_BACKOFF
            if self._hints:
                strategy = self.interests.requeue_strategy(queued, event, old.pod, new.pod)
            if self._requeue(queued, strategy, event):
                return event
        return None

    def delete(self, info: PodInfo) -> None:
        """A pending pod is gone; one in flight is left to its attempt."""
        self._nominator.drop(info.uid)
        heap = self._heap_of(info.key)
        if heap is not None:
            heap.remove(info.key)
        else:
            self._unschedulable.pop(info.key)

    # attempts

    def pop(self) -> QueuedPod | None:
        """The next pod to try, if there is one."""
        while True:
            queued = self._active.pop()
            if queued is None and self._pop_from_backoff:
                queued = pop_early(self._backing_off, self._waits_out_backoff, self._backoff_order)
                if queued is not None:
                    self._observer.entered_queue("active", POPPED_EARLY, queued)
            if queued is None:
                return None
            if self._take_off(queued):
                return queued

    def _waits_out_backoff(self, queued: QueuedPod) -> bool:
        return queued.waits_out_backoff or self._is_member(queued)

    def _is_member(self, queued: QueuedPod) -> bool:
        """Whether a pod is tried with its group."""
        return self._pod_groups and queued.info.pod.spec.scheduling_group is not None

    def pop_specific(self, info: PodInfo) -> QueuedPod | None:
        """Take a pod out of turn, as if it had been activated and popped; None if it is not there
        or may not come."""
        self._bring_forward(info.key)
        queued = self._active.remove(info.key)
        return queued if queued is not None and self._take_off(queued) else None

    def _take_off(self, queued: QueuedPod) -> bool:
        if not self._in_flight.start(queued.info.uid):
            return False
        queued.attempts += 1
        queued.retry_at, queued.waits_out_backoff = None, False
        queued.popped_at = self._clock()
        self.cycle += 1
        return True

    def put_back(self, queued: QueuedPod) -> QueueingStrategy | None:
        """A pod whose attempt failed; `rejectors` and `pending` say why. None if it is queued."""
        key, uid = queued.info.key, queued.info.uid
        if key in self:
            self._in_flight.done(uid)
            return None
        if queued.rejectors or queued.pending:
            queued.unschedulable_count += 1
            queued.consecutive_errors_count = 0
        else:
            queued.consecutive_errors_count += 1
        queued.timestamp = self._clock()
        queued.backoff_expiry = None
        queued.flushed, queued.flushed_at = False, None
        in_flight = self._in_flight
        self._observer.put_back_begun(queued, in_flight.event_count, len(in_flight))
        if self._is_member(queued):
            # upstream: nobody says yet which events may help a group
            strategy = QueueingStrategy.AFTER_BACKOFF
        else:
            strategy = self._in_flight.strategy(queued, self.interests)
        if not self._hints and strategy is QueueingStrategy.AFTER_BACKOFF:
            self._enter_backoff(queued, ATTEMPT_FAILED)
        else:
            self._requeue(queued, strategy, ATTEMPT_FAILED)
        self._retries.add(queued)
        self._observer.put_back_ended(queued, strategy, self.cycle)
        self._in_flight.done(uid)
        return strategy

    def done(self, uid: str) -> None:
        """An attempt ended and its pod does not come back."""
        self._in_flight.done(uid)

    # events and time

    def move_on_event(
        self,
        event: ClusterEvent,
        old: EventObject,
        new: EventObject,
        concerns: Concerns | None = None,
    ) -> list[QueuedPod]:
        """Something changed in the cluster: move the pods it may help. Returns those moved."""
        if not self._unschedulable and not self._in_flight:
            return []  # nobody to help, now or when an attempt ends
        if not self.interests.anyone(event):
            self._observer.event_ignored(event)
            return []
        moved = [
            queued
            for queued in self._candidates(event)
            if (concerns is None or concerns(queued)) and self._wake(queued, event, old, new)
        ]
        if self._in_flight:
            self._observer.event_noted(event)
        self._in_flight.note(Happened(event, old, new))
        return moved

    def _candidates(self, event: ClusterEvent) -> Iterable[QueuedPod]:
        """Waiting pods that an event may mean."""
        if event.wildcard:
            return self._unschedulable
        return self._unschedulable.kept_by(self.interests.plugins(event))

    def _wake(
        self, queued: QueuedPod, event: ClusterEvent, old: EventObject, new: EventObject
    ) -> bool:
        if queued.gating_plugin and not event.wildcard:
            profile = queued.info.pod.spec.scheduler_name
            if not self.interests.concerns_plugin(profile, queued.gating_plugin, event):
                return False
        strategy = self.interests.requeue_strategy(queued, event, old, new)
        if strategy is QueueingStrategy.SKIP:
            self._observer.event_unhelpful(queued, event)
        return self._requeue(queued, strategy, event)

    def flush_backoff(self) -> list[QueuedPod]:
        """Let pods whose wait is over into the active part."""
        now, moved = self._clock(), []
        for heap in self._backoffs:
            while (head := heap.peek()) is not None and not self._backoff.backing_off(head, now):
                heap.pop()
                if self._leave_backoff(head, BACKOFF_COMPLETE):
                    moved.append(head)
        return moved

    def flush_retries(self) -> list[QueuedPod]:
        """Retry pods of which a plugin said that it would let them try at about this time."""
        return [
            queued
            for queued in self._retries.due(self._unschedulable.get, self._clock())
            if self._requeue(queued, QueueingStrategy.IMMEDIATE, RETRY_TIME)
        ]

    def flush_unschedulable(self) -> list[QueuedPod]:
        """Retry pods that no event has helped for a long time."""
        due = self._unschedulable_timeout.mark_expired(self._unschedulable)
        moved = [q for q in due if self._wake(q, UNSCHEDULABLE_TIMEOUT, None, None)]
        if due:
            # upstream: whoever is being tried meanwhile and fails takes it for its own timeout
            self._in_flight.note(Happened(UNSCHEDULABLE_TIMEOUT, None, None))
        return moved

    def next_flush(self) -> float | None:
        """When the next pod will have waited too long, if none is helped before."""
        return self._unschedulable_timeout.next_expiry(self._unschedulable)

    def activate(self, pods: Iterable[PodInfo]) -> list[PodInfo]:
        """Bring pods forward because a plugin asked for it. Returns those that were waiting."""
        moved: list[PodInfo] = []
        for info in pods:
            if self._bring_forward(info.key):
                moved.append(info)
            elif not self._hints or info.uid in self._in_flight:
                self._in_flight.note(Happened(FORCE_ACTIVATE, None, info.pod))
        return moved

    def _bring_forward(self, key: str) -> bool:
        """Make a waiting pod active, unless plugins hold it back; false if it does not wait."""
        queued = self._unschedulable.get(key)
        if queued is not None:
            self._enter_active(queued, FORCE_ACTIVATE)
            return True
        for heap in self._backoffs:
            queued = heap.remove(key)
            if queued is not None:
                self._leave_backoff(queued, FORCE_ACTIVATE)
                return True
        return False

    def next_wake(self) -> float | None:
        """When the next backoff ends, or a pod is to be retried, for a driver that jumps through
        time."""
        heads = (heap.peek() for heap in self._backoffs)
        wakes = [self._backoff.expiry(head) + 1 for head in heads if head is not None]
        retry = self._retries.next(self._unschedulable.get)
        return min((*wakes, *(() if retry is None else (retry,))), default=None)

    # in flight

    def in_flight(self, uid: str) -> bool:
        return uid in self._in_flight

    def pods_in_flight(self) -> list[str]:
        """UIDs of the pods that are being tried, or wait for permission to be bound."""
        return list(self._in_flight)

    @property
    def events_in_flight(self) -> int:
        """How many events are remembered for pods in flight."""
        return self._in_flight.event_count

    def entries_in_flight(self) -> dict[str, int]:
        """The same by event, with the pods themselves as `PodPopped`."""
        return self._in_flight.counts()
