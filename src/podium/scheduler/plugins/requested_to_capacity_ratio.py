"""RequestedToCapacityRatio: score by a curve over utilization, as a score plugin of its own.

It was a custom priority in Policy files and a plugin until v1beta1; since then it is a strategy of
NodeResourcesFit, whose formula it shares.
"""

from podium.kubernetes.rules.field_errors import required
from podium.scheduler.config.typed_args import RequestedToCapacityRatioArgs
from podium.scheduler.plugins.resources.allocation import AllocationScorer
from podium.scheduler.plugins.resources.allocation import RequestedToCapacityRatio as Curve
from podium.scheduler.plugins.resources.allocation_score_plugin import AllocationScorePlugin


class RequestedToCapacityRatio(AllocationScorePlugin):
    name = "RequestedToCapacityRatio"
    Args = RequestedToCapacityRatioArgs

    def scorer(self) -> AllocationScorer:
        if not self.args.shape:
            raise ValueError(str(required("shape", "at least one point must be specified")))
        return Curve(self.args.shape)
