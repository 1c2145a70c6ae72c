"""Claims of pod groups: members that share an allocation before it is written, and claims that are
reserved for the group as a whole."""

import asyncio
from typing import Any

import msgspec
import pytest
from support.scheduler.plugins.claims_api import ClaimsApi
from support.scheduler.plugins.device_builders import (
    DeviceWorld,
    allocated,
    claiming_pod,
    exactly,
    make_claim,
    make_slice,
)

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.growth import indices
from podium.scheduler.framework.cycle import Cycle, PodGroupCycle
from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins.dynamic_resources.claim_writing import ReleaseReservation
from podium.testing import make_pod

PENDING = "resource claim default/c is in the process of being allocated"


def member(name: str, *claims: str, group: str = "g", **more: Any) -> Pod:
    return claiming_pod(name, *claims, schedulingGroup={"podGroupName": group}, **more)


def make_group(*claims: str, name: str = "g") -> PodGroup:
    listed = [{"name": claim, "resourceClaimName": claim} for claim in claims]
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return msgspec.convert({"metadata": metadata, "spec": {"resourceClaims": listed}}, PodGroup)


class GroupAttempt:
    """One attempt for a group: members are held on nodes one after the other."""

    def __init__(self, world: DeviceWorld) -> None:
        self.world = world
        self.group = PodGroupCycle(("default", "g"), world.cluster)

    def start(self, pod: Pod) -> tuple[Cycle, Status | None]:
        cycle = Cycle(self.world.cluster.infos.of(pod), self.world.cluster)
        cycle.group = self.group
        return cycle, self.world.plugin.pre_filter(cycle)

    def hold(self, pod: Pod, node: str = "n") -> Cycle:
        cycle, answer = self.start(pod)
        assert answer is None
        assert node not in self.world.reasons(cycle)
        assert self.world.plugin.reserve(cycle, node) is None
        return cycle


def shared_world(*nodes: str) -> DeviceWorld:
    objects = make_slice("p", ["d", "e"], node="n"), make_claim("c", exactly("r"))
    return DeviceWorld(*objects, nodes=nodes or ("n",))


def test_members_go_by_the_allocation_that_the_first_of_them_got() -> None:
    world = shared_world("n", "far")
    attempt = GroupAttempt(world)
    first = attempt.hold(member("first", "c"))
    second, answer = attempt.start(member("second", "c"))
    assert answer is None
    assert world.reasons(second) == {"far": "resourceclaim not available on the node"}
    assert world.plugin.reserve(second, "n") is None
    assert world.plugin.reserved(second) == world.plugin.reserved(first)


def test_pods_of_no_group_or_of_another_attempt_wait_for_the_claim() -> None:
    world = shared_world()
    GroupAttempt(world).hold(member("first", "c"))
    for _, answer in (
        world.start(claiming_pod("alone", "c")),
        GroupAttempt(world).start(member("later", "c")),
    ):
        assert answer is not None
        assert answer.reasons == (PENDING,)


def test_what_members_share_is_held_until_the_last_of_them_gives_it_back() -> None:
    world = shared_world()
    attempt = GroupAttempt(world)
    cycles = [attempt.hold(member(name, "c")) for name in ("first", "second")]
    world.plugin.unreserve(cycles[1], "n")
    assert world.start(claiming_pod("alone", "c"))[1] is not None
    world.plugin.unreserve(cycles[0], "n")
    assert world.start(claiming_pod("alone", "c"))[1] is None
    cycle, _ = attempt.start(member("third", "c"))
    assert world.reasons(cycle) == {}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_whoever_binds_first_writes_the_allocation_and_the_others_reserve_it(
    order: tuple[int, int],
) -> None:
    world = shared_world()
    attempt = GroupAttempt(world)
    cycles = [attempt.hold(member(name, "c")) for name in ("first", "second")]
    api = ClaimsApi(world)
    for index in order:
        assert asyncio.run(world.plugin.pre_bind(cycles[index], "n", api)) is None
    claim = api.stored["c"]
    assert claim.status.allocation is not None
    users = [user.name for user in claim.status.reserved_for or ()]
    assert users == [("first", "second")[index] for index in order]
    assert api.calls == ["update c", "status c", "status c"]


