"""How good the scheduler's placement is: plain values that tables, JSON and tests read."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredGap:
    """One figure of the scheduler's placement, of the best that is known, and what no placement
    can better given the figures before it."""

    name: str
    is_maximised: bool
    scheduler: float
    optimum: float
    bound: float
    is_proven: bool

    @property
    def gap(self) -> float:
        """How much better than the scheduler's the best known is."""
        gap = self.optimum - self.scheduler if self.is_maximised else self.scheduler - self.optimum
        return max(gap, 0.0)

    @property
    def possible_gap(self) -> float:
        """How much better a placement might be."""
        gap = self.bound - self.scheduler if self.is_maximised else self.scheduler - self.bound
        return max(gap, 0.0)


@dataclass(frozen=True, slots=True)
class ResourceGap:
    """What the pods ask for of a resource in all, and what of it each placement serves."""

    resource: str
    asked: int
    scheduler: int
    optimum: int


@dataclass(frozen=True, slots=True)
class DifferentPod:
    """A pod that the two placements treat differently; "" is no node."""

    pod: str
    scheduler: str
    optimum: str


@dataclass(frozen=True, slots=True)
class OptimumAnswer:
    objective: str
    nodes: int
    pods: int
    """That are to be placed."""
    scheduler_placed: int
    optimum_placed: int
    measures: Sequence[MeasuredGap]
    resources: Sequence[ResourceGap]
    different: Sequence[DifferentPod]
    placement: dict[str, str]
    """Pods of the best known placement and their nodes, in an order that the scheduler accepts."""
    is_checked: bool
    """Whether the solver's placement passed the scheduler's filters pod by pod; if not, what is
    shown is the best part of it, or the scheduler's own."""
    refusal: str
    ignored: Sequence[str]
    """What the bound leaves out."""
    left_out: Sequence[str]
    """Pods that no placement concerns."""
    evictions: int
    """Of pods that the scheduler preempted; the optimum evicts nobody."""
    time_limit_s: float
    timed_out: bool

    @property
    def is_proven(self) -> bool:
        """Whether no placement is better than the one shown."""
        return all(each.is_proven for each in self.measures)

    @property
    def is_scheduler_best(self) -> bool:
        """Whether nothing better than the scheduler's placement is known or possible."""
        for each in self.measures:
            if each.gap > 1e-9 or (not each.is_proven and each.possible_gap > 1e-9):
                return False
            if each.scheduler != each.optimum:
                return True  # better than the optimum, by evictions
        return True
