"""What came of a simulation: plain values that tables, JSON and tests read.

A decision holds arrays over all nodes, which is too much to keep for thousands of pods. Each pod
therefore keeps a digest of its last attempt; whole decisions are kept for pods that are watched.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from podium.api.pod import Pod
from podium.engine.decision import Decision, NodeScore
from podium.explain.utilisation import Utilisation
from podium.framework.fit_message import reason_counts
from podium.simulator.completeness import MissingKind
from podium.simulator.timeline import Timeline
from podium.simulator.watching import Look


class PodOutcome(StrEnum):
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


@dataclass(frozen=True, slots=True)
class Digest:
    """The last attempt of a pod in numbers.

    `score` is the chosen node's total, None if there was nothing to compare. `runner_up` is the
    best node with a smaller total, and `decided_by` the plugin that gave the chosen node the
    largest lead over it.
    """

    examined_nodes: int = 0
    feasible_nodes: int = 0
    tied_nodes: int = 0
    score: int | None = None
    scores: dict[str, NodeScore] = field(default_factory=dict)
    runner_up: str = ""
    lead: int = 0
    decided_by: str = ""
    reasons: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class PodResult:
    pod: Pod
    key: str
    outcome: PodOutcome
    node: str = ""
    message: str = ""
    attempts: int = 0
    digest: Digest = Digest()
    victims: tuple[str, ...] = ()
    """Keys of the pods that were evicted for this one."""
    crash: str = ""
    """The traceback, should Podium have a bug."""

    @property
    def placed(self) -> bool:
        return self.outcome is PodOutcome.PLACED


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

    @property
    def all_fit(self) -> bool:
        """Whether every pod that was to be placed has a place.

        Pods that ask for another scheduler, are on their way out or are held back by a gate were
        not to be placed.
        """
        waived = (PodOutcome.PLACED, PodOutcome.GATED, PodOutcome.NOT_OURS, PodOutcome.TERMINATING)
        return all(result.outcome in waived for result in self.pods)

    def count(self, outcome: PodOutcome) -> int:
        return sum(result.outcome is outcome for result in self.pods)


def digest_of(decision: Decision) -> Digest:
    examined = sum(result.count for result in decision.results)
    if decision.chosen is None:
        reasons = reason_counts(decision.diagnosis) if decision.diagnosis else {}
        return Digest(examined_nodes=examined, reasons=reasons)
    feasible, total = decision.feasible, decision.total
    if total is None:
        return Digest(examined, len(feasible), len(decision.best_rows))
    names = decision.node_names
    at = next(i for i, row in enumerate(feasible) if names[row] == decision.chosen)
    score = int(total[at])
    below = np.flatnonzero(total < score)
    second, lead, by = -1, 0, ""
    if len(below):
        second = int(below[np.argmax(total[below])])
        lead = score - int(total[second])
        leads = {
            s.plugin: int(s.normalized[at] - s.normalized[second]) * s.weight
            for s in decision.scores
        }
        by = max(leads, key=lambda plugin: leads[plugin])
    return Digest(
        examined,
        len(feasible),
        len(decision.best_rows),
        score,
        decision.node_scores(at),
        names[feasible[second]] if second >= 0 else "",
        lead,
        by,
    )
