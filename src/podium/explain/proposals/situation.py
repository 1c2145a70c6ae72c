"""What those who think of changes look at: a pod that does not fit, and what speaks against it.

A situation belongs to one hypothesis. Where the attempt ended before any node was looked at
(`refusal`), there are no objections; otherwise each node has the filters that object to it, the
ones included that were not asked. `near` are the nodes that are worth a change: those with as many
objecting filters as there are changes left, by the first of them, so that two changes for one node
are always found in the same order. A second change is looked for among the nodes of the first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from podium.cluster.catalog import Catalog
from podium.engine.decision import Decision
from podium.explain.hypothesis import Hypothesis
from podium.explain.proposals.proposal import Step
from podium.explain.proposals.taints import is_only_cordoned
from podium.explain.proposals.workload import Workload
from podium.explain.trial import Trial
from podium.framework.explanations.filter_examination import FilterExamination
from podium.framework.status import Status
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates

CORDON_FILTER = "NodeUnschedulable"
TAINT_FILTER = "TaintToleration"
MAX_STEPS_OF_A_KIND = 6
"""How many changes of one kind are tried in one situation, the most promising first."""


@dataclass(slots=True)
class Situation:
    trial: Trial
    hypothesis: Hypothesis
    decision: Decision
    refusal: Status | None = None
    examination: FilterExamination | None = None
    objections: dict[str, dict[str, Status]] = field(default_factory=dict)
    near: dict[str, list[str]] = field(default_factory=dict)
    workload: Workload | None = None

    @property
    def targets(self) -> frozenset[str] | None:
        """The nodes that changes are looked for; None where that was not for single nodes."""
        if self.refusal is not None:
            return None
        return frozenset(name for names in self.near.values() for name in names)

    @property
    def pod(self) -> Pod:
        return self.hypothesis.pod

    @property
    def gates(self) -> FeatureGates:
        return self.trial.engine.gates

    @property
    def catalog(self) -> Catalog:
        return self.trial.engine.cluster.catalog

    def nodes_near(self, plugin: str) -> list[str]:
        """Nodes that a change which satisfies one filter brings closer, in table order."""
        return self.near.get(plugin, [])

    def node(self, name: str) -> Node:
        table = self.trial.engine.cluster.nodes
        return table.node(table.row(name))

    def all_nodes(self) -> Iterator[Node]:
        table = self.trial.engine.cluster.nodes
        for row in self.trial.engine.cluster.node_order():
            yield table.node(int(row))

    def change_pod(self, code: str, sentence: str, disturbance: int, pod: Pod) -> Step:
        return Step(code, sentence, disturbance, self.hypothesis.but_with(pod=pod))


def look(
    trial: Trial,
    hypothesis: Hypothesis,
    changes_left: int,
    among: frozenset[str] | None = None,
    workload: Workload | None = None,
) -> Situation:
    """Try the pod in the cluster that is supposed at the moment, and ask all filters if it does
    not fit. `among` are the nodes that a change before this one was made for, `workload` is what
    the pod belongs to."""
    decision = trial.decide(hypothesis.pod)
    situation = Situation(trial, hypothesis, decision, workload=workload)
    if decision.bound is not None or not changes_left:
        return situation
    situation.refusal = refusal_of(decision)
    if situation.refusal is not None:
        return situation
    examination = situation.examination = trial.examine(hypothesis.pod)
    for name in examination.nodes:
        objections = examination.objections(name)
        situation.objections[name] = objections
        if not objections or (among is not None and name not in among):
            continue
        independent = _independent(
            objections, hypothesis.pod, examination.objects[name], trial.engine.gates
        )
        if len(independent) == changes_left:
            situation.near.setdefault(independent[0], []).append(name)
    return situation


def _independent(
    objections: dict[str, Status], pod: Pod, node: Node, gates: FeatureGates
) -> list[str]:
    """The objecting filters, without those that object to the same thing as another one."""
    found = list(objections)
    if CORDON_FILTER in found and TAINT_FILTER in found and is_only_cordoned(pod, node, gates):
        found.remove(TAINT_FILTER)
    if "VolumeBinding" in found and "VolumeZone" in found:
        found.remove("VolumeZone")
    return found


def refusal_of(decision: Decision) -> Status | None:
    """Why the pod was turned away without a look at single nodes."""
    if decision.pre_enqueue is not None:
        return decision.pre_enqueue
    outcome = decision.pre_filter
    if outcome is not None and outcome.status is not None:
        return outcome.status
    return decision.refused_by
