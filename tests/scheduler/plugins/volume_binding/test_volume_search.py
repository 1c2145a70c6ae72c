"""The search for volumes, rule by rule."""

from typing import Any

from support.scheduler.plugins.storage_builders import (
    SELECTED_NODE,
    expression,
    make_capacity,
    make_claim,
    make_class,
    make_csi_node,
    make_driver,
    make_volume,
    put,
)
from support.scheduler.plugins.volume_clusters import (
    DRIVER,
    ZONE,
    cluster_of,
    planned,
    plugin_for,
    pod_with,
)

from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import Version
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import VolumeBindingArgs
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.queued import WaitingPods
from podium.scheduler.framework.status import Status, error, unresolvable
from podium.scheduler.plugins.volume_binding.plugin import VolumeBinding, VolumeState
from podium.testing import cycle_for, filter_answers

BIND = "node(s) didn't find available persistent volumes to bind"
SPACE = "node(s) did not have enough free storage"
AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


def local(name: str, **more: Any) -> PersistentVolume:
    """A volume of the class `local`."""
    return make_volume(name, storage_class="local", **more)


def delayed(name: str, **more: Any) -> Any:
    return make_claim(name, storage_class=more.pop("storage_class", "local"), **more)


def answers(cluster: Cluster, *claims: str) -> dict[str, Status | None]:
    return filter_answers(plugin_for(cluster), pod_with(*claims), cluster)


def told(cluster: Cluster, *claims: str, on: str = "n") -> dict[str, Any]:
    plugin = plugin_for(cluster)
    return plugin.reserved(planned(cluster, plugin, pod_with(*claims), on))


def test_the_smallest_volumes_that_fit_are_taken() -> None:
    cluster = cluster_of(
        *(local(f"v{size}", capacity=f"{size}Gi") for size in (1, 5, 10)),
        delayed("big", request="5Gi"),
        delayed("small", request="1Gi"),
    )
    assert told(cluster, "big", "small") == {
        "bindings": {"default/small": "v1", "default/big": "v5"}
    }


def test_volumes_of_equal_size_are_taken_by_name() -> None:
    cluster = cluster_of(local("b"), local("a", capacity="1073741824"), delayed("c"))
    assert told(cluster, "c") == {"bindings": {"default/c": "a"}}


def test_a_volume_set_aside_for_the_claim_is_the_only_one_for_it() -> None:
    claim = delayed("c")
    cluster = cluster_of(local("mine", claim=claim, nodes=["m"]), local("free"), claim)
    assert answers(cluster, "c") == {"n": unresolvable(BIND), "m": None}
    assert told(cluster, "c", on="m") == {"bindings": {"default/c": "mine"}}


def test_a_volume_set_aside_that_is_too_small_lets_another_win() -> None:
    claim = delayed("c", request="2Gi")
    cluster = cluster_of(local("mine", claim=claim), local("free", capacity="2Gi"), claim)
    assert told(cluster, "c") == {"bindings": {"default/c": "free"}}


def test_a_volume_of_an_earlier_claim_of_that_name_is_not_for_the_new_one() -> None:
    old = {"name": "c", "namespace": "default", "uid": "another"}
    cluster = cluster_of(local("old", claim=old), delayed("c"))
    assert answers(cluster, "c") == dict.fromkeys(("n", "m"), unresolvable(BIND))


def test_a_claim_on_its_way_to_a_node_stays_there() -> None:
    claim = delayed("c", storage_class="made", annotations={SELECTED_NODE: "m"})
    assert answers(cluster_of(claim), "c") == {"n": unresolvable(BIND), "m": None}
    elsewhere = delayed("c", storage_class="made", annotations={SELECTED_NODE: "unknown"})
    assert answers(cluster_of(elsewhere), "c") == dict.fromkeys(("n", "m"), unresolvable(BIND))


