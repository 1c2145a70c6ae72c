"""What waits in a cluster: by cause, by workload, and what to do first about each cause.

A cluster with thousands of pending pods has few reasons for them, and each reason has one change
that helps most. Pods are therefore grouped by the first of their causes, and for the largest groups
the search of `podium why` is asked for its first proposal, for one pod of the largest workload.

Contract: the proposal is the one that `podium why` lists first for that workload. The search is
bounded by the number of groups that it is made for, never by time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta, field

from podium.golang.document_structs import Count, DocumentPart, Notes, PodKey
from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.missing_pods import MissingPods
from podium.offline.simulate.report import (
    PodOutcome,
    PodResult,
    SimulationReport,
    group_by_cause,
)
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.explain.proposals.answer_document import PodProposal
from podium.scheduler.explain.proposals.owners import OwnersOfPods
from podium.scheduler.explain.proposals.search import ProposalAnswer

BARE_POD: Final = "Pod"

WaitingState = Literal[
    "unschedulable", "preempted", "error", "refused", "gated", "not-ours", "terminating"
]
"""`refused`: the API server does not create the pods."""
_BLOCKED: Final = (PodOutcome.UNSCHEDULABLE, PodOutcome.PREEMPTED, PodOutcome.ERROR)
_ORDER: Final[tuple[PodOutcome, ...]] = (
    *_BLOCKED,
    PodOutcome.GATED,
    PodOutcome.NOT_OURS,
    PodOutcome.TERMINATING,
)
_SEARCHED: Final = (*_BLOCKED, PodOutcome.GATED, PodOutcome.NOT_OURS)


class PendingWorkload(DocumentPart, frozen=True):
    """A workload of which pods wait, or a pod that nothing has made."""

    kind: str
    """Its kind, `Pod` for a pod that nothing has made."""
    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    pods: Count
    """How many of its pods wait for this."""

    @property
    def reference(self) -> str:
        """As `podium why` takes it."""
        return self.name if self.kind == BARE_POD else f"{self.kind.lower()}/{self.name}"


class PendingCause(DocumentPart, frozen=True):
    """Why pods wait, and which."""

    state: Annotated[
        WaitingState, Meta(description="What the pods are; refused ones are not even created.")
    ]
    code: str | None
    """A stable word for the kind of cause; null where there is only a message."""
    plugin: str | None
    """The plugin that turned the pods away; null where it was none."""
    subject: str | None
    """The thing itself: a taint, a label, a resource, a claim."""
    sentence: str
    """The cause in words, for the first of the pods."""
    message: str | None
    """The same as kube-scheduler says it."""
    count: Count = field(name="podCount")
    """How many pods wait for this."""
    workloads: tuple[PendingWorkload, ...]
    """What they belong to, the workload with the most of them first."""
    pods: tuple[PodKey, ...]
    """The pods."""
    first: PodProposal | None
    """What to do first, for the first workload: tried, with its commands. Null where nothing that
    was tried helps, or nothing was tried."""
    tried: bool
    """Whether something was tried."""
    ask: str
    """The command that tells more."""


class PendingSummary(DocumentPart, frozen=True):
    """Counts."""

    nodes: Count
    """Nodes."""
    pending: Count
    """Pods without a node."""
    fitting: Count
    """Those of them that a node takes as things are."""
    blocked: Count
    """Those that no node takes."""
    gated: Count
    """Those that are kept out of the queue."""
    not_ours: Count
    """Those for another scheduler."""
    terminating: Count
    """Those on their way out."""
    refused: Count
    """Workloads whose pods the API server does not create."""


class PendingPods(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium pending` prints: what waits, by cause and workload, and what to do first."""

    KIND: ClassVar[str] = "PendingPods"

    summary: PendingSummary
    """Counts."""
    causes: tuple[PendingCause, ...]
    """Why pods wait: first what keeps pods from nodes, that with the most pods first."""
    notes: Notes = ()

    @property
    def nothing_waits(self) -> bool:
        """Whether every pod that is to have a node gets one."""
        return not self.summary.blocked and not self.summary.refused


