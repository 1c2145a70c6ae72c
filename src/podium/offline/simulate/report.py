"""What came of a simulation: plain values that tables, documents and tests read.

A decision holds arrays over all nodes, which is too much to keep for thousands of pods. Each pod
therefore keeps a digest of its last attempt; whole decisions are kept for pods that are watched, so
that an `ExplainedPod` and a `PodHistory` can be had of those.

A pod that waits in a dump carries the message of its last attempt by the cluster's own scheduler.
Where the simulation comes to another (`RecordedMessages`), somebody should look: the input may be
incomplete, the configuration another one, the cluster may have changed since, or Podium may be
wrong.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from podium.kubernetes.kinds.pod import POD_SCHEDULED, Pod
from podium.offline.simulate.completeness import MissingKind
from podium.offline.simulate.timeline import Timeline
from podium.offline.simulate.watching import Look
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Line
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.decision_digest import Digest
from podium.scheduler.explain.explanation import Explanation, Utilisation

if TYPE_CHECKING:  # loaded when somebody asks what would help
    from podium.scheduler.explain.proposals.search import ProposalAnswer


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


def answer_without_search(result: PodResult) -> "ProposalAnswer | None":
    """What would help a pod, where nobody has to look for it: it has a node, or had one and was
    turned away from it."""
    from podium.scheduler.explain.proposals.search import ProposalAnswer

    if result.placed:
        return ProposalAnswer(result.pod, result.node, victims=result.victims)
    if result.turned_away_from:
        reason = result.causes[0].sentence
        return ProposalAnswer(result.pod, reason=reason, turned_away_from=result.turned_away_from)
    return None


@dataclass(frozen=True, slots=True)
class ExplainedPod:
    """`premise` says under which assumption the pod was decided, `attempts` how it went.

    A pod that was never tried has no attempts. `causes` say why the pod has no node, the one that
    matters most first; a pod that got one has none.
    """

    result: PodResult
    premise: str
    attempts: tuple[Explanation, ...]
    runs_on: str = ""
    causes: tuple[Cause, ...] = ()

    @classmethod
    def of(cls, report: SimulationReport, key: str, *, runs_on: str, alone: bool) -> "ExplainedPod":
        place = next(at for at, result in enumerate(report.pods) if result.key == key)
        attempts = tuple(
            Explanation(look.decision, look.examination, look.causes, look.findings)
            for look in report.watched[key]
            if look.examination is not None
        )
        premise = _premise(runs_on, alone, place) if attempts else "never tried"
        result = report.pods[place]
        return cls(result, premise, attempts, runs_on, _causes(result, report.watched[key]))

    @property
    def last(self) -> Explanation | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def widest(self) -> Explanation | None:
        """The last attempt that looked at more than a nominated node, if there was one."""
        looked = [one for one in self.attempts if not one.on_nominated_node]
        return looked[-1] if looked else self.last


def _causes(result: PodResult, looks: Sequence[Look]) -> tuple[Cause, ...]:
    """The causes of the last attempt that failed, or of never having been tried."""
    if result.placed:
        return ()
    if result.turned_away_from:
        return result.causes
    told = next((look.causes for look in reversed(looks) if look.causes), ())
    return told if told and result.outcome is not PodOutcome.PREEMPTED else result.causes


def _premise(runs_on: str, alone: bool, ahead: int) -> str:
    if runs_on:
        return f"runs on {runs_on}; decided as if it were pending now and its place were free"
    if alone:
        return "decided alone, without the other pending pods"
    if ahead == 0:
        return "first in the queue"
    return f"decided after {ahead} pending pod{'s' if ahead > 1 else ''} ahead of it in the queue"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One thing that happened; an attempt has its decision."""

    line: Line
    decision: Decision | None = None


@dataclass(frozen=True, slots=True)
class PodHistory:
    """`result` is None for a pod that was running already when the run began."""

    pod: Pod
    key: str
    result: PodResult | None
    entries: tuple[HistoryEntry, ...]

    @classmethod
    def of(cls, report: SimulationReport, pod: Pod) -> "PodHistory":
        """The pod must have been watched."""
        key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        result = next((result for result in report.pods if result.key == key), None)
        decisions = [look.decision for look in report.watched[key]]
        entries: list[HistoryEntry] = []
        # From the end: of a very long life the pod log forgets early lines.
        for line in reversed(report.timeline.life(key)):
            tried = line.what == "tried" and bool(decisions)
            entries.append(HistoryEntry(line, decisions.pop() if tried else None))
        return cls(pod, key, result, tuple(reversed(entries)))

    @property
    def evicted_for(self) -> str:
        """Who took the pod's place, if somebody did."""
        found = [each.line.about for each in self.entries if each.line.what == "preempted"]
        return found[-1] if found else ""

    @property
    def node(self) -> str:
        """Where the pod is in the end, "" if nowhere."""
        if self.result is not None:
            return self.result.node
        return "" if self.evicted_for else self.pod.spec.node_name


_ATTEMPTED = ("Unschedulable", "SchedulerError")
_DECIDED = (PodOutcome.PLACED, PodOutcome.UNSCHEDULABLE, PodOutcome.PREEMPTED, PodOutcome.ERROR)


@dataclass(frozen=True, slots=True)
class MessageDifference:
    """`node` is where the pod goes here, if it goes anywhere."""

    key: str
    recorded: str
    computed: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class RecordedMessages:
    """How many pods carried a message of the cluster's, and whose is another one here."""

    compared: int = 0
    differences: tuple[MessageDifference, ...] = ()

    def of(self, key: str) -> MessageDifference | None:
        return next((each for each in self.differences if each.key == key), None)


def recorded_message(pod: Pod) -> str:
    """Why the cluster's scheduler found no node; empty if it has not said."""
    for condition in pod.status.conditions or ():
        if condition.type == POD_SCHEDULED and condition.status == "False":
            return (condition.message or "") if condition.reason in _ATTEMPTED else ""
    return ""


def compare_messages(results: Iterable[PodResult]) -> RecordedMessages:
    compared = 0
    differences: list[MessageDifference] = []
    for result in results:
        recorded = recorded_message(result.pod)
        if not recorded or result.outcome not in _DECIDED:
            continue
        compared += 1
        if result.placed or result.message != recorded:
            different = MessageDifference(result.key, recorded, result.message, result.node)
            differences.append(different)
    return RecordedMessages(compared, tuple(differences))
