"""NodeResourceTopologyMatch: the points, the arguments, and whether a single zone can hold a pod.

Whether a single zone of each node can hold what has to be held together. In the scope `pod` that is
the whole pod. In the scope `container` it is each container by itself: init containers see the
zones as they are, the others take what they need from the first zone that has it, one after another
(`filter.go` of the collection).
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Final, Literal

import msgspec
import numpy as np

from podium.addons.collection.node_resource_topology.numa_placement import (
    NOTHING_FREED,
    TOO_MUCH_FREED,
    EvictionRefused,
    Freed,
    TrialVictims,
    freed_by,
)
from podium.addons.collection.node_resource_topology.reports import (
    DiscardReserved,
    OverReserve,
    Reports,
)
from podium.addons.collection.node_resource_topology.topologies import (
    TOPOLOGIES,
    ContainerAmounts,
    ZoneRequests,
    is_of_node,
    is_of_zone,
    zone_requests_of,
)
from podium.addons.collection.node_resource_topology.zone_scores import (
    ABSENT,
    STRATEGIES,
    ZoneTable,
    score_least_numa,
    score_zones,
)
from podium.addons.collection.score_ranges import MAX_SCORE
from podium.plugin import (
    Action,
    ApiHandle,
    Cycle,
    Dependence,
    FilterPlugin,
    Handle,
    Ints,
    Mask,
    NodeTable,
    PodInfo,
    PostBindPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    Registration,
    ReservePlugin,
    Resource,
    Rows,
    ScorePlugin,
    Verdict,
    choosing,
    count_of,
    indices,
    unschedulable,
)

LEAST_NUMA_NODES: Final = "LeastNUMANodes"
_VICTIMS: Final = "NodeResourceTopologyMatch/victims"


class ScoredResource(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    weight: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)] = 1


class TopologyScoring(msgspec.Struct, frozen=True, rename="camel"):
    type: Literal["LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"] = (
        "LeastAllocated"
    )
    resources: tuple[ScoredResource, ...] = ()


class TopologyCache(msgspec.Struct, frozen=True, rename="camel"):
    foreign_pods_detect: Literal["None", "All", "OnlyExclusiveResources"] = "All"
    resync_method: Literal["Autodetect", "All", "OnlyExclusiveResources"] = "Autodetect"
    informer_mode: Literal["Shared", "Dedicated"] = "Dedicated"
    resync_scope: Literal["All", "OnlyResources"] = "All"


class NodeResourceTopologyMatchArgs(msgspec.Struct, frozen=True, rename="camel"):
    scoring_strategy: TopologyScoring = msgspec.field(default_factory=TopologyScoring)
    cache_resync_period_seconds: Annotated[int, msgspec.Meta(ge=0)] = 0
    discard_reserved_nodes: bool = False
    cache: TopologyCache = msgspec.field(default_factory=TopologyCache)
    preemption_mode: Literal["Disabled", "Enabled"] = "Disabled"


class NodeResourceTopologyMatch(
    PreFilterPlugin, PreFilterExtensions, FilterPlugin, ScorePlugin, ReservePlugin, PostBindPlugin
):
    name = "NodeResourceTopologyMatch"
    builds_on = MappingProxyType({"filter": "preFilter", "score": "preFilter"})
    Args = NodeResourceTopologyMatchArgs
    watched_kinds = (TOPOLOGIES,)
    stays_whatever_watched = True  # `version` moves with the reports, and nothing else is promised
    in_range = True
    args: NodeResourceTopologyMatchArgs

    def __init__(self, args: NodeResourceTopologyMatchArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._reports = self._make_reports()
        self._table = ZoneTable(handle.cluster.nodes, self._reports)
        self._weights = {each.name: each.weight for each in args.scoring_strategy.resources}

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.POD, Action.DELETE),
            Registration(Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE),
            Registration(TOPOLOGIES.event_resource, Action.ADD | Action.UPDATE),
        )

    def pre_filter(self, cycle: Cycle) -> None:
        """The reports of this attempt are settled here."""
        cycle.retry_at = _earlier(cycle.retry_at, self._reports.resync())
        self._table.follow()
        cycle.write(self.name, zone_requests_of(cycle.pod))
        if self.args.preemption_mode == "Enabled":
            cycle.write(_VICTIMS, TrialVictims())

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        victims = cycle.states.get(_VICTIMS)
        if isinstance(victims, TrialVictims):
            victims.give_back(row, pod)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        victims = cycle.states.get(_VICTIMS)
        if isinstance(victims, TrialVictims):
            victims.take(row, pod)

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        requests = cycle.read(self.name, ZoneRequests)
        if requests.is_exempt or not (self._table.known.any() or self._table.stale.any()):
            return None
        freed, failed = self._imagine_evictions(cycle)
        found = find_misaligned(requests, self._table, cycle.nodes, rows, freed)
        for row, number in failed.items():
            found = np.where(indices(rows) == row, number, found)
        refused = set(indices(rows)[found > 1].tolist()) - freed.keys() - failed.keys()
        self._reports.suspect(cycle.nodes.names[row] for row in refused)
        return choosing(found, STATUSES)

    def _imagine_evictions(self, cycle: Cycle) -> tuple[dict[int, Freed], dict[int, int]]:
        """By row: what a trial's victims would leave behind, and the status of rows of which that
        cannot be told. Rows without a word on where containers run are as they are reported."""
        freed: dict[int, Freed] = {}
        failed: dict[int, int] = {}
        victims = cycle.states.get(_VICTIMS)
        if not isinstance(victims, TrialVictims):
            return freed, failed
        for row in victims.rows():
            placement = self._reports.placement_on(cycle.nodes.names[row])
            if not (placement and self._table.known[row] and self._table.aligned[row]):
                continue
            try:
                freed[row] = freed_by(victims.on(row), placement, self._table.zones[row])
            except EvictionRefused as problem:
                failed[row] = NOT_FREED if str(problem) == NOTHING_FREED else FREED_TOO_MUCH
        return freed, failed

    def filter_depends(self, cycle: Cycle) -> Dependence:
        requests = cycle.read(self.name, ZoneRequests)
        return Dependence(fragment=requests, usage=False, version=self._table.version)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        requests = cycle.read(self.name, ZoneRequests)
        if not requests.guaranteed:
            return np.full(count_of(rows), MAX_SCORE, dtype=np.int64)
        if self.args.scoring_strategy.type == LEAST_NUMA_NODES:
            return score_least_numa(requests, self._table, rows)
        strategy = STRATEGIES[self.args.scoring_strategy.type]
        return score_zones(requests, self._table, rows, strategy, self._weights)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return self.filter_depends(cycle)

    def reserve(self, cycle: Cycle, node_name: str) -> None:
        self._reports.reserve(node_name, cycle.pod)

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        self._reports.unreserve(node_name, cycle.pod)

    async def post_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> None:  # noqa: ARG002
        self._reports.confirm(node_name, cycle.pod)

    def _make_reports(self) -> Reports:
        if self.args.discard_reserved_nodes:
            return DiscardReserved(self.handle)
        if not self.args.cache_resync_period_seconds:
            return Reports(self.handle)
        cache = self.args.cache
        return OverReserve(
            self.handle,
            self.args.cache_resync_period_seconds,
            method=cache.resync_method,
            foreign=cache.foreign_pods_detect,
            shared=cache.informer_mode == "Shared",
            follows_configuration=cache.resync_scope == "All",
        )


def _earlier(one: float | None, other: float | None) -> float | None:
    given = [each for each in (one, other) if each is not None]
    return min(given, default=None)


STATUSES: Final = (
    unschedulable("invalid node topology data"),
    unschedulable("cannot align pod"),
    unschedulable("cannot align container"),
    unschedulable("cannot align init container"),
    unschedulable("cannot align sidecar container"),
    *(
        unschedulable(f"eviction simulation in NRT is not possible:{why}")
        for why in (NOTHING_FREED, TOO_MUCH_FREED)
    ),
)
STALE, POD, CONTAINER, INIT, SIDECAR, NOT_FREED, FREED_TOO_MUCH = range(1, 8)

_KINDS: Final = {"": CONTAINER, "init": INIT, "sidecar": SIDECAR}
_ALWAYS_THERE: Final = ("cpu", "memory", "ephemeral-storage")


def find_misaligned(
    requests: ZoneRequests,
    table: ZoneTable,
    nodes: NodeTable,
    rows: Rows,
    freed: Mapping[int, Freed] = MappingProxyType({}),
) -> Ints:
    """For each row 0, or the number of the status that refuses it; `freed` is what zones of rows
    have besides, in a trial."""
    free = _Free(requests, table, nodes, rows, freed)
    whole = np.where(free.match(requests.whole)[1], 0, POD)
    single = _find_misaligned_container(requests.containers, free)
    concerned = table.known[rows] & table.aligned[rows]
    found = np.where(concerned, np.where(table.by_pod[rows], whole, single), 0)
    return np.where(table.stale[rows], STALE, found)


def _find_misaligned_container(containers: Iterable[ContainerAmounts], free: "_Free") -> Ints:
    found = np.zeros(free.count, dtype=np.int64)
    for container in containers:
        zones, fits = free.match(container.amounts)
        found = np.where((found == 0) & ~fits, _KINDS[container.kind], found)
        if not container.kind:
            free.take(container.amounts, zones, fits)
    return found


class _Free:
    """What is free in the zones of some rows, while containers take from it."""

    def __init__(
        self,
        requests: ZoneRequests,
        table: ZoneTable,
        nodes: NodeTable,
        rows: Rows,
        freed: Mapping[int, Freed],
    ) -> None:
        self._guaranteed = requests.guaranteed
        self._table = table
        self._nodes = nodes
        self._rows = rows
        self._freed = freed
        self._columns: dict[str, Ints] = {}
        self.count = len(table.known[rows])

    def match(self, amounts: Iterable[tuple[str, int]]) -> tuple[Ints, Mask]:
        """(the first zone that has everything, whether there is one) for each row."""
        suitable = np.ones((self.count, self._table.width), dtype=np.bool_)
        fits = np.ones(self.count, dtype=np.bool_)
        for resource, amount in amounts:
            if amount:
                free = self._column(resource)
                reported = free != ABSENT
                enough = reported if self._is_ignored(resource) else free >= amount
                counts = reported.any(axis=1) | (not is_of_node(resource))
                suitable &= enough | ~counts[:, None]
                fits &= self._is_on_nodes(resource)
        fits &= suitable.any(axis=1)
        return suitable.argmax(axis=1), fits

    def take(self, amounts: Iterable[tuple[str, int]], zones: Ints, fits: Mask) -> None:
        """Take amounts from one zone of each row that has them."""
        every = np.arange(self.count)
        for resource, amount in amounts:
            if amount and not self._is_ignored(resource):
                column = self._column(resource)
                held = column[every, zones]
                takes = fits & (held != ABSENT)
                column[every, zones] = np.where(takes, held - amount, held)

    def _is_ignored(self, resource: str) -> bool:
        return not self._guaranteed and is_of_zone(resource)

    def _is_on_nodes(self, resource: str) -> Mask:
        """Whether the nodes have the resource at all."""
        if resource in _ALWAYS_THERE:
            return np.ones(self.count, dtype=np.bool_)
        index = self._nodes.resources.find(resource)
        if index < 0:
            return np.zeros(self.count, dtype=np.bool_)
        on_nodes: Mask = self._nodes.allocatable[index, self._rows] > 0
        return on_nodes

    def _column(self, resource: str) -> Ints:
        if resource not in self._columns:
            self._columns[resource] = column = self._table.available(resource, self._rows)
            self._add_freed(resource, column)
        return self._columns[resource]

    def _add_freed(self, resource: str, column: Ints) -> None:
        for row, freed in self._freed.items():
            (positions,) = np.nonzero(indices(self._rows) == row)
            for place, zone in enumerate(self._table.zones.get(row, ())):
                amount = freed.get(zone.numa_id, {}).get(resource, 0)
                if amount and resource in zone.available:
                    column[positions, place] += amount
