"""Extended resources that devices serve: who serves what on which node, and with which requests."""

from typing import Any

from support.scheduler.plugins.device_builders import (
    DeviceWorld,
    claiming_pod,
    exactly,
    make_claim,
    make_class,
    make_slice,
)

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.status import SKIP
from podium.scheduler.plugins.dynamic_resources.claim_writing import DeleteClaim
from podium.scheduler.plugins.dynamic_resources.extended_resources import (
    claim_in_memory,
    requests_on_node,
)
from podium.scheduler.plugins.dynamic_resources.inventory import InventoryRules
from podium.scheduler.plugins.resources.columns import device_counts
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses
from podium.testing import make_node, make_pod

GPU = "x.com/gpu"
CLASS = make_class("gpu", extendedResourceName=GPU)


def container(name: str, count: int = 0, **more: Any) -> dict[str, Any]:
    requests = {"cpu": "1", **({GPU: count} if count else {})}
    return {"name": name, "image": "i", "resources": {"requests": requests}, **more}


def requests_of(pod: Pod) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """(request -> count, (container, request) mappings) on a node where devices serve GPUs."""
    catalog = Catalog()
    catalog.put(CLASS)
    found = requests_on_node(claim_in_memory(pod), pod, [GPU], ExtendedResourceClasses(catalog))
    counts = {
        request.name: request.exactly.count
        for request in found.claim.spec.devices.requests or ()
        if request.exactly is not None
    }
    return counts, [(m.container_name, m.request_name) for m in found.mappings]


def test_each_lasting_container_has_its_own_request() -> None:
    side = container("side", 2, restartPolicy="Always")
    pod = make_pod("p", containers=[container("a", 1), container("b")], initContainers=[side])
    assert requests_of(pod) == (
        {"container-0-request-1": 2, "container-1-request-1": 1},
        [("side", "container-0-request-1"), ("a", "container-1-request-1")],
    )


def test_a_brief_container_borrows_what_later_ones_have() -> None:
    pod = make_pod("p", containers=[container("a", 1)], initContainers=[container("init", 1)])
    assert requests_of(pod) == (
        {"container-1-request-1": 1},
        [("a", "container-1-request-1"), ("init", "container-1-request-1")],
    )


def test_what_brief_containers_need_beyond_that_is_asked_for_once() -> None:
    init = [container("small", 2), container("large", 4), container("again", 3)]
    pod = make_pod("p", containers=[container("a", 1)], initContainers=init)
    counts, mappings = requests_of(pod)
    assert counts == {"container-1-request-1": 3, "container-3-request-1": 1}
    extra = [name for name, request in mappings if request == "container-1-request-1"]
    assert extra == ["small", "large", "again"]


def test_a_pod_without_mapped_resources_is_left_alone() -> None:
    _, answer = DeviceWorld(CLASS).start(make_pod("p", requests={"y.com/gpu": 1}))
    assert answer is SKIP
    _, answer = DeviceWorld(CLASS, DRAExtendedResource=False).start(
        make_pod("p", requests={GPU: 1})
    )
    assert answer is SKIP


def test_nodes_with_a_device_plugin_need_no_devices() -> None:
    plugin_node = make_node("m", allocatable={"cpu": "4", "memory": "8Gi", "pods": 10, GPU: 4})
    world = DeviceWorld(CLASS, nodes=["n", plugin_node])
    cycle, answer = world.start(make_pod("p", requests={GPU: 1}))
    assert answer is None
    assert world.reasons(cycle) == {"n": "cannot allocate all claims"}
    assert world.plugin.reserve(cycle, "m") is None
    assert world.plugin.reserved(cycle) == {}


def test_a_resource_that_nobody_offers_cannot_fit() -> None:
    world = DeviceWorld(CLASS, make_slice("s", ["d"], node="n"))
    cycle, _ = world.start(make_pod("p", requests={GPU: 1, "y.com/other": 1}))
    assert world.reasons(cycle) == {"n": "cannot fit resource"}


def test_every_class_serves_its_implicit_name() -> None:
    world = DeviceWorld(make_slice("s", ["d"], node="n"))
    cycle, _ = world.start(make_pod("p", requests={"deviceclass.resource.kubernetes.io/gpu": 1}))
    assert world.reasons(cycle) == {}
    assert world.plugin.reserve(cycle, "n") is None
    assert world.plugin.reserved(cycle) == {
        "claims": {
            "default/p:extended-resources": [
                {
                    "request": "container-0-request-0",
                    "driver": "gpu.example.com",
                    "pool": "s",
                    "device": "d",
                }
            ]
        }
    }
    (claim,) = world.plugin.claims_after_binding(cycle)
    assert claim.metadata.name.startswith("p-extended-resources-")


def test_claims_and_extended_resources_share_the_devices_of_a_node() -> None:
    world = DeviceWorld(
        CLASS, make_slice("s", ["d1", "d2"], node="n"), make_claim("c", exactly("r"))
    )
    pod = claiming_pod("p", "c", requests={GPU: 1})
    cycle, _ = world.start(pod)
    assert world.reasons(cycle) == {}
    assert world.plugin.reserve(cycle, "n") is None
    found = world.plugin.reserved(cycle)["claims"]
    assert [devices[0]["device"] for devices in found.values()] == ["d1", "d2"]
    world.plugin.unreserve(cycle, "n")
    world.put(make_claim("c", exactly("r", 2)))
    cycle, _ = world.start(pod)
    assert world.reasons(cycle) == {"n": "cannot allocate all claims"}


def test_a_claim_left_by_an_earlier_attempt_is_deleted_first() -> None:
    owner = {"kind": "Pod", "name": "p", "uid": "uid-default-p", "controller": True}
    left = make_claim(
        "p-extended-resources-x",
        exactly("container-0-request-0"),
        annotations={"resource.kubernetes.io/extended-resource-claim": "true"},
        ownerReferences=[owner],
    )
    world = DeviceWorld(CLASS, make_slice("s", ["d"], node="n"), left)
    cycle, _ = world.start(make_pod("p", requests={GPU: 1}))
    assert world.reasons(cycle) == {"n": "cannot schedule extended resource claim"}
    result = world.plugin.post_filter(cycle, Diagnosis(1))
    assert result.reasons == ("deletion of ResourceClaim completed",)
    assert cycle.writes == [DeleteClaim(left)]


def test_resource_scores_count_devices_and_those_in_use() -> None:
    status = {
        "allocation": {
            "devices": {
                "results": [
                    {"request": "r", "driver": "gpu.example.com", "pool": "s", "device": "d1"}
                ]
            }
        }
    }
    world = DeviceWorld(
        make_slice("s", ["d1", "d2"], node="n"),
        make_slice("part", ["d"], node="n", count=2),
        make_claim("c", exactly("r"), status=status),
        nodes=["n", "m"],
    )
    cycle = Cycle(world.cluster.infos.of(make_pod("p")), world.cluster)
    offers = InventoryRules.of(world.gates)
    total, used = device_counts(cycle, CLASS, world.cluster.nodes.all_rows(), offers)
    assert (total.tolist(), used.tolist()) == ([3, 0], [1, 0])
