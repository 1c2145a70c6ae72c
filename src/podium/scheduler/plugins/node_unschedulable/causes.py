"""Cordons: how many nodes are closed to new pods, and how many of them would take this one."""

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, Relaxation
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.node_unschedulable.plugin import UNSCHEDULABLE_TAINT
from podium.scheduler.plugins.taint_toleration.causes import tolerate


def find_cordons(view: AttemptView, among: Mask) -> list[Finding]:
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
