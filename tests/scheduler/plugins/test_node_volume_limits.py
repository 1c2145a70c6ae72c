"""NodeVolumeLimits: what drivers can attach, counted for every node."""

from typing import Any

import numpy as np
import pytest
from support.scheduler.plugins.storage_builders import (
    claim_volume,
    make_attachment,
    make_claim,
    make_class,
    make_csi_node,
    make_driver,
    make_volume,
    put,
)

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeAttachment,
)
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import SKIP, Status, error, unresolvable, unschedulable
from podium.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from podium.testing import cycle_for, filter_answers, make_cluster, make_handle, make_node, make_pod

EXCEEDED = unschedulable("node(s) exceed max volume count")
DRIVER = "csi.example.com"
EBS_DRIVER = "ebs.csi.aws.com"


def plugin_for(cluster: Cluster, **gates: bool) -> NodeVolumeLimits:
    return NodeVolumeLimits(None, make_handle(cluster, **gates))


def user(name: str, *claims: str, node: str = "n", **more: Any) -> Pod:
    return make_pod(name, node=node, volumes=[claim_volume(c) for c in claims], **more)


def bound(name: str, driver: str = DRIVER) -> tuple[PersistentVolumeClaim, PersistentVolume]:
    """A claim with a CSI volume of the same name."""
    return make_claim(name, volume=name), make_volume(name, csi=(driver, f"h-{name}"))


def one_node(limit: int | None, pods: list[Pod], *objects: Any) -> Cluster:
    cluster = make_cluster([make_node("n")], pods)
    put(cluster, make_csi_node("n", {DRIVER: limit}), *objects)
    return cluster


def answer(cluster: Cluster, pod: Pod, **gates: bool) -> Status | None:
    return filter_answers(plugin_for(cluster, **gates), pod, cluster)["n"]


def test_a_volume_the_node_has_already_costs_nothing() -> None:
    cluster = one_node(2, [user("old", "a")], *bound("a"), *bound("b"))
    assert answer(cluster, user("new", "a", "b", node="")) is None


def test_attachments_that_no_pod_explains_count() -> None:
    extra = make_attachment("x", node="n", driver=DRIVER, volume="c")
    cluster = one_node(2, [user("old", "a")], *bound("a"), *bound("b"), *bound("c"), extra)
    assert answer(cluster, user("new", "a", "b", node="")) == EXCEEDED


def test_an_attachment_does_not_make_a_volume_of_the_new_pod_free() -> None:
    mine = make_attachment("x", node="n", driver=DRIVER, volume="a")
    cluster = one_node(1, [], *bound("a"), mine)
    assert answer(cluster, user("new", "a", node="")) == EXCEEDED


@pytest.mark.parametrize(
    "attachment",
    [
        make_attachment("x", node="other", driver=DRIVER, volume="c"),
        make_attachment("x", node="n", driver="", volume="c"),
        make_attachment("x", node="n", driver=DRIVER, volume=None),
        make_attachment("x", node="n", driver=DRIVER, volume="gone"),
        make_attachment("x", node="n", driver=DRIVER, volume="in-tree"),
    ],
)
def test_attachments_that_say_too_little_do_not_count(attachment: VolumeAttachment) -> None:
    old = make_volume("in-tree", awsElasticBlockStore={"volumeID": "vol-1"})
    cluster = one_node(1, [], *bound("a"), *bound("c"), old, attachment)
    assert answer(cluster, user("new", "a", node="")) is None


def test_a_claim_without_a_volume_counts_by_its_class() -> None:
    waiting = [make_claim("w", storage_class="s"), make_class("s", provisioner=DRIVER)]
    assert answer(one_node(0, [], *waiting), user("new", "w", node="")) == EXCEEDED
    lost = [make_claim("w", volume="gone", storage_class="s"), waiting[1]]
    assert answer(one_node(0, [], *lost), user("new", "w", node="")) == EXCEEDED
    for claim in (make_claim("w"), make_claim("w", storage_class="unknown")):
        assert answer(one_node(0, [], claim), user("new", "w", node="")) is None


def test_in_tree_volumes_count_where_a_csi_node_is() -> None:
    volume = make_volume("v", awsElasticBlockStore={"volumeID": "vol-1"})
    pod = make_pod(
        "new",
        volumes=[
            claim_volume("c"),
            {"name": "i", "awsElasticBlockStore": {"volumeID": "aws://az/vol-1"}},
        ],
    )
    cluster = make_cluster([make_node("n"), make_node("bare")])
    put(cluster, volume, make_claim("c", volume="v"), make_csi_node("n", {EBS_DRIVER: 0}))
    assert filter_answers(plugin_for(cluster), pod, cluster) == {"n": EXCEEDED, "bare": None}
    # Both volumes of the pod are the same disk.
    put(cluster, make_csi_node("n", {EBS_DRIVER: 1}))
    assert filter_answers(plugin_for(cluster), pod, cluster) == {"n": None, "bare": None}


