"""The search for volumes, against the rules node by node."""

from typing import Any

from builders import make_cluster, make_handle, make_node, make_pod
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin_answers import cycle_for, filter_answers
from storage_builders import (
    SELECTED_NODE,
    claim_volume,
    expression,
    make_capacity,
    make_claim,
    make_class,
    make_csi_node,
    make_driver,
    make_volume,
    put,
)
from volume_reference import Answer, Decisions, Reference

from podium.api.pod import Pod
from podium.api.storage import PersistentVolume
from podium.cluster.state import Cluster
from podium.config.plugin_args import VolumeBindingArgs
from podium.framework.cycle import Cycle
from podium.framework.status import Status, error, unresolvable
from podium.plugins.volume_binding import VolumeBinding
from podium.plugins.volume_binding.plugin import VolumeState

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
BIND = "node(s) didn't find available persistent volumes to bind"
SPACE = "node(s) did not have enough free storage"
AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
DRIVER = "csi.example.com"
SIZES = ("1Gi", "2Gi", "1073741824", "3Gi")


def plugin_for(cluster: Cluster, **gates: bool) -> VolumeBinding:
    return VolumeBinding(VolumeBindingArgs(), make_handle(cluster, **gates))


def node(name: str, zone: str = "a") -> Any:
    return make_node(name, labels={HOST: name, ZONE: zone})


def pod_with(*claims: str, name: str = "p") -> Pod:
    volumes = [claim_volume(claim, f"v{i}") for i, claim in enumerate(claims)]
    return make_pod(name, volumes=volumes)


def local(name: str, **more: Any) -> PersistentVolume:
    """A volume of the class `local`."""
    return make_volume(name, storage_class="local", **more)


def delayed(name: str, **more: Any) -> Any:
    return make_claim(name, storage_class=more.pop("storage_class", "local"), **more)


def cluster_of(*objects: Any, nodes: tuple[Any, ...] = ()) -> Cluster:
    cluster = make_cluster(nodes or (node("n"), node("m", "b")))
    put(cluster, make_class("local", provisioner="kubernetes.io/no-provisioner"))
    put(cluster, make_class("made", provisioner=DRIVER))
    put(cluster, *objects)
    return cluster


def answers(cluster: Cluster, *claims: str) -> dict[str, Status | None]:
    return filter_answers(plugin_for(cluster), pod_with(*claims), cluster)


def planned(cluster: Cluster, plugin: VolumeBinding, pod: Pod, node_name: str) -> Cycle:
    """The pod's cycle after Reserve on a node."""
    cycle = cycle_for(pod, cluster)
    assert plugin.pre_filter(cycle) is None
    plugin.filter(cycle, cluster.nodes.all_rows())
    assert plugin.reserve(cycle, node_name) is None
    return cycle


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


# The search as a whole.

names = st.sampled_from
zones = names(("a", "b"))
node_names = names(("n0", "n1", "n2"))
affinities = st.one_of(
    st.none(),
    st.lists(
        st.one_of(
            st.builds(lambda n: {"matchExpressions": [expression(HOST, "In", n)]}, node_names),
            st.builds(lambda z: {"matchExpressions": [expression(ZONE, "NotIn", z)]}, zones),
            st.builds(
                lambda z, n: {
                    "matchExpressions": [expression(ZONE, "In", z), expression(HOST, "NotIn", n)]
                },
                zones,
                node_names,
            ),
            st.just({"matchExpressions": [expression("gpu", "Exists")]}),
            st.just({}),
        ),
        max_size=2,
    ),
)
claim_refs = st.one_of(
    st.none(),
    st.none(),
    st.builds(
        lambda n, uid: {
            "name": n,
            "namespace": "default",
            "uid": f"uid-default-{n}" if uid else "",
        },
        names(("d0", "d1", "other")),
        st.booleans(),
    ),
)
volumes = st.builds(
    lambda n, capacity, terms, ref, phase, modes, labels, mode, deleted, group: make_volume(
        f"v{n}",
        storage_class=group,
        capacity=capacity,
        terms=terms,
        claim=ref,
        phase=phase,
        modes=modes,
        labels=labels,
        volumeMode=mode,
        metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleted else None,
    ),
    st.integers(0, 5),
    names(SIZES),
    affinities,
    claim_refs,
    names(("Available", "Available", "Available", "Released")),
    names((["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"])),
    names((None, {"tier": "fast"})),
    names((None, None, "Filesystem", "Block")),
    st.integers(0, 9).map(lambda n: n == 0),
    names(("local", "local", "made")),
)
delayed_claims = st.builds(
    lambda n, group, request, modes, selector, mode, pinned: make_claim(
        f"d{n}",
        storage_class=group,
        request=request,
        modes=modes,
        volumeMode=mode,
        annotations={SELECTED_NODE: pinned} if pinned else None,
        **({"selector": selector} if selector is not None else {}),
    ),
    st.integers(0, 2),
    names(("local", "made", "zonal")),
    names((*SIZES, None)),
    names((["ReadWriteOnce"], ["ReadOnlyMany"])),
    names((None, None, {}, {"matchLabels": {"tier": "fast"}})),
    names((None, None, "Block")),
    names((None, None, None, "n0", "n1")),
)
rooms = st.builds(
    lambda n, topology, capacity, largest: make_capacity(
        f"r{n}", "made", topology=topology, capacity=capacity, largest=largest
    ),
    st.integers(0, 3),
    names((None, {}, {ZONE: "a"}, {HOST: "n1"})),
    names((None, *SIZES)),
    names((None, None, "1Gi")),
)


