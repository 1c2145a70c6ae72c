"""What Reserve holds, who sees it, and what is left of it after binding."""

from support.scheduler.plugins.device_builders import (
    DeviceWorld,
    allocated,
    claiming_pod,
    exactly,
    make_claim,
    make_slice,
)

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.cycle import Cycle
from podium.testing import make_node


def reserve(world: DeviceWorld, pod: Pod, node: str = "n") -> Cycle:
    cycle, answer = world.start(pod)
    assert answer is None
    world.filter(cycle)
    assert world.plugin.reserve(cycle, node) is None
    return cycle


def test_reserved_devices_are_gone_for_other_pods() -> None:
    world = DeviceWorld(
        make_slice("p", ["d1", "d2"], node="n"),
        make_claim("c0", exactly("r")),
        make_claim("c1", exactly("r")),
        make_claim("c2", exactly("r")),
    )
    first = reserve(world, claiming_pod("a", "c0"))
    assert world.plugin.reserved(first) == {
        "claims": {
            "default/c0": [
                {"request": "r", "driver": "gpu.example.com", "pool": "p", "device": "d1"}
            ]
        }
    }
    second = reserve(world, claiming_pod("b", "c1"))
    assert world.plugin.reserved(second)["claims"]["default/c1"][0]["device"] == "d2"
    cycle, _ = world.start(claiming_pod("c", "c2"))
    assert world.reasons(cycle) == {"n": "cannot allocate all claims"}
    world.plugin.unreserve(first, "n")
    cycle, _ = world.start(claiming_pod("c", "c2"))
    assert world.reasons(cycle) == {}


def test_a_claim_on_its_way_keeps_other_pods_waiting() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    reserve(world, claiming_pod("a", "c"))
    _, answer = world.start(claiming_pod("b", "c"))
    assert answer is not None
    assert answer.reasons == ("resource claim default/c is in the process of being allocated",)


def test_profiles_of_a_scheduler_see_each_others_reservations() -> None:
    world = DeviceWorld(
        make_slice("p", ["d"], node="n"),
        make_claim("a", exactly("r")),
        make_claim("b", exactly("r")),
    )
    reserve(world, claiming_pod("a", "a"))
    other = type(world.plugin)(world.plugin.args, world.plugin.handle)
    cycle = Cycle(world.cluster.infos.of(claiming_pod("b", "b")), world.cluster)
    assert other.pre_filter(cycle) is None
    verdict = other.filter(cycle, world.cluster.nodes.all_rows())
    assert verdict is not None
    assert verdict.values.all()


def test_binding_leaves_the_allocation_and_the_pod_in_the_claim() -> None:
    world = DeviceWorld(
        make_slice("p", ["d"], node="n"),
        make_claim("new", exactly("r")),
        make_claim("held", exactly("r"), status=allocated("r=q/d", node="n", users=["x"])),
    )
    cycle = reserve(world, claiming_pod("pod", "held", "new"))
    updated = {c.metadata.name: c for c in world.plugin.claims_after_binding(cycle)}
    assert [u.uid for u in updated["held"].status.reserved_for or ()] == ["x", "uid-default-pod"]
    new = updated["new"]
    assert new.metadata.finalizers == ("resource.kubernetes.io/delete-protection",)
    assert [(u.resource, u.name, u.uid) for u in new.status.reserved_for or ()] == [
        ("pods", "pod", "uid-default-pod")
    ]
    assert new.status.allocation is not None
    assert new.status.allocation.allocation_timestamp == "2026-01-01T00:00:00Z"


def test_claims_in_the_catalog_end_what_reserve_holds() -> None:
    world = DeviceWorld(
        make_slice("p", ["d1", "d2"], node="n"),
        make_claim("a", exactly("r")),
        make_claim("b", exactly("r", 2)),
    )
    cycle = reserve(world, claiming_pod("a", "a"))
    (claim,) = world.plugin.claims_after_binding(cycle)
    world.put(claim)
    world.start(claiming_pod("b", "b"))
    world.cluster.catalog.remove(claim)
    cycle, _ = world.start(claiming_pod("b", "b"))
    assert world.reasons(cycle) == {}


def test_a_node_that_was_never_asked_cannot_be_reserved() -> None:
    world = DeviceWorld(make_claim("c", exactly("r")), nodes=[make_node("n"), make_node("m")])
    cycle, _ = world.start(claiming_pod("pod", "c"))
    answer = world.plugin.reserve(cycle, "m")
    assert answer is not None
    assert answer.reasons == ("claim allocation not found for node",)


def test_without_filter_no_node_has_devices() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle, _ = world.start(claiming_pod("pod", "c"))
    assert world.plugin.score(cycle, world.cluster.nodes.all_rows()).tolist() == [0]
    answer = world.plugin.reserve(cycle, "n")
    assert answer is not None
    assert answer.reasons == ("claim allocation not found for node",)