def test_room_is_checked_claim_by_claim() -> None:
    room = make_capacity("r", "made", topology={ZONE: "a"}, capacity="100Gi")
    claims = [delayed(name, storage_class="made", request="60Gi") for name in "cd"]
    cluster = cluster_of(make_driver(DRIVER, storageCapacity=True), room, *claims)
    assert answers(cluster, "c", "d") == {"n": None, "m": unresolvable(SPACE)}
    assert told(cluster, "d", "c") == {"provision": ["default/c", "default/d"]}


def test_room_matters_only_for_drivers_that_track_it_and_claims_that_say_a_size() -> None:
    claim = delayed("c", storage_class="made")
    free = dict.fromkeys(("n", "m"))
    assert answers(cluster_of(claim), "c") == free
    assert answers(cluster_of(claim, make_driver(DRIVER)), "c") == free
    tracking = make_driver(DRIVER, storageCapacity=True)
    full = dict.fromkeys(("n", "m"), unresolvable(SPACE))
    assert answers(cluster_of(claim, tracking), "c") == full
    sizeless = delayed("c", storage_class="made", request=None)
    assert answers(cluster_of(sizeless, tracking), "c") == free
    unknown = make_capacity("r", "made", topology={})
    nowhere = make_capacity("r2", "made", topology=None, capacity="1Ti")
    too_small = make_capacity("r3", "made", topology={}, capacity="1Ti", largest="1Mi")
    garbled = make_capacity("r4", "made", topology={"not a key!": "x"}, capacity="1Ti")
    of_others = make_capacity("r5", "other", topology={}, capacity="1Ti")
    rooms = (unknown, nowhere, too_small, garbled, of_others)
    assert answers(cluster_of(claim, tracking, *rooms), "c") == full


def test_a_class_may_restrict_where_volumes_are_made() -> None:
    cluster = cluster_of(delayed("c", storage_class="zonal"))
    put(cluster, make_class("zonal", topologies=[{}, {ZONE: ["b", "x"]}]))
    assert answers(cluster, "c") == {"n": unresolvable(BIND), "m": None}
    put(cluster, make_class("zonal", topologies=[{ZONE: []}, {ZONE: ["bad value!"]}]))
    assert answers(cluster, "c") == dict.fromkeys(("n", "m"), unresolvable(BIND))


def test_reasons_against_bound_and_unbound_claims_are_told_together() -> None:
    cluster = cluster_of(
        make_volume("far", nodes=["m"]),
        make_claim("bound", volume="far"),
        make_claim("lost", volume="nothing"),
        delayed("c"),
    )
    assert answers(cluster, "bound", "c")["n"] == unresolvable(AFFINITY, BIND)
    assert answers(cluster, "lost", "c")["n"] == unresolvable(BIND, GONE)
    # The first claim with a problem ends the look at bound claims.
    assert answers(cluster, "bound", "lost") == {
        "n": unresolvable(AFFINITY),
        "m": unresolvable(GONE),
    }


def test_fields_in_a_volumes_affinity_are_not_looked_at() -> None:
    fields = {"matchFields": [expression("metadata.name", "In", "elsewhere")]}
    cluster = cluster_of(make_volume("v", terms=[fields]), make_claim("c", volume="v"))
    assert answers(cluster, "c") == dict.fromkeys(("n", "m"))


def test_an_affinity_that_cannot_be_parsed_reaches_no_node() -> None:
    broken = {"matchExpressions": [expression(ZONE, "Near", "a")]}
    cluster = cluster_of(make_volume("v", terms=[broken]), make_claim("c", volume="v"))
    assert answers(cluster, "c") == dict.fromkeys(("n", "m"), unresolvable(AFFINITY))


def test_a_migrated_volume_is_looked_for_by_the_keys_of_its_driver() -> None:
    volume = make_volume(
        "v", labels={ZONE: "a"}, awsElasticBlockStore={"volumeID": "vol-1"}, terms=None
    )
    cluster = cluster_of(volume, make_claim("c", volume="v"))
    assert answers(cluster, "c") == dict.fromkeys(("n", "m"))
    put(cluster, make_csi_node("n", migrated=["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd"]))
    assert answers(cluster, "c") == {"n": unresolvable(AFFINITY), "m": None}


