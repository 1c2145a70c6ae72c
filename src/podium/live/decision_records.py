"""What a scheduler really decided, kept for whoever asks later.

The pod log holds the lines of each pod and whole decisions for as long as there is room; in a busy
cluster that is seconds. So of the last attempt of each pod a few numbers are kept here as well,
which outlive it. They are at hand when an attempt ends: nothing is computed for a pod that finds
its node, and for one that does not only what its message was made of.

Contract: bounded in pods and in bytes; what is oldest is forgotten first.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observer
from podium.scheduler.explain.decision_digest import rejections

MAX_PODS: Final = 20_000
MAX_BYTES: Final = 16 * 1024 * 1024
_RECORD_BYTES: Final = 512
_NO_REJECTIONS: Final[Mapping[str, int]] = {}


class DecisionRecord(Struct, frozen=True, gc=False):
    """An attempt in short; `at` is when it ended. `rejected_by` says how many nodes a plugin ruled
    out."""

    at: float
    attempt: int
    profile: str
    node: str
    message: str
    is_error: bool
    examined_nodes: int
    feasible_nodes: int
    nominated_node: str
    rejected_by: Mapping[str, int]

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return _RECORD_BYTES + len(self.message)


class DecisionRecords(Observer):
    """The last attempt of each pod, by `namespace/name`."""

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        max_pods: int = MAX_PODS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._clock = clock
        self._max_pods = max_pods
        self._max_bytes = max_bytes
        self._records: OrderedDict[str, DecisionRecord] = OrderedDict()
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: str) -> DecisionRecord | None:
        return self._records.get(key)

    def pod_decided(self, decision: Decision) -> None:
        key = decision.pod.key
        self._forget(key)
        failed = decision.bound is None
        record = self._records[key] = DecisionRecord(
            self._clock(),
            decision.attempt,
            decision.profile,
            decision.bound or "",
            decision.message or "",
            decision.is_error,
            sum([result.count for result in decision.results]),
            len(decision.feasible),
            decision.nominated_node or "",
            rejections(decision) if failed else _NO_REJECTIONS,
        )
        self.nbytes += record.nbytes
        while len(self._records) > self._max_pods or (
            self.nbytes > self._max_bytes and len(self._records) > 1
        ):
            self._forget(next(iter(self._records)))

    def _forget(self, key: str) -> None:
        forgotten = self._records.pop(key, None)
        if forgotten is not None:
            self.nbytes -= forgotten.nbytes
