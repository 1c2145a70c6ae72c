"""Which nodes the pods of a cluster may use at all, by taints and by what pods say of nodes.

A pool that is tainted for pods which are not there yet is empty, but nothing can be moved to it and
nothing has been cleared from it. Counted as an empty node it would make every skew as large as it
can be, and every wish for free nodes fulfilled.

Which pods of a node have to go before it is empty, and which of them may be moved at all. The rules
are kubectl drain's: pods of DaemonSets and of the kubelet itself are passed over, pods that nobody
would make again stay, and so do those that would lose what they have written into an emptyDir,
unless that is allowed. Disruption budgets that let nobody go hold their pods.
"""

import numpy as np

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.kubernetes.rules.tolerations import HARD_EFFECTS
from podium.offline.simulate.disruption_budgets import DisruptionControl
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.node_matching import required_mask, untolerated_mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine


def usable_nodes(engine: Engine) -> frozenset[str]:
    """Names of nodes that have a pod, or could have one, that does not belong to its node; all
    nodes where there is no such pod. Cordoned nodes are among them."""
    cluster = engine.cluster
    names = cluster.nodes.names
    rows = np.array(cluster.node_order(), dtype=np.intp)
    found: Mask = np.array([has_pods(engine, row) for row in rows.tolist()], dtype=np.bool_)
    shapes: dict[int, PodInfo] = {}
    for pod in engine.state.pods.values():
        if not belongs_to_node(pod):
            info = cluster.infos.of(pod)
            shapes.setdefault(id(info.shape), info)
    if not shapes:
        return frozenset(names[row] for row in rows.tolist())
    comparison = engine.gates["TaintTolerationComparisonOperators"]
    for info in shapes.values():
        if found.all():
            break
        allowed: Mask = np.ones(len(rows), dtype=np.bool_)
        tolerations = info.pod.spec.tolerations
        tainted = untolerated_mask(
            cluster.nodes, tolerations, HARD_EFFECTS, rows, comparison=comparison
        )
        if tainted is not None:
            allowed &= ~tainted
        selected = required_mask(cluster.nodes, info.shape.node_affinity, rows)
        if selected is not None:
            allowed &= selected
        found |= allowed
    return frozenset(names[row] for row in rows[found].tolist())


def has_pods(engine: Engine, row: int) -> bool:
    """Whether a node has pods but its own."""
    return any(not belongs_to_node(info.pod) for info in engine.cluster.usage.pods(row))


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
