"""A simulation's report as a document.

Names are Kubernetes' where it has one. Nothing is left out and nothing is rounded: cpu is in
milli-cores, memory and storage in bytes, everything else in units.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from msgspec import UNSET, UnsetType, field

from podium.golang.document_structs import Amount, Count, DocumentPart, Notes, PodKey, Unit
from podium.kubernetes.rules.requests import unit_of
from podium.offline.simulate.report import (
    PodOutcome,
    PodResult,
    SimulationReport,
    group_by_cause,
)
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.scheduler.engine.observer import Line, LogLineKind
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.cause_document import CauseCode
from podium.scheduler.explain.decision_digest import AttemptFigures, pick_figures


class SimulationSummary(DocumentPart, frozen=True):
    """Counts."""

    nodes: Count
    """Nodes."""
    running_pods: Count
    """Pods that run already."""
    pending_pods: Count
    """Pods that were to be placed."""
    placed: Count
    """Those that have a node at the end."""
    unschedulable: Count
    """Those that no node takes."""
    gated: Count
    """Those that are kept out of the queue."""
    preempted: Count
    """Those that were placed and then evicted for others."""
    not_ours: Count
    """Those for another scheduler."""
    terminating: Count
    """Those on their way out."""
    error: Count
    """Those whose attempt broke."""
    evictions: Count
    """Pods that were evicted."""
    all_fit: bool
    """Whether every pod that was to be placed has a node."""
    seed: int
    """The seed that broke ties."""


class BriefCause(DocumentPart, frozen=True):
    """Why a pod has no node."""

    code: CauseCode
    plugin: str | None
    """The plugin that turned the pod away; null where it was none."""
    subject: str
    """The thing itself: a taint, a label, a resource, a claim. Code, plugin and subject tell causes
    apart."""
    sentence: str
    """The cause in words."""

    @classmethod
    def of(cls, cause: Cause) -> "BriefCause":
        return cls(cause.code, cause.plugin or None, cause.subject, cause.sentence)


class CauseOfPods(DocumentPart, frozen=True):
    """A cause with all that its sentence is made of, and the pods that have it."""

    code: CauseCode
    plugin: str | None
    """The plugin that turned the pod away; null where it was none."""
    subject: str
    """The thing itself: a taint, a label, a resource, a claim. Code, plugin and subject tell causes
    apart."""
    sentence: str
    """The cause in words."""
    nodes: tuple[str, ...]
    """Nodes that it rules out; none where it has nothing to do with single nodes."""
    facts: Mapping[str, Any]
    """What the sentence is made of; members depend on the code."""
    pods: tuple[PodKey, ...]
    """Pods that have it."""


class MessageReason(DocumentPart, frozen=True):
    """A reason in the message of a pod."""

    reason: str
    """As the message has it."""
    nodes: Count
    """Nodes with this reason."""


class LastAttempt(AttemptFigures, frozen=True, kw_only=True):
    """The last attempt of a pod in numbers."""

    reasons: tuple[MessageReason, ...]
    """Reasons of the last attempt, the most frequent first."""
    evicted: tuple[PodKey, ...]
    """Pods that were evicted for this one."""


class SimulatedPod(LastAttempt, frozen=True):
    """What has become of one pod, and its last attempt in numbers."""

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
    causes: tuple[BriefCause, ...]
    """Why it has no node, what matters most first."""
    scheduler_name: str
    """The scheduler that the pod asks for."""
    priority: int
    """The pod's priority."""
    turned_away_from: str | None
    """The node that the pod had and lost again before it was bound."""
    attempts: Count
    """How often it was tried."""

    @classmethod
    def of(cls, result: PodResult) -> "SimulatedPod":
        digest, metadata, spec = result.digest, result.pod.metadata, result.pod.spec
        return cls(
            namespace=metadata.namespace,
            name=metadata.name,
            outcome=result.outcome,
            node=result.node or None,
            reserved=(result.reserved or None) if result.placed else None,
            message=result.message,
            causes=tuple(map(BriefCause.of, result.causes)),
            scheduler_name=spec.scheduler_name,
            priority=spec.priority or 0,
            turned_away_from=(result.turned_away_from or None) if not result.placed else None,
            attempts=result.attempts,
            reasons=tuple(
                MessageReason(reason, nodes)
                for reason, nodes in sorted(digest.reasons.items(), key=lambda kv: (-kv[1], kv[0]))
            ),
            evicted=tuple(result.victims),
            **pick_figures(digest, AttemptFigures),
        )