@dataclass(frozen=True, slots=True)
class PendingSearch:
    """How more is found out: `propose` is the search for one pod, `most` for how many causes it is
    made, `missing` are workloads whose pods are not created, and `command` is the command that asks
    about a workload."""

    propose: Callable[[PodResult], ProposalAnswer]
    most: int
    missing: Sequence[MissingPods]
    command: Callable[[PendingWorkload], str]


def describe_pending(
    report: SimulationReport, catalog: Catalog, search: PendingSearch
) -> PendingPods:
    """Everything that waits, from a simulation that has placed what can be placed."""
    outcomes = Counter(result.outcome for result in report.pods)
    refused = list(_list_refused(report, search))
    waiting = [result for result in report.pods if not result.placed]
    return PendingPods(
        summary=PendingSummary(
            nodes=len(report.utilisation.nodes),
            pending=len(report.pods),
            fitting=outcomes[PodOutcome.PLACED],
            blocked=sum(outcomes[each] for each in _BLOCKED),
            gated=outcomes[PodOutcome.GATED],
            not_ours=outcomes[PodOutcome.NOT_OURS],
            terminating=outcomes[PodOutcome.TERMINATING],
            refused=len(refused),
        ),
        causes=(*_list_causes(waiting, OwnersOfPods(catalog), search), *refused),
    )


def _list_causes(
    waiting: Iterable[PodResult], owners: OwnersOfPods, search: PendingSearch
) -> Iterator[PendingCause]:
    by_outcome: dict[PodOutcome, list[PodResult]] = {outcome: [] for outcome in _ORDER}
    for result in waiting:
        by_outcome[result.outcome].append(result)
    searches = search.most
    for outcome, results in by_outcome.items():
        for cause, members in group_by_cause(results):
            ranked = _by_workload(members, owners)
            workloads = tuple(workload for workload, _ in ranked)
            # A pod that lost its node before it was bound: no change of the cluster is the answer.
            asked = next((r for r in ranked[0][1] if not r.turned_away_from), None)
            tries = outcome in _SEARCHED and searches > 0 and asked is not None
            first = None
            if tries and asked is not None:
                searches -= 1
                answer = search.propose(asked)
                first = next((PodProposal.for_pod(p, answer.pod) for p in answer.proposals), None)
            yield PendingCause(
                state=outcome.value,  # type: ignore[arg-type]
                code=cause.code if cause is not None else None,
                plugin=(cause.plugin or None) if cause is not None else None,
                subject=cause.subject if cause is not None else None,
                sentence=cause.sentence if cause is not None else members[0].message,
                message=members[0].message or None,
                count=len(members),
                workloads=workloads,
                pods=tuple(member.key for member in members),
                first=first,
                tried=tries,
                ask=search.command(workloads[0]),
            )


def _by_workload(
    results: Iterable[PodResult], owners: OwnersOfPods
) -> list[tuple[PendingWorkload, list[PodResult]]]:
    """The workloads of pods with their pods, that with the most first."""
    groups: dict[tuple[str, str, str], list[PodResult]] = {}
    for result in results:
        groups.setdefault(_workload_key(result.pod, owners), []).append(result)
    ranked = sorted(groups.items(), key=lambda group: -len(group[1]))
    return [(PendingWorkload(*key, pods=len(members)), members) for key, members in ranked]


def _workload_key(pod: Pod, owners: OwnersOfPods) -> tuple[str, str, str]:
    """Kind, namespace and name."""
    owner = owners.of(pod)
    namespace = pod.metadata.namespace
    if owner is None:
        return BARE_POD, namespace, pod.metadata.name
    return owner.kind, namespace, owner.name


def _list_refused(report: SimulationReport, search: PendingSearch) -> Iterator[PendingCause]:
    """Workloads that have fewer pods than they are to have, because nobody creates them."""
    for kind, namespace, name, refusal in search.missing:
        workload = PendingWorkload(kind, namespace, name, pods=0)
        yield _refused(refusal, search.command(workload), workload)
    for refusal in report.refusals:
        yield _refused(refusal, "")


def _refused(sentence: str, ask: str, *workloads: PendingWorkload) -> PendingCause:
    return PendingCause(
        state="refused",
        code=None,
        plugin=None,
        subject=None,
        sentence=sentence,
        message=None,
        count=0,
        workloads=workloads,
        pods=(),
        first=None,
        tried=False,
        ask=ask,
    )
