"""The plugin's points of the scheduling cycle, from PreEnqueue to Reserve."""

import numpy as np
import pytest
from support.scheduler.plugins.device_builders import (
    DeviceWorld,
    allocated,
    alternative,
    claiming_pod,
    device,
    exactly,
    first_of,
    make_claim,
    make_slice,
)

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import Version
from podium.scheduler.config.plugin_args import DynamicResourcesArgs
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import PostFilterResult
from podium.scheduler.framework.queued import WaitingPods
from podium.scheduler.framework.status import SKIP, Code
from podium.scheduler.plugins.dynamic_resources import DynamicResources
from podium.scheduler.plugins.dynamic_resources.claim_writing import Deallocate, deallocate_claim
from podium.testing import make_pod


def post_filter(world: DeviceWorld, cycle: Cycle) -> PostFilterResult:
    diagnosis = Diagnosis(world.cluster.nodes.present_count)
    diagnosis.results.append(world.filter(cycle))
    return world.plugin.post_filter(cycle, diagnosis)


def template_pod(*statuses: dict[str, str]) -> Pod:
    reference = {"name": "x", "resourceClaimTemplateName": "t"}
    return make_pod(
        "pod", resourceClaims=[reference], status={"resourceClaimStatuses": list(statuses)}
    )


# the gate of the plugin


def test_a_plugin_that_is_configured_while_its_gate_is_off_does_nothing() -> None:
    world = DeviceWorld()
    off = Handle(world.cluster, FeatureGates(emulated=Version(1, 33)), WaitingPods())
    world.plugin = DynamicResources(DynamicResourcesArgs(), off)
    pod = claiming_pod("pod", "missing")
    assert world.plugin.pre_enqueue(world.cluster.infos.of(pod)) is None
    cycle, answer = world.start(pod)
    assert answer is SKIP
    assert world.plugin.filter(cycle, world.cluster.nodes.all_rows()) is None
    assert world.plugin.reserve(cycle, "n") is None
    assert post_filter(world, cycle) == PostFilterResult(Code.UNSCHEDULABLE, ("plugin disabled",))
    assert world.plugin.events() == ()


# a pod without claims


def test_a_pod_without_claims_is_left_alone() -> None:
    world = DeviceWorld()
    pod = make_pod("pod")
    assert world.plugin.pre_enqueue(world.cluster.infos.of(pod)) is None
    cycle, answer = world.start(pod)
    assert answer is SKIP
    assert world.plugin.filter(cycle, world.cluster.nodes.all_rows()) is None
    assert world.plugin.score(cycle, world.cluster.nodes.all_rows()).tolist() == [0]
    assert world.plugin.reserve(cycle, "n") is None
    assert world.plugin.reserved(cycle) == {}
    assert world.plugin.claims_after_binding(cycle) == ()
    flight = world.plugin.pre_bind_pre_flight(cycle, "n")
    assert flight.status is SKIP
    assert flight.parallel
    world.plugin.unreserve(cycle, "n")
    assert cycle.writes == []


def test_post_filter_tells_that_a_pod_without_claims_has_nothing_to_give_back() -> None:
    world = DeviceWorld()
    cycle, _ = world.start(make_pod("pod"))
    result = post_filter(world, cycle)
    assert (result.code, result.reasons) == (
        Code.UNSCHEDULABLE,
        ("no new claims to deallocate",),
    )


def test_post_filter_fails_when_pre_filter_did_not_run() -> None:
    world = DeviceWorld()
    cycle = Cycle(world.cluster.infos.of(make_pod("pod")), world.cluster)
    result = world.plugin.post_filter(cycle, Diagnosis(1))
    assert (result.code, result.reasons) == (Code.ERROR, ("not found",))
    with pytest.raises(StateMissing):
        world.plugin.score(cycle, world.cluster.nodes.all_rows())
    world.plugin.unreserve(cycle, "n")


# the claims of a pod


def owned(name: str) -> ResourceClaim:
    owner = {"kind": "Pod", "name": "pod", "uid": "uid-default-pod", "controller": True}
    return make_claim(name, exactly("r"), ownerReferences=[owner])


@pytest.mark.parametrize(
    ("pod", "objects", "reason"),
    [
        (
            claiming_pod("pod", "c"),
            [],
            'could not find ResourceClaim "default/c"',
        ),
        (
            claiming_pod("pod", "c"),
            [make_claim("c", exactly("r"), deletionTimestamp="2026-01-01T00:00:00Z")],
            'resourceclaim "c" is being deleted',
        ),
        (template_pod(), [], 'pod "default/pod": ResourceClaim not created yet'),
        (
            template_pod({"name": "x", "resourceClaimName": "c"}),
            [make_claim("c", exactly("r"))],
            "ResourceClaim default/c was not created for Pod default/pod (Pod is not owner)",
        ),
        (
            make_pod("pod", resourceClaims=[{"name": "x"}]),
            [],
            'pod "default/pod", spec.resourceClaim "x": none of the supported fields are set',
        ),
    ],
)
def test_claims_that_cannot_be_had_hold_the_pod_back(
    pod: Pod, objects: list[ResourceClaim], reason: str
) -> None:
    world = DeviceWorld(*objects)
    held_back = world.plugin.pre_enqueue(world.cluster.infos.of(pod))
    assert held_back is not None
    assert (held_back.code, held_back.reasons) == (Code.UNRESOLVABLE, (reason,))
    _, answer = world.start(pod)
    assert answer == held_back


