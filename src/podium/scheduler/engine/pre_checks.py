"""Which waiting pods hear of an event at all while the gate SchedulerQueueingHints is off.

Hints ask each plugin about the very object; before them a few rules of the plugins in the tree
stood here instead: a node is shown only to pods that it would admit as it is, a pod on a node only
to pods that spread or are drawn to it, and a new storage class only if it waits for the first
consumer. A pod that none of them means waits on, even if a plugin of its own registered for the
event. Sources: `preCheckForNode` in `pkg/scheduler/eventhandlers.go` and
`getUnschedulablePodsWithCrossTopologyTerm` in `pkg/scheduler/backend/queue/scheduling_queue.go`.
"""

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import StorageClass
from podium.kubernetes.kinds.workloads import Namespace
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.host_ports import conflicts
from podium.kubernetes.rules.tolerations import untolerated
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.engine.queue.queue import Concerns
from podium.scheduler.framework.events import Action, ClusterEvent
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.plugins.volumes.pod_claims import WAIT_FOR_FIRST_CONSUMER

_SPREAD = "PodTopologySpread"


class PreChecks:
    """Each answers None when every waiting pod is told, as it is with hints."""

    def __init__(self, cluster: Cluster, gates: FeatureGates) -> None:
        self._cluster = cluster
        self._hints = gates["SchedulerQueueingHints"]
        self._comparison = gates["TaintTolerationComparisonOperators"]

    def of_node(self, name: str) -> Concerns | None:
        """For a node that came or changed."""
        if self._hints:
            return None
        row = self._cluster.nodes.row(name)
        return lambda waiting: self._admits(row, waiting.info)

    def of_assigned_pod(self, pod: Pod, event: ClusterEvent) -> Concerns | None:
        """For a pod that came to a node or changed there."""
        if self._hints or event.action == Action.UPDATE_POD_SCALE_DOWN:
            return None
        namespace = self._cluster.catalog.get(Namespace, pod.metadata.namespace)
        labels = namespace.metadata.labels if namespace is not None else None
        return lambda waiting: _is_drawn_to(waiting, pod, labels)

    def tells(self, obj: object, event: ClusterEvent) -> bool:
        """Whether anybody hears of an object that is neither node nor pod."""
        if self._hints or event.action is not Action.ADD or not isinstance(obj, StorageClass):
            return True
        return obj.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    def _admits(self, row: int, info: PodInfo) -> bool:
        node, spec = self._cluster.nodes.node(row), info.pod.spec
        return (
            self._has_room(row, info)
            and info.shape.node_affinity.matches(node.metadata.labels, node.metadata.name)
            and spec.node_name in ("", node.metadata.name)
            and not conflicts(info.shape.ports, self._cluster.usage.ports.used(row))
            and untolerated(node.spec.taints, spec.tolerations, comparison=self._comparison) is None
        )

    def _has_room(self, row: int, info: PodInfo) -> bool:
        nodes, usage = self._cluster.nodes, self._cluster.usage
        usage.grow()
        if usage.pod_count[row] + 1 > nodes.allowed_pods[row]:
            return False
        for name, amount in info.shape.admission_requests.items():
            resource = nodes.resources.find(name)
            free = 0
            if resource >= 0:
                used = int(usage.requested_of(resource)[row])
                free = int(nodes.allocatable[resource, row]) - used
            if amount > max(free, 0):
                return False
        return True


def _is_drawn_to(waiting: QueuedPod, pod: Pod, namespace_labels: dict[str, str] | None) -> bool:
    namespace = pod.metadata.namespace
    if _SPREAD in waiting.rejectors and namespace == waiting.info.pod.metadata.namespace:
        return True
    terms = waiting.info.shape.affinity.required_affinity
    return any(term.matches(namespace, pod.metadata.labels, namespace_labels) for term in terms)
