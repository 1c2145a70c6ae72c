"""PreBind, step by step against an API server that remembers, refuses and is slow."""

import asyncio

import pytest
from msgspec.structs import replace
from support.scheduler.plugins.claims_api import ClaimsApi
from support.scheduler.plugins.device_builders import (
    NOW_S,
    DeviceWorld,
    allocated,
    claiming_pod,
    device,
    exactly,
    make_claim,
    make_class,
    make_slice,
)

from podium.kubernetes.kinds.devices import AllocatedDeviceStatus, DeviceCondition
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.status import Code, Status
from podium.scheduler.plugins.dynamic_resources.claim_writing import (
    DeleteClaim,
    ReleaseReservation,
    deallocate_claim,
    release_claim,
)
from podium.testing import FakeApi, make_pod

FINALIZER = "resource.kubernetes.io/delete-protection"


def placed(world: DeviceWorld, pod: Pod) -> Cycle:
    cycle, answer = world.start(pod)
    assert answer is None
    assert world.reasons(cycle) == {}
    assert world.plugin.reserve(cycle, "n") is None
    return cycle


def pre_bind(world: DeviceWorld, cycle: Cycle, api: ClaimsApi) -> Status | None:
    return asyncio.run(world.plugin.pre_bind(cycle, "n", api))


def test_an_allocation_is_written_with_finalizer_first() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c"))
    api = ClaimsApi(world)
    assert pre_bind(world, cycle, api) is None
    assert api.calls == ["update c", "status c"]
    stored = api.stored["c"]
    assert stored.metadata.finalizers == (FINALIZER,)
    assert stored.status.allocation is not None
    assert [user.uid for user in stored.status.reserved_for or ()] == ["uid-default-pod"]


def test_what_was_written_counts_before_the_watch_shows_it() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c"))
    assert pre_bind(world, cycle, ClaimsApi(world)) is None
    other, answer = world.start(claiming_pod("other", "c"))
    assert answer is None
    assert world.reasons(other) == {}
    world.put(make_claim("c2", exactly("r")))
    other, _ = world.start(claiming_pod("third", "c2"))
    assert world.reasons(other) == {"n": "cannot allocate all claims"}


def test_an_allocated_claim_only_gains_a_user() -> None:
    world = DeviceWorld(
        make_claim("c", exactly("r"), status=allocated("r=p/d", node="n", users=["x"]))
    )
    cycle = placed(world, claiming_pod("pod", "c"))
    api = ClaimsApi(world)
    assert pre_bind(world, cycle, api) is None
    assert api.calls == ["status c"]
    assert [u.uid for u in api.stored["c"].status.reserved_for or ()] == ["x", "uid-default-pod"]


def test_a_claim_that_is_reserved_for_the_pod_is_not_written() -> None:
    users = allocated("r=p/d", node="n", users=["uid-default-pod"])
    world = DeviceWorld(make_claim("c", exactly("r"), status=users))
    api = ClaimsApi(world)
    assert pre_bind(world, placed(world, claiming_pod("pod", "c")), api) is None
    assert api.calls == []


