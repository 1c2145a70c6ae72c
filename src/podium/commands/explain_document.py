"""A pod's decision as a document: every node, every plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, cast

from msgspec import UNSET, UnsetType

from podium.golang.document_structs import (
    Alternatives,
    Count,
    DocumentPart,
    No,
    Notes,
    PodKey,
    Positive,
    Yes,
)
from podium.offline.simulate import ExplainedPod, PodOutcome
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.scheduler.engine.decision import Consulted, Decision, NodeScore
from podium.scheduler.explain.cause_document import CauseInFull, PluginStatus, StatusCode
from podium.scheduler.explain.explanation import Explanation, Ranked
from podium.scheduler.framework.status import Status

FilterGroup = Literal["Volume Filtering Rules", "Host Filtering Rules", "Pod Filtering Rules"]


class PluginObjection(PluginStatus, frozen=True):
    """What a filter holds against a node."""

    details: tuple[str, ...]
    """What exactly: the missing amount, the taint, the pod in the way."""


class DevicesOfDriver(DocumentPart, frozen=True):
    """A node's devices of one driver."""

    in_use: Count
    """Devices that somebody has, or a share of."""
    total: Count
    """All devices of the driver on the node."""


class ExplainedNode(Alternatives, frozen=True):
    """A node that fits, or one that does not."""


class FittingNode(ExplainedNode, frozen=True):
    """A node that fits."""

    name: str
    """The node's name."""
    fits: Yes
    """It does."""
    chosen: bool
    """Whether it is the one."""
    rank: Positive
    """Its place; nodes with equal totals share one."""
    total: int | None
    """The sum of its weighted scores; null where nothing was scored."""
    scores: Mapping[str, NodeScore]
    """Scores of one node, by plugin."""
    devices: Mapping[str, DevicesOfDriver]
    """For a pod that claims devices: those that the node has, by driver, before the pod."""

    @classmethod
    def of(cls, explanation: Explanation, entry: Ranked) -> FittingNode:
        return cls(
            name=entry.name,
            fits=True,
            chosen=entry.name == explanation.decision.chosen,
            rank=entry.rank,
            total=entry.total,
            scores=entry.scores,
            devices={
                driver: DevicesOfDriver(use.before, use.allocatable)
                for driver, use in explanation.devices(entry.name).items()
            },
        )


class RejectedNode(ExplainedNode, frozen=True):
    """A node that does not fit."""

    name: str
    """The node's name."""
    fits: No
    """It does not."""
    status: PluginStatus
    """What the pod's message counts."""
    objections: Mapping[str, PluginObjection]
    """What every filter holds against it, by plugin, including those that were not asked because
    another had said no."""

    @classmethod
    def of(cls, explanation: Explanation, name: str, status: Status) -> RejectedNode:
        objections = {
            plugin: PluginObjection(
                said.plugin,
                said.code.label,
                tuple(said.reasons),
                tuple(explanation.details(plugin, name)),
            )
            for plugin, said in explanation.objections(name).items()
        }
        return cls(name, False, PluginStatus.of(status), objections)


class PostFilterAnswer(DocumentPart, frozen=True):
    """What PostFilter plugins came to."""

    status: StatusCode
    message: str
    """Why it did not help."""
    nominated_node: str | None
    """The node to clear."""
    victims: tuple[PodKey, ...]
    """Pods to evict."""

    @classmethod
    def of(cls, decision: Decision) -> PostFilterAnswer | None:
        outcome = decision.post_filter
        if outcome is None:
            return None
        victims = tuple(victim.key for victim in outcome.victims)
        nominated = outcome.nominated_node or None
        return cls(outcome.code.label, outcome.message, nominated, victims)


class PreFilterResult(DocumentPart, frozen=True):
    """What PreFilter plugins said."""

    nodes: tuple[str, ...] | None
    """The only nodes that they left; null for all."""
    skipped: tuple[str, ...]
    """Plugins whose Filter has nothing to say about the pod."""
    status: PluginStatus | None
    """Why none is left; null if some are."""

    @classmethod
    def of(cls, decision: Decision) -> PreFilterResult | None:
        outcome = decision.pre_filter
        if outcome is None:
            return None
        return cls(
            None if outcome.nodes is None else tuple(sorted(outcome.nodes)),
            tuple(sorted(outcome.skipped)),
            PluginStatus.of(outcome.status) if outcome.status else None,
        )


class FilterPlugins(DocumentPart, frozen=True):
    """Filter plugins."""

    asked: tuple[str, ...]
    """Those that were asked."""
    skipped: tuple[str, ...]
    """Those that had nothing to say about the pod."""
    groups: Mapping[str, FilterGroup] | UnsetType = UNSET
    """Under a Policy: the group of predicates that each belongs to."""

    @classmethod
    def of(cls, explanation: Explanation, groups: Mapping[str, str]) -> FilterPlugins:
        asked = tuple(explanation.examination.plugins)
        skipped = tuple(explanation.examination.skipped)
        grouped = {
            name: cast(FilterGroup, groups[name]) for name in (*asked, *skipped) if name in groups
        }
        return cls(asked, skipped, grouped if groups else UNSET)


