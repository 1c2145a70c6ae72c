"""A running scheduler's own records as plain data: of one pod, of the queue, of plugins' sources.

What was decided, not what would be decided now: the pod log, the record of the last attempt, and
the queue as it is. Texts and scores are made when somebody asks.
"""

import math
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.decision_records import DecisionRecord, DecisionRecords
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.engine.pod_log import Line
from podium.scheduler.explain.decision_digest import digest_of
from podium.scheduler.explain.digest_document import choice_document, scores_document
from podium.scheduler.framework.diagnosis import reason_counts
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.sources import SourceColumn

MAX_LISTED: Final = 500
"""Pods of each part of the queue that are listed unless more are asked for."""
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
            return {"place": "waiting", "waiting": _waiting(waiting)}
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
            {"pod": each.info.key, **_waiting(each)} for each in islice(waiting, limit)
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


def _waiting(waiting: WaitingPod) -> Document:
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
