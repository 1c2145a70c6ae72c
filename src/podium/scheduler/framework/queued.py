"""A pod on its way: in the scheduling queue with its bookkeeping, then waiting at Permit.

What the scheduling queue orders pods by: anything that can be compared with its like.

Pods that wait at Permit. A plugin may ask to hold a placed pod until something else has happened
(the rest of its gang, say). The pod's binding cycle waits here for the first signal: all plugins
allow, one rejects, a deadline passes, or a more important pod preempts it. Time is handed in;
nothing here looks at a clock.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from podium.golang.durations import Duration
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.status import Code, Status


class QueuedPod(Struct):
    """`timestamp` is the engine's clock when the pod entered the queue, refreshed each time a
    failed attempt puts it back; it is not the creation time. `popped_at` is when its last attempt
    began. `flushed` says that nothing but a long wait brought the pod back, `flushed_at` when that
    last happened. `helped_by` is the plugin that took the last event for a reason to try again.
    `retry_at` and `waits_out_backoff` are what a plugin said at its last attempt (`Cycle`)."""

    info: PodInfo
    timestamp: float
    sequence: int = 0
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    initial_attempt_timestamp: float | None = None
    rejectors: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)
    gating_plugin: str = ""
    backoff_expiry: float | None = None
    flushed: bool = False
    flushed_at: float | None = None
    helped_by: str = ""
    popped_at: float = 0.0
    retry_at: float | None = None
    waits_out_backoff: bool = False

    def heed(self, retry_at: float | None, *, waits_out_backoff: bool) -> None:
        """Remember what plugins said of the time after a failed attempt."""
        self.retry_at = retry_at
        self.waits_out_backoff = waits_out_backoff


class SortKey(Protocol):
    """A number, a text, a tuple of them, or a class of the plugin's own."""

    def __lt__(self, other: Any, /) -> bool: ...  # type: ignore[explicit-any]  # its like


MAX_WAIT_S = 15 * 60.0


class WaitingPod:
    def __init__(
        self, info: PodInfo, node_name: str, timeouts: Mapping[str, float], now: float
    ) -> None:
        self.info = info
        self.node_name = node_name
        self.since = now
        self._deadlines = {
            plugin: (now + min(timeout, MAX_WAIT_S), min(timeout, MAX_WAIT_S))
            for plugin, timeout in timeouts.items()
        }
        self.outcome: Status | None = None

    @property
    def pending_plugins(self) -> tuple[str, ...]:
        return tuple(self._deadlines)

    @property
    def deadline(self) -> float:
        return min((at for at, _ in self._deadlines.values()), default=0.0)

    def allow(self, plugin: str) -> bool:
        """Drop a plugin's objection; with the last one gone the pod may go."""
        if self.outcome is not None or self._deadlines.pop(plugin, None) is None:
            return False
        if not self._deadlines:
            return self._signal(Status(Code.SUCCESS, (), plugin))
        return True

    def reject(self, plugin: str, message: str) -> bool:
        return self._signal(Status(Code.UNSCHEDULABLE, (message,), plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """End the wait with an error, so that the victim is retried with error backoff."""
        return self._signal(Status(Code.ERROR, (message,), plugin))

    def expire(self, now: float) -> bool:
        due = [(at, timeout, p) for p, (at, timeout) in self._deadlines.items() if at <= now]
        if not due or self.outcome is not None:
            return False
        _, timeout, plugin = min(due)
        waited = Duration.of_seconds(timeout)
        text = f"rejected due to timeout after waiting {waited} at plugin {plugin}"
        return self.reject(plugin, text)

    def _signal(self, status: Status) -> bool:
        """The first signal wins; later ones are told so."""
        if self.outcome is not None:
            return False
        self.outcome = status
        return True


class WaitingPods:
    """The table of waiting pods, shared by all profiles."""

    def __init__(self) -> None:
        self.by_uid: dict[str, WaitingPod] = {}

    def add(self, waiting: WaitingPod) -> None:
        self.by_uid[waiting.info.uid] = waiting

    def get(self, uid: str) -> WaitingPod | None:
        return self.by_uid.get(uid)

    def remove(self, uid: str) -> None:
        self.by_uid.pop(uid, None)

    def expire(self, now: float) -> None:
        for waiting in self.by_uid.values():
            waiting.expire(now)

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(tuple(self.by_uid.values()))

    def __len__(self) -> int:
        return len(self.by_uid)
