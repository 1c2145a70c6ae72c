"""NodeUnschedulable: cordoned nodes take only pods that tolerate it.

The node's `spec.unschedulable` decides, not the taint that the node controller adds because of it;
the toleration a pod needs is the one for that taint.

People are told how many nodes are closed, and how many of them would take the pod.
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.tolerations import NO_SCHEDULE, is_tolerated
from podium.scheduler.cluster.growth import Mask, Rows
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding, Relaxation
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.points import FilterPlugin
from podium.scheduler.framework.status import unresolvable

UNSCHEDULABLE = unresolvable("node(s) were unschedulable")

UNSCHEDULABLE_TAINT = ("node.kubernetes.io/unschedulable", "", NO_SCHEDULE)


class NodeUnschedulable(FilterPlugin):
    name = "NodeUnschedulable"
    refusals_stand = True
    spares_new_nodes = True
    keeps_daemons_away = True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        nodes = cycle.nodes
        if not nodes.unschedulable_count or _tolerates_cordons(cycle.pod.pod):
            return None
        return rejecting(nodes.unschedulable[rows], UNSCHEDULABLE)

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(cycle.pod.pod.spec.tolerations, usage=False)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_cordons(view, among)

    def events(self) -> Sequence[Registration]:
        node_actions = self.handle.new_node_actions | Action.UPDATE_NODE_TAINT
        of_nodes = Registration(Resource.NODE, node_actions, self._node_hint)
        if not self.handle.gates["SchedulerQueueingHints"]:
            return (of_nodes,)
        return (
            of_nodes,
            Registration(Resource.POD, Action.UPDATE_POD_TOLERATION, self._pod_hint),
        )

    def _node_hint(self, _waiting: PodInfo, old: Node | None, new: Node) -> bool:
        return not new.spec.unschedulable and (old is None or old.spec.unschedulable)

    def _pod_hint(self, waiting: PodInfo, _old: Pod | None, new: Pod) -> bool:
        return waiting.is_about(new) and _tolerates_cordons(new)


def _tolerates_cordons(pod: Pod) -> bool:
    # The taint has no value, so that nothing compares with it.
    return is_tolerated(pod.spec.tolerations, *UNSCHEDULABLE_TAINT, comparison=False)


def find_cordons(view: AttemptView, among: Mask) -> list[Finding]:
    from podium.scheduler.plugins.taint_toleration import tolerate

    clause = view.say(among, "is cordoned (unschedulable)", "are cordoned (unschedulable)")
    return [
        Finding(
            "node-unschedulable",
            "spec.unschedulable",
            among,
            clause,
            "the node is cordoned (spec.unschedulable)",
            relax=lambda: Relaxation("uncordoned,", tolerate(view.pod, [UNSCHEDULABLE_TAINT])),
        )
    ]
