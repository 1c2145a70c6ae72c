"""What the three score plugins for allocation had in common before NodeResourcesFit took them over.

They differ from today's strategies in being plugins of their own, each with its weight, and in that
a resource named twice counts once, with the last weight.
"""

from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.config.plugin_args import ResourceSpec
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import Arguments, ScorePlugin
from podium.scheduler.plugins.resources.allocation import AllocationScorer
from podium.scheduler.plugins.resources.columns import ResourceColumns


class AllocationScorePlugin(ScorePlugin):
    in_range = True

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        last = {resource.name: resource.weight or 1 for resource in args.resources}
        resources = tuple(ResourceSpec(name, weight) for name, weight in last.items())
        self._scorer = self.scorer()
        self._columns = ResourceColumns(resources, handle.cluster.nodes, None, nonzero=True)

    def scorer(self) -> AllocationScorer:
        raise NotImplementedError

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        requests = cycle.pod.shape.scoring_requests
        return self._columns.scores(cycle, rows, requests, self._scorer.score)
