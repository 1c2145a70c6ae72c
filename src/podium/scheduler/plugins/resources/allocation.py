"""Scoring nodes by how full a pod would leave them.

Three strategies, one shape: each resource gives a node 0..100 points, and the node's score is the
average of the points weighted by resource. LeastAllocated prefers empty nodes, MostAllocated full
ones, RequestedToCapacityRatio whatever its curve says
(`pkg/scheduler/framework/plugins/noderesources/{least,most}_allocated.go` and
`requested_to_capacity_ratio.go`).

Worked example: cpu and memory of equal weight, a pod of 700m and 1Gi, a node of
4 cpus and 8Gi with 1500m and 3Gi taken. 45 and 50 points make 47 for LeastAllocated, 55 and 50 make
52 for MostAllocated and, rounded instead of truncated, 53 for a curve from (0, 0) to (100, 10).

Points are whole numbers kept in float64, which divides several times faster than int64 does. Where
an amount is so large that the difference could show, int64 is used after all.
"""

from collections.abc import Sequence

import numpy as np

from podium.scheduler.cluster.growth import Ints
from podium.scheduler.config.plugin_args import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    REQUESTED_TO_CAPACITY_RATIO,
    ScoringStrategy,
    UtilizationShapePoint,
)
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.plugins.resources.columns import Amount, Buffers, ResourceColumn, StackScorer
from podium.scheduler.plugins.resources.stack import Floats, Stack

_MAX_SHAPE_SCORE = 10


class AllocationScorer:
    """A strategy says how many points a resource gives; they are averaged here."""

    def __init__(self) -> None:
        self._buffers = Buffers()

    def points(self, column: ResourceColumn) -> Floats:
        """Points per row, in a buffer; rows where the resource does not count may hold anything."""
        raise NotImplementedError

    def score(self, columns: Sequence[ResourceColumn], count: int) -> Ints:
        """Averages, truncated, over the resources that count on each row; 0 where none does."""
        total = self._buffers.floats("total", count)
        total.fill(0.0)
        full_weight = 0
        missing: Ints | None = None
        for column in columns:
            points = self.points(column)
            full_weight += column.weight
            if column.considered is not None:
                points *= column.considered
                lost = ~column.considered * np.int64(column.weight)
                missing = lost if missing is None else missing + lost
            if column.weight != 1:
                points *= column.weight
            total += points
        total /= max(full_weight, 1) if missing is None else np.maximum(full_weight - missing, 1)
        return total.astype(np.int64)

    def score_stack(self, stack: Stack) -> Ints:
        """`score` for resources that count everywhere and weigh the same, all at once."""
        points = self.part_of(stack)
        points *= MAX_SCORE
        percent = np.floor(points / stack.divisor)
        total: Floats = np.add.reduce(percent, axis=0)
        total /= len(percent)
        return total.astype(np.int64)

    def part_of(self, stack: Stack) -> Ints:
        """How much of each resource gives points."""
        raise NotImplementedError

    def points_of(self, amount: Amount) -> int:
        """The same for one row."""
        raise NotImplementedError

    def score_row(self, amounts: Sequence[Amount]) -> int:
        points = full_weight = 0
        for amount in amounts:
            weight = amount[0]
            full_weight += weight
            points += self.points_of(amount) * weight
        return points // full_weight if full_weight else 0

    def _percentage(self, part: Ints, column: ResourceColumn) -> Floats:
        """What `part` is of the allocatable amount, in whole percent; `part` is used up."""
        percent = self._buffers.floats("percent", len(part))
        part *= MAX_SCORE
        if column.exact_in_floats:
            np.divide(part, column.divisor, out=percent)
            return np.floor(percent, out=percent)
        whole = np.where(column.allocatable != 0, column.allocatable, 1)
        # Truncating differs from flooring where the product above has overflowed.
        percent[:] = (part - np.fmod(part, whole)) // whole
        return percent


class LeastAllocated(AllocationScorer):
    """Points for what would be left."""

    def points(self, column: ResourceColumn) -> Floats:
        left = self._buffers.ints("part", len(column.used))
        np.subtract(column.allocatable, column.used, out=left)
        left -= column.request
        np.maximum(left, 0, out=left)
        return self._percentage(left, column)

    def part_of(self, stack: Stack) -> Ints:
        left = stack.allocatable - stack.used
        left -= stack.requests
        np.maximum(left, 0, out=left)
        return left

    def points_of(self, amount: Amount) -> int:
        _, request, allocatable, used = amount
        left = max(allocatable - used - request, 0)
        return left * MAX_SCORE // allocatable


