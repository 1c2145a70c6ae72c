"""Stateful sets: pods with names that stay, made in order, with claims of their own.

Unless the set is managed in parallel, a pod is made only when all before it are ready, and removed
only when all after it are gone. A new template is rolled out from the last pod down to the
partition, one pod at a time (`pkg/controller/statefulset/stateful_set_control.go`). Claims outlive
their pods, unless a retention policy makes them garbage when the set or a pod of it goes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    Plan,
    Wake,
    delete,
    event_about,
    find_creation,
    metadata_patch,
    read_reported_fields,
    status_patch,
    status_writes,
)
from podium.kubernetes.controllers.ownership import (
    possible_pods,
    settle_ownership,
    wake_owners,
)
from podium.kubernetes.controllers.pod_templates import REVISION_HASH
from podium.kubernetes.controllers.pods import Pod, availability
from podium.kubernetes.controllers.revisions import (
    possible_revisions,
    settle_revisions,
    template_of,
)
from podium.kubernetes.controllers.stateful_pods import (
    STATEFUL_SET,
    claim_names_of_ordinal,
    claims_of_ordinal,
    ordinal_of,
    owners_to_write,
    pod_of_ordinal,
    waits_for_deletion,
)
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.controllers.workloads import (
    ControllerRevision,
    PodTemplate,
    StatefulSet,
)
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.resources.resource_types import PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.timestamps import Moment

_COMPONENT: Final = "statefulset-controller"


@dataclass(frozen=True, slots=True)
class _Situation:
    """A set, its pods by ordinal, and the two revisions that they may have."""

    stateful: StatefulSet
    pods: dict[int, Pod]
    current: str
    update: str
    template: Callable[[str], PodTemplate]
    claims: Mapping[str, KubeObject]
    """The volume claims of the set's namespace by name."""
    waits: bool

    @property
    def ordinals(self) -> range:
        return self.stateful.ordinals

    @property
    def in_order(self) -> bool:
        return self.waits and self.stateful.spec.pod_management_policy != "Parallel"

    @property
    def partition(self) -> int:
        rolling = self.stateful.spec.update_strategy.rolling_update
        return (rolling.partition if rolling else None) or 0

    def revision_for(self, ordinal: int) -> str:
        """upstream: pods below the partition stay with the revision that they had."""
        rolls = self.stateful.spec.update_strategy.type == "RollingUpdate"
        return self.current if rolls and ordinal < self.partition else self.update


def decide(
    stateful: StatefulSet,
    candidates: Sequence[Pod],
    revisions: Sequence[ControllerRevision],
    claims: Sequence[KubeObject],
    moment: Moment,
    *,
    waits: bool = True,
) -> Plan:
    """`claims` are the volume claims in the set's namespace. Who knows that every pod is ready at
    once need not wait for one before the next is made."""
    selector = selector_or_nothing(stateful.spec.selector)
    owned, actions = settle_ownership(STATEFUL_SET, stateful.metadata, selector, PODS, candidates)
    if stateful.metadata.is_terminating:
        return Plan(actions)
    revision = settle_revisions(
        STATEFUL_SET,
        stateful.metadata,
        selector,
        stateful.spec.template,
        revisions,
        labelled_by_name=True,
        in_use={
            stateful.status.current_revision,
            *(p.metadata.label(REVISION_HASH) for p in owned),
        },
        limit=stateful.spec.revision_history_limit,
    )
    actions += revision.actions
    known = {each.name: template_of(each) for each in revisions}
    current = stateful.status.current_revision
    situation = _Situation(
        stateful,
        _by_ordinal(stateful, owned),
        current if current in known else revision.name,
        revision.name,
        lambda name: stateful.spec.template if name == revision.name else known[name],
        {claim.metadata.name: claim for claim in claims},
        waits,
    )
    actions += _pods_in_place(situation)
    found = availability(owned, stateful.spec.min_ready_seconds, moment)
    status = _status(situation, found.available)
    if status != read_reported_fields(stateful.status, status):
        actions.append(status_patch(STATEFUL_SETS, stateful, status))
    return Plan(actions, found.again_after_s)


def _by_ordinal(stateful: StatefulSet, pods: Sequence[Pod]) -> dict[int, Pod]:
    found = ((ordinal_of(stateful, pod.name), pod) for pod in pods)
    return {ordinal: pod for ordinal, pod in found if ordinal is not None}


