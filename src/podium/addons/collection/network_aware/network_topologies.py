"""NetworkTopology, the custom resource: what it costs to talk across regions and zones.

It holds several tables of costs by name; of one table, costs between regions and costs between
zones are two parts.
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import field

from podium.addons.collection.custom_kinds import (
    NUMBER,
    QUANTITY,
    TEXT,
    definition,
    list_schema,
    object_schema,
)
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeStruct, Quantity
from podium.plugin import KubeObject
from podium.scheduler.framework.events import WatchedKind

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


def _definition() -> JsonObject:
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
    NetworkTopology, "networktopologies", definition=_definition
)
