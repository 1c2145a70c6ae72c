"""VolumeRestrictions: disks that cannot be shared, claims for one pod alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.plugins.storage_builders import claim_volume, make_claim, put

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.volumes import Volume
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Shadow
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from podium.scheduler.plugins.volume_restrictions import VolumeRestrictions
from podium.testing import cycle_for, filter_answers, make_cluster, make_handle, make_node, make_pod

DISK_CONFLICT = unschedulable("node(s) had no available disk")
IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode"
    " already in-use by another pod"
)


def gce(name: str, read_only: bool = False) -> dict[str, Any]:
    return {"name": "d", "gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def ebs(volume: str, read_only: bool = False) -> dict[str, Any]:
    return {"name": "d", "awsElasticBlockStore": {"volumeID": volume, "readOnly": read_only}}


def iscsi(iqn: str, read_only: bool = False) -> dict[str, Any]:
    return {"name": "d", "iscsi": {"iqn": iqn, "readOnly": read_only}}


def rbd(monitors: list[str], image: str, read_only: bool = False) -> dict[str, Any]:
    source = {"monitors": monitors, "pool": "p", "image": image, "readOnly": read_only}
    return {"name": "d", "rbd": source}


def collide(mine: Volume, theirs: Volume) -> bool:
    """Two volumes of two pods on one node, as the rule says it."""
    a, b = mine.gce_persistent_disk, theirs.gce_persistent_disk
    if a and b and a.pd_name == b.pd_name and not (a.read_only and b.read_only):
        return True
    c, d = mine.aws_elastic_block_store, theirs.aws_elastic_block_store
    if c and d and c.volume_id == d.volume_id:
        return True
    e, f = mine.iscsi, theirs.iscsi
    if e and f and e.iqn == f.iqn and not (e.read_only and f.read_only):
        return True
    g, h = mine.rbd, theirs.rbd
    return bool(
        g
        and h
        and set(g.monitors or ()) & set(h.monitors or ())
        and (g.pool, g.image) == (h.pool, h.image)
        and not (g.read_only and h.read_only)
    )


def plugin_for(cluster: Cluster) -> VolumeRestrictions:
    return VolumeRestrictions(None, make_handle(cluster))


names = st.sampled_from(("x", "y"))
disks = st.one_of(
    st.builds(gce, names, st.booleans()),
    st.builds(ebs, names, st.booleans()),
    st.builds(iscsi, names, st.booleans()),
    st.builds(rbd, st.lists(st.sampled_from(("m1", "m2", "m3")), max_size=2), names, st.booleans()),
    st.just({"name": "e", "emptyDir": {}}),
)
disk_lists = st.lists(disks, max_size=2)


@given(
    held=st.lists(st.lists(disk_lists, max_size=2), min_size=1, max_size=4),
    moved=st.lists(st.tuples(st.integers(0, 3), disk_lists), max_size=3),
    wanted=disk_lists,
)
def test_an_index_of_disks_answers_as_a_walk_over_the_pods_does(
    held: list[list[list[dict[str, Any]]]],
    moved: list[tuple[int, list[dict[str, Any]]]],
    wanted: list[dict[str, Any]],
) -> None:
    cluster = make_cluster(make_node(f"n{i}") for i in range(len(held)))
    plugin = plugin_for(cluster)
    pods = [
        make_pod(f"p{row}-{k}", node=f"n{row}", volumes=volumes)
        for row, on_row in enumerate(held)
        for k, volumes in enumerate(on_row)
    ]
    for pod in pods:
        cluster.add_pod(pod)
    new = make_pod("new", volumes=wanted)

    def check() -> None:
        assert filter_answers(plugin, new, cluster) == {
            f"n{row}": DISK_CONFLICT
            if any(
                collide(mine, theirs)
                for pod in cluster.usage.pods(row)
                for mine in new.spec.volumes or ()
                for theirs in pod.pod.spec.volumes or ()
            )
            else None
            for row in range(len(held))
        }

    check()
    for number, (row, volumes) in enumerate(moved):
        if pods and number % 2:
            cluster.remove_pod(pods.pop().metadata.uid)
        if row < len(held):
            cluster.add_pod(make_pod(f"m{number}", node=f"n{row}", volumes=volumes))
        check()


def conflict(mine: dict[str, Any], theirs: dict[str, Any]) -> Status | None:
    holder = make_pod("holder", node="n", volumes=[theirs])
    cluster = make_cluster([make_node("n")], [holder])
    return filter_answers(plugin_for(cluster), make_pod("p", volumes=[mine]), cluster)["n"]


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (ebs("v", True), ebs("v", True), DISK_CONFLICT),
        (gce("v", True), gce("v", True), None),
        (gce("v", True), gce("v"), DISK_CONFLICT),
        (iscsi("v", True), iscsi("v", True), None),
        (rbd(["a", "b"], "i"), rbd(["b", "c"], "i"), DISK_CONFLICT),
        (rbd(["a"], "i"), rbd(["b"], "i"), None),
        (gce("v"), ebs("v"), None),
    ],
)
def test_kinds_differ_in_what_read_only_allows(
    mine: dict[str, Any], theirs: dict[str, Any], expected: Status | None
) -> None:
    assert conflict(mine, theirs) == expected


def test_a_trial_answers_for_the_pods_it_imagines() -> None:
    holder = make_pod("holder", node="a", volumes=[ebs("v")])
    cluster = make_cluster([make_node("a"), make_node("b")], [holder])
    plugin = plugin_for(cluster)
    cycle = cycle_for(make_pod("p", volumes=[ebs("v")]), cluster)
    assert plugin.pre_filter(cycle) is None
    trial = cycle.fork()
    info = cluster.placements[holder.metadata.uid].info
    trial.usage.remove(0, info)
    trial.usage.add(1, info)
    rows = cluster.nodes.all_rows()
    imagined, real = plugin.filter(trial, rows), plugin.filter(cycle, rows)
    assert imagined is not None
    assert real is not None
    assert imagined.values.tolist() == [0, 1]
    assert real.values.tolist() == [1, 0]


def test_a_trial_on_a_copy_that_followed_many_changes_answers_for_its_pods() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")])
    copy = Shadow(cluster.usage)
    holder = make_pod("holder", node="a", volumes=[ebs("v")])
    for pod in (holder, make_pod("q", node="b"), make_pod("r", node="b")):
        cluster.add_pod(pod)
    plugin = plugin_for(cluster)
    cycle = cycle_for(make_pod("p", volumes=[ebs("v")]), cluster)
    assert plugin.pre_filter(cycle) is None
    copy.follow()
    trial = cycle.fork(copy.usage)
    trial.usage.remove(0, cluster.placements[holder.metadata.uid].info)
    assert plugin.filter(trial, cluster.nodes.all_rows()) is None


def exclusive(name: str, namespace: str = "default") -> Any:
    return make_claim(name, namespace=namespace, modes=["ReadWriteOncePod"])


def started(cluster: Cluster, *claims: str) -> tuple[VolumeRestrictions, Cycle, object]:
    plugin = plugin_for(cluster)
    cycle = cycle_for(make_pod("p", volumes=[claim_volume(c) for c in claims]), cluster)
    return plugin, cycle, plugin.pre_filter(cycle)


def test_a_claim_for_one_pod_in_use_anywhere_rejects_every_node() -> None:
    holder = make_pod("holder", node="a", volumes=[claim_volume("c")])
    cluster = make_cluster([make_node("a"), make_node("b")], [holder])
    put(cluster, exclusive("c"))
    pod = make_pod("p", volumes=[claim_volume("c")])
    assert filter_answers(plugin_for(cluster), pod, cluster) == {"a": IN_USE, "b": IN_USE}


def test_a_disk_conflict_is_named_before_a_claim_in_use() -> None:
    holder = make_pod("holder", node="a", volumes=[claim_volume("c"), ebs("v")])
    cluster = make_cluster([make_node("a"), make_node("b")], [holder])
    put(cluster, exclusive("c"))
    pod = make_pod("p", volumes=[claim_volume("c"), ebs("v")])
    assert filter_answers(plugin_for(cluster), pod, cluster) == {"a": DISK_CONFLICT, "b": IN_USE}


def test_prefilter_skips_what_nobody_can_contest() -> None:
    holder = make_pod("holder", node="a", volumes=[claim_volume("shared")])
    cluster = make_cluster([make_node("a")], [holder])
    put(cluster, exclusive("free"), make_claim("shared"), exclusive("shared", "other"))
    assert started(cluster, "free", "shared")[2] == SKIP
    assert plugin_for(cluster).pre_filter(cycle_for(make_pod("p"), cluster)) == SKIP


def test_prefilter_reports_a_claim_that_does_not_exist() -> None:
    cluster = make_cluster([make_node("a")])
    answer = started(cluster, "c")[2]
    assert answer == unresolvable('persistentvolumeclaim "c" not found')


def test_a_user_whose_node_is_gone_does_not_count() -> None:
    holder = make_pod("holder", node="gone", volumes=[claim_volume("c")])
    cluster = make_cluster([make_node("a")], [holder])
    put(cluster, exclusive("c"))
    assert started(cluster, "c")[2] == SKIP


def test_removing_the_user_frees_the_claim_in_a_trial_only() -> None:
    holder = make_pod("holder", node="a", volumes=[claim_volume("c")])
    cluster = make_cluster([make_node("a")], [holder])
    put(cluster, exclusive("c"))
    plugin, cycle, _ = started(cluster, "c")
    trial = cycle.fork()
    info = cluster.placements[holder.metadata.uid].info
    plugin.remove_pod(trial, info, 0)
    row = np.array([0])
    assert plugin.filter(trial, row) is None
    assert plugin.filter(cycle, row) is not None
    plugin.add_pod(trial, info, 0)
    assert plugin.filter(trial, row) is not None


def test_trials_count_equal_claim_names_of_other_namespaces() -> None:
    holder = make_pod("holder", node="a", volumes=[claim_volume("c")])
    cluster = make_cluster([make_node("a")], [holder])
    put(cluster, exclusive("c"))
    plugin, cycle, _ = started(cluster, "c")
    stranger = make_pod("s", namespace="other", volumes=[claim_volume("c")])
    plugin.remove_pod(cycle, cluster.infos.of(stranger), 0)
    assert plugin.filter(cycle, np.array([0])) is None


def test_hints_let_through_what_can_help() -> None:
    cluster = make_cluster([make_node("a")])
    hints = {(r.resource, r.action): r.hint for r in plugin_for(cluster).events()}
    pod = cluster.infos.of(make_pod("p", volumes=[ebs("v"), claim_volume("c")]))
    assert hints[Resource.NODE, Action.ADD] is None
    deleted = hints[Resource.POD, Action.DELETE]
    added = hints[Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD]
    assert deleted
    assert added

    def leaving(**more: Any) -> Pod:
        return make_pod("old", node="a", **more)

    assert deleted(pod, leaving(volumes=[ebs("v")]), None)
    assert deleted(pod, leaving(volumes=[claim_volume("c")]), None)
    assert not deleted(pod, leaving(volumes=[ebs("w"), claim_volume("d")]), None)
    assert not deleted(pod, leaving(namespace="other", volumes=[ebs("v")]), None)
    assert added(pod, None, make_claim("c"))
    assert not added(pod, None, make_claim("c", namespace="other"))
    assert not added(pod, None, make_claim("d"))
