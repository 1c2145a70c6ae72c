"""The search for volumes for all nodes at once, against the rules node by node."""

from typing import Any

from hypothesis import strategies as st
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
    HOST,
    ZONE,
    cluster_of,
    node,
    planned,
    plugin_for,
    pod_with,
)
from support.scheduler.plugins.volume_reference import Answer, Decisions, Reference
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.storage import PersistentVolume
from podium.scheduler.framework.status import Status, error, unresolvable
from podium.testing import filter_answers

SIZES = ("1Gi", "2Gi", "1073741824", "3Gi")

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


@given_examples(60, 300, world=world, zone_of=st.tuples(zones, zones, zones), data=st.data())
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