class EvictedPod(DocumentPart, frozen=True):
    """A pod that was evicted for another."""

    pod: PodKey
    node: str
    """Where it was."""
    priority: int
    """Its priority."""
    by: PodKey
    """The pod it was evicted for, as namespace/name."""


class ResourceUse(DocumentPart, frozen=True):
    """One resource of one node."""

    unit: Unit
    """What is counted."""
    allocatable: int
    """What the node has."""
    before: Count
    """What pods asked for before."""
    after: Count
    """What they ask for at the end."""


class SimulatedNode(DocumentPart, frozen=True):
    """How full one node is."""

    name: str
    """The node's name."""
    requested: Mapping[str, ResourceUse]
    """Requests by resource."""


class PodEvent(DocumentPart, frozen=True):
    """One thing that happened to a pod."""

    at_s: Amount = field(name="atSeconds")
    """When, in seconds on the virtual clock."""
    what: LogLineKind
    """What happened."""
    plugins: tuple[str, ...]
    """Who rejected the pod, held it back, waited for the event or asked to wait."""
    about: str | None
    """The node, the object that an event happened to, or the pod that another was evicted for."""
    detail: str | None
    """The message of an attempt, an event's name, the victims, or what went wrong."""

    @classmethod
    def of(cls, line: Line) -> "PodEvent":
        """`about` and `detail` mean what `Line` says for its kind."""
        what = cast(LogLineKind, line.what)
        return cls(line.at, what, tuple(line.plugins), line.about or None, line.detail or None)


class PodLife(DocumentPart, frozen=True):
    """Everything that happened to one pod."""

    pod: PodKey
    life: tuple[PodEvent, ...]
    """What happened, in order."""


class SimulationAnswer(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium simulate` prints: where pending pods go, or why they do not."""

    KIND: ClassVar[str] = "Simulation"

    summary: SimulationSummary
    """Counts."""
    pods: tuple[SimulatedPod, ...]
    """The pods, in the order in which they were first tried, then those never tried."""
    causes: tuple[CauseOfPods, ...]
    """Each first cause once, with the pods that have it."""
    evictions: tuple[EvictedPod, ...]
    """Pods that were evicted for others."""
    nodes: tuple[SimulatedNode, ...]
    """How full the nodes are."""
    notes: Notes
    timeline: tuple[PodLife, ...] | UnsetType = UNSET
    """Everything that happened to every pod; with --timeline."""

    @classmethod
    def of(cls, report: SimulationReport, *, timeline: bool = False) -> "SimulationAnswer":
        count = Counter(result.outcome for result in report.pods)
        return cls(
            summary=SimulationSummary(
                nodes=len(report.utilisation.nodes),
                running_pods=report.running_pods,
                pending_pods=len(report.pods),
                placed=count[PodOutcome.PLACED],
                unschedulable=count[PodOutcome.UNSCHEDULABLE],
                gated=count[PodOutcome.GATED],
                preempted=count[PodOutcome.PREEMPTED],
                not_ours=count[PodOutcome.NOT_OURS],
                terminating=count[PodOutcome.TERMINATING],
                error=count[PodOutcome.ERROR],
                evictions=len(report.evictions),
                all_fit=report.all_fit,
                seed=report.seed,
            ),
            pods=tuple(map(SimulatedPod.of, report.pods)),
            causes=tuple(_list_causes(report)),
            evictions=tuple(
                EvictedPod(each.key, each.node, each.victim.spec.priority or 0, each.by)
                for each in report.evictions
            ),
            nodes=tuple(
                SimulatedNode(name, _list_uses(report, name)) for name in report.utilisation.nodes
            ),
            notes=tuple(report.notes),
            timeline=tuple(
                PodLife(key, tuple(map(PodEvent.of, life))) for key, life in report.timeline.lives()
            )
            if timeline
            else UNSET,
        )


def _list_causes(report: SimulationReport) -> list[CauseOfPods]:
    """Each first cause once, with the pods that have it."""
    groups = group_by_cause(result for result in report.pods if not result.placed)
    return [
        CauseOfPods(
            cause.code,
            cause.plugin or None,
            cause.subject,
            cause.sentence,
            tuple(cause.nodes),
            cause.facts,
            tuple(result.key for result in results),
        )
        for cause, results in groups
        if cause is not None
    ]


def _list_uses(report: SimulationReport, node: str) -> dict[str, ResourceUse]:
    found = {}
    for resource in report.utilisation.resources:
        use = report.utilisation.of(node, resource)
        found[resource] = ResourceUse(unit_of(resource), use.allocatable, use.before, use.after)
    return found
