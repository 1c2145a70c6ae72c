"""Devices that stand for cpu, memory and the like of their node (DRANodeAllocatableResources)."""

from typing import Any

import pytest
from msgspec.structs import replace
from support.scheduler.plugins.claims_api import ClaimsApi
from support.scheduler.plugins.device_builders import (
    DeviceWorld,
    allocated,
    claiming_pod,
    device,
    exactly,
    make_claim,
    make_slice,
)

from podium.kubernetes.kinds.pod import NodeAllocatableResourceClaimStatus, Pod
from podium.offline.driver.in_memory_api import run_to_end
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.status import Code, Status
from podium.scheduler.plugins.dynamic_resources.claim_writing import ClearClaimStatuses
from podium.scheduler.plugins.dynamic_resources.outcome import with_claim_statuses
from podium.testing import make_node, make_pod

GATE = {"DRANodeAllocatableResources": True}
BIG = {"cpu": "32", "memory": "64Gi", "ephemeral-storage": "10Gi", "hugepages-2Mi": "8Mi"}


def standing_for(name: str, *, capacity: dict[str, Any] | None = None, **mappings: Any) -> Any:
    """A device; a mapping is a multiplier, or (capacity key, multiplier)."""
    written = {}
    for resource, mapping in mappings.items():
        key, multiplier = mapping if isinstance(mapping, tuple) else (None, mapping)
        found = {"capacityKey": key, "allocationMultiplier": multiplier}
        written[resource.replace("_", "-")] = {k: v for k, v in found.items() if v is not None}
    return device(
        name,
        capacity=capacity,
        allowMultipleAllocations=bool(capacity),
        nodeAllocatableResourceMappings=written,
    )


def using(name: str, *claims: str, requests: dict[str, str] | None = None, **more: Any) -> Pod:
    """A pod whose container refers to all of its claims."""
    resources = {"requests": requests or {}, "claims": [{"name": claim} for claim in claims]}
    containers = [{"name": "main", "resources": resources}]
    return claiming_pod(name, *claims, containers=containers, **more)


def world_with(
    *devices: Any, allocatable: dict[str, str] | None = None, **more: Any
) -> DeviceWorld:
    node = make_node("n", allocatable=allocatable or BIG)
    return DeviceWorld(make_slice("s", devices, node="n"), nodes=[node], **{**GATE, **more})


def verdict(world: DeviceWorld, pod: Pod) -> Status | None:
    cycle, answer = world.start(pod)
    assert answer is None
    return world.filter(cycle).status(0)


def taken(world: DeviceWorld, pod: Pod) -> dict[str, dict[str, Any]]:
    """Claim -> what it takes, for a pod that fits."""
    cycle, answer = world.start(pod)
    assert answer is None
    assert world.reasons(cycle) == {}
    counted = with_claim_statuses(pod, cycle.states[world.plugin.name], 0)
    statuses = counted.status.node_allocatable_resource_claim_statuses or ()
    return {status.resource_claim_name: dict(status.resources or {}) for status in statuses}


def on_node(world: DeviceWorld, pod: Pod) -> PodInfo:
    return world.cluster.add_pod(replace(pod, spec=replace(pod.spec, node_name="n")))


def with_status(pod: Pod, claim: str, **resources: str) -> Pod:
    told = NodeAllocatableResourceClaimStatus(
        resource_claim_name=claim, containers=("main",), resources=dict(resources)
    )
    status = replace(pod.status, node_allocatable_resource_claim_statuses=(told,))
    return replace(pod, status=status)


# what claims take


def test_each_device_takes_what_it_stands_for() -> None:
    world = world_with(standing_for("a", cpu="4", memory="2Gi"), standing_for("b", cpu="500m"))
    world.put(make_claim("c", exactly("r", count=2)))
    assert taken(world, using("p", "c")) == {"c": {"cpu": "4500m", "memory": "2Gi"}}


