"""What the simulator keeps of watched pods, as an observer of the engine.

A decision can be taken apart afterwards, but not what the cluster looked like before it: so for
watched pods every filter is asked about every node just before a node is looked for, and the causes
of a failure are found as soon as the search has ended. A member of a pod group is looked for
several times before anything is decided; what counts is the attempt whose decision is recorded, and
that is the moment at which a look is kept.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.causes import (
    describe_nodes,
    find_broken_filter,
    find_causes,
    find_filter_causes,
)
from podium.scheduler.framework.explanations.filter_examination import (
    FilterExamination,
    examine_filters,
)
from podium.scheduler.framework.explanations.finding import Finding


@dataclass(frozen=True, slots=True)
class Search:
    """One search for a node: what filters said before it, and what that means."""

    decision: Decision
    examination: FilterExamination
    causes: tuple[Cause, ...]
    findings: dict[str, list[Finding]]


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
        self._searches: dict[str, list[Search]] = {}

    def search_started(self, pod: PodInfo) -> None:
        if pod.key in self.looks:
            self._examination = None
            self._examination = examine_filters(
                self._engine.profile_of(pod.pod), self._engine.cluster, pod
            )

    def search_ended(self, decision: Decision) -> None:
        key, examination = decision.pod.key, self._examination
        if key not in self.looks or examination is None:
            return
        causes = (
            find_filter_causes(self._engine, decision.pod, examination)
            if decision.chosen is None
            else ()
        )
        findings = describe_nodes(self._engine, decision.pod, examination)
        search = Search(decision, examination, causes, findings)
        self._searches.setdefault(key, []).append(search)

    def pod_decided(self, decision: Decision) -> None:
        key = decision.pod.key
        if key in self.looks:
            searches = self._searches.pop(key, [])
            found = next((search for search in searches if search.decision is decision), None)
            self.looks[key].append(self._look(decision, found))

    def _look(self, decision: Decision, search: Search | None) -> Look:
        if search is None:
            return Look(decision, None, find_causes(self._engine, decision))
        broken = find_broken_filter(search.examination)
        causes = find_causes(self._engine, decision, search.causes, broken)
        return Look(decision, search.examination, causes, search.findings)
