"""VolumeBinding from PreFilter to PreBind, and the events it listens to."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from support.scheduler.plugins.storage_builders import (
    SELECTED_NODE,
    claim_volume,
    make_capacity,
    make_claim,
    make_class,
    make_csi_node,
    make_driver,
    make_volume,
    put,
)

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import VolumeBindingArgs
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.points import PreFlight
from podium.scheduler.framework.status import SKIP, Code, Status, error, unresolvable
from podium.scheduler.plugins.volume_binding import VolumeBinding
from podium.scheduler.plugins.volume_binding.plugin import bound_to, sent_to
from podium.testing import cycle_for, make_cluster, make_handle, make_node, make_pod

BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


def plugin_for(cluster: Cluster) -> VolumeBinding:
    return VolumeBinding(VolumeBindingArgs(), make_handle(cluster))


def world(*objects: Any) -> tuple[Cluster, VolumeBinding]:
    cluster = make_cluster([make_node("n"), make_node("m")])
    put(cluster, make_class("late"), make_class("now", mode="Immediate"), *objects)
    return cluster, plugin_for(cluster)


def pod_with(*claims: str, name: str = "p") -> Pod:
    return make_pod(name, volumes=[claim_volume(c, f"v{i}") for i, c in enumerate(claims)])


def with_ephemeral(name: str = "p") -> Pod:
    return make_pod(name, volumes=[{"name": "tmp", "ephemeral": {}}])


def pre_filter(pod: Pod, *objects: Any) -> object:
    cluster, plugin = world(*objects)
    return plugin.pre_filter(cycle_for(pod, cluster))


def filtered(cluster: Cluster, plugin: VolumeBinding, pod: Pod) -> Cycle:
    cycle = cycle_for(pod, cluster)
    assert plugin.pre_filter(cycle) is None
    plugin.filter(cycle, cluster.nodes.all_rows())
    return cycle


def test_a_pod_without_claims_passes_every_point_untouched() -> None:
    cluster, plugin = world()
    cycle = cycle_for(make_pod("p", volumes=[{"name": "e", "emptyDir": {}}]), cluster)
    assert plugin.pre_filter(cycle) == SKIP
    rows = cluster.nodes.all_rows()
    assert plugin.pre_score(cycle, rows) == SKIP
    assert plugin.score(cycle, rows).tolist() == [0, 0]
    assert plugin.reserve(cycle, "n") is None
    assert plugin.reserved(cycle) == {}
    assert plugin.pre_bind_pre_flight(cycle, "n") == PreFlight(SKIP, parallel=True)
    plugin.unreserve(cycle, "n")


@pytest.mark.parametrize(
    ("pod", "claim", "text"),
    [
        (pod_with("c"), None, 'persistentvolumeclaim "c" not found'),
        (
            with_ephemeral(),
            None,
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-tmp"',
        ),
        (
            pod_with("c"),
            make_claim("c", volume="v", phase="Lost"),
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (
            pod_with("c"),
            make_claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            'persistentvolumeclaim "c" is being deleted',
        ),
        (
            with_ephemeral(),
            make_claim("p-tmp"),
            "PVC default/p-tmp was not created for pod default/p (pod is not owner)",
        ),
    ],
)
def test_prefilter_says_what_is_wrong_with_a_claim(
    pod: Pod, claim: PersistentVolumeClaim | None, text: str
) -> None:
    found = pre_filter(pod, *([claim] if claim is not None else []))
    assert found == unresolvable(text)


@pytest.mark.parametrize(
    "claim",
    [
        make_claim("c", storage_class="now"),
        make_claim("c", storage_class="unknown"),
        make_claim("c"),
        make_claim("c", storage_class="late", volume="v", bound=False),
        make_claim(
            "c",
            storage_class="late",
            annotations={"volume.beta.kubernetes.io/storage-class": ""},
        ),
    ],
)
def test_claims_that_are_not_the_schedulers_to_bind_must_be_bound_first(
    claim: PersistentVolumeClaim,
) -> None:
    expected = unresolvable("pod has unbound immediate PersistentVolumeClaims")
    assert pre_filter(pod_with("c"), claim) == expected


def test_claims_that_are_bound_or_may_wait_pass_prefilter() -> None:
    assert pre_filter(pod_with("c"), make_claim("c", volume="v")) is None
    assert pre_filter(pod_with("c"), make_claim("c", storage_class="late")) is None
    beta = {"volume.beta.kubernetes.io/storage-class": "late"}
    assert pre_filter(pod_with("c"), make_claim("c", annotations=beta)) is None
    mine = make_claim("p-tmp", storage_class="late", owner=with_ephemeral())
    assert pre_filter(with_ephemeral(), mine) is None


def test_a_class_that_does_not_say_when_to_bind_is_an_error() -> None:
    with pytest.raises(ValueError) as caught:
        pre_filter(pod_with("c"), make_claim("c", storage_class="s"), make_class("s", mode=None))
    assert str(caught.value) == 'VolumeBindingMode not set for StorageClass "s"'


def test_filter_without_prefilter_has_no_state() -> None:
    cluster, plugin = world()
    cycle = cycle_for(pod_with("c"), cluster)
    with pytest.raises(StateMissing, match="not found"):
        plugin.filter(cycle, cluster.nodes.all_rows())
    plugin.unreserve(cycle, "n")


def reason(plugin: VolumeBinding, cycle: Cycle, node: str) -> Status | None:
    verdict = plugin.filter(cycle, np.array([cycle.nodes.row(node)]))
    return verdict.describe(int(verdict.values[0])) if verdict is not None else None


def test_what_one_pod_reserves_the_next_pod_cannot_have() -> None:
    volume = make_volume("v", storage_class="static")
    static = make_class("static", provisioner="kubernetes.io/no-provisioner")
    claims = [make_claim(name, storage_class="static") for name in "cd"]
    cluster, plugin = world(static, volume, *claims)
    cycle = filtered(cluster, plugin, pod_with("c"))
    assert plugin.reserve(cycle, "n") is None
    other = filtered(cluster, plugin, pod_with("d", name="q"))
    assert reason(plugin, other, "n") is not None
    plugin.unreserve(cycle, "n")
    again = filtered(cluster, plugin, pod_with("d", name="q"))
    assert reason(plugin, again, "n") is None


def test_a_newer_volume_from_the_api_server_outweighs_the_decision() -> None:
    volume = make_volume("v", storage_class="static", metadata={"resourceVersion": "1"})
    static = make_class("static", provisioner="kubernetes.io/no-provisioner")
    claims = [make_claim(name, storage_class="static") for name in "cd"]
    cluster, plugin = world(static, volume, *claims)
    assert plugin.reserve(filtered(cluster, plugin, pod_with("c")), "n") is None
    newer = replace(volume, metadata=replace(volume.metadata, resource_version="2"))
    put(cluster, newer)
    again = filtered(cluster, plugin, pod_with("d", name="q"))
    assert reason(plugin, again, "n") is None


def test_reserve_fails_when_a_volume_changed_meanwhile_and_takes_back_the_rest() -> None:
    static = make_class("static", provisioner="kubernetes.io/no-provisioner")
    volumes = [
        make_volume(name, storage_class="static", metadata={"resourceVersion": "1"})
        for name in ("v1", "v2")
    ]
    claims = [make_claim(name, storage_class="static") for name in "cde"]
    cluster, plugin = world(static, *volumes, *claims)
    cycle = filtered(cluster, plugin, pod_with("c", "d"))
    changed = replace(volumes[1].metadata, resource_version="7")
    put(cluster, replace(volumes[1], metadata=changed))
    answer = plugin.reserve(cycle, "n")
    assert answer == error('"v2" is out of sync (stored: 7, assume: 1)')
    assert reason(plugin, filtered(cluster, plugin, pod_with("e", name="q")), "n") is None


def test_a_claim_sent_to_a_node_keeps_the_next_pod_there() -> None:
    cluster, plugin = world(make_claim("c", storage_class="late"))
    cycle = filtered(cluster, plugin, pod_with("c"))
    assert plugin.reserve(cycle, "m") is None
    assert plugin.reserved(cycle) == {"provision": ["default/c"]}
    assert plugin.pre_bind_pre_flight(cycle, "m") == PreFlight(parallel=True)
    after = filtered(cluster, plugin, pod_with("c", name="q"))
    assert reason(plugin, after, "m") is None
    assert reason(plugin, after, "n") is not None


def test_nothing_is_reserved_when_every_claim_is_bound_already() -> None:
    cluster, plugin = world(make_claim("c", volume="v"), make_volume("v"))
    cycle = filtered(cluster, plugin, pod_with("c"))
    assert plugin.reserve(cycle, "n") is None
    assert plugin.reserved(cycle) == {}
    flight = plugin.pre_bind_pre_flight(cycle, "n").status
    assert flight is not None
    assert flight.code is Code.SKIP


def test_claims_that_get_bound_between_filter_and_reserve_need_nothing_more() -> None:
    cluster, plugin = world(make_claim("c", storage_class="late"))
    cycle = filtered(cluster, plugin, pod_with("c"))
    put(cluster, make_claim("c", storage_class="late", volume="v"))
    assert plugin.reserve(cycle, "n") is None
    assert plugin.reserved(cycle) == {}


def test_reserve_goes_on_with_the_plan_when_a_claim_vanished_meanwhile() -> None:
    cluster, plugin = world(make_claim("c", storage_class="late"), make_claim("b", volume="v"))
    put(cluster, make_volume("v"))
    cycle = filtered(cluster, plugin, pod_with("b", "c"))
    cluster.catalog.remove(make_claim("b"))
    assert plugin.reserve(cycle, "n") is None
    assert plugin.reserved(cycle) == {"provision": ["default/c"]}
    cycle = filtered(cluster, plugin, pod_with("c"))
    cluster.catalog.remove(make_claim("c"))
    assert plugin.reserve(cycle, "n") == error('persistentvolumeclaims "default/c" not found')


def test_preflight_misses_a_plan_that_was_never_made() -> None:
    cluster, plugin = world(make_claim("c", storage_class="late"))
    cycle = filtered(cluster, plugin, pod_with("c"))
    expected = PreFlight(error('no pod volume found for node "n"'))
    assert plugin.pre_bind_pre_flight(cycle, "n") == expected
    with pytest.raises(StateMissing):
        plugin.pre_bind_pre_flight(cycle_for(pod_with("c"), cluster), "n")


def test_a_free_volume_gets_a_full_reference_to_its_claim() -> None:
    claim = make_claim("c", metadata={"resourceVersion": "5"})
    taken = bound_to(make_volume("v"), claim)
    reference = taken.spec.claim_ref
    assert reference is not None
    assert (reference.kind, reference.api_version) == ("PersistentVolumeClaim", "v1")
    assert (reference.namespace, reference.name) == ("default", "c")
    assert (reference.uid, reference.resource_version) == ("uid-default-c", "5")
    assert taken.metadata.annotations == {BOUND_BY_CONTROLLER: "yes"}


def test_a_volume_set_aside_by_a_person_is_not_marked_as_the_controllers() -> None:
    claim = make_claim("c")
    named = make_volume("v", claim={"name": "c", "namespace": "default"})
    taken = bound_to(named, claim)
    assert taken.spec.claim_ref is not None
    assert taken.spec.claim_ref.uid == "uid-default-c"
    assert taken.metadata.annotations is None
    assert bound_to(taken, claim) is taken


def test_a_claim_sent_to_a_node_keeps_its_other_annotations() -> None:
    sent = sent_to(make_claim("c", annotations={"x": "y"}), "n")
    assert sent.metadata.annotations == {"x": "y", SELECTED_NODE: "n"}


def test_hints_let_through_what_can_help() -> None:
    cluster, plugin = world()
    hints = {(r.resource, r.action): r.hint for r in plugin.events()}
    both = Action.ADD | Action.UPDATE
    pod = cluster.infos.of(pod_with("c"))
    inline = cluster.infos.of(make_pod("p", volumes=[{"name": "i", "csi": {"driver": "d"}}]))
    assert hints[Resource.PERSISTENT_VOLUME, both] is None
    assert hints[Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL] is None

    on_class = hints[Resource.STORAGE_CLASS, both]
    assert on_class
    plain, zonal = make_class("s"), make_class("s", topologies=[{"zone": ["a"]}])
    assert on_class(pod, None, plain)
    assert on_class(pod, plain, zonal)
    assert not on_class(pod, plain, make_class("s", topologies=[]))

    on_claim = hints[Resource.PERSISTENT_VOLUME_CLAIM, both]
    assert on_claim
    assert on_claim(pod, None, make_claim("c"))
    assert on_claim(cluster.infos.of(with_ephemeral()), None, make_claim("p-tmp"))
    assert not on_claim(pod, None, make_claim("c", namespace="other"))

    on_csi_node = hints[Resource.CSI_NODE, both]
    assert on_csi_node
    migrated = make_csi_node("n", migrated=["x"])
    assert on_csi_node(pod, None, make_csi_node("n"))
    assert on_csi_node(pod, make_csi_node("n"), migrated)
    assert not on_csi_node(pod, migrated, make_csi_node("n", {"d": 1}, migrated=["x"]))

    on_driver = hints[Resource.CSI_DRIVER, Action.UPDATE]
    assert on_driver
    tracking, relaxed = make_driver("d", storageCapacity=True), make_driver("d")
    assert on_driver(inline, tracking, relaxed)
    assert not on_driver(inline, relaxed, tracking)
    assert not on_driver(inline, make_driver("e", storageCapacity=True), make_driver("e"))
    assert not on_driver(pod, tracking, relaxed)

    on_room = hints[Resource.CSI_STORAGE_CAPACITY, both]
    assert on_room

    def room(**sizes: str) -> Any:
        return make_capacity("r", "s", topology={}, **sizes)

    assert on_room(pod, None, room())
    assert on_room(pod, room(), room(capacity="1Gi"))
    assert on_room(pod, room(capacity="1Gi"), room(capacity="2Gi"))
    assert not on_room(pod, room(capacity="2Gi"), room(capacity="9Gi", largest="1Gi"))
    assert not on_room(pod, room(capacity="1Gi"), room())


def test_decisions_belong_to_one_profile() -> None:
    volume = make_volume("v", storage_class="static")
    static = make_class("static", provisioner="kubernetes.io/no-provisioner")
    claims = [make_claim(name, storage_class="static") for name in "cd"]
    cluster, plugin = world(static, volume, *claims)
    assert plugin.reserve(filtered(cluster, plugin, pod_with("c")), "n") is None
    elsewhere = plugin_for(cluster)
    other = filtered(cluster, elsewhere, pod_with("d", name="q"))
    assert reason(elsewhere, other, "n") is None
    assert cluster.catalog.get(PersistentVolume, "v") is volume