class ConsultedExtender(DocumentPart, frozen=True):
    """An extender that was asked about the pod."""

    url_prefix: str
    """Where it is."""
    verb: str
    """What it was asked."""
    asked: Count
    """Nodes it was asked about."""
    kept: Count
    """Nodes that it left, scored or would clear."""
    problem: str | None
    """Why it gave no answer."""
    ignored: bool
    """Whether that changed nothing else."""

    @classmethod
    def of(cls, line: Consulted) -> ConsultedExtender:
        problem = line.problem or None
        return cls(line.url_prefix, line.verb, line.asked, line.kept, problem, line.ignored)


class ExplainedAttempt(DocumentPart, frozen=True):
    """One attempt to schedule the pod."""

    attempt: Positive
    """Its number, from 1."""
    node: str | None
    """The node that it ended with."""
    message: str | None
    """Why it failed."""
    causes: tuple[CauseInFull, ...]
    """Why it failed, what matters most first."""
    nominated_node: str | None
    """The node on which the pod waits for victims to leave."""
    preemption: PostFilterAnswer | None
    """What PostFilter plugins came to; null if they were not asked."""
    examined_nodes: Count
    """Nodes that filters looked at."""
    feasible_nodes: Count
    """Those that fit."""
    best_nodes: tuple[str, ...]
    """Nodes with the highest total, by name."""
    pre_filter: PreFilterResult | None
    """What PreFilter plugins said; null if they were not asked."""
    filters: FilterPlugins
    weights: Mapping[str, int]
    """Weights of the plugins that scored."""
    pre_score_skipped: tuple[str, ...]
    """Plugins whose Score has nothing to say about the pod."""
    nodes: tuple[ExplainedNode, ...]
    """Nodes that fit, best first, then the others; with --node that one alone."""
    extenders: tuple[ConsultedExtender, ...] | UnsetType = UNSET
    """Extenders in the order in which they were asked; left out where there are none."""

    @classmethod
    def of(
        cls, explanation: Explanation, only_node: str | None, groups: Mapping[str, str]
    ) -> ExplainedAttempt:
        decision = explanation.decision
        consulted = tuple(map(ConsultedExtender.of, decision.consulted))
        return cls(
            attempt=decision.attempt,
            node=decision.bound,
            message=decision.message,
            causes=tuple(map(CauseInFull.of, explanation.causes)),
            nominated_node=decision.nominated_node or None,
            preemption=PostFilterAnswer.of(decision),
            examined_nodes=sum(result.count for result in decision.results),
            feasible_nodes=explanation.feasible_count,
            best_nodes=tuple(decision.best),
            pre_filter=PreFilterResult.of(decision),
            filters=FilterPlugins.of(explanation, groups),
            weights=explanation.weights,
            pre_score_skipped=tuple(sorted(decision.pre_score_skipped)),
            nodes=tuple(_list_nodes(explanation, only_node)),
            extenders=consulted or UNSET,
        )


def _list_nodes(explanation: Explanation, only_node: str | None) -> list[ExplainedNode]:
    """Nodes that fit, best first, then the others by reason."""
    found: list[ExplainedNode] = [
        FittingNode.of(explanation, entry)
        for entry in explanation.rank_nodes()
        if only_node in (None, entry.name)
    ]
    for group in explanation.rejections():
        found += (
            RejectedNode.of(explanation, name, group.status)
            for name in group.nodes
            if only_node in (None, name)
        )
    return found


class ExplanationDocument(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium explain` prints: one pod's decision, with every node and every plugin."""

    KIND: ClassVar[str] = "Explanation"

    namespace: str
    """The pod's namespace."""
    name: str
    """The pod's name."""
    outcome: PodOutcome
    node: str | None
    """Where the pod goes."""
    reserved: str | None
    """What plugins have set aside for the pod on its node, such as `cards 0, 1`."""
    message: str
    """Why it does not fit, as kube-scheduler says it; empty if it does."""
    causes: tuple[CauseInFull, ...]
    """Why it has no node, what matters most first."""
    premise: str
    """Under which assumption it was decided."""
    runs_on: str | None
    """The node of a pod that runs already and was decided anew."""
    scheduler_name: str
    """The scheduler that the pod asks for."""
    priority: int
    """The pod's priority."""
    attempts: tuple[ExplainedAttempt, ...]
    """Its attempts, in order."""
    notes: Notes = ()

    @classmethod
    def of(
        cls, explained: ExplainedPod, *, only_node: str | None, groups: Mapping[str, str]
    ) -> ExplanationDocument:
        """`groups` are those in which a Policy's time explained filters, by plugin."""
        result, spec = explained.result, explained.result.pod.spec
        return cls(
            namespace=result.pod.metadata.namespace,
            name=result.pod.metadata.name,
            outcome=result.outcome,
            node=result.node or None,
            reserved=(result.reserved or None) if result.placed else None,
            message=result.message,
            causes=tuple(map(CauseInFull.of, explained.causes)),
            premise=explained.premise,
            runs_on=explained.runs_on or None,
            scheduler_name=spec.scheduler_name,
            priority=spec.priority or 0,
            attempts=tuple(
                ExplainedAttempt.of(each, only_node, groups) for each in explained.attempts
            ),
        )
