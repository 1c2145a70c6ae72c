"""The attach limits of the time before CSI."""

from typing import Any

import pytest
from support.scheduler.plugins.storage_builders import (
    claim_volume,
    make_claim,
    make_class,
    make_csi_node,
    make_volume,
    put,
)

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import SKIP, Status, error, unschedulable
from podium.scheduler.plugins.legacy_volume_limits import (
    AzureDiskLimits,
    CinderLimits,
    EBSLimits,
    GCEPDLimits,
    LegacyLimitsArgs,
    LegacyVolumeLimits,
)
from podium.testing import cycle_for, filter_answers, make_cluster, make_handle, make_node, make_pod

EXCEEDED = unschedulable("node(s) exceed max volume count")
NITRO = {"node.kubernetes.io/instance-type": "m5.large"}


def disk(number: int) -> dict[str, Any]:
    return {"name": f"d{number}", "cinder": {"volumeID": f"v{number}"}}


def disks(name: str, *numbers: int, node: str = "") -> Pod:
    return make_pod(name, node=node, volumes=[disk(number) for number in numbers])


def cinder(cluster: Cluster, limit: str = "", annotated: bool = False) -> CinderLimits:
    args = LegacyLimitsArgs(max_pd_volumes=limit, annotated_migration=annotated)
    return CinderLimits(args, make_handle(cluster))


def answer(plugin: LegacyVolumeLimits, cluster: Cluster, pod: Pod) -> Status | None:
    return filter_answers(plugin, pod, cluster)["n"]


@pytest.mark.parametrize(
    ("plugin", "labels", "limit"),
    [
        (EBSLimits, {}, 39),
        (EBSLimits, NITRO, 25),
        (EBSLimits, {"beta.kubernetes.io/instance-type": "xt3.nano"}, 25),
        (EBSLimits, {"node.kubernetes.io/instance-type": "x.m5"}, 39),
        (GCEPDLimits, {}, 16),
        (AzureDiskLimits, {}, 16),
        (CinderLimits, {}, 256),
    ],
)
def test_each_cloud_has_its_limit(
    plugin: type[LegacyVolumeLimits], labels: dict[str, str], limit: int
) -> None:
    assert plugin(None, make_handle()).limit(make_node("n", labels=labels)) == limit


def test_the_node_outweighs_the_environment_which_outweighs_the_default() -> None:
    cluster = make_cluster()
    plain = make_node("n")
    own = make_node("n", allocatable={"attachable-volumes-cinder": "3"})
    assert cinder(cluster, "7").limit(plain) == 7
    assert cinder(cluster, "7").limit(own) == 3
    for wrong in ("0", "-1", "many"):
        assert cinder(cluster, wrong).limit(plain) == 256


def test_distinct_disks_are_counted() -> None:
    cluster = make_cluster([make_node("n")], [disks("a", 1, 2, node="n"), disks("b", 2, node="n")])
    plugin = cinder(cluster, "3")
    assert answer(plugin, cluster, disks("new", 2, 3)) is None
    assert answer(plugin, cluster, disks("new", 3, 4)) == EXCEEDED


def test_nodes_that_have_moved_to_csi_are_left_to_the_csi_plugin() -> None:
    cluster = make_cluster([make_node("n")])
    pod = disks("new", 1, 2)
    assert answer(cinder(cluster, "1"), cluster, pod) == EXCEEDED
    put(cluster, make_csi_node("n"))
    assert answer(cinder(cluster, "1"), cluster, pod) is None
    assert answer(cinder(cluster, "1", annotated=True), cluster, pod) == EXCEEDED
    put(cluster, make_csi_node("n", migrated=["kubernetes.io/cinder"]))
    assert answer(cinder(cluster, "1", annotated=True), cluster, pod) is None


def test_claims_count_by_their_volume_or_by_their_class() -> None:
    cluster = make_cluster([make_node("n")], [disks("old", 1, node="n")])
    put(
        cluster,
        make_claim("same", volume="v"),
        make_volume("v", cinder={"volumeID": "v1"}),
        make_claim("other", volume="w"),
        make_volume("w", csi=("d", "h")),
        make_claim("waiting", storage_class="s"),
        make_claim("lost", volume="gone", storage_class="s"),
        make_class("s", provisioner="kubernetes.io/cinder"),
        make_claim("classless"),
    )
    plugin = cinder(cluster, "1")

    def with_claim(name: str) -> Pod:
        return make_pod("new", volumes=[claim_volume(name)])

    for name in ("same", "other", "classless"):
        assert answer(plugin, cluster, with_claim(name)) is None
    for name in ("waiting", "lost"):
        assert answer(plugin, cluster, with_claim(name)) == EXCEEDED


def test_problems_with_claims_are_errors_for_the_new_pod() -> None:
    users = [make_pod("old", node="n", volumes=[claim_volume("missing")])]
    cluster = make_cluster([make_node("n")], users)
    put(cluster, make_claim("new-tmp"))
    plugin = cinder(cluster)
    missing = 'looking up PVC default/missing: persistentvolumeclaim "missing" not found'
    stranger = "PVC default/new-tmp was not created for pod default/new (pod is not owner)"
    for volume, text in (
        (claim_volume("missing"), missing),
        (claim_volume(""), "PersistentVolumeClaim had no name"),
        ({"name": "tmp", "ephemeral": {}}, stranger),
    ):
        pod = make_pod("new", volumes=[volume])
        assert answer(plugin, cluster, pod) == error(text)
    assert answer(plugin, cluster, disks("new", 1)) is None


def test_a_strange_ephemeral_claim_on_the_node_is_an_error() -> None:
    old = make_pod("old", node="n", volumes=[{"name": "tmp", "ephemeral": {}}])
    cluster = make_cluster([make_node("n")], [old])
    put(cluster, make_claim("old-tmp"))
    text = "PVC default/old-tmp was not created for pod default/old (pod is not owner)"
    assert answer(cinder(cluster), cluster, disks("new", 1)) == error(text)


def test_prefilter_skips_pods_without_such_volumes() -> None:
    cluster = make_cluster([make_node("n")])
    plugin = cinder(cluster)
    other = make_pod("p", volumes=[{"name": "e", "gcePersistentDisk": {"pdName": "x"}}])
    assert plugin.pre_filter(cycle_for(other, cluster)) == SKIP
    assert plugin.pre_filter(cycle_for(disks("p", 1), cluster)) is None
    claimed = make_pod("p", volumes=[claim_volume("c")])
    assert plugin.pre_filter(cycle_for(claimed, cluster)) is None


def test_nodes_deleted_pods_and_new_claims_wake_pods() -> None:
    registered = {(r.resource, r.action) for r in cinder(make_cluster()).events()}
    assert registered == {
        (Resource.NODE, Action.ADD),
        (Resource.POD, Action.DELETE),
        (Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD),
    }
