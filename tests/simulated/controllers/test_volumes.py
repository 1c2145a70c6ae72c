"""Claims and volumes: who belongs to whom."""

from typing import Any

from support.live.virtual_loop import sleep_virtually
from support.simulated.controller_objects import (
    build,
    creations,
    moment,
    node,
    patches,
    pod,
    shown,
    timestamp,
)
from support.simulated.simulated_clusters import Cluster, in_cluster, pod_spec

from podium.client.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from podium.kubernetes.controllers import volume_protection
from podium.kubernetes.controllers.volumes import Volumes, decide_claim, decide_volume
from podium.kubernetes.kinds.storage import (
    BIND_COMPLETED,
    SELECTED_NODE,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.simulated.informers import Informers


def claim(size: str = "5Gi", **fields: Any) -> PersistentVolumeClaim:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        **fields.pop("spec", {}),
    }
    return build(PersistentVolumeClaim, "data", spec=spec, status={"phase": "Pending"}, **fields)


def volume(
    name: str, size: str = "10Gi", phase: str = "Available", **fields: Any
) -> PersistentVolume:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": size},
        **fields.pop("spec", {}),
    }
    return build(PersistentVolume, name, "", spec=spec, status={"phase": phase}, **fields)


def storage_class(mode: str = "Immediate", **fields: Any) -> StorageClass:
    provisioner = {"provisioner": "csi.example.com", **fields}
    return build(StorageClass, "fast", "", volumeBindingMode=mode, **provisioner)


def reference(uid: str = "uid-data") -> dict[str, Any]:
    return {"claimRef": {"namespace": "ns", "name": "data", "uid": uid}}


BINDING = [
    "~persistentvolumes {0}",
    "~persistentvolumes/status {0}",
    "~persistentvolumeclaims data",
    "~persistentvolumeclaims/status data",
]


def binding(name: str) -> list[str]:
    return [each.format(name) for each in BINDING]


def test_a_claim_takes_the_smallest_volume_that_suits_it() -> None:
    volumes = [
        volume("huge", "100Gi"),
        volume("small", "1Gi"),
        volume("right", "8Gi"),
        volume("taken", "6Gi", spec={"claimRef": {"namespace": "x", "name": "y", "uid": "z"}}),
        volume("other-class", "6Gi", spec={"storageClassName": "slow"}),
        volume("block", "6Gi", spec={"volumeMode": "Block"}),
        volume("read-only", "6Gi", spec={"accessModes": ["ReadOnlyMany"]}),
    ]
    made = decide_claim(claim(), volumes, None, None, None)
    assert shown(made) == binding("right")
    of_volume, _, of_claim, status = patches(made)
    assert of_volume.body["spec"]["claimRef"]["uid"] == "uid-data"
    assert of_claim.body["spec"] == {"volumeName": "right"}
    assert of_claim.body["metadata"]["annotations"][BIND_COMPLETED] == "yes"
    assert status.body["status"]["capacity"] == {"storage": "8Gi"}


def test_a_selector_chooses_among_volumes() -> None:
    marked = volume("marked", metadata={"labels": {"tier": "gold"}})
    chosen = claim(spec={"selector": {"matchLabels": {"tier": "gold"}}})
    made = decide_claim(chosen, [volume("plain", "5Gi"), marked], None, None, None)
    assert shown(made) == binding("marked")


