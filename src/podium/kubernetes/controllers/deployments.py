"""Deployments: a replica set for each template, and a gradual way from one to the next.

Revisions are counted in the annotation that `kubectl rollout` reads. A new size comes before a
new template: it is spread over the sets that have pods, and then the roll-out goes on.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from podium.golang.arithmetic import parse_int
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    PatchAction,
    Plan,
    Wake,
    delete,
    event_about,
    find_creation,
    status_patch,
)
from podium.kubernetes.controllers.deployment_status import (
    CREATE_ERROR,
    creation_failure,
    deployment_status,
)
from podium.kubernetes.controllers.ownership import settle_ownership, wake_owners
from podium.kubernetes.controllers.pod_templates import (
    DEPLOYMENT,
    TEMPLATE_HASH,
    canonical,
    replica_set_of,
)
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.rollout import (
    is_resized,
    new_replicas,
    old_replicas,
    proportional_sizes,
    size_marks,
)
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.controllers.workloads import Deployment, PodTemplate, ReplicaSet
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.resources.resource_types import DEPLOYMENTS, REPLICA_SETS
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.timestamps import Moment

REVISION: Final = "deployment.kubernetes.io/revision"
_HISTORY: Final = 10
_COMPONENT: Final = "deployment-controller"


def decide(
    deployment: Deployment,
    candidates: Sequence[ReplicaSet],
    pods: Mapping[str, Sequence[Pod]],
    moment: Moment,
) -> Plan:
    """`candidates` are sets it could own; `pods` are those of each set, by the set's uid."""
    selector = selector_or_nothing(deployment.spec.selector)
    sets, actions = settle_ownership(
        DEPLOYMENT, deployment.metadata, selector, REPLICA_SETS, candidates
    )
    if deployment.metadata.is_terminating:
        return Plan(actions)
    new = _new_set(deployment, sets)
    old = [each for each in sets if each is not new]
    revision = _next_revision(new, old)
    if deployment.spec.paused or is_resized(deployment, sets):
        actions += _resize(deployment, new, old)
    elif new is None:
        actions += _creation(deployment, old, pods, revision)
    else:
        actions += _roll(deployment, new, old, pods, revision)
    actions += _cleaning_up(deployment, new, old)
    status, again_after_s = deployment_status(deployment, new, sets, moment)
    if status:
        actions.append(status_patch(DEPLOYMENTS, deployment, status))
    return Plan(actions, again_after_s)


def _new_set(deployment: Deployment, sets: Sequence[ReplicaSet]) -> ReplicaSet | None:
    """The oldest set that has the deployment's template."""
    wanted = canonical(deployment.spec.template)
    fitting = [each for each in sets if canonical(_remove_mark(each.spec.template)) == wanted]
    return min(fitting, key=lambda each: each.metadata.creation_timestamp or "", default=None)


def _remove_mark(template: PodTemplate) -> PodTemplate:
    labels = {**(template.metadata.get("labels") or {})}
    labels.pop(TEMPLATE_HASH, None)
    metadata = {**template.metadata, "labels": labels}
    if not labels:
        del metadata["labels"]
    return PodTemplate(metadata=metadata, spec=template.spec)


def _revision(obj: KubeObject) -> int:
    return parse_int(obj.metadata.annotation(REVISION)) or 0


def _next_revision(new: ReplicaSet | None, old: Sequence[ReplicaSet]) -> int:
    highest = max((_revision(each) for each in old), default=0)
    if new is not None and _revision(new) > highest:
        return _revision(new)
    return highest + 1


# --- making the new set -----------------------------------------------------------------------


def _creation(
    deployment: Deployment,
    old: Sequence[ReplicaSet],
    pods: Mapping[str, Sequence[Pod]],
    revision: int,
) -> list[Action]:
    if deployment.spec.strategy.type == "Recreate":
        emptying = _scale_to_zero(deployment, old)
        if emptying or _still_there(old, pods):
            return emptying
    replicas = new_replicas(deployment, 0, old)
    made: list[Action] = [
        CreateAction(
            REPLICA_SETS,
            deployment.namespace,
            replica_set_of(
                deployment, replicas, {REVISION: str(revision), **size_marks(deployment)}
            ),
        )
    ]
    return made + _tell_revision(deployment, revision)


# --- moving on --------------------------------------------------------------------------------


