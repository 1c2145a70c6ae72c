"""What came of a replay, beside what was recorded: plain values for tables, JSON and tests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.node_pods import is_bound_to_node, is_daemon
from podium.offline.simulate.percentiles import find_percentile
from podium.offline.simulate.timed_report import TimedPod, TimedReport
from podium.offline.traces.node_use import NodeUse, Stay
from podium.offline.traces.recorded_pods import RecordedPod


class Outcome(StrEnum):
    """How a pod fared here, against what was recorded."""

    SAME = "same"
    MOVED = "moved"
    ONLY_HERE = "only here"
    """It has a node here, and had none when it was recorded."""
    ONLY_RECORDED = "only recorded"
    PENDING = "pending"
    """It has no node here and had none there."""


@dataclass(frozen=True, slots=True)
class ReplayedPod:
    key: str
    arrived_s: float
    outcome: Outcome
    recorded_node: str
    node: str
    recorded_wait_s: float | None
    wait_s: float | None
    reason: str = ""
    """Why it is pending here."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Times from arrival to the first binding, of pods that were bound."""

    placed: int
    p50_s: float
    p99_s: float
    max_s: float

    @classmethod
    def of(cls, waits: Sequence[float]) -> "Waits":
        return cls(
            len(waits),
            find_percentile(waits, 50),
            find_percentile(waits, 99),
            max(waits, default=0.0),
        )


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """`run` is the timed run in all its detail; `pods` are those that were decided about here, in
    order of arrival."""

    source: str
    started_at: str
    duration_s: float
    run: TimedReport
    pods: Sequence[ReplayedPod]
    recorded: Waits
    here: Waits
    recorded_nodes: NodeUse
    nodes: NodeUse
    utilisation: dict[str, float] = field(default_factory=dict)
    """On average over the run, by resource."""
    notes: tuple[str, ...] = ()

    def count(self, outcome: Outcome) -> int:
        return sum(each.outcome is outcome for each in self.pods)

    @property
    def lost(self) -> int:
        """Pods that had a node when it was recorded and have none here."""
        return self.count(Outcome.ONLY_RECORDED)

    @property
    def agreement(self) -> float | None:
        """Of pods that have a node in both, the part that has the same one."""
        same, moved = self.count(Outcome.SAME), self.count(Outcome.MOVED)
        return round(same / (same + moved), 4) if same + moved else None


def compare_pods(
    recorded: Sequence[RecordedPod], run: TimedReport
) -> tuple[list[ReplayedPod], Waits, Waits]:
    """Each pod beside its life here; and the waits there and here."""
    lives = {(life.key, life.arrived_s): life for life in run.pods}
    compared = [
        _compare(each, lives[each.key, each.arrived_s])
        for each in recorded
        if (each.key, each.arrived_s) in lives
    ]
    there = [each.recorded_wait_s for each in compared if each.recorded_wait_s is not None]
    here = [each.wait_s for each in compared if each.wait_s is not None]
    return compared, Waits.of(there), Waits.of(here)


def recorded_stays(pods: Sequence[RecordedPod], duration_s: float) -> Iterator[Stay]:
    """Where pods were when it was recorded, those of nodes left out."""
    for each in pods:
        if each.bound_s is not None and not _belongs_to_node(each.pod):
            ended_s = duration_s if each.ended_s is None else each.ended_s
            yield Stay(each.node, each.bound_s, ended_s)


def replayed_stays(
    pods: Sequence[RecordedPod], run: TimedReport, duration_s: float
) -> Iterator[Stay]:
    """Where they were here."""
    of_nodes = {each.key for each in pods if _belongs_to_node(each.pod)}
    for life in run.pods:
        if life.bound_s is not None and life.key not in of_nodes:
            ended_s = duration_s if life.ended_s is None else life.ended_s
            yield Stay(life.node, life.bound_s, ended_s)


def _compare(recorded: RecordedPod, life: TimedPod) -> ReplayedPod:
    has_node, had_node = life.bound_s is not None, recorded.bound_s is not None
    if has_node and had_node:
        outcome = Outcome.SAME if life.node == recorded.node else Outcome.MOVED
    elif has_node:
        outcome = Outcome.ONLY_HERE
    else:
        outcome = Outcome.ONLY_RECORDED if had_node else Outcome.PENDING
    return ReplayedPod(
        recorded.key,
        recorded.arrived_s,
        outcome,
        recorded.node,
        life.node if has_node else "",
        _since(recorded.arrived_s, recorded.bound_s),
        _since(life.arrived_s, life.bound_s),
        life.reason,
    )


def _since(arrived_s: float, bound_s: float | None) -> float | None:
    return None if bound_s is None else round(bound_s - arrived_s, 6)


def _belongs_to_node(pod: Pod) -> bool:
    return is_daemon(pod) or is_bound_to_node(pod)
