"""A pod's story as plain data, for `-o json` and `-o yaml`."""

from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from podium.offline.simulate.report import HistoryEntry, PodHistory
from podium.offline.simulate.simulation_answer import PodEvent
from podium.scheduler.engine.decision import Decision
from podium.scheduler.explain.decision_digest import digest_of, rejections
from podium.scheduler.explain.digest_document import digest_document


def story_document(history: PodHistory, notes: Iterable[str]) -> dict[str, Any]:
    result, pod = history.result, history.pod
    return {
        "namespace": pod.metadata.namespace,
        "name": pod.metadata.name,
        "outcome": result.outcome.value if result else "running" if history.node else "evicted",
        "node": history.node or None,
        "message": result.message if result else "",
        "schedulerName": pod.spec.scheduler_name,
        "priority": pod.spec.priority or 0,
        "attempts": result.attempts if result else 0,
        "evictedFor": history.evicted_for or None,
        "story": [_entry_document(entry) for entry in history.entries],
        "notes": list(notes),
    }


def _entry_document(entry: HistoryEntry) -> dict[str, Any]:
    decision = entry.decision
    attempt = None if decision is None else _attempt(decision)
    return {**to_builtins(PodEvent.of(entry.line)), "attempt": attempt}


def _attempt(decision: Decision) -> dict[str, Any]:
    outcome = decision.post_filter
    return {
        "number": decision.attempt,
        "node": decision.bound,
        "message": decision.message,
        **digest_document(digest_of(decision)),
        "rejectedBy": rejections(decision),
        "evicts": [victim.key for victim in outcome.victims] if outcome else [],
        "nominatedNode": decision.nominated_node or None,
    }
