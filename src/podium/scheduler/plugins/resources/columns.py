"""The columns that the resource scores are computed from, devices of extended resources included.

NodeResourcesFit and NodeResourcesBalancedAllocation look at the same few numbers: how much of a
resource a node has, how much is taken, how much the pod would add. This module picks them out of
the tables for the configured resources and leaves out what upstream leaves out: a scalar resource
that the pod does not ask for, and any resource on a node that has none of it
(`pkg/scheduler/framework/plugins/noderesources/resource_allocation.go`).

How many devices are behind an extended resource on each node. The resource scores weigh a
resource that devices serve by what the node has of them and what is taken, since such a resource
has no amount in the node's status. This is where they ask; counting devices is DynamicResources'
knowledge.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from podium.kubernetes.kinds.devices import DeviceClass
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import is_scalar
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.nodes import CPU, MEMORY, NodeTable
from podium.scheduler.config.plugin_args import ResourceSpec
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.plugins.dynamic_resources.inventory import InventoryRules
from podium.scheduler.plugins.dynamic_resources.pools import Supply
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses
from podium.scheduler.plugins.resources.stack import (
    FLOAT_EXACT_BELOW,
    MAX_ROWS,
    Floats,
    ResourceStacks,
    Stack,
)


class ResourceColumn(NamedTuple):
    """One resource that counts, over the rows asked for.

    `divisor` is `allocatable` in floating point, with 1 where there is none. `considered` says
    where the resource counts; None stands for every row that shows a node.
    """

    weight: int
    request: int
    allocatable: Ints
    used: Ints
    divisor: Floats
    considered: Mask | None
    exact_in_floats: bool


Amount = tuple[int, int, int, int]
"""The same of a single row: weight, request, allocatable, used. A resource that does not count
there has none."""

RowScorer = Callable[[Sequence[Amount]], int]
"""Makes the score of one row."""

Scorer = Callable[[Sequence[ResourceColumn], int], Ints]
"""Makes scores of columns, given the number of rows."""

StackScorer = Callable[[Stack], Ints]
"""The same for resources that can be stacked."""


_Wanted = tuple[int, int, int, bool]
"""Of a resource that counts for a pod: its weight, the request, its row in the tables, and whether
its usage is in the table of requests that are never 0."""


class _Divisor(NamedTuple):
    amounts: Floats
    lowest: int
    highest: int


class Buffers:
    """Arrays that are used again by the next call.

    At 100,000 rows the memory of fresh temporaries costs many times the arithmetic on it. What is
    handed out under a name is overwritten by the next user of that name: never return one.
    """

    def __init__(self) -> None:
        self._floats: dict[str, Floats] = {}
        self._ints: dict[str, Ints] = {}

    def floats(self, name: str, count: int) -> Floats:
        held = self._floats.get(name)
        if held is None or len(held) < count:
            held = self._floats[name] = np.empty(count, dtype=np.float64)
        return held[:count]

    def ints(self, name: str, count: int) -> Ints:
        held = self._ints.get(name)
        if held is None or len(held) < count:
            held = self._ints[name] = np.empty(count, dtype=np.int64)
        return held[:count]


class ResourceColumns:
    """Columns of the configured resources, in configured order.

    `nonzero` takes cpu and memory at what pods without requests are assumed to use. `classes` is
    None while devices do not serve extended resources.
    """

    def __init__(
        self,
        resources: Sequence[ResourceSpec],
        nodes: NodeTable,
        classes: ExtendedResourceClasses | None,
        *,
        nonzero: bool,
        gates: FeatureGates,
    ) -> None:
        self.resources = tuple(resources)
        self._nodes = nodes
        self._classes = classes
        self._nonzero = nonzero
        self._offers = InventoryRules.of(gates)
        self._stacks = ResourceStacks([spec.name for spec in resources], nodes, nonzero=nonzero)
        self._divisors: dict[int, _Divisor] = {}
        self._divisors_generation = -1
        self._wanted: tuple[_Wanted, ...] = ()
        self._wanted_by: Mapping[str, int] | None = None
        self._wanted_growth = -1

    def scores(
        self,
        cycle: Cycle,
        rows: Rows,
        requests: Mapping[str, int],
        scorer: Scorer,
        of_stack: StackScorer | None = None,
    ) -> Ints:
        """What a scorer makes of the columns of some rows.

        Most of the table is scored as a whole: picking results is cheaper than picking inputs.
        A few rows are scored with all resources at once, if the scorer can do that.
        """
        if of_stack is not None and not isinstance(rows, slice) and len(rows) <= MAX_ROWS:
            stack = self._stacks.of(cycle.usage, rows, requests)
            if stack is not None:
                return of_stack(stack)
        if not isinstance(rows, slice) and 2 * len(rows) > self._nodes.size:
            whole = self.of(cycle, self._nodes.all_rows(), requests)
            if all(column.considered is None for column in whole):
                return scorer(whole, self._nodes.size)[rows]
        return scorer(self.of(cycle, rows, requests), count_of(rows))

    def from_devices(self, requests: Mapping[str, int]) -> bool:
        """Whether the answer depends on devices, of which the tables know nothing."""
        classes = self._classes
        return classes is not None and any(
            requests.get(spec.name) and classes.find(spec.name) is not None
            for spec in self.resources
            if is_scalar(spec.name)
        )

    def score_of_row(
        self, cycle: Cycle, row: int, requests: Mapping[str, int], scorer: RowScorer
    ) -> int:
        """What a scorer makes of one row, in plain integers."""
        amounts: list[Amount] = []
        usage, allocatable_of = cycle.usage, self._nodes.allocatable.item
        usage.grow()
        requested_of, nonzero_of = usage.requested.item, usage.nonzero.item
        if requests is not self._wanted_by or self._wanted_growth != self._nodes.growth:
            self._want(requests)
        for weight, request, index, nonzero in self._wanted:
            allocatable = allocatable_of(index, row)
            if allocatable != 0:
                used = nonzero_of(index, row) if nonzero else requested_of(index, row)
                amounts.append((weight, request, allocatable, used))
        return scorer(amounts)

    def _want(self, requests: Mapping[str, int]) -> None:
        """Find what counts for these requests: pods of one shape have them in common."""
        self._wanted_by, self._wanted_growth = requests, self._nodes.growth
        wanted: list[_Wanted] = []
        for spec in self.resources:
            request, index = requests.get(spec.name, 0), self._nodes.resources.find(spec.name)
            if index >= 0 and (request or not is_scalar(spec.name)):
                in_nonzero = self._nonzero and index in (CPU, MEMORY)
                wanted.append((spec.weight, request, index, in_nonzero))
        self._wanted = tuple(wanted)

    def of(self, cycle: Cycle, rows: Rows, requests: Mapping[str, int]) -> list[ResourceColumn]:
        """What counts when a pod with these requests is scored on these rows."""
        found = []
        for spec in self.resources:
            request = requests.get(spec.name, 0)
            scalar = is_scalar(spec.name)
            if request == 0 and scalar:
                continue
            column = self._from_devices(cycle, rows, spec, request) if scalar else None
            if column is None:
                column = self._from_tables(cycle, rows, spec, request)
            if column is not None:
                found.append(column)
        return found

    def _from_tables(
        self, cycle: Cycle, rows: Rows, spec: ResourceSpec, request: int
    ) -> ResourceColumn | None:
        index = self._nodes.resources.find(spec.name)
        if index < 0:
            return None
        divisor = self._divisor(index)
        allocatable = self._nodes.allocatable[index][rows]
        considered = None
        if divisor.lowest <= 0:
            considered = _unless_everywhere(allocatable != 0)
        return ResourceColumn(
            spec.weight,
            request,
            allocatable,
            self._used_column(cycle, index)[rows],
            divisor.amounts[rows],
            considered,
            exact_in_floats=divisor.highest < FLOAT_EXACT_BELOW,
        )

    def _from_devices(
        self, cycle: Cycle, rows: Rows, spec: ResourceSpec, request: int
    ) -> ResourceColumn | None:
        """The column of a resource that devices serve on the nodes that have none of their own."""
        device_class = self._classes.find(spec.name) if self._classes is not None else None
        if device_class is None:
            return None
        allocatable, used = device_counts(cycle, device_class, rows, self._offers)
        index = self._nodes.resources.find(spec.name)
        if index >= 0:
            own = self._nodes.allocatable[index][rows]
            allocatable = np.where(own != 0, own, allocatable)
            used = np.where(own != 0, self._used_column(cycle, index)[rows], used)
        return ResourceColumn(
            spec.weight,
            request,
            allocatable,
            used,
            np.where(allocatable != 0, allocatable, 1).astype(np.float64),
            _unless_everywhere(allocatable != 0),
            exact_in_floats=bool((allocatable < FLOAT_EXACT_BELOW).all()),
        )

    def _used_column(self, cycle: Cycle, index: int) -> Ints:
        if self._nonzero and index in (CPU, MEMORY):
            nonzero: Ints = cycle.usage.nonzero[index]
            return nonzero
        return cycle.usage.requested_of(index)

    def _divisor(self, index: int) -> _Divisor:
        """A resource of the whole table in floating point, kept until a node changes."""
        nodes = self._nodes
        if nodes.generation != self._divisors_generation:
            self._divisors_generation = nodes.generation
            self._divisors.clear()
        found = self._divisors.get(index)
        if found is None:
            allocatable = nodes.allocatable[index]
            of_nodes = allocatable[: nodes.size][nodes.present[: nodes.size]]
            amounts = allocatable.astype(np.float64)
            amounts[amounts == 0] = 1.0
            found = self._divisors[index] = _Divisor(
                amounts,
                int(of_nodes.min(initial=FLOAT_EXACT_BELOW)),
                int(of_nodes.max(initial=0)),
            )
        return found


def _unless_everywhere(mask: Mask) -> Mask | None:
    return None if mask.all() else mask


def device_counts(
    cycle: Cycle, device_class: DeviceClass, rows: Rows, offers: InventoryRules
) -> tuple[Ints, Ints]:
    """(devices that match the class, those of them in use) per row.

    Rows may include some that show no node. A row without matching devices takes no part in the
    score of the resource.
    """
    total, used = Supply.of(cycle.cluster, offers).counts(device_class)
    return total[rows].copy(), used[rows].copy()
