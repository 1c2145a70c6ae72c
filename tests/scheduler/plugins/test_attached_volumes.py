"""Volumes on nodes, kept between questions: always what a fresh look would find."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.plugins.storage_builders import (
    claim_volume,
    make_attachment,
    make_claim,
    make_class,
    make_csi_node,
    make_volume,
    put,
)

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.status import Status, unschedulable
from podium.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from podium.testing import filter_answers, make_cluster, make_handle, make_node, make_pod

EXCEEDED = unschedulable("node(s) exceed max volume count")


def reference(cluster: Cluster, pod: Pod, node: str) -> Status | None:
    """The rule for one node, with every lookup done on the spot."""
    catalog = cluster.catalog
    csi_node = catalog.get(CSINode, node)

    def handles(of: Pod) -> set[tuple[str, str]]:
        found = set()
        for volume in of.spec.volumes or ():
            if volume.persistent_volume_claim is None:
                if volume.cinder is not None and csi_node is not None:
                    found.add(("cinder.csi.openstack.org", volume.cinder.volume_id))
                continue
            name = volume.persistent_volume_claim.claim_name
            claim = catalog.get(PersistentVolumeClaim, name, "default")
            if claim is None:
                continue
            target = catalog.get(PersistentVolume, claim.spec.volume_name or "?")
            if target is not None and target.spec.csi is not None:
                found.add((target.spec.csi.driver, target.spec.csi.volume_handle))
            elif target is None:
                storage_class = catalog.get(StorageClass, claim.spec.storage_class_name or "?")
                if storage_class is not None:
                    found.add((storage_class.provisioner, f"unbound {name}"))
        return found

    new = handles(pod)
    limits = {
        driver.name: driver.allocatable.count
        for driver in (csi_node.spec.drivers or () if csi_node is not None else ())
        if driver.allocatable is not None and driver.allocatable.count is not None
    }
    pods = cluster.usage.pods(cluster.nodes.row(node))
    held = {handle for info in pods for handle in handles(info.pod)}
    everything = set(held)
    for attachment in catalog.all(VolumeAttachment):
        target = catalog.get(PersistentVolume, attachment.spec.source.persistent_volume_name or "?")
        if attachment.spec.node_name == node and target is not None and target.spec.csi:
            everything.add((attachment.spec.attacher, target.spec.csi.volume_handle))
    for driver, limit in limits.items():
        added = sum(found[0] == driver for found in new - held)
        if added and added + sum(found[0] == driver for found in everything) > limit:
            return EXCEEDED
    return None


NODES, CLAIMS, VOLUMES = ("n0", "n1", "n2"), ("c0", "c1", "c2"), ("v0", "v1", "v2")
DRIVERS = ("d0", "d1")

Step = Callable[[Cluster], None]


def add_or_remove(number: int, node: str, claims: list[str], cinder: bool) -> Step:
    def step(cluster: Cluster) -> None:
        uid = f"uid-default-p{number}"
        if uid in cluster.placements:
            cluster.remove_pod(uid)
            return
        volumes = [claim_volume(claim) for claim in claims]
        if cinder:
            volumes.append({"name": "i", "cinder": {"volumeID": "x"}})
        cluster.add_pod(make_pod(f"p{number}", node=node, volumes=volumes))

    return step


def put_or_remove(made: Any, present: bool) -> Step:
    return lambda cluster: cluster.catalog.put(made) if present else cluster.catalog.remove(made)


objects = st.one_of(
    st.builds(
        lambda name, volume, group: make_claim(name, volume=volume, storage_class=group),
        st.sampled_from(CLAIMS),
        st.sampled_from(("", *VOLUMES)),
        st.sampled_from((None, "s0", "s1")),
    ),
    st.builds(
        lambda name, driver, handle: make_volume(name, csi=(driver, handle)),
        st.sampled_from(VOLUMES),
        st.sampled_from(DRIVERS),
        st.sampled_from(("h0", "h1")),
    ),
    st.builds(
        lambda name, driver: make_class(name, provisioner=driver),
        st.sampled_from(("s0", "s1")),
        st.sampled_from(DRIVERS),
    ),
    st.builds(
        make_csi_node,
        st.sampled_from(NODES),
        st.dictionaries(
            st.sampled_from((*DRIVERS, "cinder.csi.openstack.org")),
            st.none() | st.integers(0, 2),
        ),
    ),
    st.builds(
        lambda name, node, driver, volume: make_attachment(
            name, node=node, driver=driver, volume=volume
        ),
        st.sampled_from(("x0", "x1")),
        st.sampled_from(NODES),
        st.sampled_from(DRIVERS),
        st.sampled_from(VOLUMES),
    ),
)
claim_lists = st.lists(st.sampled_from(CLAIMS), max_size=2)
steps = st.one_of(
    st.builds(put_or_remove, objects, st.integers(0, 3).map(bool)),
    st.builds(add_or_remove, st.integers(0, 3), st.sampled_from(NODES), claim_lists, st.booleans()),
)


@given(before=st.lists(steps, max_size=12), after=st.lists(steps, max_size=6), wanted=claim_lists)
def test_what_is_kept_between_questions_stays_true(
    before: list[Step], after: list[Step], wanted: list[str]
) -> None:
    cluster = make_cluster(make_node(name) for name in NODES[:2])
    put(cluster, *(make_csi_node(name, {"d0": 1}) for name in NODES))
    plugin = NodeVolumeLimits(None, make_handle(cluster))
    pod = make_pod("new", volumes=[claim_volume(claim) for claim in (*wanted, "always")])
    put(cluster, make_claim("always", storage_class="s0"), make_class("s0", provisioner="d0"))
    for claim in CLAIMS:
        put(cluster, make_claim(claim))

    def check() -> None:
        # A claim that a step removed would keep the pod off every node.
        for claim in CLAIMS:
            if cluster.catalog.get(PersistentVolumeClaim, claim, "default") is None:
                put(cluster, make_claim(claim))
        answers = filter_answers(plugin, pod, cluster)
        assert answers == {node: reference(cluster, pod, node) for node in answers}

    for step in before:
        step(cluster)
    check()
    cluster.put_node(make_node(NODES[2]))
    for step in after:
        step(cluster)
        check()
