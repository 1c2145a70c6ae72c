"""What the simulator keeps of watched pods, as an observer of the engine.

A decision can be taken apart afterwards, but not what the cluster looked like before it: so for
watched pods every filter is asked about every node just before a node is looked for, and the
causes of a failure are found while the cluster is still as the attempt left it. A member of a pod
group is looked for several times before anything is decided; what counts is the attempt whose
decision is recorded, and that is the moment at which a look is kept.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from podium.cluster.pod_info import PodInfo
from podium.engine import Decision, Engine
from podium.engine.observer import Observer
from podium.explain.cause import Cause
from podium.explain.causes import describe_nodes, find_causes
from podium.explain.causes.finding import Finding
from podium.explain.filter_examination import FilterExamination, examine_filters


@dataclass(frozen=True, slots=True)
class Look:
    """One attempt for a watched pod.

    Without an examination the pod was never looked for: the attempt broke, or its group had failed
    before it was its turn. `findings` are what each filter holds against nodes, by plugin.
    """

    decision: Decision
    examination: FilterExamination | None
    causes: tuple[Cause, ...] = ()
    findings: dict[str, list[Finding]] = field(default_factory=dict)


class WatchedPods(Observer):
    """Attempts of watched pods by key, oldest first."""

    def __init__(self, engine: Engine, watch: Collection[str]) -> None:
        self.looks: dict[str, list[Look]] = {key: [] for key in watch}
        self._engine = engine
        self._examination: FilterExamination | None = None
        self._examined: dict[str, list[tuple[Decision, FilterExamination | None]]] = {}

    def search_started(self, pod: PodInfo) -> None:
        if pod.key in self.looks:
            self._examination = None
            self._examination = examine_filters(self._engine, pod)

    def search_ended(self, decision: Decision) -> None:
        key = decision.pod.key
        if key in self.looks:
            self._examined.setdefault(key, []).append((decision, self._examination))

    def pod_decided(self, decision: Decision) -> None:
        key = decision.pod.key
        if key in self.looks:
            tries = self._examined.pop(key, [])
            found = next((seen for tried, seen in tries if tried is decision), None)
            self.looks[key].append(self._look(decision, found))

    def _look(self, decision: Decision, examination: FilterExamination | None) -> Look:
        causes = find_causes(self._engine, decision, examination)
        findings = describe_nodes(self._engine, decision.pod, examination) if examination else {}
        return Look(decision, examination, causes, findings)
