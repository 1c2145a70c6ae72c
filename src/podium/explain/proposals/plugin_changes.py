"""Changes that plugins think of themselves (`Plugin.propose_changes`)."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from podium.explain.proposals import disturbance
from podium.explain.proposals.proposal import Step
from podium.explain.proposals.situation import MAX_STEPS_OF_A_KIND, Situation
from podium.framework.proposed_change import ChangeKind, ProposedChange
from podium.framework.status import Status

_DISTURBANCE: Final = {
    ChangeKind.CORRECT_NAME: disturbance.CORRECT_NAME,
    ChangeKind.GIVE_EXISTING_VALUE: disturbance.GIVE_EXISTING_VALUE,
    ChangeKind.DROP_REQUIREMENT: disturbance.DROP_REQUIREMENT,
    ChangeKind.LOWER_REQUEST: disturbance.LOWER_REQUEST,
    ChangeKind.CREATE_OBJECT: disturbance.CREATE_OBJECT,
    ChangeKind.REPLACE_OBJECT: disturbance.REPLACE_OBJECT,
}


def propose_changes_of_plugins(situation: Situation) -> Iterator[Step]:
    for status in _objections(situation):
        for change in _ask(situation, status):
            hypothesis = situation.hypothesis
            if change.pod is not None:
                hypothesis = hypothesis.but_with(pod=change.pod)
            if change.objects:
                hypothesis = hypothesis.but_with(objects=change.objects)
            if hypothesis is not situation.hypothesis:
                yield Step(change.code, change.sentence, _DISTURBANCE[change.kind], hypothesis)


def _objections(situation: Situation) -> Iterator[Status]:
    """What plugins say against the pod, or against one of the nodes that are near."""
    if situation.refusal is not None:
        yield situation.refusal
    for plugin, nodes in situation.near.items():
        yield situation.objections[nodes[0]][plugin].by(plugin)


def _ask(situation: Situation, status: Status) -> list[ProposedChange]:
    engine, pod = situation.trial.engine, situation.pod
    profile = engine.profiles.get(pod.spec.scheduler_name)
    plugin = profile.plugins.get(status.plugin) if profile is not None else None
    if plugin is None:
        return []
    try:
        proposed = plugin.propose_changes(engine.cluster.infos.of(pod), status)
        found = list(islice(proposed, MAX_STEPS_OF_A_KIND))
    except Exception:  # a plugin that cannot think of changes has none
        return []
    return [each for each in found if isinstance(each, ProposedChange)]