class MostAllocated(AllocationScorer):
    """Points for what would be taken; an overfull node is a full one."""

    def points(self, column: ResourceColumn) -> Floats:
        taken = self._buffers.ints("part", len(column.used))
        np.add(column.used, column.request, out=taken)
        np.minimum(taken, column.allocatable, out=taken)
        return self._percentage(taken, column)

    def part_of(self, stack: Stack) -> Ints:
        taken = stack.used + stack.requests
        np.minimum(taken, stack.allocatable, out=taken)
        return taken

    def points_of(self, amount: Amount) -> int:
        _, request, allocatable, used = amount
        return min(used + request, allocatable) * MAX_SCORE // allocatable


class RequestedToCapacityRatioScorer(MostAllocated):
    """Points from a curve over the percentage taken.

    upstream: a resource that gives no points does not count in the average either, and the average
    is rounded.
    """

    def __init__(self, shape: Sequence[UtilizationShapePoint]) -> None:
        super().__init__()
        self._points_at = np.array(curve(shape), dtype=np.float64)

    def points(self, column: ResourceColumn) -> Floats:
        return self._points_at[super().points(column).astype(np.intp)]

    def points_of(self, amount: Amount) -> int:
        return int(self._points_at[super().points_of(amount)])

    def score_row(self, amounts: Sequence[Amount]) -> int:
        given = [(self.points_of(amount), amount[0]) for amount in amounts]
        weight = sum(w for points, w in given if points)
        points = sum(points * w for points, w in given)
        return int(points / weight + 0.5) if weight else 0

    def score(self, columns: Sequence[ResourceColumn], count: int) -> Ints:
        total: Floats = np.zeros(count, dtype=np.float64)
        weights: Floats = np.zeros(count, dtype=np.float64)
        for column in columns:
            points = self.points(column)
            if column.considered is not None:
                points *= column.considered
            total += points * column.weight
            weights += (points != 0) * float(column.weight)
        np.divide(total, weights, out=total, where=weights > 0)
        # Adding a half and truncating rounds exactly: quotients of numbers this small are never so
        # close below a half that the addition itself would round up.
        total += 0.5
        return total.astype(np.int64)


def scorer_for(strategy: ScoringStrategy) -> AllocationScorer:
    if strategy.type == LEAST_ALLOCATED:
        return LeastAllocated()
    if strategy.type == MOST_ALLOCATED:
        return MostAllocated()
    ratio = strategy.requested_to_capacity_ratio
    if strategy.type == REQUESTED_TO_CAPACITY_RATIO and ratio is not None:
        return RequestedToCapacityRatioScorer(ratio.shape)
    raise ValueError(f"scoring strategy {strategy.type} is not supported")


def stack_scorer_for(strategy: ScoringStrategy, scorer: AllocationScorer) -> StackScorer | None:
    """The form for stacks, where there is one: no curve, and all weights alike."""
    if strategy.type not in (LEAST_ALLOCATED, MOST_ALLOCATED):
        return None
    weights = {spec.weight for spec in strategy.resources}
    return scorer.score_stack if len(weights) == 1 else None


def curve(shape: Sequence[UtilizationShapePoint]) -> list[int]:
    """The points at each percentage 0..100: straight lines between the corners of a shape.

    upstream: what a line adds is truncated towards zero, also where it falls. Between (0, 10) and
    (30, 5), 23 percent give 100 + (-1150 / 30) = 100 - 38 = 62 points.
    """
    corners = [(p.utilization, p.score * (MAX_SCORE // _MAX_SHAPE_SCORE)) for p in shape]
    return [_on_curve(corners, percent) for percent in range(MAX_SCORE + 1)]


def _on_curve(corners: Sequence[tuple[int, int]], percent: int) -> int:
    for number, (utilization, score) in enumerate(corners):
        if percent > utilization:
            continue
        if number == 0:
            return score
        before, score_before = corners[number - 1]
        rise = (score - score_before) * (percent - before)
        size = abs(rise) // (utilization - before)
        return score_before + (size if rise >= 0 else -size)
    return corners[-1][1]