def test_a_template_that_gave_no_claim_is_ignored() -> None:
    _, answer = DeviceWorld().start(template_pod({"name": "x"}))
    assert answer is SKIP


def test_the_claim_of_a_template_belongs_to_the_pod() -> None:
    world = DeviceWorld(make_slice("p", ["d"], node="n"), owned("c"))
    cycle, answer = world.start(template_pod({"name": "x", "resourceClaimName": "c"}))
    assert answer is None
    assert world.reasons(cycle) == {}


def test_a_missing_class_rejects_the_pod_as_if_it_had_no_claims() -> None:
    claim = make_claim("c", first_of("r", alternative("a", class_="nope")))
    world = DeviceWorld(claim)
    cycle, answer = world.start(claiming_pod("pod", "c"))
    assert answer is not None
    assert answer.reasons == ("request r/a: device class nope does not exist",)
    assert post_filter(world, cycle).reasons == ("no new claims to deallocate",)


def test_a_request_of_an_unknown_kind_rejects_the_pod() -> None:
    world = DeviceWorld(make_claim("c", {"name": "r"}))
    _, answer = world.start(claiming_pod("pod", "c"))
    assert answer is not None
    assert answer.reasons == ("resource claim default/c, request r: unknown request type",)


def test_a_request_without_a_class_is_an_error() -> None:
    world = DeviceWorld(make_claim("c", exactly("r", class_="")))
    _, answer = world.start(claiming_pod("pod", "c"))
    assert answer is not None
    assert (answer.code, answer.reasons) == (
        Code.ERROR,
        ("request r: unsupported request type",),
    )


# Filter


def test_nodes_without_devices_are_rejected() -> None:
    world = DeviceWorld(
        make_slice("p", ["d"], node="n"), make_claim("c", exactly("r")), nodes=["n", "m"]
    )
    cycle, answer = world.start(claiming_pod("pod", "c"))
    assert answer is None
    assert world.reasons(cycle) == {"m": "cannot allocate all claims"}
    assert world.filter(cycle).status(1).code is Code.UNRESOLVABLE  # type: ignore[union-attr]


def test_an_answer_for_some_rows_is_that_part_of_the_whole() -> None:
    nodes = [f"n{i}" for i in range(6)]
    slices = [make_slice(f"p{i}", ["d"], node=f"n{i}") for i in (0, 2, 5)]
    world = DeviceWorld(*slices, make_claim("c", exactly("r")), nodes=nodes)
    cycle, _ = world.start(claiming_pod("pod", "c"))
    whole = world.plugin.filter(cycle, world.cluster.nodes.all_rows())
    assert whole is not None
    some = np.array([4, 5, 1], dtype=np.intp)
    part = world.plugin.filter(cycle, some)
    assert part is not None
    assert part.values.tolist() == whole.values[some].tolist()
    scores = world.plugin.score(cycle, world.cluster.nodes.all_rows())
    assert world.plugin.score(cycle, some).tolist() == scores[some].tolist()


def test_an_error_on_one_node_ends_the_attempt_there() -> None:
    world = DeviceWorld(
        make_slice("p", [device("d", {"model": "x"})], node="n"),
        make_slice("q", ["d"], node="m"),
        make_claim("c", exactly("r", 1, 'device.attributes["gpu.example.com"].model == "x"')),
        nodes=["n", "m"],
    )
    cycle, _ = world.start(claiming_pod("pod", "c"))
    result = world.filter(cycle)
    assert result.status(0) is None
    status = result.status(1)
    assert status is not None
    assert status.code is Code.ERROR
    assert status.reasons == (
        'running "DynamicResources" filter plugin: claim default/c: selector #0: CEL runtime'
        " error: no such key: model",
    )


def test_an_allocated_claim_can_be_used_where_its_devices_are() -> None:
    world = DeviceWorld(
        make_claim("c", exactly("r"), status=allocated("r=p/d", node="n", users=["x"])),
        nodes=["n", "m"],
    )
    cycle, _ = world.start(claiming_pod("pod", "c"))
    assert world.reasons(cycle) == {"m": "resourceclaim not available on the node"}
    assert world.plugin.reserve(cycle, "n") is None
    assert world.plugin.reserved(cycle)["claims"].keys() == {"default/c"}