def test_drivers_that_bind_at_once_get_the_same_claim() -> None:
    world = shared_world()
    attempt = GroupAttempt(world)
    cycles = [attempt.hold(member(name, "c")) for name in ("first", "second")]
    for cycle in cycles:
        world.put(*world.plugin.claims_after_binding(cycle))
    claim = world.cluster.catalog.get(ResourceClaim, "c", "default")
    assert claim is not None
    assert [user.name for user in claim.status.reserved_for or ()] == ["first", "second"]


def group_world(*objects: Any) -> DeviceWorld:
    return DeviceWorld(
        make_slice("p", ["d", "e"], node="n"),
        make_claim("c", exactly("r")),
        make_claim("own", exactly("r")),
        *objects,
        GenericWorkload=True,
        DRAWorkloadResourceClaims=True,
    )


def test_a_claim_that_the_group_lists_is_reserved_for_the_group() -> None:
    world = group_world(make_group("c"))
    api = ClaimsApi(world)
    attempt = GroupAttempt(world)
    for name in ("first", "second"):
        cycle = attempt.hold(member(name, "c", "own"))
        assert asyncio.run(world.plugin.pre_bind(cycle, "n", api)) is None
        world.put(*api.stored.values())
    ((group, *_), pods) = (api.stored[name].status.reserved_for or () for name in ("c", "own"))
    assert len(api.stored["c"].status.reserved_for or ()) == 1
    assert (group.api_group, group.resource, group.name, group.uid) == (
        "scheduling.k8s.io",
        "podgroups",
        "g",
        "uid-g",
    )
    assert [user.name for user in pods] == ["first", "second"]


def test_without_the_gate_the_claim_is_reserved_for_each_member() -> None:
    world = shared_world()
    world.put(make_group("c"))
    cycle = GroupAttempt(world).hold(member("first", "c"))
    (claim,) = world.plugin.claims_after_binding(cycle)
    assert [user.resource for user in claim.status.reserved_for or ()] == ["pods"]


def test_a_member_without_its_group_is_rejected() -> None:
    _, answer = group_world().start(member("first", "c"))
    assert answer is not None
    assert answer.reasons == ('podgroup.scheduling.k8s.io "g" not found',)


def made_for_group(owner: str) -> DeviceWorld:
    reference = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "name": owner,
        "uid": f"uid-{owner}",
        "controller": True,
    }
    return group_world(make_group(), make_claim("made", exactly("r"), ownerReferences=[reference]))


def templated(name: str) -> Pod:
    return make_pod(
        name,
        schedulingGroup={"podGroupName": "g"},
        resourceClaims=[{"name": "t", "resourceClaimTemplateName": "template"}],
        status={"resourceClaimStatuses": [{"name": "t", "resourceClaimName": "made"}]},
    )


def test_a_claim_made_from_a_template_may_be_that_of_the_group() -> None:
    assert made_for_group("g").start(templated("first"))[1] is None
    _, answer = made_for_group("other").start(templated("first"))
    assert answer is not None
    assert answer.reasons == (
        "ResourceClaim default/made was not created for Pod default/first"
        " (neither Pod nor PodGroup g is the owner)",
    )


def test_a_group_that_fits_nowhere_lets_go_of_its_claim() -> None:
    status = allocated("r=p/d", node="far")
    user = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "uid-g"}
    status["reservedFor"] = [user, {"resource": "pods", "name": "x", "uid": "x"}]
    world = group_world(make_group("c"))
    world.put(make_claim("c", exactly("r"), status=status))
    pod = member("first", "c")
    world.cluster.pod_groups.enabled = True
    world.cluster.pod_groups.put(world.cluster.infos.of(pod))
    cycle, answer = world.start(pod)
    assert answer is None
    verdict = world.plugin.filter(cycle, indices(slice(0, 1)))
    assert verdict is not None
    outcome = world.plugin.post_filter(cycle, Diagnosis(1))
    assert outcome.reasons == ("ResourceClaim unreserved for PodGroup",)
    (write,) = cycle.writes
    assert isinstance(write, ReleaseReservation)
    assert write.pod_uid == "uid-g"
