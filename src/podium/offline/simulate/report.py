"""What came of a simulation: plain values that tables, JSON and tests read.

A decision holds arrays over all nodes, which is too much to keep for thousands of pods. Each pod
therefore keeps a digest of its last attempt; whole decisions are kept for pods that are watched.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.completeness import MissingKind
from podium.offline.simulate.timeline import Timeline
from podium.offline.simulate.watching import Look
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.decision_digest import Digest
from podium.scheduler.explain.utilisation import Utilisation


class PodOutcome(StrEnum):
    """What became of the pod: placed; unschedulable; gated (kept out of the queue); preempted
    (placed, then evicted in the same run); not-ours (for another scheduler); terminating; error
    (the attempt broke)."""

    PLACED = "placed"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    PREEMPTED = "preempted"
    """Placed first, evicted for a more important pod later in the same run."""
    NOT_OURS = "not-ours"
    """No profile has the pod's schedulerName."""
    TERMINATING = "terminating"
    ERROR = "error"
    """The attempt broke: a plugin or Podium itself failed."""


@dataclass(slots=True)
class PodResult:
    pod: Pod
    key: str
    outcome: PodOutcome
    node: str = ""
    message: str = ""
    attempts: int = 0
    digest: Digest = field(default_factory=Digest)
    victims: tuple[str, ...] = ()
    """Keys of the pods that were evicted for this one."""
    reserved: str = ""
    """What plugins have set aside for it on its node, such as `cards 0, 1`."""
    crash: str = ""
    """The traceback, should Podium have a bug."""
    turned_away_from: str = ""
    """The node that the last attempt found, if the pod lost it again before it was bound."""
    find_causes: Callable[[], tuple[Cause, ...]] = tuple

    @property
    def placed(self) -> bool:
        return self.outcome is PodOutcome.PLACED

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Why the pod has no node at the end, the cause that matters most first."""
        if self.placed:
            return ()
        if self.outcome is PodOutcome.PREEMPTED:
            told = f"The pod was placed and then {self.message}."
            return (Cause("preempted", "", self.message, told),)
        return self.find_causes()


@dataclass(frozen=True, slots=True)
class Eviction:
    victim: Pod
    node: str
    by: str

    @property
    def key(self) -> str:
        return f"{self.victim.metadata.namespace}/{self.victim.metadata.name}"


@dataclass(slots=True)
class SimulationReport:
    """`pods` are in the order in which they were first attempted, then those never tried."""

    seed: int
    pods: list[PodResult]
    evictions: list[Eviction]
    utilisation: Utilisation
    running_pods: int
    notes: tuple[str, ...]
    timeline: Timeline
    watched: dict[str, list[Look]] = field(default_factory=dict)
    missing_kinds: tuple[MissingKind, ...] = ()
    compared_results: tuple[str, ...] = ()
    """How decisions differ from those that pods bring along from kube-scheduler-simulator."""

    refusals: tuple[str, ...] = ()
    """Pods that are not there to be placed, because the API server refuses them their controller;
    notes have them too."""

    @property
    def all_fit(self) -> bool:
        """Whether every pod that was to be placed has a place."""
        return not self.left_over and not self.refusals

    @property
    def left_over(self) -> list[PodResult]:
        """Pods that were to be placed and have no place.

        Pods that ask for another scheduler, are on their way out or are held back by a gate were
        not to be placed.
        """
        waived = (PodOutcome.PLACED, PodOutcome.GATED, PodOutcome.NOT_OURS, PodOutcome.TERMINATING)
        return [result for result in self.pods if result.outcome not in waived]

    def count(self, outcome: PodOutcome) -> int:
        return sum(result.outcome is outcome for result in self.pods)


def group_by_cause(
    results: Iterable[PodResult],
) -> list[tuple[Cause | None, list[PodResult]]]:
    """Pods that have the same first cause, the largest group first; None are those without one."""
    groups: dict[tuple[str, str, str] | None, tuple[Cause | None, list[PodResult]]] = {}
    for result in results:
        first = next(iter(result.causes), None)
        groups.setdefault(first.key if first else None, (first, []))[1].append(result)
    return sorted(groups.values(), key=lambda group: -len(group[1]))
