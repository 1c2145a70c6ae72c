"""A situation that the search for proposals is in, which belongs to one hypothesis.

`near` are the nodes with as many objecting filters as there are changes left, by the first of them,
so that two changes for one node are always found in the same order. A second change is looked for
among the nodes of the first.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine.decision import Decision
from podium.scheduler.explain.causes.search import view_of
from podium.scheduler.explain.hypothesis import Hypothesis
from podium.scheduler.explain.proposals.proposal import ProposalStep
from podium.scheduler.explain.proposals.workload import OwnedPods
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.explanations.filter_examination import FilterExamination
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.points import FilterPlugin
from podium.scheduler.framework.status import Status


@dataclass(slots=True, kw_only=True)
class SearchSituation(Situation):
    trial: Trial
    hypothesis: Hypothesis
    decision: Decision
    filters: Mapping[str, FilterPlugin]
    workload: OwnedPods | None = None

    @property
    def targets(self) -> frozenset[str] | None:
        """The nodes that changes are looked for; None where that was not for single nodes."""
        if self.refusal is not None:
            return None
        return frozenset(name for names in self.near.values() for name in names)

    def step_for_pod(self, code: str, sentence: str, disturbance: int, pod: Pod) -> ProposalStep:
        return ProposalStep(code, sentence, disturbance, self.hypothesis.but_with(pod=pod))


def look(
    trial: Trial,
    hypothesis: Hypothesis,
    changes_left: int,
    among: frozenset[str] | None = None,
    workload: OwnedPods | None = None,
) -> SearchSituation:
    """Try the pod in the cluster that is supposed at the moment, and ask all filters if it does
    not fit. `among` are the nodes that a change before this one was made for, `workload` is what
    the pod belongs to."""
    engine, pod = trial.engine, hypothesis.pod
    decision = trial.decide(pod)

    def examine(changed: Pod, objects: tuple[KubeObject, ...]) -> FilterExamination:
        with trial.with_objects(objects):
            return trial.examine(changed)

    profile = engine.profiles.get(pod.spec.scheduler_name, engine.first_profile)
    situation = SearchSituation(
        pod=pod,
        cluster=engine.cluster,
        gates=engine.gates,
        examine=examine,
        trial=trial,
        hypothesis=hypothesis,
        decision=decision,
        filters={plugin.name: plugin for plugin in profile.filter},
        workload=workload,
    )
    if decision.bound is not None or not changes_left:
        return situation
    situation.refusal = refusal_of(decision)
    if situation.refusal is not None:
        return situation
    examination = situation.examination = trial.examine(pod)
    view = view_of(engine, situation.info, examination)
    restated = {
        name: found
        for name in examination.plugins
        if (found := situation.filters[name].find_restated(view)) is not None
    }
    patterns, settled, which = examination.objections_by_pattern(
        *(found.nodes for found in restated.values())
    )
    independent = [
        _independent(
            objections,
            situation.filters,
            {
                name: restated[name].plugin
                for name, here in zip(restated, values, strict=True)
                if here
            },
        )
        for objections, values in zip(patterns, settled, strict=True)
    ]
    for name, pattern in zip(examination.nodes, which, strict=True):
        situation.objections[name] = patterns[pattern]
        if not patterns[pattern] or (among is not None and name not in among):
            continue
        if len(independent[pattern]) == changes_left:
            situation.near.setdefault(independent[pattern][0], []).append(name)
    return situation


def _independent(
    objections: Mapping[str, Status],
    filters: Mapping[str, FilterPlugin],
    restated: Mapping[str, str],
) -> list[str]:
    """The objecting filters, without those that object to the same thing as another one;
    `restated` says which do so on these nodes, and after whom."""
    return [
        name
        for name in objections
        if restated.get(name) not in objections and filters[name].settled_with not in objections
    ]


def refusal_of(decision: Decision) -> Status | None:
    """Why the pod was turned away without a look at single nodes."""
    if decision.pre_enqueue is not None:
        return decision.pre_enqueue
    outcome = decision.pre_filter
    if outcome is not None and outcome.status is not None:
        return outcome.status
    return decision.refused_by
