"""VolumeZone: volumes keep pods in their zone."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.plugins.storage_builders import (
    claim_volume,
    make_claim,
    make_class,
    make_volume,
    put,
)

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import SKIP, Status, unresolvable
from podium.scheduler.plugins.volume_zone import VolumeZone
from podium.testing import cycle_for, filter_answers, make_cluster, make_handle, make_node, make_pod

CONFLICT = unresolvable("node(s) had no available volume zone")
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
KEYS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
STABLE = {BETA_ZONE: ZONE, BETA_REGION: REGION}


def cluster_with(nodes: list[Node], *objects: Any) -> tuple[Cluster, VolumeZone]:
    cluster = make_cluster(nodes)
    put(cluster, *objects)
    return cluster, VolumeZone(None, make_handle(cluster))


def pod_with(*claims: str) -> Pod:
    return make_pod("p", volumes=[claim_volume(claim) for claim in claims])


def pre_filter(pod: Pod, *objects: Any) -> object:
    cluster, plugin = cluster_with([make_node("n")], *objects)
    return plugin.pre_filter(cycle_for(pod, cluster))


def reference(node: Node, volumes: list[PersistentVolume]) -> Status | None:
    labels = node.metadata.labels or {}
    if not any(key in labels for key in KEYS):
        return None
    for volume in volumes:
        for key in KEYS:
            written = (volume.metadata.labels or {}).get(key)
            if written is None:
                continue
            values = {part.strip() for part in written.split("__")}
            if "" in values:
                continue
            found = labels.get(key, labels.get(STABLE.get(key, key)))
            if found not in values:
                return CONFLICT
    return None


labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(("a", "b")), max_size=3)
volume_labels = st.dictionaries(
    st.sampled_from(KEYS), st.sampled_from(("a", "b", "a__b", "c__ a", "a____b", "")), max_size=3
)


@given(
    node_labels=st.lists(labels, min_size=1, max_size=6),
    on_volumes=st.lists(volume_labels, min_size=1, max_size=2),
)
def test_columns_answer_as_single_nodes_do(
    node_labels: list[dict[str, str]], on_volumes: list[dict[str, str]]
) -> None:
    nodes = [make_node(f"n{i}", labels=found) for i, found in enumerate(node_labels)]
    volumes = [make_volume(f"v{i}", labels=found) for i, found in enumerate(on_volumes)]
    claims = [make_claim(f"c{i}", volume=f"v{i}") for i in range(len(volumes))]
    cluster, plugin = cluster_with(nodes, *volumes, *claims)
    pod = pod_with(*(claim.metadata.name for claim in claims))
    answers = filter_answers(plugin, pod, cluster)
    assert answers == {node.metadata.name: reference(node, volumes) for node in nodes}


def test_a_value_with_several_zones_accepts_each_under_the_stable_key_too() -> None:
    nodes = [make_node("n", labels={ZONE: "b"})]
    volume = make_volume("v", labels={BETA_ZONE: "a__b"})
    cluster, plugin = cluster_with(nodes, volume, make_claim("c", volume="v"))
    assert filter_answers(plugin, pod_with("c"), cluster) == {"n": None}


def test_a_stable_key_is_not_looked_up_under_the_beta_key() -> None:
    nodes = [make_node("n", labels={BETA_ZONE: "a"})]
    cluster, plugin = cluster_with(
        nodes, make_volume("v", labels={ZONE: "a"}), make_claim("c", volume="v")
    )
    assert filter_answers(plugin, pod_with("c"), cluster) == {"n": CONFLICT}


def test_nodes_without_zones_pass() -> None:
    cluster, plugin = cluster_with(
        [make_node("n")], make_volume("v", labels={ZONE: "a"}), make_claim("c", volume="v")
    )
    assert filter_answers(plugin, pod_with("c"), cluster) == {"n": None}


def test_filter_works_constraints_out_when_prefilter_did_not_run() -> None:
    nodes = [make_node("n", labels={ZONE: "b"})]
    cluster, plugin = cluster_with(
        nodes, make_volume("v", labels={ZONE: "a"}), make_claim("c", volume="v")
    )
    verdict = plugin.filter(cycle_for(pod_with("c"), cluster), cluster.nodes.all_rows())
    assert verdict is not None
    assert verdict.describe(int(verdict.values[0])) == CONFLICT
    assert plugin.filter(cycle_for(make_pod("p"), cluster), cluster.nodes.all_rows()) is None
    gone = plugin.filter(cycle_for(pod_with("x"), cluster), cluster.nodes.all_rows())
    assert gone is not None
    assert gone.describe(1) == unresolvable('persistentvolumeclaim "x" not found')


@pytest.mark.parametrize(
    ("objects", "text"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([make_claim("c", volume="v")], 'persistentvolume "v" not found'),
        ([make_claim("c")], "PersistentVolumeClaim had no pv name and storageClass name"),
        ([make_claim("c", storage_class="s")], 'storageclass.storage.k8s.io "s" not found'),
        (
            [make_claim("c", storage_class="s"), make_class("s", mode=None)],
            'VolumeBindingMode not set for StorageClass "s"',
        ),
        (
            [make_claim("c", storage_class="s"), make_class("s", mode="Immediate")],
            "PersistentVolume had no name",
        ),
    ],
)
def test_prefilter_says_which_object_is_in_the_way(objects: list[Any], text: str) -> None:
    assert pre_filter(pod_with("c"), *objects) == unresolvable(text)


def test_prefilter_refuses_a_claim_without_a_name() -> None:
    assert pre_filter(pod_with("")) == unresolvable("PersistentVolumeClaim had no name")


def test_prefilter_skips_pods_that_no_volume_ties_to_a_zone() -> None:
    ephemeral = make_pod("p", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}])
    waiting = [make_claim("c", storage_class="s"), make_class("s")]
    assert pre_filter(make_pod("p")) == SKIP
    assert pre_filter(ephemeral) == SKIP
    assert pre_filter(pod_with("c"), *waiting) == SKIP
    assert pre_filter(pod_with("c"), make_claim("c", volume="v"), make_volume("v")) == SKIP


def test_hints_let_through_what_can_help() -> None:
    cluster, plugin = cluster_with([make_node("n")])
    pod = cluster.infos.of(pod_with("c"))
    hints = {(r.resource, r.action): r.hint for r in plugin.events()}
    assert hints[Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL] is None
    on_class = hints[Resource.STORAGE_CLASS, Action.ADD]
    on_claim = hints[Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD | Action.UPDATE]
    on_volume = hints[Resource.PERSISTENT_VOLUME, Action.ADD | Action.UPDATE]
    assert on_class
    assert on_claim
    assert on_volume
    assert on_class(pod, None, make_class("s"))
    assert not on_class(pod, None, make_class("s", mode="Immediate"))
    assert on_claim(pod, None, make_claim("c"))
    assert not on_claim(pod, None, make_claim("other"))
    assert not on_claim(pod, None, make_claim("c", namespace="other"))
    zoned = make_volume("v", labels={ZONE: "a"})
    assert on_volume(pod, None, zoned)
    assert on_volume(pod, zoned, make_volume("v", labels={ZONE: "b"}))
    assert not on_volume(pod, zoned, make_volume("v", labels={ZONE: "a", "x": "y"}))
