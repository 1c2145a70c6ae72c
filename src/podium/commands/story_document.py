"""A pod's story as a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, cast

from msgspec import field

from podium.golang.document_structs import Amount, Count, DocumentPart, Notes, PodKey, Positive
from podium.offline.simulate.report import HistoryEntry, PodHistory
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.offline.simulate.simulation_answer import LineKind
from podium.scheduler.engine.decision import Decision, NodeScore
from podium.scheduler.explain.decision_digest import digest_of, rejections

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


class StoryAttempt(DocumentPart, frozen=True):
    """One attempt in numbers."""

    number: Positive
    """Its number, from 1."""
    node: str | None
    """The node that it ended with."""
    message: str | None
    """Why it failed."""
    examined_nodes: Count
    """Nodes that filters looked at."""
    feasible_nodes: Count
    """Those that fit."""
    tied_nodes: Count
    """Nodes with the highest total, the chosen one among them."""
    score: int | None
    """The chosen node's total; null where there was nothing to compare."""
    scores: Mapping[str, NodeScore]
    """The chosen node's scores, by plugin."""
    runner_up: str | None
    """The best node with a smaller total."""
    lead: Count
    """How far the chosen node is ahead of it."""
    decided_by: str | None
    """The plugin that gave the chosen node the largest lead."""
    rejected_by: Mapping[str, Count]
    """Plugins with the number of nodes that they ruled out, the most first."""
    evicts: tuple[PodKey, ...]
    """Pods to evict for it."""
    nominated_node: str | None
    """The node on which the pod waits for victims to leave."""

    @classmethod
    def of(cls, decision: Decision) -> StoryAttempt:
        digest, outcome = digest_of(decision), decision.post_filter
        return cls(
            number=decision.attempt,
            node=decision.bound,
            message=decision.message,
            examined_nodes=digest.examined_nodes,
            feasible_nodes=digest.feasible_nodes,
            tied_nodes=digest.tied_nodes,
            score=digest.score,
            scores=digest.scores,
            runner_up=digest.runner_up or None,
            lead=digest.lead,
            decided_by=digest.decided_by or None,
            rejected_by=rejections(decision),
            evicts=tuple(victim.key for victim in outcome.victims) if outcome else (),
            nominated_node=decision.nominated_node or None,
        )


class StoryLine(DocumentPart, frozen=True):
    """One thing that happened to the pod."""

    at_s: Amount = field(name="atSeconds")
    """When, in seconds on the virtual clock."""
    what: LineKind
    """What happened."""
    plugins: tuple[str, ...]
    """Who rejected the pod, held it back, waited for the event or asked to wait."""
    about: str | None
    """The node, the object that an event happened to, or the pod that another was evicted for."""
    detail: str | None
    """The message of an attempt, an event's name, the victims, or what went wrong."""
    attempt: StoryAttempt | None
    """What was decided; null where nothing was tried."""

    @classmethod
    def of(cls, entry: HistoryEntry) -> StoryLine:
        line, decision = entry.line, entry.decision
        return cls(
            line.at,
            cast(LineKind, line.what),
            tuple(line.plugins),
            line.about or None,
            line.detail or None,
            None if decision is None else StoryAttempt.of(decision),
        )


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
            story=tuple(map(StoryLine.of, history.entries)),
        )
