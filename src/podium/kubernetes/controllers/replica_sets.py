"""Replica sets: as many pods of a template as were requested.

Replication controllers are the same under an older name and are looked after here as well.
"""

from collections.abc import Iterable, Sequence
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
    read_reported_fields,
    status_patch,
)
from podium.kubernetes.controllers.objects import OwnerKind, changed_condition, condition_of
from podium.kubernetes.controllers.ownership import (
    possible_pods,
    settle_ownership,
    wake_owners,
)
from podium.kubernetes.controllers.pod_templates import pod_from_template
from podium.kubernetes.controllers.pods import Pod, PodAvailability, availability, least_missed
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.controllers.workloads import ReplicaSet, ReplicationController
from podium.kubernetes.resources.resource_types import (
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    ResourceType,
)
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.timestamps import Moment

KIND: Final = OwnerKind("apps/v1", "ReplicaSet")
OLD_KIND: Final = OwnerKind("v1", "ReplicationController")
BURST: Final = 500
_COMPONENTS: Final = {
    KIND.name: "replicaset-controller",
    OLD_KIND.name: "replication-controller",
}
REPLICA_FAILURE: Final = "ReplicaFailure"


def decide(
    kind: OwnerKind,
    resource: ResourceType,
    replicas: ReplicaSet,
    candidates: Sequence[Pod],
    moment: Moment,
    burst: int = BURST,
) -> Plan:
    """Pods to make or remove, and the counts to report; `candidates` are those it could own. No
    more than `burst` pods are made or removed at once."""
    selector = selector_or_nothing(replicas.spec.selector)
    owned, actions = settle_ownership(kind, replicas.metadata, selector, PODS, candidates)
    active = [pod for pod in owned if pod.is_active]
    if not replicas.metadata.is_terminating:
        actions += _scale_pods(kind, replicas, active, burst)
    found = availability(active, replicas.spec.min_ready_seconds, moment)
    status = _status(replicas, active, found)
    if condition_of(replicas.status.conditions, REPLICA_FAILURE) is not None:
        # This is written only once everything before it went well.
        status["conditions"] = [{"type": REPLICA_FAILURE, "$patch": "delete"}]
    if status != read_reported_fields(replicas.status, status):
        actions.append(status_patch(resource, replicas, status))
    again = 0.0 if abs(replicas.wanted - len(active)) > burst else found.again_after_s
    return Plan(actions, again)


def _status(replicas: ReplicaSet, active: Sequence[Pod], found: PodAvailability) -> JsonObject:
    labels = replicas.spec.template.metadata.get("labels") or {}
    fully = sum(labels.items() <= (pod.metadata.labels or {}).items() for pod in active)
    return {
        "replicas": found.total,
        "fullyLabeledReplicas": fully,
        "readyReplicas": found.ready,
        "availableReplicas": found.available,
        "observedGeneration": replicas.metadata.generation,
    }


def report_failure(
    resource: ResourceType,
    owner: ReplicaSet | ReplicationController,
    owned: Iterable[Pod],
    problem: Exception,
    moment: Moment,
) -> Plan:
    """The counts, and that pods could not be made or removed: until that goes well.

    upstream: the condition keeps the text of the first failure; the next one names another pod, as
    pods get random names, and is an Event only.
    """
    replicas = owner if isinstance(owner, ReplicaSet) else owner.as_replica_set()
    active = [pod for pod in owned if pod.is_active]
    if len(active) == replicas.wanted:
        return NOTHING
    verb, reason = "creating", "FailedCreate"
    if len(active) > replicas.wanted:
        verb, reason = "deleting", "FailedDelete"
    found = availability(active, replicas.spec.min_ready_seconds, moment)
    status = _status(replicas, active, found)
    if condition_of(replicas.status.conditions, REPLICA_FAILURE) is None:
        failure = (REPLICA_FAILURE, "True", reason, str(problem))
        status["conditions"] = [changed_condition(None, moment, *failure)]
    actions: list[Action] = []
    if status != read_reported_fields(replicas.status, status):
        actions.append(status_patch(resource, replicas, status))
    component, told = _COMPONENTS[owner.kind], f"Error {verb}: {problem}"
    return Plan([*actions, event_about(owner, component, "Warning", reason, told, moment)])


def _scale_pods(
    kind: OwnerKind, replicas: ReplicaSet, active: Sequence[Pod], burst: int
) -> list[Action]:
    missing = replicas.wanted - len(active)
    if missing > 0:
        pod = pod_from_template(kind, replicas.metadata, replicas.spec.template)
        return [CreateAction(PODS, replicas.namespace, pod)] * min(missing, burst)
    if missing == 0:
        return []
    surplus = min(-missing, burst)
    return [delete(PODS, pod) for pod in least_missed(active)[:surplus]]


class ReplicaSets:
    """Keys are the namespace and name of a replica set."""

    name = "replicasets"

    def __init__(self, stores: Stores, burst: int = BURST) -> None:
        self._stores = stores
        self._burst = burst

    def watch(self, wake: Wake) -> None:
        wake_owners(self._stores.pods, self._stores.replica_sets, KIND, wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        found = self._stores.replica_sets.find(key)
        if found is None:
            return NOTHING
        pods = possible_pods(self._stores, found.metadata)
        return decide(KIND, REPLICA_SETS, found, pods, moment, self._burst)

    def plan_after_failure(self, key: tuple[str, str], problem: Exception, moment: Moment) -> Plan:
        found = self._stores.replica_sets.find(key)
        if found is None:
            return NOTHING
        pods = self._stores.pods.owned_by.of(found.metadata.uid)
        return report_failure(REPLICA_SETS, found, pods, problem, moment)


class ReplicationControllers:
    """The same for replication controllers."""

    name = "replicationcontrollers"

    def __init__(self, stores: Stores, burst: int = BURST) -> None:
        self._stores = stores
        self._burst = burst

    def watch(self, wake: Wake) -> None:
        wake_owners(self._stores.pods, self._stores.replication_controllers, OLD_KIND, wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        found: ReplicationController | None = self._stores.replication_controllers.find(key)
        if found is None:
            return NOTHING
        pods = possible_pods(self._stores, found.metadata)
        replicas = found.as_replica_set()
        return decide(OLD_KIND, REPLICATION_CONTROLLERS, replicas, pods, moment, self._burst)

    def plan_after_failure(self, key: tuple[str, str], problem: Exception, moment: Moment) -> Plan:
        found = self._stores.replication_controllers.find(key)
        if found is None:
            return NOTHING
        pods = self._stores.pods.owned_by.of(found.metadata.uid)
        return report_failure(REPLICATION_CONTROLLERS, found, pods, problem, moment)
