"""NodeResourcesMostAllocated: prefer full nodes, as a score plugin of its own.

It was MostRequestedPriority in Policy files and a plugin until v1beta1; since then it is a strategy
of NodeResourcesFit. Of a node with 4 cpus, 1 of them to be taken, 25 points for cpu.
"""

from podium.scheduler.config.typed_args import NodeResourcesMostAllocatedArgs
from podium.scheduler.plugins.resources.allocation import AllocationScorer, MostAllocated
from podium.scheduler.plugins.resources.allocation_score_plugin import AllocationScorePlugin


class NodeResourcesMostAllocated(AllocationScorePlugin):
    name = "NodeResourcesMostAllocated"
    Args = NodeResourcesMostAllocatedArgs

    def scorer(self) -> AllocationScorer:
        return MostAllocated()
