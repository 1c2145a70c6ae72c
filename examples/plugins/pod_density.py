"""At most so many pods on a node, and rather few than many: a plugin in the vector form.

It answers for all nodes at once from the column of pod counts, and says what its answers depend
on, so that they are remembered and only rows that changed are looked at again.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np

from podium.plugin import (
    Action,
    Cycle,
    Dependence,
    FilterPlugin,
    Ints,
    Registration,
    Resource,
    Rows,
    ScorePlugin,
    Verdict,
    rejecting,
    unschedulable,
)

FULL = unschedulable("node(s) had as many pods as they may have")


class PodDensity(FilterPlugin, ScorePlugin):
    name = "PodDensity"
    in_range = True  # scores cannot leave 0..100, so nobody has to look

    class Args(msgspec.Struct):
        most: Annotated[int, msgspec.Meta(ge=1)] = 100

    args: Args

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return rejecting(cycle.usage.pod_count[rows] >= self.args.most, FULL)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        scores: Ints = np.maximum(0, 100 - 100 * cycle.usage.pod_count[rows] // self.args.most)
        return scores

    # Nothing about the pod matters, only the pods that are on the node already.

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=True)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(fragment=None, usage=True)

    # A pod that was rejected here is worth another attempt when a pod leaves or a node appears.

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.ASSIGNED_POD, Action.DELETE),
            Registration(Resource.NODE, Action.ADD),
        )