def test_an_in_tree_class_counts_for_its_successor() -> None:
    objects = [make_class("s", provisioner="kubernetes.io/aws-ebs"), make_claim("c")]
    cluster = make_cluster([make_node("n")])
    put(cluster, *objects, make_claim("c", storage_class="s"), make_csi_node("n", {EBS_DRIVER: 0}))
    assert answer(cluster, user("new", "c", node="")) == EXCEEDED
    put(cluster, make_class("s", provisioner="kubernetes.io/vsphere-volume"))
    put(cluster, make_csi_node("n", {"csi.vsphere.vmware.com": 0}))
    assert answer(cluster, user("new", "c", node="")) is None


def test_a_missing_claim_of_the_new_pod_is_final_and_of_an_old_pod_is_ignored() -> None:
    cluster = one_node(1, [user("old", "gone")], *bound("a"))
    text = 'looking up PVC default/missing: persistentvolumeclaim "missing" not found'
    assert answer(cluster, user("new", "missing", node="")) == unresolvable(text)
    assert answer(cluster, user("new", "a", node="")) is None


def test_a_claim_without_a_name_ends_the_attempt() -> None:
    cluster = one_node(1, [])
    assert answer(cluster, user("new", "", node="")) == error("PersistentVolumeClaim had no name")


def ephemeral(name: str, node: str = "") -> Pod:
    return make_pod(name, node=node, volumes=[{"name": "v", "ephemeral": {}}])


def test_an_ephemeral_claim_must_belong_to_its_pod() -> None:
    text = "PVC default/{0}-v was not created for pod default/{0} (pod is not owner)"
    own = make_claim("new-v", volume="a", owner=ephemeral("new"))
    cluster = one_node(1, [], *bound("a"), own)
    assert answer(cluster, ephemeral("new")) is None
    put(cluster, make_claim("new-v", volume="a"))
    assert answer(cluster, ephemeral("new")) == error(text.format("new"))
    # The same of a pod on the node, but only where limits make it count.
    strange = [make_claim("old-v", volume="a"), *bound("b")]
    with_limit = one_node(1, [ephemeral("old", node="n")], *strange)
    assert answer(with_limit, user("new", "b", node="")) == error(text.format("old"))
    without = one_node(None, [ephemeral("old", node="n")], *strange)
    assert answer(without, user("new", "b", node="")) is None


def test_an_inline_volume_that_cannot_be_translated_fails_where_it_would_count() -> None:
    disk = {"diskName": "d", "diskURI": "u", "kind": "Shared"}
    pod = make_pod("new", volumes=[{"name": "i", "azureDisk": disk}])
    cluster = make_cluster([make_node("n"), make_node("bare")])
    put(cluster, make_csi_node("n"))
    text = "converting volume(i) from inline to csi: kind(Shared) is not supported in csi migration"
    assert filter_answers(plugin_for(cluster), pod, cluster) == {"n": error(text), "bare": None}


def test_in_tree_volumes_behind_claims_that_cannot_be_translated_do_not_count() -> None:
    disk = {"diskName": "d", "diskURI": "u", "kind": "Shared"}
    cluster = make_cluster([make_node("n")])
    put(cluster, make_csi_node("n", {"disk.csi.azure.com": 0}))
    put(cluster, make_volume("v", azureDisk=disk), make_claim("c", volume="v"))
    assert answer(cluster, user("new", "c", node="")) is None
    put(cluster, make_volume("v", azureDisk={**disk, "kind": "Managed"}))
    assert answer(cluster, user("new", "c", node="")) == EXCEEDED


def test_after_very_many_changes_everything_is_read_again() -> None:
    cluster = one_node(1, [user("old", "a")], *bound("a"), *bound("b"))
    plugin, pod = plugin_for(cluster), user("new", "b", node="")
    assert filter_answers(plugin, pod, cluster) == {"n": EXCEEDED}
    for _ in range(9000):
        put(cluster, make_claim("a"), make_attachment("x", node="m", driver="d", volume=None))
    assert filter_answers(plugin, pod, cluster) == {"n": None}


def test_scaling_asks_for_the_driver_on_the_node_if_the_driver_does() -> None:
    cluster = make_cluster([make_node("n"), make_node("bare"), make_node("other")])
    put(cluster, *bound("a"), make_csi_node("n", {DRIVER: None}), make_csi_node("other"))
    pod = user("new", "a", node="")
    plugin = plugin_for(cluster, VolumeLimitScaling=True)
    free = dict.fromkeys(("n", "bare", "other"))
    assert filter_answers(plugin, pod, cluster) == free
    put(cluster, make_driver(DRIVER))
    assert filter_answers(plugin, pod, cluster) == free
    put(cluster, make_driver(DRIVER, preventPodSchedulingIfMissing=True))
    missing = unschedulable(f"{DRIVER} CSI driver is not installed on the node")
    assert filter_answers(plugin, pod, cluster) == {"n": None, "bare": missing, "other": missing}
    assert filter_answers(plugin_for(cluster), pod, cluster) == free


