"""Everything that a question about changes is answered with.

How full a cluster is as a whole, before changes and after them; nodes may come and go.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from podium.golang.document_structs import Count, Document, DocumentPart, Notes, Positive, Unit
from podium.kubernetes.rules.requests import CPU, MEMORY, PODS, unit_of
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.offline.what_if.consequences import (
    Consequences,
    GonePods,
    KeptPod,
    MovedPods,
    PreemptedPods,
    StrandedPods,
)
from podium.offline.what_if.failures import Failure
from podium.scheduler.cluster.load import Load

_ALWAYS = (CPU, MEMORY, PODS)


class Total(DocumentPart, frozen=True):
    """One resource of all nodes together, or of one."""

    unit: Unit
    """What the numbers count."""
    allocatable_before: int
    """What there was."""
    requested_before: int
    """What pods had of it."""
    allocatable_after: int
    """What there is."""
    requested_after: int
    """What pods have of it."""


def total_use(before: Load, after: Load) -> Mapping[str, Total]:
    """Resource -> its sums over all nodes; those that nobody requests are left out."""
    names = {*before.resources, *after.resources}
    found = {}
    for name in (*_ALWAYS, *sorted(names - {*_ALWAYS})):
        total = Total(unit_of(name), *_sums(before, name), *_sums(after, name))
        if name in _ALWAYS or total.requested_before or total.requested_after:
            found[name] = total
    return found


def node_use(before: Load, after: Load) -> Mapping[str, Mapping[str, Total]]:
    """Node -> resource -> what it has and gives before and after; 0 where the node is not there."""
    resources = total_use(before, after)
    columns = [{name: at for at, name in enumerate(load.nodes)} for load in (before, after)]
    return {
        node: {
            resource: Total(
                unit_of(resource),
                *_of_node(before, resource, columns[0].get(node)),
                *_of_node(after, resource, columns[1].get(node)),
            )
            for resource in resources
        }
        for node in sorted({*before.nodes, *after.nodes})
    }


def _sums(load: Load, resource: str) -> tuple[int, int]:
    if resource not in load.resources:
        return 0, 0
    row = load.resources.index(resource)
    return int(load.allocatable[row].sum()), int(load.requested[row].sum())


def _of_node(load: Load, resource: str, column: int | None) -> tuple[int, int]:
    if column is None or resource not in load.resources:
        return 0, 0
    row = load.resources.index(resource)
    return int(load.allocatable[row, column]), int(load.requested[row, column])


class WaitingPodCounts(DocumentPart, frozen=True):
    """Pods that waited already."""

    before: Count
    """Pods without a node before the changes."""
    after: Count
    """How many of them have none afterwards."""


class NodeTotals(DocumentPart, frozen=True):
    """One node before and after the changes."""

    name: str
    """The node."""
    requested: Mapping[str, Total]
    """Resources before and after the changes."""


class FailureDocument(DocumentPart, frozen=True):
    """A node or zone failing by itself."""

    name: str
    """The node or zone that fails."""
    nodes: Positive
    """How many nodes that is."""
    pods: Count
    """Pods that were on it."""
    survived: bool
    """Whether every pod has a place again."""
    moved: MovedPods
    stranded: StrandedPods
    gone: GonePods
    preempted: PreemptedPods

    @classmethod
    def of(cls, failure: Failure) -> "FailureDocument":
        found = failure.consequences
        return cls(
            failure.what,
            failure.nodes,
            failure.pods,
            failure.is_survived,
            tuple(found.moved),
            tuple(found.stranded),
            tuple(found.gone),
            tuple(found.preempted),
        )


class FailureView(Document, frozen=True):
    """One node or zone failing by itself, in the report of `podium what-if`."""

    KIND: ClassVar[str] = "FailureView"

    name: str
    """The node or zone that fails."""
    moved: MovedPods
    stranded: StrandedPods
    gone: GonePods
    preempted: PreemptedPods

    @classmethod
    def of(cls, failure: Failure) -> "FailureView":
        found = failure.consequences
        return cls(
            failure.what,
            tuple(found.moved),
            tuple(found.stranded),
            tuple(found.gone),
            tuple(found.preempted),
        )


class FailureRow(DocumentPart, frozen=True):
    """One failure in figures."""

    name: str
    """The node or zone that fails."""
    nodes: Count
    """How many nodes that is."""
    pods: Count
    """Pods that were on it."""
    survived: bool
    """Whether every pod has a place again."""
    moved: Count
    """Pods that have another node."""
    stranded: Count
    """Pods that get none."""
    gone: Count
    """Pods that no controller makes again."""
    preempted: Count
    """Pods that lost their node to more important ones."""
    who: str
    """Who is lost, and why."""


class FailuresView(Document, frozen=True):
    """Every node, or every zone, failing by itself: the table in the report of `podium what-if`."""

    KIND: ClassVar[str] = "FailuresView"

    failures: tuple[FailureRow, ...]
    """The failures, those with the most lost pods first."""


class WhatIfDocument(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium what-if` prints: what changes of a cluster would do."""

    KIND: ClassVar[str] = "WhatIf"

    changes: tuple[str, ...]
    """What was changed, in order."""
    survived: bool
    """Whether every pod has a place after the changes and after each failure, and every one that
    was to go has gone."""
    moved: MovedPods
    stranded: StrandedPods
    gone: GonePods
    preempted: PreemptedPods
    kept: tuple[KeptPod, ...]
    """Pods that were to be evicted and may not be."""
    waiting: WaitingPodCounts
    """Pods that waited already."""
    utilisation: Mapping[str, Total]
    """Resources before and after the changes."""
    nodes: tuple[NodeTotals, ...]
    """Every node that is there before or after the changes; 0 where it is not."""
    node_failures: tuple[FailureDocument, ...] | None
    """Each node failing by itself; null if that was not asked."""
    zone_failures: tuple[FailureDocument, ...] | None
    """Each zone failing by itself; null if that was not asked."""
    notes: Notes = ()


@dataclass(slots=True)
class WhatIfAnswer:
    """`nodes` and `zones` are failures of each by itself, None where nobody asked."""

    consequences: Consequences
    before: Load
    after: Load
    nodes: list[Failure] | None = None
    zones: list[Failure] | None = None

    @property
    def is_survived(self) -> bool:
        failures = (*(self.nodes or ()), *(self.zones or ()))
        return self.consequences.is_survived and all(each.is_survived for each in failures)

    def document(self) -> WhatIfDocument:
        found = self.consequences
        return WhatIfDocument(
            changes=found.changes,
            survived=self.is_survived,
            moved=tuple(found.moved),
            stranded=tuple(found.stranded),
            gone=tuple(found.gone),
            preempted=tuple(found.preempted),
            kept=tuple(found.kept),
            waiting=WaitingPodCounts(found.waiting_before, found.waiting_after),
            utilisation=total_use(self.before, self.after),
            nodes=tuple(
                NodeTotals(name, uses) for name, uses in node_use(self.before, self.after).items()
            ),
            node_failures=_list_failures(self.nodes),
            zone_failures=_list_failures(self.zones),
        )


def _list_failures(failures: list[Failure] | None) -> tuple[FailureDocument, ...] | None:
    return None if failures is None else tuple(map(FailureDocument.of, failures))
