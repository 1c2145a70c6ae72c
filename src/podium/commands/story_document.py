"""A pod's story as a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, cast

from podium.golang.document_structs import Count, Notes, PodKey, Positive, extend_part
from podium.offline.simulate.report import HistoryEntry, PodHistory
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.offline.simulate.simulation_answer import PodEvent
from podium.scheduler.engine.decision import Decision
from podium.scheduler.explain.decision_digest import (
    AttemptFigures,
    digest_of,
    pick_figures,
    rejections,
)

Ending = Literal[
    "placed",
    "unschedulable",
    "gated",
    "preempted",
    "not-ours",
    "terminating",
    "error",
    "running",
    "evicted",
]


class TriedAttempt(AttemptFigures, frozen=True, kw_only=True):
    """An attempt in numbers, with what came of it."""

    rejected_by: Mapping[str, Count]
    """Plugins with the number of nodes that they ruled out, the most first."""
    evicts: tuple[PodKey, ...]
    """Pods to evict for it."""
    nominated_node: str | None
    """The node on which the pod waits for victims to leave."""


class StoryAttempt(TriedAttempt, frozen=True):
    """One attempt in numbers."""

    number: Positive
    """Its number, from 1."""
    node: str | None
    """The node that it ended with."""
    message: str | None
    """Why it failed."""

    @classmethod
    def of(cls, decision: Decision) -> StoryAttempt:
        outcome = decision.post_filter
        return cls(
            number=decision.attempt,
            node=decision.bound,
            message=decision.message,
            rejected_by=rejections(decision),
            evicts=tuple(victim.key for victim in outcome.victims) if outcome else (),
            nominated_node=decision.nominated_node or None,
            **pick_figures(digest_of(decision), AttemptFigures),
        )


class StoryLine(PodEvent, frozen=True):
    """One thing that happened to the pod, with the attempt that it was."""

    attempt: StoryAttempt | None
    """What was decided; null where nothing was tried."""

    @classmethod
    def of_entry(cls, entry: HistoryEntry) -> StoryLine:
        decision = entry.decision
        attempt = None if decision is None else StoryAttempt.of(decision)
        return extend_part(PodEvent.of(entry.line), cls, attempt=attempt)


class StoryDocument(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium story` prints: everything that happened to one pod in a simulation."""

    KIND: ClassVar[str] = "Story"

    namespace: str
    """The pod's namespace."""
    name: str
    """The pod's name."""
    outcome: Ending
    """What became of the pod; running and evicted are of pods that ran before."""
    node: str | None
    """Where the pod is at the end."""
    message: str
    """Why it does not fit; empty if it does."""
    scheduler_name: str
    """The scheduler that the pod asks for."""
    priority: int
    """The pod's priority."""
    attempts: Count
    """How often it was tried."""
    evicted_for: PodKey | None
    """The pod that took its place."""
    story: tuple[StoryLine, ...]
    """What happened, in order."""
    notes: Notes = ()

    @classmethod
    def of(cls, history: PodHistory) -> StoryDocument:
        result, pod = history.result, history.pod
        ending = result.outcome.value if result else "running" if history.node else "evicted"
        return cls(
            namespace=pod.metadata.namespace,
            name=pod.metadata.name,
            outcome=cast(Ending, ending),
            node=history.node or None,
            message=result.message if result else "",
            scheduler_name=pod.spec.scheduler_name,
            priority=pod.spec.priority or 0,
            attempts=result.attempts if result else 0,
            evicted_for=history.evicted_for or None,
            story=tuple(map(StoryLine.of_entry, history.entries)),
        )
