"""Proposals as parts of a document, every change with what it leads to."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

from podium.golang.document_structs import Count, DocumentPart, PodKey
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.explain.proposals.object_writes import spec_patch
from podium.scheduler.explain.proposals.proposal import Proposal
from podium.scheduler.explain.proposals.rehearsal import RehearsalOutcome
from podium.scheduler.explain.proposals.search import ProposalAnswer
from podium.scheduler.explain.proposals.workload import OwnedPods

StepCode = Annotated[
    str,
    Meta(pattern="^[a-z][a-z0-9-]*$", description="A stable word for the kind of change."),
]
WholeObject = Annotated[
    dict[str, Any], Meta(extra_json_schema={"required": ["apiVersion", "kind", "metadata"]})
]


class WorkloadPods(DocumentPart, frozen=True):
    """What a pod belongs to."""

    kind: str
    """The kind of the controller."""
    name: str
    """Its name."""
    wanted: Count
    """How many pods it is to have."""
    placed: Count
    """How many have a node."""
    waiting: Count
    """How many have none."""

    @classmethod
    def of(cls, workload: OwnedPods) -> WorkloadPods:
        placed, waiting = len(workload.placed), len(workload.waiting)
        return cls(workload.owner.kind, workload.owner.name, workload.wanted, placed, waiting)


class ProposedStep(DocumentPart, frozen=True):
    """One change."""

    code: StepCode
    sentence: str
    """What to do, in words."""
    disturbance: Count
    """How much it disturbs."""

    @classmethod
    def all_of(cls, proposal: Proposal) -> tuple[ProposedStep, ...]:
        return tuple(cls(each.code, each.sentence, each.disturbance) for each in proposal.steps)


class ProposedMove(DocumentPart, frozen=True):
    """A pod that would go elsewhere."""

    pod: PodKey
    source: str = field(name="from")
    """Their node."""
    to: str
    """Where they would go."""


class ProposedChanges(DocumentPart, frozen=True):
    """What would be different, as data."""

    pod_spec: dict[str, Any]
    """A strategic merge patch for the pod's spec."""
    objects: tuple[WholeObject, ...]
    """Nodes and other objects as they would be, in full."""
    evict: tuple[PodKey, ...]
    """Pods that would have to go."""
    preempt: tuple[PodKey, ...]
    """Pods that preemption would evict."""
    replicas: int | None
    """To how many pods the workload would be scaled."""
    move: tuple[ProposedMove, ...]
    """Pods that would go elsewhere."""

    @classmethod
    def of(cls, proposal: Proposal, pod: Pod) -> ProposedChanges:
        supposed = proposal.hypothesis
        return cls(
            spec_patch(pod.spec, supposed.pod.spec, for_template=False),
            tuple(_body(each) for each in (*supposed.nodes, *supposed.objects)),
            tuple(object_key(each.metadata) for each in supposed.removed),
            tuple(object_key(each.metadata) for each in supposed.preempted),
            supposed.replicas,
            tuple(
                ProposedMove(object_key(each.metadata), each.spec.node_name, to)
                for each, to in zip(supposed.moved, proposal.destinations, strict=True)
            ),
        )


class PlacedPods(DocumentPart, frozen=True):
    """The pods of the workload, or the pod alone."""

    wanted: Count
    """How many pods there are to be."""
    before: Count
    """How many have a node now."""
    after: Count
    """How many have one afterwards."""

    @classmethod
    def of(cls, outcome: RehearsalOutcome) -> PlacedPods:
        return cls(outcome.wanted, outcome.before, outcome.after)


class ProposalInBrief(DocumentPart, frozen=True, kw_only=True):
    """Changes that together make the pod fit."""

    code: str
    """The codes of its steps, joined by plus signs."""
    sentence: str
    """What to do, in words."""
    disturbance: Count
    """How much it disturbs; comparable between proposals."""
    nodes: Count
    """How many nodes would take the pod."""
    node: str
    """The one it would go to."""
    steps: tuple[ProposedStep, ...]
    """Its changes, in the order of carrying them out."""
    commands: tuple[str, ...]
    """Lines for a shell that carry it out; one that starts with # is for people."""
    disruptions: tuple[str, ...]
    """What the commands delete, restart or evict."""
    pods: PlacedPods

    @classmethod
    def of(cls, proposal: Proposal) -> ProposalInBrief:
        return cls(**_proposal_fields(proposal))


class PodProposal(ProposalInBrief, frozen=True, kw_only=True):
    """Changes that together make the pod fit, as data as well."""

    changes: ProposedChanges

    @classmethod
    def for_pod(cls, proposal: Proposal, pod: Pod) -> PodProposal:
        return cls(**_proposal_fields(proposal), changes=ProposedChanges.of(proposal, pod))


def _proposal_fields(proposal: Proposal) -> dict[str, Any]:
    return {
        "code": proposal.code,
        "sentence": proposal.sentence,
        "disturbance": proposal.disturbance,
        "nodes": proposal.nodes,
        "node": proposal.node,
        "steps": ProposedStep.all_of(proposal),
        "commands": tuple(proposal.commands),
        "disruptions": tuple(proposal.disruptions),
        "pods": PlacedPods.of(proposal.outcome),
    }


def answer_fields(answer: ProposalAnswer, *, runs_on: str) -> dict[str, Any]:
    """The fields of a document about an answer, but for its message and its proposals."""
    metadata, workload = answer.pod.metadata, answer.workload
    return {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "fits": bool(answer.node),
        "node": answer.node or None,
        "victims": tuple(answer.victims),
        "runs_on": runs_on or None,
        "turned_away_from": answer.turned_away_from or None,
        "workload": WorkloadPods.of(workload) if workload is not None else None,
        "trials": answer.trials,
        "complete": answer.is_complete,
    }


def _body(obj: KubeObject) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.to_builtins(obj)
    return {"apiVersion": obj.api_version, "kind": obj.kind, **body}
