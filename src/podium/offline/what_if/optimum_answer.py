"""How good the scheduler's placement is: the answer that tables, JSON and scripts read."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from msgspec import field

from podium.golang.document_structs import (
    Amount,
    Count,
    DocumentPart,
    Notes,
    PodKey,
    PodOnNode,
    Unit,
)
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.offline.what_if.optimum_objectives import ObjectiveName
from podium.offline.what_if.records import Record, pick


class OptimumPods(DocumentPart, frozen=True):
    """How many pods there are, and how many get a node."""

    pending: Count
    """Pods to place."""
    placed_by_scheduler: Count
    """Pods that the scheduler places."""
    placed_by_optimum: Count
    """Pods of the best placement that is known."""
    evicted_by_scheduler: Count
    """Pods that the scheduler preempts; the optimum evicts none."""
    left_out: tuple[str, ...]
    """Pods that are not tried, and why."""


class MeasuredGap(DocumentPart, frozen=True):
    """One figure of the scheduler's placement, and of the best that is known."""

    name: str
    """What is measured."""
    better: Literal["more", "less"]
    """Which is better."""
    scheduler: float
    """Of the scheduler's placement."""
    optimum: float
    """Of the best placement that is known."""
    bound: float
    """What no placement can better that is as good by the measures before."""
    gap: Amount
    """How much better the best known is."""
    proven: bool
    """Whether the best known reaches the bound."""

    @property
    def possible_gap(self) -> float:
        """How much better a placement might be."""
        return gap_between(self.better, self.scheduler, self.bound)


class ResourceGap(DocumentPart, frozen=True):
    """What the pods ask for of a resource in all, and what of it each placement serves."""

    unit: Unit
    """What the numbers count."""
    asked: int
    """By all pods."""
    scheduler: int
    """By the pods that the scheduler places."""
    optimum: int
    """By the pods of the best placement that is known."""


class DifferentPod(DocumentPart, frozen=True):
    """A pod that the two placements treat differently."""

    pod: PodKey
    scheduler: str | None
    """The node that the scheduler chose."""
    optimum: str | None
    """The node of the best placement."""


class OptimumAnswer(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium optimum` prints: the best placement beside the scheduler's."""

    KIND: ClassVar[str] = "Optimum"

    objective: ObjectiveName
    """What was to be as good as possible."""
    scheduler_is_best: bool
    """Whether nothing better than the scheduler's placement is known or possible."""
    proven: bool
    """Whether no placement is better than the one shown."""
    checked: bool
    """Whether the solver's placement passed the scheduler's filters pod by pod; if not, the best
    real placement that is known is shown."""
    refusal: str | None
    """What a filter said against the solver's placement."""
    time_limit_s: float = field(name="timeLimitSeconds")
    """How long the solver was allowed to search."""
    timed_out: bool
    """Whether it stopped there."""
    bound_ignores: tuple[str, ...]
    """What the bound leaves out, which can make it too good."""
    pods: OptimumPods
    """How many pods there are, and how many get a node."""
    measures: tuple[MeasuredGap, ...]
    """What counts, the most important first."""
    resources: Mapping[str, ResourceGap]
    """By resource, what the pods ask for and what of it is served."""
    different: tuple[DifferentPod, ...]
    """Pods that the two placements treat differently."""
    placement: tuple[PodOnNode, ...]
    """The best placement that is known, in an order in which the scheduler lets the pods in."""
    notes: Notes = ()


def gap_between(better: str, value: float, best: float) -> float:
    """How much better the one is than the other, 0 if it is not."""
    return max(best - value if better == "more" else value - best, 0.0)


def is_best(measures: tuple[MeasuredGap, ...]) -> bool:
    """Whether nothing better than the scheduler's placement is known or possible."""
    for each in measures:
        if each.gap > 1e-9 or (not each.proven and each.possible_gap > 1e-9):
            return False
        if each.scheduler != each.optimum:
            return True  # better than the optimum, by evictions
    return True


def measure_records(answer: OptimumAnswer) -> list[Record]:
    """Each figure by the scheduler and at best, with what cannot be bettered."""
    names = ("better", "scheduler", "optimum", "bound", "gap", "proven")
    return [{"measure": each.name, **pick(each, *names)} for each in answer.measures]


def placement_records(answer: OptimumAnswer) -> list[Record]:
    """Each pod that either placement has on a node, or that they treat differently: those of the
    optimum in an order in which the scheduler lets them in, then the others."""
    different = {each.pod: each for each in answer.different}
    placed = {each.pod for each in answer.placement}
    found = []
    for each in answer.placement:
        own = different[each.pod].scheduler if each.pod in different else each.node
        found.append(_record(each.pod, own, each.node))
    found += [
        _record(other.pod, other.scheduler, None)
        for other in answer.different
        if other.pod not in placed
    ]
    return found


def _record(pod: str, scheduler: str | None, optimum: str | None) -> Record:
    namespace, _, name = pod.partition("/")
    return {
        "namespace": namespace,
        "name": name,
        "scheduler_node": scheduler,
        "optimum_node": optimum,
    }
