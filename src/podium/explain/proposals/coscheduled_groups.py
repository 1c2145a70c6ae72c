"""Changes for members of coscheduled PodGroups: join one that exists, make it, ask less of it."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from podium.api.coscheduling import (
    POD_GROUP_LABEL,
    CoschedulingPodGroupSpec,
    SchedulingXPodGroup,
    pod_group_name,
)
from podium.api.errors import closest
from podium.api.meta import ObjectMeta
from podium.api.pod import Pod
from podium.explain.proposals import disturbance
from podium.explain.proposals.proposal import Step
from podium.explain.proposals.situation import Situation

_PLUGIN: Final = "Coscheduling"


def propose_other_coscheduling(situation: Situation) -> Iterator[Step]:
    pod = situation.pod
    name, namespace = (pod.metadata.labels or {}).get(POD_GROUP_LABEL, ""), pod.metadata.namespace
    if situation.refusal is None or situation.refusal.plugin != _PLUGIN or not name:
        return
    group = situation.catalog.get(SchedulingXPodGroup, name, namespace)
    if group is None:
        yield from _find_group(situation, name)
        return
    least, there = group.spec.min_member, _members(situation, name)
    waits = f"which waits for {least} pods and has {there}"
    if there >= least:
        waits = f"which needs {least} pods on nodes at once"
    yield situation.change_pod(
        "leave-pod-group",
        f"leave PodGroup {name}, {waits}",
        disturbance.DROP_REQUIREMENT,
        _labelled(pod, None),
    )
    if 0 < there < least:
        changed = replace(group, spec=replace(group.spec, min_member=there))
        yield Step(
            "change-object",
            f"lower minMember of PodGroup {namespace}/{name} from {least} to {there}",
            disturbance.REPLACE_OBJECT,
            situation.hypothesis.but_with(objects=(changed,)),
        )


def _find_group(situation: Situation, name: str) -> Iterator[Step]:
    """The pod names a group that does not exist."""
    namespace = situation.pod.metadata.namespace
    groups = situation.catalog.all(SchedulingXPodGroup)
    alike = closest(name, [group.name for group in groups if group.namespace == namespace])
    if alike:
        yield situation.change_pod(
            "correct-name",
            f"join PodGroup {alike} in place of {name}, which does not exist",
            disturbance.CORRECT_NAME,
            _labelled(situation.pod, alike),
        )
    least = max(1, _members(situation, name))
    made = SchedulingXPodGroup(
        metadata=ObjectMeta(name=name, namespace=namespace, uid=f"{namespace}/{name}"),
        spec=CoschedulingPodGroupSpec(min_member=least),
    )
    yield Step(
        "create-object",
        f"create PodGroup {namespace}/{name} with minMember {least}",
        disturbance.CREATE_OBJECT,
        situation.hypothesis.but_with(objects=(made,)),
    )


def _labelled(pod: Pod, group: str | None) -> Pod:
    labels = dict(pod.metadata.labels or {})
    labels.pop(POD_GROUP_LABEL, None)
    if group is not None:
        labels[POD_GROUP_LABEL] = group
    return replace(pod, metadata=replace(pod.metadata, labels=labels))


def _members(situation: Situation, name: str) -> int:
    namespace = situation.pod.metadata.namespace
    return sum(
        pod.metadata.namespace == namespace and pod_group_name(pod.metadata.labels) == name
        for pod in situation.trial.engine.state.pods.values()
    )
