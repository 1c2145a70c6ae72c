"""One pod's decision, arranged for people who ask why.

The decision record knows everything; this turns it into the questions people have: which nodes
fitted and in which order, what ruled out the others and how many for each reason, and for a single
node what every plugin said about it. Nothing is worked out for nodes that nobody asks about, so
five thousand nodes cost no more than ten.

How full nodes are, before a simulation and after it. Amounts are what the scheduler counts:
requests against allocatable, cpu in milli, memory in bytes.

What exactly is between a pod and a node. Filters answer with upstream's reasons, which say what
kind of thing is wrong ("Insufficient cpu"). For a single node one can say more: how much is
missing, which label. This is for people only; nothing decides by it.

The toleration `CriticalAddonsOnly`: a mark of the past that people still write. Before there were
priorities it was one of two marks of a critical add-on, and the rescheduler, which tainted nodes
for such pods, looked for it. Today nothing reads it but taints of that key; what makes a pod
critical is its priority.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.priorities import MIN_CRITICAL_PRIORITY
from podium.kubernetes.rules.requests import CPU, MEMORY, PODS
from podium.scheduler.cluster.growth import Ints, indices
from podium.scheduler.cluster.load import SUFFIX, Load
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.decision import Decision, NodeScore
from podium.scheduler.explain.cause import Cause
from podium.scheduler.framework.explanations.filter_examination import FilterExamination
from podium.scheduler.framework.explanations.finding import Finding
from podium.scheduler.framework.status import Status, unresolvable

_ALWAYS = (CPU, MEMORY, PODS)


@dataclass(frozen=True, slots=True)
class Use:
    """One resource of one node, or of all of them."""

    allocatable: int
    before: int
    after: int

    @property
    def fraction_before(self) -> float:
        return self.before / self.allocatable if self.allocatable else 0.0

    @property
    def fraction_after(self) -> float:
        return self.after / self.allocatable if self.allocatable else 0.0


class Utilisation:
    """Two loads of the same nodes side by side."""

    def __init__(self, before: Load, after: Load) -> None:
        self.before = before
        self.after = after
        self._column = {name: column for column, name in enumerate(after.nodes)}
        self.nodes = after.nodes
        self.resources = tuple(
            name
            for name in (*_ALWAYS, *sorted(set(after.resources) - set(_ALWAYS)))
            if name in _ALWAYS or self._in_use(name)
        )

    def of(self, node: str, resource: str) -> Use:
        column = self._column[node]
        row = self.after.resources.index(resource)
        return Use(
            int(self.after.allocatable[row, column]),
            self._amount_before(resource, column),
            int(self.after.requested[row, column]),
        )

    def total(self, resource: str) -> Use:
        row = self.after.resources.index(resource)
        before = 0
        if resource in self.before.resources:
            before = int(self.before.requested[self.before.resources.index(resource)].sum())
        return Use(
            int(self.after.allocatable[row].sum()), before, int(self.after.requested[row].sum())
        )

    def has_changed(self, node: str) -> bool:
        uses = (self.of(node, resource) for resource in self.resources)
        return any(use.before != use.after for use in uses)

    def fullness(self, node: str) -> float:
        """The fraction of the scarcest resource that is taken afterwards."""
        return max(self.of(node, resource).fraction_after for resource in self.resources)

    def _amount_before(self, resource: str, column: int) -> int:
        if resource not in self.before.resources:
            return 0
        return int(self.before.requested[self.before.resources.index(resource), column])

    def _in_use(self, resource: str) -> bool:
        use = self.total(resource)
        return bool(use.before or use.after)


NOT_LOOKED_AT = "not looked at: enough nodes were found before"
NO_REASON = "dropped by an extender without a reason"
NOMINATED_ELSEWHERE = "not looked at: the node the pod was nominated for has room"


@dataclass(frozen=True, slots=True)
class Ranked:
    """A node that fits. Nodes with equal totals share a rank."""

    name: str
    rank: int
    total: int | None
    scores: dict[str, NodeScore]


@dataclass(frozen=True, slots=True)
class Rejected:
    """Nodes that were ruled out by the same plugin for the same reasons."""

    status: Status
    nodes: tuple[str, ...]


class Explanation:
    """`causes` say why there was no node, `findings` what each filter holds against nodes."""

    def __init__(
        self,
        decision: Decision,
        examination: FilterExamination,
        causes: tuple[Cause, ...] = (),
        findings: Mapping[str, Sequence[Finding]] | None = None,
    ) -> None:
        self.decision = decision
        self.examination = examination
        self.causes = causes
        self._findings = findings or {}
        self._position = {decision.node_names[row]: at for at, row in enumerate(decision.feasible)}
        self._order = self._by_rank()

    @property
    def weights(self) -> dict[str, int]:
        """Plugins that scored, with their weights, in calling order."""
        return {scores.plugin: scores.weight for scores in self.decision.scores}

    @property
    def node_count(self) -> int:
        return len(self.examination.nodes)

    @property
    def feasible_count(self) -> int:
        return len(self.decision.feasible)

    @property
    def on_nominated_node(self) -> bool:
        """Whether the pod got the node it was nominated for, without a look at the others."""
        chosen = self.decision.chosen
        return bool(chosen) and self.decision.pod.pod.status.nominated_node_name == chosen

    def devices(self, node: str) -> dict[str, Use]:
        """The use of each driver's devices on a node at that time, if the pod claims any."""
        if not self.decision.pod.pod.spec.resource_claims:
            return {}
        use = self._use
        return {
            name.removesuffix(SUFFIX): found
            for name in self.examination.load.resources
            if name.endswith(SUFFIX) and (found := use.of(node, name)).allocatable
        }

    @cached_property
    def _use(self) -> Utilisation:
        return Utilisation(self.examination.load, self.examination.load)

    def rank_nodes(self, most: int | None = None) -> list[Ranked]:
        """Nodes that fit, best first, the chosen one before its equals."""
        return [self._rank_node(int(at)) for at in self._order[:most]]

    def ranked_node(self, name: str) -> Ranked | None:
        at = self._position.get(name)
        return None if at is None else self._rank_node(at)

    def rejections(self) -> list[Rejected]:
        """Nodes that do not fit by reason, the most frequent reason first."""
        groups: dict[Status, list[str]] = {}
        for name, status in self.decision.dropped.items():
            told = status if status.reasons else replace(status, reasons=(NO_REASON,))
            groups.setdefault(told, []).append(name)
        seen = {*self._position, *self.decision.dropped}
        names = self.decision.node_names
        for result in self.decision.results:
            rows = indices(result.rows)
            for status, positions in result.groups():
                fresh = [names[row] for row in rows[positions] if names[row] not in seen]
                seen.update(fresh)
                groups.setdefault(status, []).extend(fresh)
        silent = [name for name in self.examination.nodes if name not in seen]
        if silent:
            groups.setdefault(self._silent_status(), []).extend(silent)
        found = [
            Rejected(status, tuple(sorted(nodes))) for status, nodes in groups.items() if nodes
        ]
        return sorted(found, key=lambda group: (-len(group.nodes), group.status.message))

    def rejection(self, name: str) -> Status | None:
        """Why one node does not fit; None if it does."""
        return next((g.status for g in self.rejections() if name in g.nodes), None)

    def objections(self, name: str) -> dict[str, Status]:
        """All filters that reject a node, the ones included that were not asked."""
        return self.examination.objections(name)

    def details(self, plugin: str, name: str) -> list[str]:
        """What exactly a filter holds against a node; nothing if its reason says it all."""
        at = self.examination.position(name)
        return [finding.on(at) for finding in self._findings.get(plugin, ()) if finding.nodes[at]]

    def _silent_status(self) -> Status:
        """What speaks for nodes without a verdict of their own."""
        if self.on_nominated_node:
            return unresolvable(NOMINATED_ELSEWHERE)
        outcome, diagnosis = self.decision.pre_filter, self.decision.diagnosis
        if outcome is not None and outcome.status is not None:
            return outcome.status
        if diagnosis is not None and outcome is not None and outcome.nodes is not None:
            by = ", ".join(sorted(outcome.narrowed_by))
            return diagnosis.absent.by(by)
        return unresolvable(NOT_LOOKED_AT)

    def _by_rank(self) -> Sequence[int]:
        decision = self.decision
        names = [decision.node_names[row] for row in decision.feasible]
        total = decision.total

        def place(at: int) -> tuple[int, bool, str]:
            points = 0 if total is None else -int(total[at])
            return points, names[at] != decision.chosen, names[at]

        return sorted(range(len(names)), key=place)

    def _rank_node(self, at: int) -> Ranked:
        decision = self.decision
        name = decision.node_names[decision.feasible[at]]
        if decision.total is None:
            return Ranked(name, 1, None, {})
        total: Ints = decision.total
        rank = int(np.count_nonzero(total > total[at])) + 1
        return Ranked(name, rank, int(total[at]), decision.node_scores(at))


