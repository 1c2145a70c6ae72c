"""Which pods of a node have to go before it is empty, and which of them may be moved at all.

The rules are kubectl drain's: pods of DaemonSets and of the kubelet itself are passed over, pods
that nobody would make again stay, and so do those that would lose what they have written into an
emptyDir, unless that is allowed. Disruption budgets that let nobody go hold their pods.
"""

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.offline.simulate.disruption_budgets import DisruptionControl
from podium.scheduler.cluster.pod_info import PodInfo


def belongs_to_node(pod: Pod) -> bool:
    """Whether a node counts as empty with the pod on it."""
    return is_daemon(pod) or is_bound_to_node(pod) or pod.metadata.is_terminating


class DrainRules:
    def __init__(self, disruptions: DisruptionControl, *, deletes_empty_dirs: bool = False) -> None:
        self._disruptions = disruptions
        self._deletes_empty_dirs = deletes_empty_dirs

    def why_kept(self, info: PodInfo) -> str:
        """Why a pod that does not belong to its node must stay there; "" if it may be moved."""
        pod = info.pod
        if pod.metadata.controller is None:
            return "nothing would make it again"
        if not self._deletes_empty_dirs and any(
            volume.empty_dir is not None for volume in pod.spec.volumes or ()
        ):
            return "it has local storage (emptyDir)"
        return self._disruptions.find_refusal(pod)
