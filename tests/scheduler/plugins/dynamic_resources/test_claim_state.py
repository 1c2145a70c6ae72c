"""Claims between the watch, the writes on their way, and the reservations in memory."""

from support.scheduler.plugins.device_builders import (
    DRIVER,
    DeviceWorld,
    allocated,
    exactly,
    make_claim,
)

from podium.kubernetes.kinds.devices import AllocationResult, ResourceClaim
from podium.scheduler.plugins.dynamic_resources.claim_state import ClaimState
from podium.scheduler.plugins.dynamic_resources.inventory import DeviceId

D1, D2 = DeviceId(DRIVER, "p", "d1"), DeviceId(DRIVER, "p", "d2")


def held(name: str, *devices: str, version: str = "") -> ResourceClaim:
    status = allocated(*(f"r=p/{device}" for device in devices))
    return make_claim(name, exactly("r"), status=status, resourceVersion=version)


def allocation_of(claim: ResourceClaim) -> AllocationResult:
    assert claim.status.allocation is not None
    return claim.status.allocation


def state_of(*claims: ResourceClaim) -> tuple[DeviceWorld, ClaimState]:
    world = DeviceWorld(*claims)
    state = ClaimState.of(world.cluster)
    state.sync()
    return world, state


def test_devices_follow_the_claims() -> None:
    world, state = state_of(held("c", "d1"))
    assert state.devices.is_dedicated(D1)
    world.put(held("c", "d2"))
    state.sync()
    assert not state.devices.is_held(D1)
    assert state.devices.is_held(D2)
    world.cluster.catalog.remove(held("c"))
    state.sync()
    assert not state.devices.holds_in(DRIVER, "p")


def test_a_device_that_two_claims_name_is_free_when_the_first_of_them_is_gone() -> None:
    # upstream: it keeps a set of devices and takes one out with every claim that goes.
    world, state = state_of(held("a", "d1"), held("b", "d1"))
    assert state.devices.is_dedicated(D1)
    world.cluster.catalog.remove(held("a"))
    state.sync()
    assert not state.devices.is_dedicated(D1)


def test_a_device_on_its_way_to_a_claim_stays_taken_when_another_claim_lets_go_of_it() -> None:
    world, state = state_of(held("a", "d1"))
    allocation = held("b", "d1").status.allocation
    assert allocation is not None
    state.start("uid-b", allocation)
    world.cluster.catalog.remove(held("a"))
    state.sync()
    assert state.devices.is_dedicated(D1)
    state.finish("uid-b")
    assert not state.devices.is_dedicated(D1)


def test_admin_results_hold_nothing() -> None:
    status = allocated("r=p/d1")
    status["allocation"]["devices"]["results"][0]["adminAccess"] = True
    _, state = state_of(make_claim("c", exactly("r"), status=status))
    assert not state.devices.is_held(D1)


def test_shares_add_up_and_leave_the_device_open() -> None:
    def share(name: str, amount: str) -> ResourceClaim:
        status = allocated("r=p/d1")
        status["allocation"]["devices"]["results"][0] |= {
            "shareID": name,
            "consumedCapacity": {"memory": amount},
        }
        return make_claim(name, exactly("r"), status=status)

    world, state = state_of(share("a", "1"), share("b", "2"))
    assert not state.devices.is_dedicated(D1)
    assert state.devices.is_held(D1)
    assert state.devices.consumed[D1] == {"memory": 3 * 10**9}
    world.cluster.catalog.remove(share("a", "1"))
    world.cluster.catalog.remove(share("b", "2"))
    state.sync()
    assert D1 not in state.devices.consumed


def test_a_reservation_counts_until_it_is_finished() -> None:
    _, state = state_of(make_claim("c", exactly("r")))
    state.start("uid-c", allocation_of(held("c", "d1")))
    assert state.is_pending("uid-c")
    assert state.devices.is_dedicated(D1)
    assert state.finish("uid-c")
    assert not state.finish("uid-c")
    assert not state.devices.is_held(D1)


def test_the_watch_ends_a_reservation_without_counting_it_twice() -> None:
    world, state = state_of(make_claim("c", exactly("r")))
    state.start("uid-c", allocation_of(held("c", "d1")))
    world.put(held("c", "d1"))
    state.sync()
    assert not state.is_pending("uid-c")
    world.cluster.catalog.remove(held("c"))
    state.sync()
    assert not state.devices.is_held(D1)


def test_a_written_claim_is_used_until_the_watch_has_caught_up() -> None:
    world, state = state_of(make_claim("c", exactly("r"), resourceVersion="5"))
    written = held("c", "d1", version="9")
    state.assume(written)
    state.sync()
    assert state.find("default", "c") is written
    assert state.devices.is_dedicated(D1)
    newer = make_claim("c", exactly("r"), resourceVersion="10")
    world.put(newer)
    state.sync()
    assert state.find("default", "c") is newer
    assert not state.devices.is_held(D1)


def test_restoring_goes_back_to_what_the_watch_said() -> None:
    _, state = state_of(make_claim("c", exactly("r"), resourceVersion="5"))
    state.assume(held("c", "d1", version="9"))
    state.sync()
    state.restore(held("c"))
    state.sync()
    assert not state.devices.is_held(D1)


def test_an_unknown_claim_does_not_exist_however_it_was_written() -> None:
    _, state = state_of()
    state.assume(held("c", "d1", version="9"))
    state.sync()
    assert state.find("default", "c") is None
    assert not state.devices.is_held(D1)


def test_what_changed_is_remembered_for_a_while() -> None:
    world, state = state_of(held("c", "d1"))
    before = state.devices.sequence
    assert state.devices.touched_since(before) == []
    world.put(held("c", "d1", "d2"))
    state.sync()
    assert set(state.devices.touched_since(before) or ()) == {(DRIVER, "p")}
    for _ in range(5000):
        state.start("u", allocation_of(held("x", "d2")))
        state.finish("u")
    assert state.devices.touched_since(before) is None