def test_prefilter_skips_pods_without_volumes_that_could_count() -> None:
    cluster = one_node(1, [])
    plugin = plugin_for(cluster)

    def skipped(**volume: Any) -> bool:
        pod = make_pod("p", volumes=[{"name": "v", **volume}] if volume else [])
        return plugin.pre_filter(cycle_for(pod, cluster)) == SKIP

    assert skipped()
    assert skipped(emptyDir={})
    assert skipped(csi={"driver": DRIVER})
    assert not skipped(persistentVolumeClaim={"claimName": "c"})
    assert not skipped(ephemeral={})
    assert not skipped(azureFile={"secretName": "s", "shareName": "x"})


def test_filter_counts_by_itself_when_prefilter_did_not_run() -> None:
    cluster = one_node(0, [], *bound("a"))
    verdict = plugin_for(cluster).filter(
        cycle_for(user("new", "a", node=""), cluster), cluster.nodes.all_rows()
    )
    assert verdict is not None
    assert verdict.describe(1) == EXCEEDED


def test_a_trial_answers_for_the_pods_it_imagines() -> None:
    cluster = make_cluster([make_node("n"), make_node("m")], [user("old", "a"), user("loner", "c")])
    put(cluster, *bound("a"), *bound("b"), *bound("c"))
    put(cluster, make_csi_node("n", {DRIVER: 2}), make_csi_node("m", {DRIVER: 1}))
    plugin, cycle = plugin_for(cluster), cycle_for(user("new", "b", node=""), cluster)
    assert plugin.pre_filter(cycle) is None
    trial = cycle.fork()
    info = cluster.placements["uid-default-old"].info
    trial.usage.remove(0, info)
    trial.usage.add(1, info)
    rows = cluster.nodes.all_rows()
    real, imagined = plugin.filter(cycle, rows), plugin.filter(trial, rows)
    assert real is not None
    assert imagined is not None
    assert (real.values != 0).tolist() == [True, False]
    assert (imagined.values != 0).tolist() == [False, True]
    only = plugin.filter(trial, np.array([1]))
    assert only is not None
    assert only.describe(int(only.values[0])) == EXCEEDED


def test_hints_let_through_what_can_help() -> None:
    cluster = one_node(1, [])
    registrations = plugin_for(cluster).events()
    hints = {(r.resource, r.action): r.hint for r in registrations}
    assert hints[Resource.CSI_NODE, Action.ADD] is None
    pod = cluster.infos.of(user("p", "c", node=""))
    disk = cluster.infos.of(make_pod("p", volumes=[{"name": "i", "cinder": {"volumeID": "x"}}]))
    only_ephemeral = cluster.infos.of(ephemeral("p"))

    grew = hints[Resource.CSI_NODE, Action.UPDATE]
    assert grew
    assert grew(pod, make_csi_node("n", {"a": 1}), make_csi_node("n", {"a": 2}))
    assert grew(pod, make_csi_node("n"), make_csi_node("n", {"a": 1}))
    assert not grew(pod, make_csi_node("n", {"a": 2}), make_csi_node("n", {"a": 2, "b": None}))

    gone = hints[Resource.POD, Action.DELETE]
    assert gone
    assert gone(pod, user("old", "x"), None)
    assert gone(pod, user("old", "x", node="", status={"nominatedNodeName": "n"}), None)
    assert not gone(pod, user("old", "x", node=""), None)
    assert not gone(pod, make_pod("old", node="n"), None)
    assert not gone(pod, make_pod("old", node="n", volumes=[{"name": "e", "emptyDir": {}}]), None)

    added = hints[Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD]
    assert added
    assert added(pod, None, make_claim("c"))
    assert added(only_ephemeral, None, make_claim("p-v"))
    assert not added(pod, None, make_claim("c", namespace="other"))

    detached = hints[Resource.VOLUME_ATTACHMENT, Action.DELETE]
    assert detached
    cinder = make_attachment("x", node="n", driver="cinder.csi.openstack.org", volume="v")
    other = make_attachment("x", node="n", driver="d", volume="v")
    assert detached(pod, other, None)
    assert detached(disk, cinder, None)
    assert not detached(disk, other, None)
    assert not detached(only_ephemeral, other, None)
    broken = {"diskName": "d", "diskURI": "u", "kind": "Shared"}
    azure = cluster.infos.of(make_pod("p", volumes=[{"name": "i", "azureDisk": broken}]))
    assert detached(azure, other, None)