def _roll(
    deployment: Deployment,
    new: ReplicaSet,
    old: Sequence[ReplicaSet],
    pods: Mapping[str, Sequence[Pod]],
    revision: int,
) -> list[Action]:
    actions: list[Action] = []
    if _revision(new) != revision:
        body = {"metadata": {"annotations": {REVISION: str(revision)}}}
        actions.append(PatchAction(REPLICA_SETS, new.namespace, new.name, body))
    actions += _tell_revision(deployment, revision)
    if deployment.spec.strategy.type == "Recreate":
        emptying = _scale_to_zero(deployment, old)
        if emptying or _still_there(old, pods):
            return actions + emptying
    replicas = new_replicas(deployment, new.wanted, old)
    if replicas != new.wanted:
        return [*actions, _scale_replica_set(deployment, new, replicas)]
    by_name = {each.name: each for each in old}
    shrinking = old_replicas(deployment, new, old)
    return actions + [
        _scale_replica_set(deployment, by_name[name], count) for name, count in shrinking.items()
    ]


def _tell_revision(deployment: Deployment, revision: int) -> list[Action]:
    if _revision(deployment) == revision:
        return []
    body = {"metadata": {"annotations": {REVISION: str(revision)}}}
    return [PatchAction(DEPLOYMENTS, deployment.namespace, deployment.name, body)]


def _resize(
    deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet]
) -> list[Action]:
    sets = [*old, new] if new is not None else list(old)
    active = [each for each in sets if each.wanted]
    if len(active) <= 1:
        latest = new or max(sets, key=_revision, default=None)
        only = active[0] if active else latest
        if only is None:
            return []
        is_right = only.wanted == deployment.wanted and not is_resized(deployment, [only])
        return [] if is_right else [_scale_replica_set(deployment, only, deployment.wanted)]
    if new is not None and new.wanted == new.status.available_replicas == deployment.wanted:
        return _scale_to_zero(deployment, old)
    if deployment.spec.strategy.type == "Recreate":
        return []
    sizes = proportional_sizes(deployment, active)
    return [_scale_replica_set(deployment, each, sizes[each.name]) for each in active]


def _scale_to_zero(deployment: Deployment, old: Sequence[ReplicaSet]) -> list[Action]:
    return [_scale_replica_set(deployment, each, 0) for each in old if each.wanted]


def _still_there(old: Sequence[ReplicaSet], pods: Mapping[str, Sequence[Pod]]) -> bool:
    return any(not pod.is_ended for each in old for pod in pods.get(each.metadata.uid, ()))


def _scale_replica_set(deployment: Deployment, replica_set: ReplicaSet, replicas: int) -> Action:
    marks = {"annotations": size_marks(deployment)}
    body = {"metadata": marks, "spec": {"replicas": replicas}}
    return PatchAction(REPLICA_SETS, replica_set.namespace, replica_set.name, body)


def _cleaning_up(
    deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet]
) -> list[Action]:
    """Old sets without pods are kept for a while, to go back to."""
    if new is None:
        return []
    limit = deployment.spec.revision_history_limit
    empty = [
        each
        for each in old
        if not each.wanted and not each.status.replicas and not each.metadata.is_terminating
    ]
    surplus = len(empty) - (_HISTORY if limit is None else limit)
    by_revision = sorted(empty, key=_revision)
    return [delete(REPLICA_SETS, each) for each in by_revision[: max(surplus, 0)]]


class Deployments:
    """Keys are the namespace and name of a deployment."""

    name = "deployments"

    def __init__(self, stores: Stores) -> None:
        self._deployments = stores.deployments
        self._sets = stores.replica_sets
        self._pods = stores.pods

    def watch(self, wake: Wake) -> None:
        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            """Only the end of a pod matters: whoever recreates pods waits for it."""
            if old is None or new is not None:
                return
            owner = old.metadata.controller
            found = owner and self._sets.get(old.namespace, owner.name)
            above = found.metadata.controller if found else None
            if above is not None and above.kind == DEPLOYMENT.name:
                wake((old.namespace, above.name))

        wake_owners(self._sets, self._deployments, DEPLOYMENT, wake)
        self._pods.listen(pod_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        deployment = self._deployments.find(key)
        if deployment is None:
            return NOTHING
        candidates = [
            *self._sets.owned_by.of(deployment.metadata.uid),
            *self._sets.orphans.of(deployment.namespace),
        ]
        pods = {each.metadata.uid: self._pods.owned_by.of(each.metadata.uid) for each in candidates}
        return decide(deployment, candidates, pods, moment)

    def plan_after_failure(self, key: tuple[str, str], problem: Exception, moment: Moment) -> Plan:
        deployment = self._deployments.find(key)
        refused = find_creation(self.plan(key, moment), REPLICA_SETS)
        if deployment is None or refused is None:
            return NOTHING
        told = f'Failed to create new replica set "{refused.body["metadata"]["name"]}": {problem}'
        actions: list[Action] = []
        condition = creation_failure(deployment, told, moment)
        if condition is not None:
            actions.append(status_patch(DEPLOYMENTS, deployment, {"conditions": [condition]}))
        event = event_about(deployment, _COMPONENT, "Warning", CREATE_ERROR, told, moment)
        return Plan([*actions, event])
