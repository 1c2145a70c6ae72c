"""Pods that are held back before or after a node is looked for, or by plugins of users."""

from support.scheduler.explain.manifests import pod
from support.scheduler.explain.pending_pod import PendingPod

_FILTER = """
from podium.plugin import NodeFilterPlugin

class LicensedNodes(NodeFilterPlugin):
    name = "LicensedNodes"

    def filter_node(self, pod, node):
        return "node(s) had no licence for the product"
"""

_PERMIT = """
from podium.plugin import PermitPlugin, PermitResult, unschedulable

class Curfew(PermitPlugin):
    name = "Curfew"

    def permit(self, cycle, node_name):
        return PermitResult(unschedulable("nothing starts after ten"))
"""

_RESERVE = """
from podium.plugin import ReservePlugin, unschedulable

class Ledger(ReservePlugin):
    name = "Ledger"

    def reserve(self, cycle, node_name):
        return unschedulable("the budget is spent")

    def unreserve(self, cycle, node_name):
        pass
"""

_PRE_FILTER = """
from podium.plugin import PreFilterPlugin, unresolvable

class Quota(PreFilterPlugin):
    name = "Quota"

    def pre_filter(self, cycle):
        return unresolvable("the team has used its quota")
"""

_PRE_ENQUEUE = """
from podium.plugin import PreEnqueuePlugin, unresolvable

class Review(PreEnqueuePlugin):
    name = "Review"

    def pre_enqueue(self, pod):
        return unresolvable("nobody has reviewed it")
"""

_BROKEN = """
from podium.plugin import NodeFilterPlugin

class Broken(NodeFilterPlugin):
    name = "Broken"

    def filter_node(self, pod, node):
        raise ValueError("the table is gone")
"""

_GATES = "GenericWorkload=true,GangScheduling=true"
_GROUP = {
    "apiVersion": "scheduling.k8s.io/v1alpha2",
    "kind": "PodGroup",
    "metadata": {"name": "crew", "namespace": "default"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 4}}},
}

BY_RULE = (
    PendingPod(
        pod("gated", schedulingGates=[{"name": "example.com/quota"}]),
        "scheduling-gates",
        ("scheduling gate example.com/quota",),
    ),
    PendingPod(
        pod("other-scheduler", schedulerName="volcano"),
        "other-scheduler",
        ("volcano", "default-scheduler"),
    ),
    PendingPod(
        pod(
            "terminating",
            metadata={"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x.io/y"]},
        ),
        "pod-deleting",
        ("being deleted",),
        can_fit=False,
    ),
    PendingPod(
        pod("group-missing", schedulingGroup={"podGroupName": "absent"}),
        "pod-group-missing",
        ("PodGroup default/absent does not exist",),
        gates=_GATES,
    ),
    PendingPod(
        pod("gang-too-small", schedulingGroup={"podGroupName": "crew"}),
        "gang-too-small",
        ("PodGroup default/crew", "4 pods", "1"),
        [_GROUP],
        gates=_GATES,
    ),
    PendingPod(
        pod("user-filter"),
        "plugin-refusal",
        ("LicensedNodes", "node(s) had no licence for the product", "300 nodes"),
        can_fit=False,
        plugin=_FILTER,
    ),
    PendingPod(
        pod("user-permit"),
        "permit-refusal",
        ("Curfew", "nothing starts after ten"),
        can_fit=False,
        plugin=_PERMIT,
    ),
    PendingPod(
        pod("user-reserve"),
        "reserve-refusal",
        ("Ledger", "the budget is spent"),
        can_fit=False,
        plugin=_RESERVE,
    ),
    PendingPod(
        pod("user-pre-filter"),
        "plugin-refusal",
        ("Quota", "the team has used its quota"),
        can_fit=False,
        plugin=_PRE_FILTER,
    ),
    PendingPod(
        pod("user-pre-enqueue"),
        "pre-enqueue-refusal",
        ("Review", "nobody has reviewed it"),
        can_fit=False,
        plugin=_PRE_ENQUEUE,
    ),
    PendingPod(
        pod("user-broken"),
        "plugin-error",
        ("Broken", "the table is gone"),
        can_fit=False,
        plugin=_BROKEN,
    ),
)
