"""Replica sets: as many pods of a template as were asked for.

Replication controllers are the same under an older name and are looked after here as well. When
there are too many pods, those go first that are missed least: not placed, not running, not ready,
cheap by annotation, crowded on one node, young (`pkg/controller/controller_utils.go`).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from podium.api.arithmetic import parse_int
from podium.client import ResourceType
from podium.client.resources import PODS, REPLICA_SETS, REPLICATION_CONTROLLERS
from podium.population.actions import NOTHING, Action, Create, Plan, delete, status_patch
from podium.population.clock import Moment
from podium.population.control import Wake
from podium.population.controllers.availability import availability
from podium.population.controllers.ownership import (
    Kind,
    pod_from_template,
    possible_pods,
    selector_or_nothing,
    settle_ownership,
    wake_owners_of_pods,
)
from podium.population.objects.meta import JsonObject
from podium.population.objects.pods import Pod, ready_since
from podium.population.objects.workloads import ReplicaSet, ReplicationController
from podium.population.world import World

KIND: Final = Kind("apps/v1", "ReplicaSet")
OLD_KIND: Final = Kind("v1", "ReplicationController")
_BURST: Final = 500
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASE_ORDER: Final = {"Pending": 0, "Unknown": 1, "Running": 2}


def decide(
    kind: Kind,
    resource: ResourceType,
    replicas: ReplicaSet,
    candidates: Sequence[Pod],
    moment: Moment,
) -> Plan:
    """Pods to make or remove, and the counts to report; `candidates` are those it could own."""
    selector = selector_or_nothing(replicas.spec.selector)
    owned, actions = settle_ownership(kind, replicas.metadata, selector, PODS, candidates)
    active = [pod for pod in owned if pod.is_active]
    if not replicas.metadata.is_terminating:
        actions += _scaling(kind, replicas, active)
    found = availability(active, replicas.spec.min_ready_seconds, moment)
    labels = replicas.spec.template.metadata.get("labels") or {}
    fully = sum(labels.items() <= (pod.metadata.labels or {}).items() for pod in active)
    status: JsonObject = {
        "replicas": found.total,
        "fullyLabeledReplicas": fully,
        "readyReplicas": found.ready,
        "availableReplicas": found.available,
        "observedGeneration": replicas.metadata.generation,
    }
    if status != _reported(replicas):
        actions.append(status_patch(resource, replicas, status))
    again = 0.0 if abs(replicas.wanted - len(active)) > _BURST else found.again_after_s
    return Plan(actions, again)


def _reported(replicas: ReplicaSet) -> JsonObject:
    status = replicas.status
    return {
        "replicas": status.replicas,
        "fullyLabeledReplicas": status.fully_labeled_replicas,
        "readyReplicas": status.ready_replicas,
        "availableReplicas": status.available_replicas,
        "observedGeneration": status.observed_generation,
    }


def _scaling(kind: Kind, replicas: ReplicaSet, active: Sequence[Pod]) -> list[Action]:
    missing = replicas.wanted - len(active)
    if missing > 0:
        pod = pod_from_template(kind, replicas.metadata, replicas.spec.template)
        return [Create(PODS, replicas.namespace, pod)] * min(missing, _BURST)
    surplus = min(-missing, _BURST)
    return [delete(PODS, pod) for pod in least_missed(active)[:surplus]]


def least_missed(pods: Sequence[Pod]) -> list[Pod]:
    """Pods in the order in which they are to be removed."""
    crowds = Counter(pod.spec.node_name for pod in pods if pod.spec.node_name)

    def rank(pod: Pod) -> tuple[bool, int, bool, int, int, str, int, str]:
        return (
            bool(pod.spec.node_name),
            _PHASE_ORDER.get(pod.status.phase, 2),
            pod.is_ready,
            parse_int(pod.metadata.annotation(_DELETION_COST)) or 0,
            -crowds[pod.spec.node_name],
            _reversed(ready_since(pod)),
            -pod.restarts,
            _reversed(pod.metadata.creation_timestamp),
        )

    return sorted(pods, key=rank)


def _reversed(timestamp: str | None) -> str:
    """A text that sorts the later before the earlier."""
    return "".join(chr(0x10FFFF - ord(letter)) for letter in timestamp or "")


class ReplicaSets:
    """Keys are the namespace and name of a replica set."""

    name = "replicasets"

    def __init__(self, world: World) -> None:
        self._world = world

    def watch(self, wake: Wake) -> None:
        wake_owners_of_pods(self._world, self._world.replica_sets, KIND, wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        found = self._world.replica_sets.find(key)
        if found is None:
            return NOTHING
        pods = possible_pods(self._world, found.metadata)
        return decide(KIND, REPLICA_SETS, found, pods, moment)


class ReplicationControllers:
    """The same for replication controllers."""

    name = "replicationcontrollers"

    def __init__(self, world: World) -> None:
        self._world = world

    def watch(self, wake: Wake) -> None:
        wake_owners_of_pods(self._world, self._world.replication_controllers, OLD_KIND, wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        found: ReplicationController | None = self._world.replication_controllers.find(key)
        if found is None:
            return NOTHING
        pods = possible_pods(self._world, found.metadata)
        return decide(OLD_KIND, REPLICATION_CONTROLLERS, found.as_replica_set(), pods, moment)
