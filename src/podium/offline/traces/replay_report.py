"""What came of a replay, beside what was recorded: plain values for tables, JSON and tests.

On how many nodes pods were, over time: what packing saves. Pods that belong to their node do not
count, those of daemon sets and kubelets: a node that has only such could go.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple

from msgspec import field

from podium.golang.document_structs import (
    Amount,
    Count,
    Document,
    DocumentPart,
    Notes,
    PodKey,
    Positive,
)
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.offline.simulate.timed_report import TimedPod, TimedReport, find_percentile
from podium.offline.traces.recorded_pods import RecordedPod


class NodeStay(NamedTuple):
    """A pod is on a node for a time."""

    node: str
    from_s: float
    until_s: float


@dataclass(frozen=True, slots=True)
class NodeUse:
    """Nodes with pods: on average, and most at one time."""

    mean: float
    most: int


def measure_node_use(stays: Iterable[NodeStay], duration_s: float) -> NodeUse:
    """
    >>> measure_node_use([Stay("a", 0, 10), Stay("b", 5, 10), Stay("b", 6, 7)], 10)
    NodeUse(mean=1.5, most=2)
    """
    changes = [
        (at, step, stay.node)
        for stay in stays
        if stay.from_s < min(stay.until_s, duration_s)
        for at, step in ((stay.from_s, 1), (min(stay.until_s, duration_s), -1))
    ]
    # At one moment pods go before others come.
    changes.sort(key=lambda change: change[:2])
    pods: Counter[str] = Counter()
    used = most = 0
    total = last = 0.0
    for at, step, node in changes:
        total += used * (at - last)
        last = at
        was_used = pods[node] > 0
        pods[node] += step
        used += (pods[node] > 0) - was_used
        most = max(most, used)
    return NodeUse(round(total / duration_s, 4) if duration_s else 0.0, most)


class ReplayOutcome(StrEnum):
    """How a pod fared here, against what was recorded."""

    SAME = "same"
    MOVED = "moved"
    ONLY_HERE = "only here"
    """It has a node here, and had none when it was recorded."""
    ONLY_RECORDED = "only recorded"
    PENDING = "pending"
    """It has no node here and had none there."""


class ReplayedPod(DocumentPart, frozen=True):
    """A pod that was decided about."""

    key: PodKey = field(name="pod")
    arrived_s: float = field(name="arrivedAt")
    """Seconds since the beginning."""
    outcome: ReplayOutcome
    """How it fared."""
    recorded_node: str | None
    """The node that it had."""
    node: str | None
    """The node that it has here."""
    recorded_wait_s: float | None = field(name="recordedWaitSeconds")
    """From its arrival to its binding, as recorded."""
    wait_s: float | None = field(name="waitSeconds")
    """The same here."""
    reason: str = ""
    """Why it has no node here."""


class OutcomeCounts(DocumentPart, frozen=True):
    """How many pods fared how, against what was recorded."""

    same: Count
    """They have the node that they had."""
    moved: Count
    """They have another one."""
    only_here: Count = field(name="only here")
    """They have a node here, and had none."""
    only_recorded: Count = field(name="only recorded")
    """They had a node, and have none here."""
    pending: Count
    """They have none in both."""


class ReplaySide(DocumentPart, frozen=True):
    """What came of the pods, and on how many nodes they were; waits are from arrival to the first
    binding, of pods that were bound."""

    placed: Count
    """Pods that got a node."""
    wait_p50_s: float = field(name="waitP50Seconds")
    """Half of them waited no longer."""
    wait_p99_s: float = field(name="waitP99Seconds")
    """99 of 100 waited no longer."""
    wait_max_s: float = field(name="waitMaxSeconds")
    """The longest wait."""
    nodes_in_use_mean: Amount
    """Nodes with pods, on average over time."""
    nodes_in_use_max: Count
    """Most nodes with pods at one time."""


class ReplaySideHere(ReplaySide, frozen=True):
    """The same of what was decided here, with what it took."""

    pending: Count
    """Pods without a node in the end."""
    evictions: Count
    """Pods that were preempted."""
    attempts: Count
    """Scheduling attempts."""


class ReplaySample(DocumentPart, frozen=True):
    """The cluster at one time."""

    at_s: Amount = field(name="at")
    """Seconds since the beginning."""
    nodes: Count
    """Nodes that are there."""
    pending: Count
    """Pods that wait for a node."""
    running: Count
    """Pods that have one."""
    utilisation: Mapping[str, Amount]
    """The part of what nodes have that pods ask for, by resource."""


class ReplayAnswer(Document, frozen=True, kw_only=True):
    """What `podium replay --config` prints: a recorded cluster, decided anew."""

    KIND: ClassVar[str] = "Replay"

    trace: str
    """The file that was replayed."""
    recorded_at: str
    """When the recording began."""
    duration_s: Amount = field(name="durationSeconds")
    """How much of it was replayed."""
    config: str
    """The configuration, as the command line names it."""
    seed: int
    """Decides between nodes with equal totals."""
    agreement: Amount | None
    """Of pods that have a node in both, the part that has the same one; null without any."""
    outcomes: OutcomeCounts
    """How many pods fared how, against what was recorded."""
    recorded: ReplaySide
    """As it was recorded."""
    here: ReplaySideHere
    """As it was decided here."""
    utilisation: Mapping[str, Amount]
    """The part of what nodes have that pods ask for, by resource; on average over the run."""
    pending_reasons: Mapping[str, Positive]
    """Why pods are without a node in the end, and how many."""
    samples: tuple[ReplaySample, ...]
    """The cluster at equal distances."""
    pods: tuple[ReplayedPod, ...]
    """The pods that were decided about, in order of arrival."""
    notes: Notes = ()


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
    utilisation: dict[str, float] = dataclasses.field(default_factory=dict)
    """On average over the run, by resource."""
    notes: tuple[str, ...] = ()

    def count(self, outcome: ReplayOutcome) -> int:
        return sum(each.outcome is outcome for each in self.pods)

    @property
    def lost(self) -> int:
        """Pods that had a node when it was recorded and have none here."""
        return self.count(ReplayOutcome.ONLY_RECORDED)

    @property
    def agreement(self) -> float | None:
        """Of pods that have a node in both, the part that has the same one."""
        same, moved = self.count(ReplayOutcome.SAME), self.count(ReplayOutcome.MOVED)
        return round(same / (same + moved), 4) if same + moved else None

    def answer(self, config: str) -> ReplayAnswer:
        """All of it, of a configuration of this name."""
        totals = self.run.totals
        return ReplayAnswer(
            trace=self.source,
            recorded_at=self.started_at,
            duration_s=self.duration_s,
            config=config,
            seed=self.run.seed,
            agreement=self.agreement,
            outcomes=OutcomeCounts(*map(self.count, ReplayOutcome)),
            recorded=ReplaySide(*_list_side(self.recorded, self.recorded_nodes)),
            here=ReplaySideHere(
                *_list_side(self.here, self.nodes),
                totals.pending,
                totals.evictions,
                totals.attempts,
            ),
            utilisation=self.utilisation,
            pending_reasons=self.run.pending_reasons,
            samples=tuple(
                ReplaySample(each.at_s, each.nodes, each.pending, each.running, each.utilisation)
                for each in self.run.samples
            ),
            pods=tuple(self.pods),
            notes=self.notes,
        )


def _list_side(waits: Waits, use: NodeUse) -> tuple[int, float, float, float, float, int]:
    return waits.placed, waits.p50_s, waits.p99_s, waits.max_s, use.mean, use.most


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


def recorded_stays(pods: Sequence[RecordedPod], duration_s: float) -> Iterator[NodeStay]:
    """Where pods were when it was recorded, those of nodes left out."""
    for each in pods:
        if each.bound_s is not None and not _belongs_to_node(each.pod):
            ended_s = duration_s if each.ended_s is None else each.ended_s
            yield NodeStay(each.node, each.bound_s, ended_s)


def replayed_stays(
    pods: Sequence[RecordedPod], run: TimedReport, duration_s: float
) -> Iterator[NodeStay]:
    """Where they were here."""
    of_nodes = {each.key for each in pods if _belongs_to_node(each.pod)}
    for life in run.pods:
        if life.bound_s is not None and life.key not in of_nodes:
            ended_s = duration_s if life.ended_s is None else life.ended_s
            yield NodeStay(life.node, life.bound_s, ended_s)


def _compare(recorded: RecordedPod, life: TimedPod) -> ReplayedPod:
    has_node, had_node = life.bound_s is not None, recorded.bound_s is not None
    if has_node and had_node:
        outcome = ReplayOutcome.SAME if life.node == recorded.node else ReplayOutcome.MOVED
    elif has_node:
        outcome = ReplayOutcome.ONLY_HERE
    else:
        outcome = ReplayOutcome.ONLY_RECORDED if had_node else ReplayOutcome.PENDING
    return ReplayedPod(
        recorded.key,
        recorded.arrived_s,
        outcome,
        recorded.node or None,
        (life.node or None) if has_node else None,
        _since(recorded.arrived_s, recorded.bound_s),
        _since(life.arrived_s, life.bound_s),
        life.reason,
    )


def _since(arrived_s: float, bound_s: float | None) -> float | None:
    return None if bound_s is None else round(bound_s - arrived_s, 6)


def _belongs_to_node(pod: Pod) -> bool:
    return is_daemon(pod) or is_bound_to_node(pod)
