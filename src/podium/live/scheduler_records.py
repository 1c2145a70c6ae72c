"""A running scheduler's own records: decisions that were made, and what is known of pods and queue.

What was decided, not what would be decided now: the pod log, the record of the last attempt, and
the queue as it is. Texts and scores are made when somebody asks.

What a scheduler really decided, kept for whoever asks later. The pod log holds the lines of each
pod and whole decisions for as long as there is room; in a busy cluster that is seconds. So of the
last attempt of each pod a few numbers are kept here as well, which outlive it. They are at hand
when an attempt ends: nothing is computed for a pod that finds its node, and for one that does not
only what its message was made of.

Contract: bounded in pods and in bytes; what is oldest is forgotten first.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, Final

import numpy as np
from msgspec import Struct

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.engine.observer import Line, Observer
from podium.scheduler.explain.decision_digest import digest_of, rejections
from podium.scheduler.explain.digest_document import choice_document, scores_document
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

Document = dict[str, Any]


class SchedulerRecords:
    def __init__(self, engine: Engine, decisions: DecisionRecords) -> None:
        self._engine = engine
        self.decisions = decisions

    # --- one pod ------------------------------------------------------------------------------

    def pod(self, namespace: str, name: str) -> Document | None:
        """What is known of a pod; None if it was never heard of, or is forgotten."""
        key = f"{namespace}/{name}"
        state = self._engine.state
        lines, record = state.pod_log.lines(key), self.decisions.get(key)
        pod = state.pods.get(key)
        if pod is None and record is None and not lines:
            return None
        return {
            "namespace": namespace,
            "name": name,
            "uid": pod.metadata.uid if pod is not None else None,
            "schedulerName": pod.spec.scheduler_name if pod is not None else None,
            "priority": (pod.spec.priority or 0) if pod is not None else None,
            "node": (pod.spec.node_name or None) if pod is not None else None,
            "nominatedNode": (pod.status.nominated_node_name or None) if pod is not None else None,
            **self._place(key, pod),
            "decision": self._decision(key, record),
            "log": [_line(line) for line in lines],
        }

    def _place(self, key: str, pod: Pod | None) -> Document:
        """Where a pod is on its way, and what it waits for."""
        engine = self._engine
        queued = engine.queue.get(key)
        if queued is not None:
            parts = engine.queue.parts()
            named = {
                "active": parts.active,
                "backoff": [*parts.backoff, *parts.error_backoff],
                "gated": parts.gated,
            }
            for part, members in named.items():
                at = next((at for at, each in enumerate(members) if each is queued), None)
                if at is not None:
                    ahead = at if part == "active" else None
                    return {"place": part, "queue": {**self._queued(queued, part), "ahead": ahead}}
            return {"place": "unschedulable", "queue": self._queued(queued, "unschedulable")}
        if pod is None:
            return {"place": "gone"}
        waiting = engine.state.waiting.get(pod.metadata.uid)
        if waiting is not None:
            return {"place": "waiting", "waiting": _write_waiting(waiting)}
        if pod.spec.node_name:
            return {"place": "bound"}
        if engine.queue.in_flight(pod.metadata.uid) or pod.metadata.uid in engine.state.flights:
            return {"place": "binding"}
        return {"place": "unknown"}

    def _decision(self, key: str, record: DecisionRecord | None) -> Document | None:
        if record is None:
            return None
        decision = self._engine.state.pod_log.decision(key)
        whole = decision is not None and decision.attempt == record.attempt
        return {
            "at": micro_time_text(record.at),
            "attempt": record.attempt,
            "profile": record.profile,
            "node": record.node or None,
            "message": record.message or None,
            "isError": record.is_error,
            "examinedNodes": record.examined_nodes,
            "feasibleNodes": record.feasible_nodes,
            "nominatedNode": record.nominated_node or None,
            "rejectedBy": dict(record.rejected_by),
            "details": _details(decision) if decision is not None and whole else None,
        }

    # --- the queue ----------------------------------------------------------------------------

    def sources(self) -> Document:
        """The sources of plugins: how old their last answers are, and what is wrong with them."""
        return {
            "at": micro_time_text(self._engine.clock()),
            "sources": [_source(column) for column in self._engine.sources],
        }

    def queue(self, limit: int = MAX_LISTED) -> Document:
        """All parts with their sizes; of each the first `limit` pods, the active ones in their
        order."""
        parts, waiting = self._engine.queue.parts(), list(self._engine.state.waiting)
        members: dict[str, list[QueuedPod]] = {
            "active": parts.active,
            "backoff": [*parts.backoff, *parts.error_backoff],
            "unschedulable": parts.unschedulable,
            "gated": parts.gated,
        }
        sizes = {part: len(found) for part, found in members.items()}
        listed: Document = {
            part: [self._entry(each, part) for each in islice(found, limit)]
            for part, found in members.items()
        }
        listed["waiting"] = [
            {"pod": each.info.key, **_write_waiting(each)} for each in islice(waiting, limit)
        ]
        return {
            "at": micro_time_text(self._engine.clock()),
            "sizes": {**sizes, "waiting": len(waiting)},
            **listed,
        }

    def _entry(self, queued: QueuedPod, part: str) -> Document:
        record = self.decisions.get(queued.info.key)
        message = record.message if record is not None else ""
        return {"pod": queued.info.key, **self._queued(queued, part), "message": message or None}

    def _queued(self, queued: QueuedPod, part: str) -> Document:
        expiry = queued.backoff_expiry if part == "backoff" else None
        # A pod that no event has helped for so long is tried again without one.
        retried = None
        if part == "unschedulable":
            retried = queued.timestamp + self._engine.queue.max_unschedulable_s
        return {
            "priority": queued.info.pod.spec.priority or 0,
            "attempts": queued.attempts,
            "since": micro_time_text(queued.timestamp),
            "firstTried": _moment(queued.initial_attempt_timestamp),
            "rejectedBy": sorted(queued.rejectors),
            "pendingAt": sorted(queued.pending),
            "gatedBy": queued.gating_plugin or None,
            "backoffUntil": _moment(expiry or None),
            "retriedAt": _moment(retried),
        }


def _write_waiting(waiting: WaitingPod) -> Document:
    return {
        "node": waiting.node_name,
        "plugins": list(waiting.pending_plugins),
        "since": micro_time_text(waiting.since),
        "deadline": micro_time_text(waiting.deadline),
    }


def _line(line: Line) -> Document:
    return {
        "at": micro_time_text(line.at),
        "what": line.what,
        "detail": line.detail,
        "plugins": list(line.plugins),
        "about": line.about,
    }


def _moment(at: float | None) -> str | None:
    return None if at is None else micro_time_text(at)


def _details(decision: Decision) -> Document:
    """What only a decision that is still whole can tell."""
    outcome = decision.post_filter
    return {
        **choice_document(digest_of(decision)),
        "reasons": reason_counts(decision.diagnosis) if decision.diagnosis else {},
        "topNodes": list(_top_nodes(decision)),
        "evicts": [victim.key for victim in outcome.victims] if outcome is not None else [],
        "durationsSeconds": {point: round(s, 6) for point, s in decision.durations_s.items()},
    }


def _top_nodes(decision: Decision) -> Iterable[Document]:
    total = decision.total
    if total is None:
        return
    for position in np.argsort(-total, kind="stable")[:MAX_TOP].tolist():
        yield {
            "name": decision.node_names[decision.feasible[position]],
            "total": int(total[position]),
            "scores": scores_document(decision.node_scores(position)),
        }


def _source(column: SourceColumn) -> Document:
    source, age_s = column.source, column.age_s
    return {
        "name": source.name,
        "ageSeconds": round(age_s, 3) if math.isfinite(age_s) else None,
        "stale": column.is_stale,
        "problem": column.problem or None,
        "refreshEverySeconds": source.refresh_every_s,
        "maxAgeSeconds": source.max_age_s,
        "timeoutSeconds": source.timeout_s,
    }
