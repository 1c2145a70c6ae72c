"""A pod's story as plain data, for `-o json` and `-o yaml`."""

from collections.abc import Iterable
from typing import Any

from podium.cli.simulate_document import line_document, score_document
from podium.engine.decision import Decision
from podium.simulator.biography import Biography, Chapter, rejections
from podium.simulator.report import digest_of


def story_document(biography: Biography, notes: Iterable[str]) -> dict[str, Any]:
    result, pod = biography.result, biography.pod
    return {
        "namespace": pod.metadata.namespace,
        "name": pod.metadata.name,
        "outcome": result.outcome.value if result else "running" if biography.node else "evicted",
        "node": biography.node or None,
        "message": result.message if result else "",
        "schedulerName": pod.spec.scheduler_name,
        "priority": pod.spec.priority or 0,
        "attempts": result.attempts if result else 0,
        "evictedFor": biography.evicted_for or None,
        "story": [_chapter(chapter) for chapter in biography.chapters],
        "notes": list(notes),
    }


def _chapter(chapter: Chapter) -> dict[str, Any]:
    decision = chapter.decision
    attempt = None if decision is None else _attempt(decision)
    return {**line_document(chapter.line), "attempt": attempt}


def _attempt(decision: Decision) -> dict[str, Any]:
    digest, outcome = digest_of(decision), decision.post_filter
    return {
        "number": decision.attempt,
        "node": decision.bound,
        "message": decision.message,
        "examinedNodes": digest.examined_nodes,
        "feasibleNodes": digest.feasible_nodes,
        "tiedNodes": digest.tied_nodes,
        "score": digest.score,
        "scores": {plugin: score_document(score) for plugin, score in digest.scores.items()},
        "runnerUp": digest.runner_up or None,
        "lead": digest.lead,
        "decidedBy": digest.decided_by or None,
        "rejectedBy": rejections(decision),
        "evicts": [victim.key for victim in outcome.victims] if outcome else [],
        "nominatedNode": decision.nominated_node or None,
    }
