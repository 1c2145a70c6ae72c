"""NodeResourcesBalancedAllocation: prefer nodes whose resources a pod would use up evenly.

A node that has cpu left but no memory is of little use to anyone. For each node the spread of the
used fractions (their standard deviation) is compared with and without the pod: 75 means that the
pod changes nothing, more that it makes the node more even
(`pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go`).

Worked example: a node used to 0.375 of both cpu and memory would be used to 0.55
and 0.5. Without the pod the balance is 100, with it 97 (a spread of 0.025), so the score is
50 + (50 + 97 - 100) // 2 = 73.

The order of the float operations is upstream's, since truncation makes the last bit visible.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.devices import DeviceClass
from podium.scheduler.cluster.growth import Ints, Rows, count_of
from podium.scheduler.config.plugin_args import NodeResourcesBalancedAllocationArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.events import Registration
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import PreScorePlugin, ScorePlugin
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import SKIP, Status
from podium.scheduler.plugins.resources.columns import (
    Amount,
    Buffers,
    ResourceColumn,
    ResourceColumns,
)
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses
from podium.scheduler.plugins.resources.stack import Floats, Stack, number_patterns

_HALF = MAX_SCORE // 2


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    name = "NodeResourcesBalancedAllocation"
    in_range = True

    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        devices = handle.gates["DRAExtendedResource"]
        self._columns = ResourceColumns(
            args.resources,
            handle.cluster.nodes,
            ExtendedResourceClasses(handle.cluster.catalog) if devices else None,
            nonzero=False,
            gates=handle.gates,
        )
        self._buffers = Buffers()

    def events(self) -> Sequence[Registration]:
        return ()

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        return SKIP if self._asks_for_nothing(cycle.pod.shape.resized_requests) else None

    def pre_score_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        requests = cycle.pod.shape.resized_requests
        if self._asks_for_nothing(requests):
            return np.zeros(count_of(rows), dtype=np.int64)
        return self._columns.scores(cycle, rows, requests, self._score_columns, self._score_stack)

    def score_row(self, cycle: Cycle, row: int) -> int:
        requests = cycle.pod.shape.resized_requests
        if self._asks_for_nothing(requests):
            return 0
        return self._columns.score_of_row(cycle, row, requests, _score_row)

    def score_depends(self, cycle: Cycle) -> Dependence | None:
        if self._columns.from_devices(cycle.pod.shape.resized_requests):
            return None
        version = self.handle.cluster.catalog.version(DeviceClass)
        return Dependence(
            cycle.pod.shape.requests_fragment, True, version, of_objects=True, of_shape=True
        )

    def _asks_for_nothing(self, requests: Mapping[str, int]) -> bool:
        return not any(requests.get(spec.name) for spec in self._columns.resources)

    def _score_columns(self, columns: Sequence[ResourceColumn], count: int) -> Ints:
        """Rows that have the same resources are scored together."""
        if all(column.considered is None for column in columns):
            return self._score(columns, count)
        everywhere = np.ones(count, dtype=np.bool_)
        masks = [everywhere if c.considered is None else c.considered for c in columns]
        numbers, patterns = number_patterns(masks)
        scores: Ints = np.empty(count, dtype=np.int64)
        for number, pattern in enumerate(patterns):
            positions = np.flatnonzero(numbers == number)
            present = [_part(columns[index], positions) for index in pattern]
            scores[positions] = self._score(present, len(positions))
        return scores

    def _score_stack(self, stack: Stack) -> Ints:
        count = stack.used.shape[1]
        used = np.empty((len(stack.used), 2, count), dtype=np.int64)
        np.add(stack.used, stack.requests, out=used[:, 0])
        used[:, 1] = stack.used
        np.minimum(used, stack.allocatable[:, None], out=used)
        return _scores_of(self._spread(tuple(used / stack.divisor[:, None]), count))

    def _score(self, columns: Sequence[ResourceColumn], count: int) -> Ints:
        fractions = [self._fractions(i, c) for i, c in enumerate(columns)]
        return _scores_of(self._spread(fractions, count))

    def _fractions(self, number: int, column: ResourceColumn) -> Floats:
        """Used fractions, at most 1: with the pod in the first row, without it in the second."""
        count = len(column.used)
        used = self._buffers.ints("used", 2 * count).reshape(2, count)
        np.add(column.used, column.request, out=used[0])
        used[1] = column.used
        np.minimum(used, column.allocatable, out=used)
        fractions = self._buffers.floats(f"fractions {number}", 2 * count).reshape(2, count)
        return np.divide(used, column.divisor, out=fractions)

    def _spread(self, fractions: Sequence[Floats], count: int) -> Floats:
        """The standard deviation per row; the fractions are used up."""
        if len(fractions) < 2:
            return np.zeros((2, count), dtype=np.float64)
        if len(fractions) == 2:
            # upstream: half the distance, which for two values is their standard deviation
            distance, other = fractions
            distance -= other
            distance *= 0.5
            return np.abs(distance, out=distance)
        mean = np.zeros((2, count), dtype=np.float64)
        for fraction in fractions:
            mean += fraction
        mean /= len(fractions)
        variance = np.zeros((2, count), dtype=np.float64)
        for fraction in fractions:
            fraction -= mean
            fraction *= fraction
            variance += fraction
        variance /= len(fractions)
        return np.sqrt(variance, out=variance)


def _scores_of(spread: Floats) -> Ints:
    """50 + (50 + balance with the pod - balance without it) / 2, truncated; the spread, with the
    pod in the first row and without it in the second, is used up."""
    balance = np.subtract(1.0, spread, out=spread)
    balance *= MAX_SCORE
    np.floor(balance, out=balance)
    with_pod: Floats = balance[0]
    with_pod -= balance[1]
    with_pod += _HALF
    with_pod *= 0.5
    np.floor(with_pod, out=with_pod)
    with_pod += _HALF
    return with_pod.astype(np.int64)


def _score_row(amounts: Sequence[Amount]) -> int:
    with_pod = _balance([min(used + request, has) / has for _, request, has, used in amounts])
    without = _balance([min(used, has) / has for _, _, has, used in amounts])
    return _HALF + (_HALF + with_pod - without) // 2


def _balance(fractions: Sequence[float]) -> int:
    """100 for resources used alike, less for the spread between them."""
    if len(fractions) < 2:
        return MAX_SCORE
    if len(fractions) == 2:
        return int((1.0 - abs((fractions[0] - fractions[1]) * 0.5)) * MAX_SCORE)
    mean = 0.0
    for fraction in fractions:
        mean += fraction
    mean /= len(fractions)
    variance = 0.0
    for fraction in fractions:
        variance += (fraction - mean) * (fraction - mean)
    return int((1.0 - math.sqrt(variance / len(fractions))) * MAX_SCORE)


def _part(column: ResourceColumn, positions: npt.NDArray[np.intp]) -> ResourceColumn:
    """A column at some positions, all of which consider it."""
    return column._replace(
        allocatable=column.allocatable[positions],
        used=column.used[positions],
        divisor=column.divisor[positions],
        considered=None,
    )
