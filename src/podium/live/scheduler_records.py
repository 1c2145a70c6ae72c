"""A running scheduler's own records: decisions that were made, and what is known of pods and queue.

They say what was decided, not what would be decided now. Their sources are the pod log, the record
of each pod's last attempt, and the queue as it is; texts and scores are made when somebody asks.

The pod log holds whole decisions for as long as there is room, which in a busy cluster is seconds.
So a few numbers of the last attempt of each pod are kept here as well. They are at hand when an
attempt ends: nothing is computed for a pod that finds its node, and for one that does not only what
its message was made of.

Contract: bounded in pods and in bytes; what is oldest is forgotten first.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from msgspec import UNSET, Struct, UnsetType

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.record_documents import (
    PodLogLine,
    PodPlace,
    PodRecord,
    QueuedPodEntry,
    QueuePartSizes,
    QueuePosition,
    QueueRecord,
    RecordedAttempt,
    ScoredNode,
    SourceRecord,
    SourceRecordList,
    WaitAtPermit,
    WaitingPodEntry,
    WholeDecision,
)
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.engine.observer import Line, LogLineKind, Observer
from podium.scheduler.engine.queue.contents import QueueParts
from podium.scheduler.explain.decision_digest import (
    ChoiceFigures,
    digest_of,
    pick_figures,
    rejections,
)
from podium.scheduler.framework.diagnosis import reason_counts
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.sources import SourceColumn

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


MAX_LISTED: Final = 500
"""Pods of each part of the queue that are listed unless more are requested."""
MAX_TOP: Final = 10


class SchedulerRecords:
    def __init__(self, engine: Engine, decisions: DecisionRecords) -> None:
        self._engine = engine
        self.decisions = decisions

    # --- one pod ------------------------------------------------------------------------------

    def pod(self, namespace: str, name: str) -> PodRecord | None:
        """What is known of a pod; None if it was never heard of, or is forgotten."""
        key = f"{namespace}/{name}"
        state = self._engine.state
        lines, record = state.pod_log.lines(key), self.decisions.get(key)
        pod = state.pods.get(key)
        if pod is None and record is None and not lines:
            return None
        place, queue, waiting = self._place(key, pod)
        return PodRecord(
            namespace=namespace,
            name=name,
            uid=pod.metadata.uid if pod is not None else None,
            scheduler_name=pod.spec.scheduler_name if pod is not None else None,
            priority=(pod.spec.priority or 0) if pod is not None else None,
            node=(pod.spec.node_name or None) if pod is not None else None,
            nominated_node=(pod.status.nominated_node_name or None) if pod is not None else None,
            place=place,
            queue=queue,
            waiting=waiting,
            decision=self._decision(key, record),
            log=tuple(map(_line, lines)),
        )

    def _place(
        self, key: str, pod: Pod | None
    ) -> tuple[PodPlace, QueuePosition | UnsetType, WaitAtPermit | UnsetType]:
        """Where a pod is on its way, and what it waits for."""
        engine = self._engine
        queued = engine.queue.get(key)
        if queued is not None:
            place, ahead = _find_in_queue(engine.queue.parts(), queued)
            state = QueuePosition(**self._describe_queued(queued, place), ahead=ahead)
            return place, state, UNSET
        if pod is None:
            return "gone", UNSET, UNSET
        waiting = engine.state.waiting.get(pod.metadata.uid)
        if waiting is not None:
            return "waiting", UNSET, WaitAtPermit(**_permit_wait(waiting))
        if pod.spec.node_name:
            return "bound", UNSET, UNSET
        if engine.queue.in_flight(pod.metadata.uid) or pod.metadata.uid in engine.state.flights:
            return "binding", UNSET, UNSET
        return "unknown", UNSET, UNSET

    def _decision(self, key: str, record: DecisionRecord | None) -> RecordedAttempt | None:
        if record is None:
            return None
        decision = self._engine.state.pod_log.decision(key)
        whole = decision is not None and decision.attempt == record.attempt
        return RecordedAttempt(
            at=micro_time_text(record.at),
            attempt=record.attempt,
            profile=record.profile,
            node=record.node or None,
            message=record.message or None,
            is_error=record.is_error,
            examined_nodes=record.examined_nodes,
            feasible_nodes=record.feasible_nodes,
            nominated_node=record.nominated_node or None,
            rejected_by=record.rejected_by,
            details=_details(decision) if decision is not None and whole else None,
        )

    # --- the queue ----------------------------------------------------------------------------

    def sources(self) -> SourceRecordList:
        """The sources of plugins: how old their last answers are, and what is wrong with them."""
        at = micro_time_text(self._engine.clock())
        return SourceRecordList(at, tuple(map(_source, self._engine.sources)))

    def queue(self, limit: int = MAX_LISTED) -> QueueRecord:
        """All parts with their sizes; of each the first `limit` pods, the active ones in their
        order."""
        parts, waiting = self._engine.queue.parts(), list(self._engine.state.waiting)
        backoff = [*parts.backoff, *parts.error_backoff]
        return QueueRecord(
            at=micro_time_text(self._engine.clock()),
            sizes=QueuePartSizes(
                active=len(parts.active),
                backoff=len(backoff),
                unschedulable=len(parts.unschedulable),
                gated=len(parts.gated),
                waiting=len(waiting),
            ),
            active=self._entries(parts.active[:limit], "active"),
            backoff=self._entries(backoff[:limit], "backoff"),
            unschedulable=self._entries(parts.unschedulable[:limit], "unschedulable"),
            gated=self._entries(parts.gated[:limit], "gated"),
            waiting=tuple(
                WaitingPodEntry(pod=each.info.key, **_permit_wait(each)) for each in waiting[:limit]
            ),
        )

    def _entries(self, queued: Sequence[QueuedPod], part: PodPlace) -> tuple[QueuedPodEntry, ...]:
        return tuple(self._entry(each, part) for each in queued)

    def _entry(self, queued: QueuedPod, part: PodPlace) -> QueuedPodEntry:
        record = self.decisions.get(queued.info.key)
        message = record.message if record is not None else ""
        return QueuedPodEntry(
            pod=queued.info.key, **self._describe_queued(queued, part), message=message or None
        )

    def _describe_queued(self, queued: QueuedPod, part: PodPlace) -> dict[str, Any]:
        """The fields of a `QueuedState`."""
        expiry = queued.backoff_expiry if part == "backoff" else None
        # A pod that no event has helped for so long is tried again without one.
        retried = None
        if part == "unschedulable":
            retried = queued.timestamp + self._engine.queue.max_unschedulable_s
        return {
            "priority": queued.info.pod.spec.priority or 0,
            "attempts": queued.attempts,
            "since": micro_time_text(queued.timestamp),
            "first_tried": _moment(queued.initial_attempt_timestamp),
            "rejected_by": tuple(sorted(queued.rejectors)),
            "pending_at": tuple(sorted(queued.pending)),
            "gated_by": queued.gating_plugin or None,
            "backoff_until": _moment(expiry or None),
            "retried_at": _moment(retried),
        }


def _find_in_queue(parts: QueueParts, queued: QueuedPod) -> tuple[PodPlace, int | UnsetType | None]:
    """The part of the queue that has a pod, and how many are before it in the active one."""
    named: dict[PodPlace, list[QueuedPod]] = {
        "active": parts.active,
        "backoff": [*parts.backoff, *parts.error_backoff],
        "gated": parts.gated,
    }
    for part, members in named.items():
        at = next((at for at, each in enumerate(members) if each is queued), None)
        if at is not None:
            return part, at if part == "active" else None
    return "unschedulable", UNSET


def _permit_wait(waiting: WaitingPod) -> dict[str, Any]:
    """The fields of a `WaitAtPermit`."""
    return {
        "node": waiting.node_name,
        "plugins": tuple(waiting.pending_plugins),
        "since": micro_time_text(waiting.since),
        "deadline": micro_time_text(waiting.deadline),
    }


def _line(line: Line) -> PodLogLine:
    what = cast(LogLineKind, line.what)
    return PodLogLine(micro_time_text(line.at), what, line.detail, tuple(line.plugins), line.about)


def _moment(at: float | None) -> str | None:
    return None if at is None else micro_time_text(at)


def _details(decision: Decision) -> WholeDecision:
    outcome = decision.post_filter
    return WholeDecision(
        **pick_figures(digest_of(decision), ChoiceFigures),
        reasons=reason_counts(decision.diagnosis) if decision.diagnosis else {},
        top_nodes=tuple(_top_nodes(decision)),
        evicts=tuple(victim.key for victim in outcome.victims) if outcome is not None else (),
        durations_s={point: round(s, 6) for point, s in decision.durations_s.items()},
    )


def _top_nodes(decision: Decision) -> Iterable[ScoredNode]:
    total = decision.total
    if total is None:
        return
    for position in np.argsort(-total, kind="stable")[:MAX_TOP].tolist():
        yield ScoredNode(
            decision.node_names[decision.feasible[position]],
            int(total[position]),
            decision.node_scores(position),
        )


def _source(column: SourceColumn) -> SourceRecord:
    source, age_s = column.source, column.age_s
    return SourceRecord(
        name=source.name,
        age_s=round(age_s, 3) if math.isfinite(age_s) else None,
        stale=column.is_stale,
        problem=column.problem or None,
        refresh_every_s=source.refresh_every_s,
        max_age_s=source.max_age_s,
        timeout_s=source.timeout_s,
    )
