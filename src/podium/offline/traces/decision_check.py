"""How far recorded decisions agree with Podium's, one by one.

The cluster follows the recording: every pod is where it was. Just before a pod was bound, Podium is
asked where it would go; then it goes where it went. So one difference does not lead to others, and
a choice among nodes with equal totals, which upstream leaves to chance, is no difference.

All nodes are scored, however large the cluster: a scheduler that looks at a part of them finds the
best of that part, which shows here as a lower total.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from msgspec import field
from msgspec.structs import replace

from podium.golang.document_structs import Amount, Count, Document, DocumentPart, Notes, PodKey
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import KINDS
from podium.offline.simulate.outside_code import asker_of
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import load_scenario
from podium.offline.traces.recorded_cluster import RecordedChange, RecordedCluster
from podium.offline.traces.recorded_pods import PlacedBy, RecordedPod
from podium.offline.traces.replay import ReplayRules
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.decision import Decision
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.asking import Asker

MAX_BEST: Final = 10
"""Of nodes that are equally good, so many are named."""


class DecisionVerdict(StrEnum):
    """What Podium says of a recorded decision."""

    SAME = "same"
    """No node has a higher total."""
    LOWER = "lower"
    """The node fits, and another has a higher total."""
    REFUSED = "refused"
    """The pod does not fit where it went, as far as the recording shows."""


class CheckedDecision(DocumentPart, frozen=True):
    """One recorded decision beside ours."""

    key: PodKey = field(name="pod")
    at_s: float = field(name="at")
    """Seconds since the beginning."""
    verdict: DecisionVerdict
    """No node is better; another has a higher total; the pod does not fit there."""
    recorded_node: str
    """Where the pod went."""
    best: tuple[str, ...] = ()
    """Nodes with the highest total here, ten at most."""
    best_count: Count = 0
    """How many nodes have it."""
    recorded_total: int | None = None
    """The total of the recorded node, if another has more."""
    best_total: int | None = None
    """The highest total, if the recorded node has less."""
    reason: str = ""
    """Why the pod does not fit where it went."""


class VerdictCounts(DocumentPart, frozen=True):
    """How many decisions are what."""

    same: Count
    """No node is better."""
    lower: Count
    """Another node has a higher total."""
    refused: Count
    """The pod does not fit where it went."""


class DecisionCheck(Document, frozen=True):
    """What `podium replay --as-recorded` prints: recorded decisions, each checked."""

    KIND: ClassVar[str] = "ReplayCheck"

    source: str = field(name="trace")
    """The file that was replayed."""
    started_at: str = field(name="recordedAt")
    """When the recording began."""
    duration_s: Amount = field(name="durationSeconds")
    """How much of it was replayed."""
    agreement: Amount | None
    """The part of the decisions that are the same; null without any."""
    verdicts: VerdictCounts
    """How many decisions are what."""
    decisions: tuple[CheckedDecision, ...]
    """All of them, in their order."""
    notes: Notes = ()


def check_decisions(
    cluster: RecordedCluster,
    rules: ReplayRules,
    *,
    on_decision: Callable[[], None] = lambda: None,
) -> DecisionCheck:
    """Raises InputError and ConfigurationError."""
    configuration, registry, plugin_notes = rules.equipped
    kinds = {*KINDS.values(), *(kind.struct for kind in rules.equipped.watched_kinds)}
    objects = [obj for obj in cluster.objects if type(obj) in kinds]
    there = [each.pod for each in cluster.pods if each.is_there_first]
    simulation = Simulation(
        load_scenario([], gates=rules.gates, stored=[*objects, *there], unread=cluster.unread),
        _scoring_all_nodes(configuration),
        registry,
        seed=rules.seed,
        gates=rules.gates,
        validate=rules.validate,
    )
    schedulers = {profile.scheduler_name for profile in configuration.profiles}
    with asker_of(simulation.engine) as ask:
        following = _Following(simulation.engine, schedulers, ask)
        decisions = []
        for step in _steps(cluster):
            if isinstance(step, RecordedChange):
                if type(step.obj) in kinds:
                    following.change(step)
                continue
            if not step.binds:
                following.remove(step.pod)
            elif (checked := following.bind(step.pod)) is not None:
                decisions.append(checked)
                on_decision()
    notes = dict.fromkeys((*cluster.notes, *plugin_notes))
    counts = Counter(each.verdict for each in decisions)
    same = counts[DecisionVerdict.SAME]
    return DecisionCheck(
        cluster.source,
        cluster.header.started_at,
        cluster.duration_s,
        round(same / len(decisions), 4) if decisions else None,
        VerdictCounts(same, counts[DecisionVerdict.LOWER], counts[DecisionVerdict.REFUSED]),
        tuple(decisions),
        tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _PodStep:
    """A pod is bound, or is gone."""

    at_s: float
    pod: RecordedPod
    binds: bool


def _steps(cluster: RecordedCluster) -> Iterator[RecordedChange | _PodStep]:
    """In order of time; at one moment pods go before others come."""
    steps: list[tuple[float, int, int, RecordedChange | _PodStep]] = [
        (each.at_s, 1, number, each) for number, each in enumerate(cluster.changes)
    ]
    for pod in cluster.pods:
        if pod.ended_s is not None and pod.bound_s is not None:
            steps.append((pod.ended_s, 0, 0, _PodStep(pod.ended_s, pod, False)))
        if pod.bound_s is not None and not pod.is_there_first:
            steps.append((pod.bound_s, 2, pod.bound_number, _PodStep(pod.bound_s, pod, True)))
    steps.sort(key=lambda step: step[:3])
    return (step for *_, step in steps)


class _Following:
    """An engine whose cluster is as recorded."""

    def __init__(self, engine: Engine, schedulers: set[str], ask: Asker | None) -> None:
        self._engine = engine
        self._schedulers = schedulers
        self._ask = ask

    def change(self, change: RecordedChange) -> None:
        intake, obj = self._engine.intake, change.obj
        if not isinstance(obj, Node):
            (intake.object_deleted if change.is_gone else intake.object_put)(obj)
        elif not change.is_gone:
            intake.node_put(obj)
        elif self._engine.cluster.nodes.is_present(obj.name):
            intake.node_deleted(obj.name)

    def bind(self, recorded: RecordedPod) -> CheckedDecision | None:
        """None for a pod that no scheduler of the configuration has placed."""
        pod = recorded.pod
        is_ours = pod.spec.scheduler_name in self._schedulers
        checked = None
        if is_ours and recorded.placed_by is PlacedBy.SCHEDULER:
            checked = self._check(recorded, Trial(self._engine, pod, self._ask).decide())
        self._engine.intake.pod_put(_build_placed_pod(recorded))
        return checked

    def remove(self, recorded: RecordedPod) -> None:
        held = self._engine.state.pods.get(recorded.key)
        if held is not None and held.metadata.uid == recorded.pod.metadata.uid:
            self._engine.intake.pod_deleted(held)

    def _check(self, recorded: RecordedPod, decision: Decision) -> CheckedDecision:
        node = recorded.node
        best = decision.best
        made = CheckedDecision(
            recorded.key,
            recorded.bound_s or 0.0,
            DecisionVerdict.SAME,
            node,
            tuple(best[:MAX_BEST]),
            len(best),
        )
        if node in best:
            return made
        names = [decision.node_names[row] for row in decision.feasible]
        if node in names and decision.total is not None:
            totals = dict(zip(names, decision.total.tolist(), strict=True))
            return replace(
                made,
                verdict=DecisionVerdict.LOWER,
                recorded_total=totals[node],
                best_total=max(totals.values()),
            )
        status = decision.filter_statuses().get(node)
        reason = "" if status is None else f"{status.plugin}: {', '.join(status.reasons)}"
        reason = reason or decision.message or "the recording has no such node"
        return replace(made, verdict=DecisionVerdict.REFUSED, reason=reason)


def _scoring_all_nodes(configuration: Configuration) -> Configuration:
    profiles = (replace(each, percentage_of_nodes_to_score=100) for each in configuration.profiles)
    return replace(configuration, percentage_of_nodes_to_score=100, profiles=tuple(profiles))


def _build_placed_pod(recorded: RecordedPod) -> Pod:
    pod = recorded.pod
    status = replace(pod.status, phase="Running")
    return replace(pod, spec=replace(pod.spec, node_name=recorded.node), status=status)
