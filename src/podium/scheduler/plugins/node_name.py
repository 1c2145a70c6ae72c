"""NodeName: a pod that names its node fits no other.

Pods with a node are normally never queued; the filter matters when a fit is asked for such a pod
outside the queue, and all other nodes then carry its reason.
"""

from collections.abc import Sequence

import numpy as np

from podium.scheduler.cluster.growth import Mask, Rows, indices
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.framework.points import FilterPlugin
from podium.scheduler.framework.status import unresolvable

OTHER_NODE = unresolvable("node(s) didn't match the requested node name")


class NodeName(FilterPlugin):
    name = "NodeName"
    refusals_stand = True
    keeps_daemons_away = True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        wanted = cycle.pod.pod.spec.node_name
        if not wanted:
            return None
        return rejecting(np.not_equal(indices(rows), cycle.nodes.row(wanted)), OTHER_NODE)

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(cycle.pod.pod.spec.node_name, usage=False)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        return find_node_name(view, among)

    def events(self) -> Sequence[Registration]:
        return (Registration(Resource.NODE, self.handle.new_node_actions),)


def find_node_name(view: AttemptView, among: Mask) -> list[Finding]:
    name = view.pod.spec.node_name
    there = view.table.is_present(name)
    clause = f"the pod names node {name}" + ("" if there else ", which does not exist")
    return [Finding("node-name", name, among, clause, f"the pod names node {name}")]