def _pods_in_place(situation: _Situation) -> list[Action]:
    """Make what is missing, remove what is too many, then roll out; in order, if asked for."""
    actions: list[Action] = []
    for ordinal in situation.ordinals:
        pod = situation.pods.get(ordinal)
        if pod is None:
            actions += _creation(situation, ordinal)
        elif pod.is_ended and not pod.metadata.is_terminating:
            actions.append(delete(PODS, pod))
        else:
            actions += _claims_to_own(situation, ordinal, pod)
            if not pod.metadata.is_terminating and pod.is_ready:
                continue
        if situation.in_order:
            return actions
    unwanted = sorted(situation.pods.keys() - set(situation.ordinals), reverse=True)
    for ordinal in unwanted:
        actions += _claims_to_own(situation, ordinal, situation.pods[ordinal])
    for ordinal in unwanted:
        pod = situation.pods[ordinal]
        if not pod.metadata.is_terminating:
            actions.append(delete(PODS, pod))
        if situation.in_order:
            return actions
    return actions or _roll_pods(situation)


def _roll_pods(situation: _Situation) -> list[Action]:
    if situation.stateful.spec.update_strategy.type != "RollingUpdate":
        return []
    for ordinal in reversed(situation.ordinals):
        pod = situation.pods.get(ordinal)
        if ordinal < situation.partition or pod is None or pod.metadata.is_terminating:
            return []
        if pod.metadata.label(REVISION_HASH) != situation.update:
            return [delete(PODS, pod)]
        if not pod.is_ready:
            return []
    return []


def _claims_to_own(situation: _Situation, ordinal: int, pod: Pod) -> list[Action]:
    """Let claims be deleted with whom the retention policy says."""
    actions: list[Action] = []
    for name in claim_names_of_ordinal(situation.stateful, ordinal):
        claim = situation.claims.get(name)
        if claim is not None:
            owners = owners_to_write(claim.metadata, situation.stateful, pod.metadata)
            if owners is not None:
                changed: JsonObject = {"ownerReferences": owners or None}
                actions.append(metadata_patch(PERSISTENT_VOLUME_CLAIMS, claim, changed))
    return actions


def _creation(situation: _Situation, ordinal: int) -> list[Action]:
    stateful, claims = situation.stateful, situation.claims
    present = (claims.get(name) for name in claim_names_of_ordinal(stateful, ordinal))
    pod_name = f"{stateful.name}-{ordinal}"
    if any(each and waits_for_deletion(each.metadata, stateful, pod_name) for each in present):
        return []
    revision = situation.revision_for(ordinal)
    pod = pod_of_ordinal(stateful, situation.template(revision), ordinal, revision)
    missing: list[Action] = [
        CreateAction(PERSISTENT_VOLUME_CLAIMS, stateful.namespace, claim)
        for claim in claims_of_ordinal(stateful, ordinal)
        if claim["metadata"]["name"] not in claims
    ]
    return [*missing, CreateAction(PODS, stateful.namespace, pod)]


# --- reporting --------------------------------------------------------------------------------


def _status(situation: _Situation, available: int) -> JsonObject:
    pods = situation.pods.values()
    ready = sum(pod.is_ready for pod in pods)
    staying = [pod.metadata.label(REVISION_HASH) for pod in pods if pod.is_active]
    updated, current = staying.count(situation.update), staying.count(situation.current)
    revision = situation.current
    wanted = situation.stateful.wanted
    if updated == ready == len(pods) == wanted:
        revision, current = situation.update, updated
    return {
        "replicas": len(pods),
        "readyReplicas": ready,
        "availableReplicas": available,
        "currentReplicas": current,
        "updatedReplicas": updated,
        "currentRevision": revision,
        "updateRevision": situation.update,
        "observedGeneration": situation.stateful.metadata.generation,
    }


class StatefulSets:
    """Keys are the namespace and name of a stateful set."""

    name = "statefulsets"

    def __init__(self, stores: Stores, *, waits: bool = True) -> None:
        self._stores = stores
        self._waits = waits
        self._sets, self._claims = stores.stateful_sets, stores.claims

    def watch(self, wake: Wake) -> None:
        wake_owners(self._stores.pods, self._sets, STATEFUL_SET, wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        stateful = self._sets.find(key)
        if stateful is None:
            return NOTHING
        revisions = possible_revisions(self._stores, stateful.metadata)
        claims = list(self._claims.in_namespace.of(stateful.namespace))
        pods = possible_pods(self._stores, stateful.metadata)
        return decide(stateful, pods, revisions, claims, moment, waits=self._waits)

    def plan_after_failure(self, key: tuple[str, str], problem: Exception, moment: Moment) -> Plan:
        stateful = self._sets.find(key)
        plan = self.plan(key, moment)
        first = find_creation(plan, PODS, PERSISTENT_VOLUME_CLAIMS)
        pod = find_creation(plan, PODS)
        if stateful is None or first is None or pod is None:
            return NOTHING
        what = f"Pod {pod.body['metadata']['name']}"
        if first is not pod:
            what = f"Claim {first.body['metadata']['name']} {what}"
        told = f"create {what} in StatefulSet {stateful.name} failed error: {problem}"
        event = event_about(stateful, _COMPONENT, "Warning", "FailedCreate", told, moment)
        return Plan([*status_writes(plan), event])