@pytest.mark.parametrize(
    ("multiplier", "memory"),
    [(None, "3Gi"), ("2", "6Gi"), ("1.5", "4608Mi"), ("0.001", "3221225472m")],
)
def test_a_capacity_counts_as_far_as_it_is_consumed(multiplier: str | None, memory: str) -> None:
    shared = standing_for("a", capacity={"size": "8Gi"}, memory=("size", multiplier))
    world = world_with(shared)
    world.put(make_claim("c", exactly("r", capacity={"requests": {"size": "3Gi"}})))
    assert taken(world, using("p", "c")) == {"c": {"memory": memory}}


def test_a_device_that_stands_for_nothing_takes_nothing() -> None:
    world = world_with("plain", standing_for("cpus", cpu="4"))
    world.put(make_claim("c", exactly("r")))
    assert taken(world, using("p", "c")) == {}


def test_statuses_are_in_the_order_of_claims_and_name_the_containers() -> None:
    world = world_with(standing_for("a", cpu="1"), standing_for("b", cpu="2"))
    world.put(make_claim("z", exactly("r")), make_claim("y", exactly("r")))
    resources = {"claims": [{"name": "z"}, {"name": "y"}]}
    first = {"name": "first", "resources": resources}
    second = {"name": "second", "resources": {"claims": [{"name": "y"}]}}
    pod = claiming_pod("p", "z", "y", initContainers=[first], containers=[second])
    cycle, _ = world.start(pod)
    assert world.reasons(cycle) == {}
    counted = with_claim_statuses(pod, cycle.states[world.plugin.name], 0)
    statuses = counted.status.node_allocatable_resource_claim_statuses or ()
    assert [(s.resource_claim_name, s.containers) for s in statuses] == [
        ("y", ("first", "second")),
        ("z", ("first",)),
    ]


def test_a_claim_that_no_container_refers_to_cannot_be_had() -> None:
    world = world_with(standing_for("a", cpu="1"))
    world.put(make_claim("c", exactly("r")))
    status = verdict(world, claiming_pod("p", "c"))
    assert status is not None
    assert (status.code, status.reasons) == (
        Code.UNRESOLVABLE,
        (
            "claim c: node-allocatable resource claim not referenced by any container within the"
            " pod",
        ),
    )


def test_a_capacity_that_nobody_says_is_consumed_is_an_error() -> None:
    whole = standing_for("a", cpu=("cores", "1"))
    world = world_with(whole)
    world.put(make_claim("c", exactly("r")))
    status = verdict(world, using("p", "c"))
    assert status is not None
    assert status.code is Code.ERROR
    assert status.message == (
        'running "DynamicResources" filter plugin: '
        "claim default/c, device a: ConsumedCapacity is nil, but Capacity key 'cores' is set in"
        " NodeAllocatableResourceMappings for resource cpu"
    )


# room


@pytest.mark.parametrize(
    ("mapping", "requests", "reasons", "hopeless"),
    [
        ({"cpu": "30"}, {"cpu": "2"}, None, False),
        ({"cpu": "30"}, {"cpu": "3"}, ("Insufficient cpu",), True),
        ({"cpu": "25"}, {}, ("Insufficient cpu",), False),
        ({"cpu": "40", "memory": "70Gi"}, {}, ("Insufficient cpu", "Insufficient memory"), True),
        ({"ephemeral_storage": "11Gi"}, {}, ("Insufficient ephemeral-storage",), True),
        ({"hugepages_2Mi": "10Mi"}, {}, ("Insufficient hugepages-2Mi",), True),
        ({"hugepages_1Gi": "1Gi"}, {}, ("Insufficient hugepages-1Gi",), True),
    ],
)
def test_requests_and_claims_together_must_be_free(
    mapping: Any, requests: Any, reasons: tuple[str, ...] | None, hopeless: bool
) -> None:
    world = world_with(standing_for("a", **mapping))
    world.put(make_claim("c", exactly("r")))
    if mapping == {"cpu": "25"}:
        on_node(world, make_pod("other", requests={"cpu": "8"}))
    status = verdict(world, using("p", "c", requests=requests))
    assert (status.reasons if status else None) == reasons
    if status is not None:
        assert (status.code is Code.UNRESOLVABLE) is hopeless


