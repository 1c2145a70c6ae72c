"""NodeResourcesLeastAllocated: prefer empty nodes, as a score plugin of its own.

It was LeastRequestedPriority in Policy files and a plugin until v1beta1; since then it is a
strategy of NodeResourcesFit. The formula is that of the strategy: of a node with 4 cpus, 1 of them
to be taken, 75 points for cpu, averaged over the resources by weight.
"""

from podium.scheduler.config.typed_args import NodeResourcesLeastAllocatedArgs
from podium.scheduler.plugins.resources.allocation import AllocationScorer, LeastAllocated
from podium.scheduler.plugins.resources.allocation_score_plugin import AllocationScorePlugin


class NodeResourcesLeastAllocated(AllocationScorePlugin):
    name = "NodeResourcesLeastAllocated"
    Args = NodeResourcesLeastAllocatedArgs

    def scorer(self) -> AllocationScorer:
        return LeastAllocated()