def test_a_volume_that_cannot_be_translated_is_an_error_where_it_should_be() -> None:
    disk = {"diskName": "d", "diskURI": "u", "kind": "Shared"}
    cluster = cluster_of(make_volume("v", azureDisk=disk), make_claim("c", volume="v"))
    put(cluster, make_csi_node("n", migrated=["kubernetes.io/azure-disk"]))
    text = "could not translate pv: kind(Shared) is not supported in csi migration"
    assert answers(cluster, "c") == {"n": error(text), "m": None}


def test_a_claim_with_a_broken_selector_is_an_error() -> None:
    broken = {"matchExpressions": [{"key": "x", "operator": "Near"}]}
    found = answers(cluster_of(delayed("c", selector=broken)), "c")["n"]
    assert found is not None
    assert found.message.startswith("error creating internal label selector for claim: default/c: ")


def test_a_class_that_went_away_after_prefilter_is_an_error() -> None:
    cluster = cluster_of(delayed("c", storage_class="made"))
    plugin, cycle = plugin_for(cluster), cycle_for(pod_with("c"), cluster)
    assert plugin.pre_filter(cycle) is None
    cluster.catalog.remove(make_class("made"))
    verdict = plugin.filter(cycle, cluster.nodes.all_rows())
    assert verdict is not None
    assert verdict.describe(int(verdict.values[0])) == error('failed to find storage class "made"')


def test_a_claim_used_twice_is_looked_for_twice() -> None:
    cluster = cluster_of(local("v"), delayed("c"))
    assert answers(cluster, "c")["n"] is None
    assert answers(cluster, "c", "c")["n"] == unresolvable(BIND)


def test_the_state_forgets_what_was_found_for_other_nodes() -> None:
    cluster = cluster_of(local("v"), delayed("c"))
    plugin = plugin_for(cluster)
    cycle = planned(cluster, plugin, pod_with("c"), "n")
    assert cycle.read("VolumeBinding", VolumeState).findings is None


def test_a_claim_of_an_attributes_class_fails_while_the_gate_is_off() -> None:
    cluster = cluster_of(local("v"), delayed("c", volumeAttributesClassName="gold"))
    off = FeatureGates({"VolumeAttributesClass": False}, emulated=Version(1, 35))
    plugin = VolumeBinding(VolumeBindingArgs(), Handle(cluster, off, WaitingPods()))
    told = filter_answers(plugin, pod_with("c"), cluster)["n"]
    assert told == error(
        "unsupported volumeAttributesClassName is set on claim default/c when the feature-gate "
        "VolumeAttributesClass is disabled"
    )


def test_claims_that_ask_for_the_same_share_one_plan() -> None:
    """A pod may have tens of thousands of claims; what holds for one holds for those like it."""
    sizes = [1, 1, 1, 4, 4, 9, 1]
    claims = [
        delayed(f"c{n}", storage_class="made", request=f"{size}Gi") for n, size in enumerate(sizes)
    ]
    room = make_capacity("wide", "made", topology={ZONE: "a"}, capacity="5Gi")
    for tracked in ((), (make_driver(DRIVER, storageCapacity=True), room)):
        cluster = cluster_of(*tracked, *claims)
        plugin, cycle = plugin_for(cluster), cycle_for(pod_with(*map(_name, claims)), cluster)
        assert plugin.pre_filter(cycle) is None
        plugin.filter(cycle, cluster.nodes.all_rows())
        findings = cycle.read("VolumeBinding", VolumeState).findings
        assert findings is not None
        assert [_name(plan.claim) for plan in findings.plans][:4] == ["c0", "c1", "c2", "c6"]
        assert len({id(plan.wanted) for plan in findings.plans}) == 3


def _name(claim: PersistentVolumeClaim) -> str:
    return claim.metadata.name
