"""Short ways to write devices, the claims on them, and a cluster that has both."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from podium.golang.durations import Duration
from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.config.plugin_args import DynamicResourcesArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult
from podium.scheduler.framework.filtering import run_filters
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins.dynamic_resources import DynamicResources
from podium.scheduler.plugins.dynamic_resources.allocator import AllocationSolution, Allocator
from podium.scheduler.plugins.dynamic_resources.claim_state import ClaimState
from podium.scheduler.plugins.dynamic_resources.inventory import InventoryRules
from podium.scheduler.plugins.dynamic_resources.picks import PickRules
from podium.scheduler.plugins.dynamic_resources.pools import Supply
from podium.scheduler.plugins.dynamic_resources.requests import requests_of
from podium.scheduler.plugins.dynamic_resources.results import allocations_of
from podium.testing import make_handle, make_node, make_pod

DRIVER = "gpu.example.com"
NOW_S = 1_767_225_600.0
"""2026-01-01T00:00:00Z"""


def device(
    name: str,
    attributes: Mapping[str, Any] | None = None,
    capacity: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A device as it stands in a slice. An attribute's kind is that of its value; a capacity is an
    amount, or a whole entry when it has a policy."""
    return {
        "name": name,
        "attributes": {key: _attribute(value) for key, value in (attributes or {}).items()},
        "capacity": {
            key: value if isinstance(value, dict) else {"value": value}
            for key, value in (capacity or {}).items()
        },
        **more,
    }


def _attribute(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, bool):
        return {"bool": value}
    return {"int": value} if isinstance(value, int) else {"string": value}


def make_slice(
    name: str,
    devices: Iterable[str | Mapping[str, Any]] = (),
    *,
    node: str = "",
    driver: str = DRIVER,
    pool: str = "",
    generation: int = 1,
    count: int = 1,
    **spec: Any,
) -> ResourceSlice:
    """A slice of the pool that is named like it unless `pool` says otherwise."""
    body: dict[str, Any] = {
        "driver": driver,
        "pool": {"name": pool or name, "generation": generation, "resourceSliceCount": count},
        "devices": [device(d) if isinstance(d, str) else d for d in devices],
        **spec,
    }
    if node:
        body["nodeName"] = node
    return msgspec.convert({"metadata": {"name": name}, "spec": body}, ResourceSlice)


def make_class(name: str = "gpu", *selectors: str, **spec: Any) -> DeviceClass:
    """A device class; selectors are expressions."""
    body = {"selectors": [{"cel": {"expression": text}} for text in selectors], **spec}
    return msgspec.convert({"metadata": {"name": name}, "spec": body}, DeviceClass)


def exactly(
    name: str, count: int = 1, *selectors: str, class_: str = "gpu", **more: Any
) -> dict[str, Any]:
    """A request for a number of devices, or for all if the count is 0."""
    return {"name": name, "exactly": _wanted(count, selectors, class_, more)}


def alternative(
    name: str, count: int = 1, *selectors: str, class_: str = "gpu", **more: Any
) -> dict[str, Any]:
    return {"name": name, **_wanted(count, selectors, class_, more)}


def first_of(name: str, *alternatives: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "firstAvailable": list(alternatives)}


def _wanted(
    count: int, selectors: Sequence[str], class_: str, more: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "deviceClassName": class_,
        "allocationMode": "ExactCount" if count else "All",
        "count": count,
        "selectors": [{"cel": {"expression": text}} for text in selectors],
        **more,
    }


def make_claim(
    name: str,
    *requests: Mapping[str, Any],
    constraints: Sequence[Mapping[str, Any]] = (),
    config: Sequence[Mapping[str, Any]] = (),
    status: Mapping[str, Any] | None = None,
    **metadata: Any,
) -> ResourceClaim:
    raw = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata},
        "spec": {
            "devices": {
                "requests": list(requests),
                "constraints": list(constraints),
                "config": list(config),
            }
        },
        "status": dict(status or {}),
    }
    return msgspec.convert(raw, ResourceClaim)