def test_a_claim_elsewhere_does_not_count_where_devices_are_missing_anyway() -> None:
    world = DeviceWorld(
        make_claim("held", exactly("r"), status=allocated("r=p/d", node="n")),
        make_claim("new", exactly("r")),
        make_slice("p", ["d"], node="n"),
        nodes=["n", "m"],
    )
    cycle, _ = world.start(claiming_pod("pod", "held", "new"))
    assert world.reasons(cycle) == {
        "n": "cannot allocate all claims",
        "m": "cannot allocate all claims",
    }
    assert post_filter(world, cycle).reasons == ("still not schedulable",)


# PostFilter


def test_an_idle_claim_that_is_in_the_way_is_given_back() -> None:
    idle = make_claim("c", exactly("r"), status=allocated("r=p/d", node="gone"))
    world = DeviceWorld(idle)
    cycle, _ = world.start(claiming_pod("pod", "c"))
    result = post_filter(world, cycle)
    assert result.code is Code.UNSCHEDULABLE
    assert result.reasons == ("deallocation of ResourceClaim completed",)
    assert cycle.writes == [Deallocate(idle)]
    assert deallocate_claim(idle).status == make_claim("c").status


def test_a_claim_that_only_this_pod_uses_is_idle_too() -> None:
    users = allocated("r=p/d", node="gone", users=["uid-default-pod"])
    world = DeviceWorld(make_claim("c", exactly("r"), status=users))
    cycle, _ = world.start(claiming_pod("pod", "c"))
    assert post_filter(world, cycle).reasons == ("deallocation of ResourceClaim completed",)


def test_a_claim_in_use_by_others_is_not_given_back() -> None:
    users = allocated("r=p/d", node="gone", users=["someone"])
    world = DeviceWorld(make_claim("c", exactly("r"), status=users))
    cycle, _ = world.start(claiming_pod("pod", "c"))
    assert post_filter(world, cycle).reasons == ("still not schedulable",)
    assert cycle.writes == []


def test_an_overdue_claim_is_kept_when_nodes_were_rejected_for_something_else() -> None:
    results = [
        {
            "request": "r",
            "driver": "gpu.example.com",
            "pool": "p",
            "device": "d",
            "bindingConditions": ["ready"],
        }
    ]
    late = allocated(node="n", allocationTimestamp="2020-01-01T00:00:00Z")
    late["allocation"]["devices"] = {"results": results}
    world = DeviceWorld(make_claim("c", exactly("r"), status=late))
    cycle, _ = world.start(claiming_pod("pod", "c"))
    result = world.plugin.post_filter(cycle, Diagnosis(world.cluster.nodes.present_count))
    assert result.reasons == ("still not schedulable",)
    assert cycle.writes == []
    assert post_filter(world, cycle).reasons == ("deallocation of ResourceClaim completed",)


# Score


def test_earlier_alternatives_score_higher() -> None:
    big = 'device.attributes["gpu.example.com"].big'
    world = DeviceWorld(
        make_slice("p", [device("d", {"big": True})], node="n"),
        make_slice("q", [device("d", {"big": False})], node="m"),
        make_claim("c", first_of("r", alternative("a", 1, big), alternative("b"))),
        nodes=["n", "m"],
    )
    cycle, _ = world.start(claiming_pod("pod", "c"))
    rows = world.cluster.nodes.all_rows()
    assert world.reasons(cycle) == {}
    raw = world.plugin.score(cycle, rows)
    assert raw.tolist() == [8, 7]
    assert world.plugin.normalize(cycle, rows, raw).tolist() == [100, 87]


def test_allocated_claims_score_only_beside_new_ones() -> None:
    held = make_claim(
        "held",
        first_of("r", alternative("a"), alternative("b")),
        status=allocated("r/b=p/d", node="n"),
    )
    world = DeviceWorld(make_slice("q", ["d"], node="n"), held, make_claim("new", exactly("r")))
    rows = world.cluster.nodes.all_rows()
    cycle, _ = world.start(claiming_pod("pod", "held"))
    world.filter(cycle)
    assert world.plugin.score(cycle, rows).tolist() == [0]
    cycle, _ = world.start(claiming_pod("pod", "held", "new"))
    world.filter(cycle)
    assert world.plugin.score(cycle, rows).tolist() == [7]


def test_scores_are_zero_without_the_feature() -> None:
    world = DeviceWorld(
        make_slice("p", ["d"], node="n"),
        make_claim("c", exactly("r")),
        DRAPrioritizedList=False,
    )
    cycle, _ = world.start(claiming_pod("pod", "c"))
    world.filter(cycle)
    assert world.plugin.score(cycle, world.cluster.nodes.all_rows()).tolist() == [0]