def in_tree_volume(labels: dict[str, str] | None, terms: Any, kind: str) -> PersistentVolume:
    source: dict[str, Any] = {kind: {"volumeID": "x", "pdName": "x"}}
    return make_volume("b1", labels=labels, terms=terms, **source)


in_tree = st.builds(
    in_tree_volume,
    names((None, {ZONE: "a"}, {ZONE: "us-x1-a__us-y1-b"})),
    affinities,
    names(("awsElasticBlockStore", "gcePersistentDisk", "cinder")),
)
csi_nodes = st.builds(
    lambda n, plugins: make_csi_node(n, migrated=plugins),
    node_names,
    st.lists(names(("kubernetes.io/aws-ebs", "kubernetes.io/gce-pd")), unique=True),
)
world = st.fixed_dictionaries(
    {
        "volumes": st.lists(volumes, max_size=6),
        "claims": st.lists(delayed_claims, min_size=1, max_size=3),
        "rooms": st.lists(rooms, max_size=3),
        "bound": st.lists(
            st.builds(
                lambda n, v: make_claim(f"b{n}", volume=v),
                st.integers(0, 1),
                names(("b1", "v0", "v1", "nothing")),
            ),
            max_size=2,
        ),
        "in_tree": st.lists(in_tree, max_size=1),
        "csi_nodes": st.lists(csi_nodes, max_size=2),
        "tracks": st.booleans(),
    }
)


def status_of(answer: Answer) -> Status | None:
    if answer.error is not None:
        return error(answer.error)
    return unresolvable(*answer.reasons) if answer.reasons else None


@settings(max_examples=300)
@given(world=world, zone_of=st.tuples(zones, zones, zones), data=st.data())
def test_one_search_for_all_nodes_answers_as_the_rules_do_node_by_node(
    world: dict[str, Any], zone_of: tuple[str, str, str], data: st.DataObject
) -> None:
    nodes = tuple(node(f"n{i}", zone) for i, zone in enumerate(zone_of))
    cluster = cluster_of(nodes=nodes)
    zonal = make_class("zonal", topologies=[{ZONE: ["a"]}])
    put(cluster, zonal, make_driver(DRIVER, storageCapacity=world["tracks"]))
    for kind in ("volumes", "claims", "rooms", "bound", "in_tree", "csi_nodes"):
        put(cluster, *world[kind])
    claims = sorted({c.metadata.name for c in (*world["claims"], *world["bound"])})
    plugin, decisions = plugin_for(cluster), Decisions()
    for number in range(3):
        used = data.draw(st.lists(names(claims), min_size=1, max_size=3, unique=True))
        pod = pod_with(*used, name=f"p{number}")
        reference = Reference(cluster.catalog, decisions)
        expected = {n.metadata.name: reference.answer(pod, n) for n in nodes}
        assert filter_answers(plugin, pod, cluster) == {
            name: status_of(answer) for name, answer in expected.items()
        }
        fine = [name for name, answer in expected.items() if status_of(answer) is None]
        if fine:
            chosen = data.draw(names(fine))
            cycle = planned(cluster, plugin, pod, chosen)
            answer = expected[chosen]
            assert plugin.reserved(cycle) == {
                key: found
                for key, found in (
                    ("bindings", answer.bindings),
                    ("provision", sorted(answer.provision)),
                )
                if found
            }
            if data.draw(st.booleans()):
                plugin.unreserve(cycle, chosen)
                # Also what an earlier pod had decided about the same claims is gone.
                for claim in (*answer.bindings, *answer.provision):
                    decisions.pinned.pop(claim, None)
                    for name in [v for v, owner in decisions.taken.items() if owner == claim]:
                        del decisions.taken[name]
            else:
                decisions.taken |= {v: claim for claim, v in answer.bindings.items()}
                decisions.pinned |= dict.fromkeys(answer.provision, chosen)
        if world["volumes"] and data.draw(st.booleans()):
            changed = data.draw(volumes)
            put(cluster, changed)
            decisions.taken.pop(changed.metadata.name, None)


def test_the_state_forgets_what_was_found_for_other_nodes() -> None:
    cluster = cluster_of(local("v"), delayed("c"))
    plugin = plugin_for(cluster)
    cycle = planned(cluster, plugin, pod_with("c"), "n")
    assert cycle.read("VolumeBinding", VolumeState).findings is None
