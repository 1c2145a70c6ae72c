"""Pods that talk to each other: queued in the order of their dependencies, placed near them.

NetworkOverhead filters and rates nodes. For each pod that is on a node and that the pod's workload
depends on: on the same node it costs 0, in the same zone 1, elsewhere what the NetworkTopology
says, and 100 where it says nothing. A dependency is satisfied nearby or at a cost within its limit,
violated at a higher cost or where nobody knows where the other node is; an unknown cost is neither.
A node is refused with more violated than satisfied dependencies (`pkg/networkaware/networkoverhead`
of the collection).

NetworkTopology, the custom resource: what it costs to talk across regions and zones. It holds
several tables of costs by name; of one table, costs between regions and costs between zones are two
parts.

AppGroup, the custom resource: the workloads of an application and which depends on which. Pods name
their group and their workload in two labels. A controller writes the order in which workloads are
to be started into the group's status.

TopologicalSort: pods of one application in the order of its workloads, others by priority. The
order is the one in the status of the AppGroup; pods of one workload go by the time they entered the
queue. Upstream lets equal ones come before each other, which is no order.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import field

from podium.addons.collection.custom_kinds import (
    NUMBER,
    QUANTITY,
    TEXT,
    definition,
    list_schema,
    object_schema,
)
from podium.addons.collection.score_ranges import MAX_SCORE
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeStruct, Quantity
from podium.plugin import (
    Action,
    Arguments,
    Cycle,
    FilterPlugin,
    Handle,
    Ints,
    KubeObject,
    LabelColumn,
    Mask,
    Pod,
    PreFilterPlugin,
    QueuedPod,
    QueueSortPlugin,
    Registration,
    Resource,
    Rows,
    ScorePlugin,
    Status,
    Verdict,
    WatchedKind,
    indices,
    unschedulable,
)

GROUP_LABEL: Final = "appgroup.diktyo.x-k8s.io"
WORKLOAD_LABEL: Final = "appgroup.diktyo.x-k8s.io.workload"


class AppGroupWorkloadInfo(KubeStruct, frozen=True):
    kind: str = ""
    name: str = ""
    selector: str = ""
    api_version: str = ""
    namespace: str = ""


class Dependency(KubeStruct, frozen=True):
    """`max_network_cost` is how far away the other workload may be."""

    workload: AppGroupWorkloadInfo = field(default_factory=AppGroupWorkloadInfo)
    min_bandwidth: Quantity = 0
    max_network_cost: int = 0


class AppGroupWorkload(KubeStruct, frozen=True):
    workload: AppGroupWorkloadInfo = field(default_factory=AppGroupWorkloadInfo)
    dependencies: tuple[Dependency, ...] | None = None


class AppGroupSpec(KubeStruct, frozen=True):
    num_members: int = 0
    topology_sorting_algorithm: str = ""
    workloads: tuple[AppGroupWorkload, ...] | None = None


class OrderedWorkload(KubeStruct, frozen=True):
    workload: AppGroupWorkloadInfo = field(default_factory=AppGroupWorkloadInfo)
    index: int = 0


class AppGroupStatus(KubeStruct, frozen=True):
    UNREAD = frozenset({"scheduleStartTime", "topologyCalculationTime"})

    running_workloads: int = 0
    topology_order: tuple[OrderedWorkload, ...] | None = None


class AppGroup(KubeObject, frozen=True):
    api_version: Literal["appgroup.diktyo.x-k8s.io/v1alpha1"] = "appgroup.diktyo.x-k8s.io/v1alpha1"
    kind: Literal["AppGroup"] = "AppGroup"
    spec: AppGroupSpec = field(default_factory=AppGroupSpec)
    status: AppGroupStatus = field(default_factory=AppGroupStatus)


def group_name_of(pod: Pod) -> str:
    return (pod.metadata.labels or {}).get(GROUP_LABEL, "")


def workload_of(pod: Pod) -> str:
    return (pod.metadata.labels or {}).get(WORKLOAD_LABEL, "")


def find_app_group(handle: Handle, name: str, namespaces: Iterable[str]) -> AppGroup | None:
    """The group of a name in the first of some namespaces that has one."""
    found = (handle.get(AppGroup, name, namespace) for namespace in namespaces)
    return next((group for group in found if group is not None), None)


def dependencies_of(group: AppGroup, workload: str) -> list[Dependency]:
    return [
        dependency
        for each in group.spec.workloads or ()
        if each.workload.selector == workload
        for dependency in each.dependencies or ()
    ]


def _app_group_definition() -> JsonObject:
    workload = object_schema(kind=TEXT, name=TEXT, selector=TEXT, apiVersion=TEXT, namespace=TEXT)
    dependency = object_schema(workload=workload, minBandwidth=QUANTITY, maxNetworkCost=NUMBER)
    return definition(
        AppGroup,
        "appgroups",
        short_names=("ag", "ags"),
        properties={
            "spec": object_schema(
                numMembers=NUMBER,
                topologySortingAlgorithm=TEXT,
                workloads=list_schema(
                    object_schema(workload=workload, dependencies=list_schema(dependency))
                ),
            ),
            "status": object_schema(
                runningWorkloads=NUMBER,
                scheduleStartTime={"type": "string", "format": "date-time"},
                topologyCalculationTime={"type": "string", "format": "date-time"},
                topologyOrder=list_schema(object_schema(workload=workload, index=NUMBER)),
            ),
        },
    )


APP_GROUPS: Final = WatchedKind(AppGroup, "appgroups", definition=_app_group_definition)


NO_INDEX = -1


class TopologicalSort(QueueSortPlugin):
    name = "TopologicalSort"
    watched_kinds = (APP_GROUPS,)

    class Args(msgspec.Struct, frozen=True, rename="camel"):
        namespaces: tuple[str, ...] = ()

    args: Args

    def less(self, one: QueuedPod, other: QueuedPod) -> bool:
        group = group_name_of(one.info.pod)
        if group and group == group_name_of(other.info.pod):
            order = self._order_of(group)
            first = order.get(workload_of(one.info.pod), NO_INDEX)
            second = order.get(workload_of(other.info.pod), NO_INDEX)
            return (first, one.timestamp) < (second, other.timestamp)
        mine, theirs = one.info.priority, other.info.priority
        return mine > theirs if mine != theirs else one.timestamp < other.timestamp

    def _order_of(self, group: str) -> dict[str, int]:
        found = find_app_group(self.handle, group, self.args.namespaces or ("default",))
        order = found.status.topology_order if found is not None else None
        return {each.workload.selector: each.index for each in order or ()}


REGION: Final = "topology.kubernetes.io/region"
ZONE: Final = "topology.kubernetes.io/zone"


class NetworkCost(KubeStruct, frozen=True):
    destination: str = ""
    bandwidth_capacity: Quantity = 0
    bandwidth_allocated: Quantity = 0
    network_cost: int = 0


class Origin(KubeStruct, frozen=True):
    origin: str = ""
    cost_list: tuple[NetworkCost, ...] | None = None


class TopologyCosts(KubeStruct, frozen=True):
    topology_key: str = ""
    origin_list: tuple[Origin, ...] | None = None


class Weights(KubeStruct, frozen=True):
    name: str = ""
    topology_list: tuple[TopologyCosts, ...] | None = None


class NetworkTopologySpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"configmapName"})

    weights: tuple[Weights, ...] | None = None


class NetworkTopology(KubeObject, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["networktopology.diktyo.x-k8s.io/v1alpha1"] = (
        "networktopology.diktyo.x-k8s.io/v1alpha1"
    )
    kind: Literal["NetworkTopology"] = "NetworkTopology"
    spec: NetworkTopologySpec = field(default_factory=NetworkTopologySpec)


Costs = Mapping[tuple[str, str], int]
"""(origin, destination) -> cost."""


def costs_of(topology: NetworkTopology | None, weights_name: str, key: str) -> Costs:
    """The costs between regions or between zones, by the tables of a name."""
    return {
        (origin.origin, cost.destination): cost.network_cost
        for weights in (topology.spec.weights if topology is not None else None) or ()
        if weights.name == weights_name
        for costs in weights.topology_list or ()
        if costs.topology_key == key
        for origin in costs.origin_list or ()
        for cost in origin.cost_list or ()
    }


def _network_topology_definition() -> JsonObject:
    cost = object_schema(
        destination=TEXT,
        bandwidthCapacity=QUANTITY,
        bandwidthAllocated=QUANTITY,
        networkCost=NUMBER,
    )
    origin = object_schema(origin=TEXT, costList=list_schema(cost))
    topology = object_schema(topologyKey=TEXT, originList=list_schema(origin))
    weights = object_schema(name=TEXT, topologyList=list_schema(topology))
    return definition(
        NetworkTopology,
        "networktopologies",
        short_names=("nt",),
        properties={
            "spec": object_schema(configmapName=TEXT, weights=list_schema(weights)),
            "status": object_schema(nodeCount=NUMBER),
        },
    )


NETWORK_TOPOLOGIES: Final = WatchedKind(
    NetworkTopology, "networktopologies", definition=_network_topology_definition
)


REFUSED: Final = (
    "Node {} does not meet several network requirements from Workload dependencies:"
    " Satisfied: {} Violated: {}"
)
SAME_ZONE_COST: Final = 1
MAX_COST: Final = 100

_UNKNOWN: Final = -1


class NetworkState(NamedTuple):
    """Over all rows: how many dependencies are satisfied and violated, and what they cost."""

    satisfied: Ints
    violated: Ints
    cost: Ints


class NetworkOverhead(PreFilterPlugin, FilterPlugin, ScorePlugin):
    name = "NetworkOverhead"
    builds_on = MappingProxyType({"filter": "preFilter", "score": "preFilter"})
    watched_kinds = (APP_GROUPS, NETWORK_TOPOLOGIES)
    in_range = True

    class Args(msgspec.Struct, frozen=True, rename="camel"):
        namespaces: tuple[str, ...] = ()
        weights_name: str = "UserDefined"
        network_topology_name: str = "nt-default"

    args: Args

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        self._by_group = handle.index_pods(lambda pod: group_name_of(pod) or None)

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.ASSIGNED_POD, Action.ADD | Action.DELETE),
            Registration(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            Registration(APP_GROUPS.event_resource, Action.ALL),
            Registration(NETWORK_TOPOLOGIES.event_resource, Action.ALL),
        )

    def pre_filter(self, cycle: Cycle) -> None:
        cycle.write(self.name, self._state_of(cycle))

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        state = cycle.read(self.name, NetworkState)
        refused = state.violated[rows] > state.satisfied[rows]
        if not refused.any():
            return None
        numbers = np.where(refused, indices(rows) + 1, 0).astype(np.int32)
        names = cycle.nodes.names

        def describe(number: int) -> Status:
            row = number - 1
            text = REFUSED.format(names[row], state.satisfied[row], state.violated[row])
            return unschedulable(text)

        return Verdict(numbers, describe)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return cycle.read(self.name, NetworkState).cost[rows].copy()

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        if not scores.any():
            return scores
        lowest, spread = scores.min(), scores.max() - scores.min()
        if not spread:
            return np.full_like(scores, MAX_SCORE)
        normalized: Ints = MAX_SCORE - (MAX_SCORE * (scores - lowest) / spread).astype(np.int64)
        return normalized

    def _state_of(self, cycle: Cycle) -> NetworkState:
        size = cycle.nodes.size
        state = NetworkState(*(np.zeros(size, dtype=np.int64) for _ in range(3)))
        pod = cycle.pod.pod
        name = group_name_of(pod)
        namespaces = self.args.namespaces or ("default",)
        group = find_app_group(self.handle, name, namespaces) if name else None
        dependencies = dependencies_of(group, workload_of(pod)) if group is not None else []
        if dependencies:
            places = self._places(name, dependencies)
            _Distances(cycle, self._costs(REGION), self._costs(ZONE)).add_up(places, state)
        return state

    def _costs(self, key: str) -> Costs:
        args = self.args
        found = (
            self.handle.get(NetworkTopology, args.network_topology_name, namespace)
            for namespace in args.namespaces or ("default",)
        )
        topology = next((each for each in found if each is not None), None)
        return costs_of(topology, args.weights_name, key)

    def _places(
        self, group: str, dependencies: Iterable[Dependency]
    ) -> Mapping[tuple[str, int], int]:
        """(node, highest cost allowed) -> number of dependencies there."""
        limits: dict[str, list[int]] = {}
        for dependency in dependencies:
            limits.setdefault(dependency.workload.selector, []).append(dependency.max_network_cost)
        return Counter(
            (pod.spec.node_name, limit)
            for pod in self._by_group.of(group)
            if pod.spec.node_name
            for limit in limits.get(workload_of(pod), ())
        )


class _Distances:
    """From every row to some nodes."""

    def __init__(self, cycle: Cycle, region_costs: Costs, zone_costs: Costs) -> None:
        self._nodes = cycle.nodes
        self._region_costs = region_costs
        self._zone_costs = zone_costs
        self._regions = cycle.nodes.labels.column(REGION)
        self._zones = cycle.nodes.labels.column(ZONE)
        self._size = cycle.nodes.size

    def add_up(self, places: Mapping[tuple[str, int], int], state: NetworkState) -> None:
        for (name, limit), count in places.items():
            row = self._nodes.row(name)
            if row < 0 or not self._nodes.present[row]:
                continue  # upstream: an error that lasts until the pod is gone
            cost, satisfied, violated = self._reach(row, limit)
            cost[row], satisfied[row], violated[row] = 0, True, False
            state.satisfied[:] += np.where(satisfied, count, 0)
            state.violated[:] += np.where(violated, count, 0)
            state.cost[:] += cost * count

    def _reach(self, row: int, limit: int) -> tuple[Ints, Mask, Mask]:
        """(costs, who satisfies a dependency on a row's node, who violates it)."""
        region, zone = int(self._regions.codes[row]), int(self._zones.codes[row])
        everywhere = np.ones(self._size, dtype=np.bool_)
        if region < 0 and zone < 0:  # nobody knows where it is
            return np.full(self._size, MAX_COST), ~everywhere, everywhere
        in_region = self._in(self._regions, region)
        near = in_region & self._in(self._zones, zone)
        across_zones = self._table(self._zones, self._zone_costs, zone)
        across_regions = self._table(self._regions, self._region_costs, region)
        found = np.where(in_region, across_zones, across_regions)
        known = (found != _UNKNOWN) & ~near
        costs = np.where(near, SAME_ZONE_COST, np.where(known, found, MAX_COST))
        return costs, near | (known & (found <= limit)), known & (found > limit)

    def _table(self, column: LabelColumn, costs: Costs, destination: int) -> Ints:
        """What each row pays to get to a place."""
        values = column.values
        to = values[destination] if destination >= 0 else ""
        paid = [costs.get((values[code], to), _UNKNOWN) for code in range(len(values))]
        # The last place is that of rows without the label, whose code is -1.
        return np.array([*paid, _UNKNOWN], dtype=np.int64)[column.codes[: self._size]]

    def _in(self, column: LabelColumn, code: int) -> Mask:
        found: Mask = column.codes[: self._size] == code
        return found