def test_a_claim_that_a_pod_names_twice_takes_two_devices_and_cannot_be_bound() -> None:
    # upstream: the second time it finds the claim allocated, by the first time.
    world = DeviceWorld(make_slice("p", ["d1", "d2"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c", "c"))
    api = ClaimsApi(world)
    answer = pre_bind(world, cycle, api)
    assert answer is not None
    assert answer.reasons == ("claim default/c got allocated elsewhere in the meantime",)
    written = api.stored["c"].status.allocation
    assert written is not None
    assert [result.device for result in written.devices.results or ()] == ["d1"]
    world.plugin.unreserve(cycle, "n")
    world.put(make_claim("other", exactly("r")), make_claim("more", exactly("r")))
    other, _ = world.start(claiming_pod("other", "other"))
    assert world.reasons(other) == {}


def test_conflicts_are_retried_with_a_fresh_claim() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c"))
    api = ClaimsApi(world, conflicts=2)
    assert pre_bind(world, cycle, api) is None
    assert api.calls == ["update c", "status c", "get c", "status c", "get c", "status c"]


def test_five_conflicts_fail_the_binding() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c"))
    api = ClaimsApi(world, conflicts=9)
    answer = pre_bind(world, cycle, api)
    assert answer is not None
    assert (answer.code, answer.reasons) == (
        Code.ERROR,
        ("add allocation and reservation to claim default/c: the object has been modified",),
    )
    assert api.calls.count("status c") == 5


def test_a_claim_that_somebody_else_allocated_fails_the_binding() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c"))
    api = ClaimsApi(world, conflicts=1)
    api.while_waiting = lambda: api.stored.update(
        c=make_claim("c", exactly("r"), status=allocated("r=p/d"))
    )
    answer = pre_bind(world, cycle, api)
    assert answer is not None
    assert answer.reasons == ("claim default/c got allocated elsewhere in the meantime",)


def test_a_claim_that_is_being_deleted_fails_the_binding() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c"))
    api = ClaimsApi(world, conflicts=1)
    gone = make_claim("c", exactly("r"), deletionTimestamp="2026-01-01T00:00:00Z")
    api.while_waiting = lambda: api.stored.update(c=gone)
    answer = pre_bind(world, cycle, api)
    assert answer is not None
    assert answer.reasons == ("claim default/c got deleted in the meantime",)


def test_unreserve_takes_the_pod_out_of_written_claims() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c"))
    api = ClaimsApi(world)
    assert pre_bind(world, cycle, api) is None
    world.plugin.unreserve(cycle, "n")
    assert cycle.writes == [ReleaseReservation(api.stored["c"], "uid-default-pod")]
    after = release_claim(api.stored["c"], "uid-default-pod")
    assert after.status.reserved_for is None
    assert after.status.allocation is not None
    assert deallocate_claim(after).status.allocation is None


# binding conditions


def condition_world(binding_timeout_s: int = 600) -> tuple[DeviceWorld, Cycle, ClaimsApi]:
    slow = device("d", bindingConditions=["ready"], bindingFailureConditions=["broken"])
    world = DeviceWorld(
        make_slice("p", [slow], node="n"),
        make_claim("c", exactly("r")),
        binding_timeout_s=binding_timeout_s,
    )
    cycle = placed(world, claiming_pod("pod", "c"))
    return world, cycle, ClaimsApi(world)


def set_condition(world: DeviceWorld, api: ClaimsApi, name: str) -> None:
    condition = DeviceCondition(type=name, status="True", reason="Why", message="so")
    status = AllocatedDeviceStatus(
        driver="gpu.example.com", pool="p", device="d", conditions=(condition,)
    )
    claim = api.stored["c"]
    version = str(int(claim.metadata.resource_version) + 1)
    world.put(
        replace(
            claim,
            metadata=replace(claim.metadata, resource_version=version),
            status=replace(claim.status, devices=(status,)),
        )
    )


def test_the_binding_waits_until_devices_are_ready() -> None:
    world, cycle, api = condition_world()
    api.while_waiting = lambda: set_condition(world, api, "ready")
    assert pre_bind(world, cycle, api) is None
    assert api.calls[-1] == (
        "BindingConditionsPending: waiting for binding conditions for device on node n"
    )
    assert api.paused_s == 5.0


def test_a_failed_device_fails_the_binding() -> None:
    world, cycle, api = condition_world()
    api.while_waiting = lambda: set_condition(world, api, "broken")
    answer = pre_bind(world, cycle, api)
    assert answer is not None
    assert answer.reasons == ('device binding failed: claim=c, reason=Why, message="so"',)


@pytest.mark.parametrize("timeout_s", [600, 30])
def test_devices_that_take_too_long_fail_the_binding(timeout_s: int) -> None:
    world, cycle, api = condition_world(timeout_s)
    answer = pre_bind(world, cycle, api)
    assert answer is not None
    assert answer.reasons == ("device binding timeout: context deadline exceeded",)
    assert api.paused_s == timeout_s


def test_a_claim_whose_devices_never_became_ready_is_given_up() -> None:
    results = [
        {
            "request": "r",
            "driver": "gpu.example.com",
            "pool": "p",
            "device": "d",
            "bindingConditions": ["ready"],
        }
    ]
    late = allocated(node="n", allocationTimestamp="2025-12-31T23:49:59Z")
    late["allocation"]["devices"]["results"] = results
    world = DeviceWorld(make_claim("c", exactly("r"), status=late))
    cycle, _ = world.start(claiming_pod("pod", "c"))
    assert world.reasons(cycle) == {"n": "resourceclaim not available on the node"}
    late["allocation"]["allocationTimestamp"] = "2025-12-31T23:50:01Z"
    world.put(make_claim("c", exactly("r"), status=late))
    cycle, _ = world.start(claiming_pod("pod", "c"))
    assert world.reasons(cycle) == {}
    assert NOW_S % 60 == 0


# extended resources


def extended_world() -> tuple[DeviceWorld, Cycle, ClaimsApi]:
    world = DeviceWorld(
        make_slice("p", ["d"], node="n"), make_class("gpu", extendedResourceName="x.com/gpu")
    )
    cycle = placed(world, make_pod("pod", requests={"cpu": "1", "x.com/gpu": 1}))
    return world, cycle, ClaimsApi(world)


def test_the_claim_for_extended_resources_is_created_and_told_to_the_pod() -> None:
    world, cycle, api = extended_world()
    assert pre_bind(world, cycle, api) is None
    name = "pod-extended-resources-x"
    assert api.calls == [f"create {name}", f"update {name}", f"status {name}", "patch pod"]
    assert api.extended is not None
    assert api.extended.resource_claim_name == name
    assert [
        (m.container_name, m.resource_name, m.request_name)
        for m in api.extended.request_mappings or ()
    ] == [("main", "x.com/gpu", "container-0-request-1")]


def test_unreserve_deletes_the_claim_that_was_created() -> None:
    world, cycle, api = extended_world()
    assert pre_bind(world, cycle, api) is None
    world.plugin.unreserve(cycle, "n")
    assert cycle.writes == [DeleteClaim(api.stored["pod-extended-resources-x"])]


def test_a_claim_that_the_server_does_not_have_fails_the_binding() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")))
    cycle = placed(world, claiming_pod("pod", "c"))
    answer = asyncio.run(world.plugin.pre_bind(cycle, "n", FakeApi()))
    assert answer is not None
    assert (answer.code, answer.reasons) == (
        Code.ERROR,
        ('add finalizer to claim default/c: resourceclaims.resource.k8s.io "c" not found',),
    )