def test_without_a_volume_an_immediate_class_makes_one() -> None:
    fast = storage_class(reclaimPolicy="Retain")
    made = decide_claim(claim(spec={"storageClassName": "fast"}), [], fast, None, None)
    assert shown(made) == ["+persistentvolumes pvc-uid-data"]
    (body,) = creations(made)
    assert body["spec"]["capacity"] == {"storage": "5Gi"}
    assert body["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    assert body["spec"]["claimRef"]["uid"] == "uid-data"
    assert body["spec"]["csi"]["driver"] == "csi.example.com"
    none = storage_class(provisioner="kubernetes.io/no-provisioner")
    assert shown(decide_claim(claim(), [], none, None, None)) == []
    assert shown(decide_claim(claim(), [], None, None, None)) == []


def test_a_class_that_waits_leaves_the_choice_to_the_scheduler() -> None:
    waiting = claim(spec={"storageClassName": "fast"})
    late = storage_class("WaitForFirstConsumer")
    free = volume("free", spec={"storageClassName": "fast"})
    assert shown(decide_claim(waiting, [free], late, None, None)) == []
    reserved = volume("kept", spec={"storageClassName": "fast", **reference()})
    made = decide_claim(waiting, [free, reserved], late, None, None)
    assert shown(made) == binding("kept")[1:]


def test_the_chosen_node_decides_where_a_new_volume_can_be_reached() -> None:
    sent = claim(metadata={"annotations": {SELECTED_NODE: "n1"}})
    late = storage_class("WaitForFirstConsumer")
    where = node("n1", metadata={"labels": {"zone": "a"}})
    drivers = [{"name": "csi.example.com", "topologyKeys": ["zone", "rack"]}]
    csi = build(CSINode, "n1", "", spec={"drivers": drivers})
    (body,) = creations(decide_claim(sent, [], late, where, csi))
    term = {"key": "zone", "operator": "In", "values": ["a"]}
    required = body["spec"]["nodeAffinity"]["required"]
    assert required == {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
    (anywhere,) = creations(decide_claim(sent, [], late, where, None))
    assert "nodeAffinity" not in anywhere["spec"]
    (patch,) = patches(decide_claim(sent, [], late, None, None))
    assert patch.body == {"metadata": {"annotations": {SELECTED_NODE: None}}}


def test_a_claim_that_names_its_volume_gets_that_one_or_none() -> None:
    named = claim(spec={"volumeName": "mine"})
    assert shown(decide_claim(named, [volume("mine")], None, None, None)) == [
        "~persistentvolumes mine",
        "~persistentvolumes/status mine",
        "~persistentvolumeclaims data",
        "~persistentvolumeclaims/status data",
    ]
    taken = volume("mine", spec={"claimRef": {"namespace": "x", "name": "y", "uid": "z"}})
    assert shown(decide_claim(named, [taken], None, None, None)) == []
    bound = claim(spec={"volumeName": "mine"}, metadata={"annotations": {BIND_COMPLETED: "yes"}})
    (patch,) = patches(decide_claim(bound, [], None, None, None))
    assert patch.body == {"status": {"phase": "Lost"}}


def test_what_is_bound_on_both_sides_is_left_alone() -> None:
    mine = volume("mine", phase="Bound", spec=reference())
    bound = build(
        PersistentVolumeClaim,
        "data",
        metadata={"annotations": {BIND_COMPLETED: "yes"}},
        spec={"volumeName": "mine"},
        status={"phase": "Bound"},
    )
    assert shown(decide_claim(bound, [mine], None, None, None)) == []
    assert shown(decide_volume(mine, bound)) == []


def test_a_volume_that_was_left_follows_its_policy() -> None:
    def left(policy: str) -> list[str]:
        spec = {"persistentVolumeReclaimPolicy": policy, **reference()}
        return shown(decide_volume(volume("v", phase="Bound", spec=spec), None))

    assert left("Delete") == ["~persistentvolumes/status v", "-persistentvolumes v"]
    assert left("Retain") == ["~persistentvolumes/status v"]
    assert left("Recycle") == ["~persistentvolumes v"]
    going = {"deletionTimestamp": timestamp()}
    spec = {"persistentVolumeReclaimPolicy": "Delete", **reference()}
    leaving = volume("v", phase="Bound", spec=spec, metadata=going)
    assert shown(decide_volume(leaving, None)) == ["~persistentvolumes/status v"]


def test_volumes_without_a_claim_are_available() -> None:
    (patch,) = patches(decide_volume(volume("v", phase="Pending"), None))
    assert patch.body == {"status": {"phase": "Available"}}
    kept = volume("v", phase="Pending", spec=reference(uid=""))
    assert shown(decide_volume(kept, None)) == ["~persistentvolumes/status v"]


def test_new_volumes_and_classes_wake_claims_that_wait() -> None:
    informers = Informers()
    controller = Volumes(informers)
    woken: list[tuple[str, str, str]] = []
    controller.watch(woken.append)
    informers.claims.put(claim(spec={"storageClassName": "fast"}))
    woken.clear()
    informers.storage_classes.put(storage_class())
    assert woken == [("claim", "ns", "data")]
    assert shown(controller.plan(woken[0], moment())) == ["+persistentvolumes pvc-uid-data"]
    woken.clear()
    informers.volumes.put(volume("v"))
    assert set(woken) == {("volume", "", "v"), ("claim", "ns", "data")}


# --- protection -------------------------------------------------------------------------------


def terminating_claim() -> PersistentVolumeClaim:
    held = {"finalizers": [volume_protection.CLAIM_FINALIZER], "deletionTimestamp": timestamp()}
    return claim(metadata=held)


def test_claims_in_use_stay_until_their_pods_are_deleted() -> None:
    going = terminating_claim()
    assert shown(volume_protection.decide_claim(going, [pod("user")])) == []
    assert shown(volume_protection.decide_claim(going, [pod("user", "Succeeded")])) == []
    (patch,) = patches(volume_protection.decide_claim(going, []))
    assert patch.body["metadata"]["finalizers"] is None
    assert shown(volume_protection.decide_claim(claim(), [])) == []


def test_a_pod_without_a_node_holds_no_claim() -> None:
    waiting = pod("user", "Pending", node="")
    released = ["~persistentvolumeclaims data"]
    assert shown(volume_protection.decide_claim(terminating_claim(), [waiting])) == released
    assert shown(volume_protection.decide_claim(terminating_claim(), [waiting, pod("u2")])) == []


def test_a_pod_that_was_shut_down_holds_claims_that_it_names_but_not_those_made_for_it() -> None:
    done: dict[str, Any] = {"deletionTimestamp": timestamp(), "deletionGracePeriodSeconds": 0}
    named = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
    made = {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}
    going = terminating_claim()
    assert shown(volume_protection.decide_claim(going, [pod("p", spec=named, **done)])) == []
    released = volume_protection.decide_claim(going, [pod("p", spec=made, **done)])
    assert shown(released) == ["~persistentvolumeclaims data"]


def test_a_claim_whose_only_user_is_pending_can_be_deleted() -> None:
    async def scenario(cluster: Cluster) -> None:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        await cluster.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": {"name": "c"}, "spec": spec})
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
        user = {"metadata": {"name": "user"}, "spec": pod_spec(volumes=volumes)}
        await cluster.create(PODS, user)
        await sleep_virtually(5)
        assert "nodeName" not in (await cluster.get(PODS, "user"))["spec"]
        await cluster.client.delete(PERSISTENT_VOLUME_CLAIMS, "c", "default")

        async def is_gone() -> bool:
            return not await cluster.exists(PERSISTENT_VOLUME_CLAIMS, "c")

        assert await cluster.until(is_gone) < 5

    in_cluster(scenario)


def test_bound_volumes_stay_until_they_are_free() -> None:
    held = {"finalizers": [volume_protection.VOLUME_FINALIZER], "deletionTimestamp": timestamp()}
    assert shown(volume_protection.decide_volume(volume("v", phase="Bound", metadata=held))) == []
    released = volume("v", phase="Released", metadata=held)
    assert shown(volume_protection.decide_volume(released)) == ["~persistentvolumes v"]