@dataclass(frozen=True, slots=True)
class Room:
    """One resource on one node: what the pod asks for and what is there."""

    resource: str
    asked: int
    free: int
    allocatable: int

    @property
    def missing(self) -> int:
        return max(0, self.asked - self.free)


def room_for(pod: PodInfo, node: str, load: Load) -> list[Room]:
    """Every resource that a pod asks for, as things stand on a node."""
    column = load.nodes.index(node)
    asked = {**pod.shape.requests, PODS: 1}
    found = []
    for resource, amount in asked.items():
        allocatable = requested = 0
        if resource in load.resources:
            row = load.resources.index(resource)
            allocatable = int(load.allocatable[row, column])
            requested = int(load.requested[row, column])
        found.append(Room(resource, amount, allocatable - requested, allocatable))
    return found


CRITICAL_ADDONS_ONLY: Final = "CriticalAddonsOnly"


def describe_critical_toleration(pod: Pod) -> list[str]:
    """A note on the toleration, for a pod that has it."""
    spec = pod.spec
    if not any(each.key == CRITICAL_ADDONS_ONLY for each in spec.tolerations or ()):
        return []
    priority = spec.priority or 0
    told = (
        f"tolerates {CRITICAL_ADDONS_ONLY}, which marked critical add-ons before there were"
        " priorities and is a toleration like any other today"
    )
    if priority >= MIN_CRITICAL_PRIORITY:
        by = spec.priority_class_name or "its number"
        return [f"{told}; the pod is critical by its priority ({by})"]
    return [f"{told}; what makes a pod critical is priorityClassName system-cluster-critical"]
