"""What would have to change for a pod, as a document."""

from __future__ import annotations

from typing import ClassVar

from podium.golang.document_structs import Count, Notes, PodKey
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.scheduler.explain.proposals.answer_document import (
    PodProposal,
    WorkloadPods,
    answer_fields,
)
from podium.scheduler.explain.proposals.search import Answer


class ProposalsDocument(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium why` prints: changes that would give a pending pod a node."""

    KIND: ClassVar[str] = "Proposals"

    namespace: str
    """The pod's namespace."""
    name: str
    """The pod's name."""
    fits: bool
    """Whether the pod gets a node as things are."""
    node: str | None
    """Which one."""
    victims: tuple[PodKey, ...]
    """Pods that are evicted for that."""
    runs_on: str | None
    """The node of a pod that runs already and was decided anew."""
    turned_away_from: str | None
    """The node that the pod had and lost again before it was bound."""
    message: str | None
    """Why it does not fit."""
    workload: WorkloadPods | None
    """What the pod belongs to, null if nothing has made it."""
    trials: Count
    """Changes that were tried."""
    complete: bool
    """Whether the search came to its end."""
    proposals: tuple[PodProposal, ...]
    """What would make it fit, the least disturbing first."""
    notes: Notes = ()

    @classmethod
    def of(cls, answer: Answer, *, runs_on: str) -> ProposalsDocument:
        return cls(
            **answer_fields(answer, runs_on=runs_on),
            message=answer.reason or None,
            proposals=tuple(PodProposal.for_pod(each, answer.pod) for each in answer.proposals),
        )
