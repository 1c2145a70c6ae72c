"""Pods that daemon sets make for a node that was not there in the beginning.

Where the input has the daemon set, its controller decides (`control_plane.py`), also for one that
has had no node yet. A dump may show the pods alone: then one of each says what the set would make,
and only the scheduler can tell whether it belongs on the node.
"""

from dataclasses import dataclass

from podium.kubernetes.controllers.daemon_pods import daemons_of, pod_of_daemon
from podium.kubernetes.controllers.workloads import DaemonSet
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission, assign_uid
from podium.offline.simulate.control_plane import ControlPlane
from podium.offline.simulate.scenario import Scenario


@dataclass(frozen=True, slots=True)
class DaemonPod:
    pod: Pod
    is_certain: bool
    """Whether its controller has decided that it belongs on the node."""


class NodeDaemons:
    def __init__(self, scenario: Scenario, gates: FeatureGates) -> None:
        self._sets = [each for each in scenario.workloads if isinstance(each, DaemonSet)]
        known = {each.metadata.key for each in self._sets}
        self._others = [
            pod
            for pod in daemons_of((*scenario.running, *scenario.pending))
            if (owner := pod.metadata.controller) is not None
            and (pod.namespace, owner.name) not in known
        ]
        # Quotas would have to know all pods that there are by then.
        there = [
            obj
            for obj in (*scenario.objects, *scenario.admission_objects)
            if isinstance(obj, KubeObject) and not isinstance(obj, ResourceQuota)
        ]
        self._admission = Admission(gates, there, knows_classes=False)

    def make(self, node: Node) -> list[DaemonPod]:
        plane = ControlPlane((), (), (node,), self._admission)
        made = [DaemonPod(pod, True) for each in self._sets for pod in plane.make(each).pods]
        copies = (assign_uid(pod_of_daemon(pod, node)) for pod in self._others)
        return [*made, *(DaemonPod(pod, False) for pod in copies)]

    def pods_for(self, node: Node) -> list[Pod]:
        return [each.pod for each in self.make(node)]
