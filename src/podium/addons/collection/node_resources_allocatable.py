"""NodeResourcesAllocatable: prefer small nodes, or large ones, whatever runs on them.

A node's size is the sum of its allocatable resources by weight, divided by the sum of the weights
and truncated; in mode `Least` it counts negatively. A milli-core weighs as much as a mebibyte
unless the arguments say otherwise (`pkg/noderesources` of the collection).

Example: nodes of 4 cpu and 16Gi, 8 and 32Gi, 16 and 64Gi get 100, 66 and 0, in mode `Most` 0, 33
and 100.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

import msgspec
import numpy as np

from podium.addons.collection.score_ranges import stretch_scores
from podium.golang.array_arithmetic import quotients
from podium.plugin import Cycle, Dependence, Ints, Registration, Rows, ScorePlugin
from podium.scheduler.cluster.growth import count_of

MAX_WEIGHT: Final = 1 << 40


class WeightedResource(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    weight: Annotated[int, msgspec.Meta(ge=1, le=MAX_WEIGHT)]


DEFAULT_RESOURCES: Final = (WeightedResource("cpu", 1 << 20), WeightedResource("memory", 1))


class NodeResourcesAllocatable(ScorePlugin):
    name = "NodeResourcesAllocatable"
    in_range = True
    normalizes_by_range = True

    class Args(msgspec.Struct, frozen=True, rename="camel"):
        mode: Literal["", "Least", "Most"] = "Least"
        resources: tuple[WeightedResource, ...] = ()

    args: Args

    def events(self) -> Sequence[Registration]:
        return ()

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        # upstream: of a resource named twice the last weight counts
        weights = {each.name: each.weight for each in self.args.resources or DEFAULT_RESOURCES}
        size = np.zeros(count_of(rows), dtype=np.int64)
        for name, weight in weights.items():
            index = cycle.nodes.resources.find(name)
            if index >= 0:
                size += cycle.nodes.allocatable[index, rows] * weight
        return quotients(size if self.args.mode == "Most" else -size, sum(weights.values()))

    def score_depends(self, cycle: Cycle) -> Dependence:  # noqa: ARG002
        return Dependence(fragment=None, usage=False, of_shape=True)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return stretch_scores(scores)
