"""A pod in the scheduling queue, with the bookkeeping of its attempts."""

from msgspec import Struct, field

from podium.scheduler.cluster.pod_info import PodInfo


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