def test_a_trial_without_a_pod_has_its_room() -> None:
    world = world_with(standing_for("a", cpu="25"))
    world.put(make_claim("c", exactly("r")))
    other = on_node(world, make_pod("other", requests={"cpu": "8"}))
    cycle, _ = world.start(using("p", "c"))
    assert world.reasons(cycle) == {"n": "Insufficient cpu"}
    trial = cycle.fork()
    trial.usage.remove(0, other)
    assert world.reasons(trial) == {}


def test_pod_level_requests_must_cover_what_claims_take() -> None:
    world = world_with(standing_for("a", cpu="4"))
    world.put(make_claim("c", exactly("r")))
    pod = using("p", "c", requests={"cpu": "1"}, resources={"requests": {"cpu": "4"}})
    status = verdict(world, pod)
    assert status is not None
    assert status.reasons == (
        "pod level request for cpu is insufficient to cover the aggregated container and"
        " node-allocatable DRA requests",
    )
    enough = using("q", "c", requests={"cpu": "1"}, resources={"requests": {"cpu": "5"}})
    assert verdict(world, enough) is None


# pods on nodes


def test_what_claims_take_counts_with_a_pod_on_its_node() -> None:
    world = world_with("d")
    pod = with_status(make_pod("p", requests={"cpu": "1"}), "c", cpu="4", memory="1Gi")
    placed = on_node(world, pod)
    cpu, memory = (world.cluster.nodes.resource_id(name) for name in ("cpu", "memory"))
    usage = world.cluster.usage
    assert usage.requested_of(cpu)[0] == 5000
    assert usage.requested_of(memory)[0] == 1 << 30
    assert usage.nonzero[:, 0].tolist() == [5000, (1 << 30) + 200 * 1024 * 1024]
    world.cluster.remove_pod(placed.uid)
    assert usage.requested_of(cpu)[0] == 0


def test_without_the_gate_neither_devices_nor_statuses_count() -> None:
    world = world_with(standing_for("a", cpu="40"), DRANodeAllocatableResources=False)
    world.put(make_claim("c", exactly("r")))
    on_node(world, with_status(make_pod("other"), "c", cpu="30"))
    assert taken(world, using("p", "c")) == {}
    assert world.cluster.usage.requested_of(world.cluster.nodes.resource_id("cpu"))[0] == 0


@pytest.mark.parametrize(
    ("users", "told"),
    [
        (("x",), "node allocatable resource claim c is already used by another pod"),
        (("x", "y"), "node allocatable resource claim c shared by multiple pods"),
    ],
)
def test_a_claim_is_for_one_pod_of_a_node(users: tuple[str, ...], told: str) -> None:
    world = world_with(standing_for("a", cpu="1"))
    world.put(make_claim("c", exactly("r"), status=allocated("r=s/a", node="n", users=users)))
    infos = {user: on_node(world, with_status(using(user, "c"), "c", cpu="1")) for user in users}
    cycle, _ = world.start(using("p", "c"))
    assert world.reasons(cycle) == {"n": told}
    trial = cycle.fork()
    for user in users:
        trial.usage.remove(0, infos[user])
    assert world.reasons(trial) == {}


# from Reserve to PreBind


def test_the_status_is_written_with_the_claims_and_cleared_when_the_node_is_given_back() -> None:
    world = world_with(standing_for("a", cpu="4"))
    world.put(make_claim("c", exactly("r")))
    cycle, _ = world.start(using("p", "c"))
    assert world.reasons(cycle) == {}
    assert world.plugin.reserve(cycle, "n") is None
    api = ClaimsApi(world)
    assert run_to_end(world.plugin.pre_bind(cycle, "n", api)) is None
    assert [s.resources for s in api.claim_statuses] == [{"cpu": "4"}]
    world.plugin.unreserve(cycle, "n")
    assert ClearClaimStatuses(cycle.pod.pod) in cycle.writes
