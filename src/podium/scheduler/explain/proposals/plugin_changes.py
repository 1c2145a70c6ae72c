"""Changes that plugins think of themselves (`Plugin.propose_for`)."""

from collections.abc import Iterator
from typing import Final

from podium.scheduler.explain.proposals.proposal import Step
from podium.scheduler.explain.proposals.situation import SearchSituation
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.plugin import ChangeKind, ProposedChange
from podium.scheduler.framework.points import Plugin

_DISTURBANCE: Final = {
    ChangeKind.CORRECT_NAME: disturbance.CORRECT_NAME,
    ChangeKind.GIVE_EXISTING_VALUE: disturbance.GIVE_EXISTING_VALUE,
    ChangeKind.DROP_REQUIREMENT: disturbance.DROP_REQUIREMENT,
    ChangeKind.LOWER_REQUEST: disturbance.LOWER_REQUEST,
    ChangeKind.CREATE_OBJECT: disturbance.CREATE_OBJECT,
    ChangeKind.REPLACE_OBJECT: disturbance.REPLACE_OBJECT,
}


def propose_changes_of_plugins(situation: SearchSituation) -> Iterator[Step]:
    engine = situation.trial.engine
    # A pod of a scheduler that nobody serves is asked about as if it had another one.
    profile = engine.profiles.get(situation.pod.spec.scheduler_name, engine.first_profile)
    for plugin in profile.plugins.values():
        for change in _ask(plugin, situation):
            hypothesis = situation.hypothesis
            if change.pod is not None:
                hypothesis = hypothesis.but_with(pod=change.pod)
            if change.objects or change.nodes:
                hypothesis = hypothesis.but_with(objects=change.objects, nodes=change.nodes)
            if hypothesis is not situation.hypothesis:
                kind = change.kind
                weight = _DISTURBANCE[kind] if isinstance(kind, ChangeKind) else kind
                yield Step(change.code, change.sentence, weight, hypothesis)


def _ask(plugin: Plugin, situation: SearchSituation) -> list[ProposedChange]:
    try:
        found = list(plugin.propose_for(situation))
    except Exception:  # a plugin that cannot think of changes has none
        return []
    return [each for each in found if isinstance(each, ProposedChange)]