def allocated(
    *devices: str, node: str = "", users: Iterable[str] = (), **more: Any
) -> dict[str, Any]:
    """A claim's status: devices are `request=pool/device`, users are uids of pods."""
    results = []
    for text in devices:
        request, _, rest = text.partition("=")
        pool, _, name = rest.rpartition("/")
        results.append({"request": request, "driver": DRIVER, "pool": pool, "device": name})
    allocation: dict[str, Any] = {"devices": {"results": results}, **more}
    if node:
        field = {"key": "metadata.name", "operator": "In", "values": [node]}
        allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {
        "allocation": allocation,
        "reservedFor": [{"resource": "pods", "name": uid, "uid": uid} for uid in users],
    }


def claiming_pod(name: str, *claims: str, **more: Any) -> Pod:
    references = [{"name": claim, "resourceClaimName": claim} for claim in claims]
    return make_pod(name, resourceClaims=references, **more)


class DeviceWorld:
    """A cluster with devices, and the plugin that hands them out."""

    def __init__(
        self,
        *objects: Any,
        nodes: Iterable[Node | str] = ("n",),
        binding_timeout_s: int = 600,
        **gates: bool,
    ) -> None:
        handle = make_handle(None, **gates)
        self.cluster, self.gates = handle.cluster, handle.gates
        for node in nodes:
            self.cluster.put_node(make_node(node) if isinstance(node, str) else node)
        self.cluster.catalog.put(make_class())
        self.put(*objects)
        handle = make_handle(self.cluster, **gates)
        handle.clock = lambda: NOW_S
        args = DynamicResourcesArgs(
            filter_timeout=Duration.of_seconds(10),
            binding_timeout=Duration.of_seconds(binding_timeout_s),
        )
        self.plugin = DynamicResources(args, handle)

    def put(self, *objects: Any) -> None:
        for obj in objects:
            self.cluster.catalog.put(obj)

    def find(
        self, *claims: ResourceClaim, node: str = "n", rules: PickRules | None = None
    ) -> AllocationSolution | None:
        """What the search alone says for claims on a node."""
        self.put(*claims)
        supply, state = (
            Supply.of(self.cluster, InventoryRules.of(self.gates)),
            ClaimState.of(self.cluster),
        )
        supply.refresh()
        state.sync()
        row = self.cluster.nodes.row(node)
        allocator = Allocator(self._requests(claims), state.devices, rules or PickRules(), 10.0)
        labels = self.cluster.nodes.labels.labels_of(row)
        return allocator.allocate(supply.pools_of(row), node, labels)

    def picks(self, *claims: ResourceClaim, node: str = "n") -> list[str] | None:
        """The devices found for claims, each as `request=pool/device`; None if there are none."""
        solution = self.find(*claims, node=node)
        if solution is None:
            return None
        return [
            f"{pick.request.full_name}={pick.entry.id.pool}/{pick.entry.id.device}"
            for picks in solution.picks
            for pick in picks
        ]

    def allocations(self, *claims: ResourceClaim, node: str = "n") -> list[Any]:
        solution = self.find(*claims, node=node)
        assert solution is not None
        return allocations_of(solution, self._requests(claims), node)

    def _requests(self, claims: Sequence[ResourceClaim]) -> list[Any]:
        def find_class(name: str) -> DeviceClass | None:
            return self.cluster.catalog.get(DeviceClass, name)

        return [requests_of(claim, find_class, make_handle().gates) for claim in claims]

    # the plugin's points

    def start(self, pod: Pod) -> tuple[Cycle, Status | None]:
        """A cycle behind PreFilter, and what PreFilter said."""
        cycle = Cycle(self.cluster.infos.of(pod), self.cluster)
        return cycle, self.plugin.pre_filter(cycle)

    def filter(self, cycle: Cycle) -> FilterResult:
        return run_filters([self.plugin], cycle, self.cluster.nodes.all_rows())

    def reasons(self, cycle: Cycle) -> dict[str, str]:
        """Node -> message, for the nodes that Filter rejects."""
        result = self.filter(cycle)
        names = self.cluster.nodes.names
        return {
            names[row]: status.message
            for row in range(self.cluster.nodes.size)
            if (status := result.status(row)) is not None
        }
