"""The node that a pod names."""

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding
from podium.scheduler.framework.explanations.situation import AttemptView


def find_node_name(view: AttemptView, among: Mask) -> list[Finding]:
    name = view.pod.spec.node_name
    there = view.table.is_present(name)
    clause = f"the pod names node {name}" + ("" if there else ", which does not exist")
    return [Finding("node-name", name, among, clause, f"the pod names node {name}")]
