"""Stateful sets: names that stay, order, claims of their own."""

from collections.abc import Sequence
from typing import Any

import pytest
from support.simulated.controller_objects import (
    build,
    creations,
    moment,
    owned_by,
    patches,
    pod,
    shown,
    template,
    written_status,
)

from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.pod_templates import REVISION_HASH
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.revisions import revision_hash
from podium.kubernetes.controllers.stateful_sets import decide
from podium.kubernetes.controllers.workloads import ControllerRevision, StatefulSet
from podium.kubernetes.kinds.storage import PersistentVolumeClaim

CLAIM = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def stateful_set(replicas: int = 3, **fields: Any) -> StatefulSet:
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": "db"}},
        "template": template(app="db"),
        **fields.pop("spec", {}),
    }
    return build(StatefulSet, "db", spec=spec, **fields)


def revision_of(of: StatefulSet) -> ControllerRevision:
    """The revision that the set makes for its template."""
    made = decide(of, [], [], (), moment())
    body = next(b for b in creations(made) if b["kind"] == "ControllerRevision")
    name = body["metadata"]["name"]
    written = {"data": body["data"], "revision": body["revision"]}
    return build(ControllerRevision, name, metadata=body["metadata"], **written)


def earlier(name: str, number: int) -> ControllerRevision:
    """A revision of another template of the set."""
    metadata = {"labels": {"app": "db"}, "ownerReferences": owned_by("StatefulSet", "db")}
    return build(ControllerRevision, name, metadata=metadata, data={}, revision=number)


def member(ordinal: int, revision: str, phase: str = "Running", **more: Any) -> Pod:
    labels = {"app": "db", REVISION_HASH: revision}
    return pod(f"db-{ordinal}", phase, owner=("StatefulSet", "db"), labels=labels, **more)


def claim_of(ordinal: int, *owners: dict[str, Any]) -> PersistentVolumeClaim:
    metadata = {"ownerReferences": list(owners)} if owners else {}
    return build(PersistentVolumeClaim, f"data-db-{ordinal}", metadata=metadata)


def plan(of: StatefulSet, *pods: Pod, claims: Sequence[PersistentVolumeClaim] = ()) -> Plan:
    return decide(of, pods, [revision_of(of)], claims, moment())


def moves(made: Plan) -> list[str]:
    return [each for each in shown(made) if "status" not in each]


def test_pods_are_made_one_after_the_other() -> None:
    of = stateful_set(3)
    mark = revision_of(of).name
    assert moves(plan(of)) == ["+pods db-0"]
    assert moves(plan(of, member(0, mark, "Pending"))) == []
    assert moves(plan(of, member(0, mark))) == ["+pods db-1"]


def test_in_parallel_all_are_made_at_once() -> None:
    of = stateful_set(3, spec={"podManagementPolicy": "Parallel", "ordinals": {"start": 5}})
    assert moves(plan(of)) == ["+pods db-5", "+pods db-6", "+pods db-7"]


def test_a_pod_has_its_name_and_its_claims() -> None:
    of = stateful_set(1, spec={"volumeClaimTemplates": [CLAIM]})
    made = plan(of)
    assert moves(made) == ["+persistentvolumeclaims data-db-0", "+pods db-0"]
    claim, body = creations(made)
    assert claim["metadata"]["labels"] == {"app": "db"}
    assert claim["spec"] == CLAIM["spec"]
    assert body["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] == "db-0"
    assert body["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "0"
    assert body["spec"]["hostname"] == "db-0"
    assert body["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}
    ]
    assert moves(plan(of, claims=[claim_of(0)])) == ["+pods db-0"]


def test_fewer_are_wanted_and_the_last_goes_first() -> None:
    of = stateful_set(1)
    mark = revision_of(of).name
    pods = [member(0, mark), member(1, mark), member(2, mark)]
    assert moves(plan(of, *pods)) == ["-pods db-2"]
    going = member(2, mark, deletionTimestamp="x")
    assert moves(plan(of, *pods[:2], going)) == []


def test_a_pod_that_has_ended_is_replaced() -> None:
    of = stateful_set(1)
    assert moves(plan(of, member(0, revision_of(of).name, "Failed"))) == ["-pods db-0"]


def test_a_new_template_is_rolled_out_from_the_end_down_to_the_partition() -> None:
    of = stateful_set(3, spec={"updateStrategy": {"rollingUpdate": {"partition": 1}}})
    mark = revision_of(of).name
    assert moves(plan(of, *(member(i, "db-old") for i in range(3)))) == ["-pods db-2"]
    half = [member(0, "db-old"), member(1, "db-old"), member(2, mark)]
    assert moves(plan(of, *half)) == ["-pods db-1"]
    starting = [member(0, "db-old"), member(1, mark, "Pending"), member(2, mark)]
    assert moves(plan(of, *starting)) == []
    done = [member(0, "db-old"), member(1, mark), member(2, mark)]
    assert moves(plan(of, *done)) == []


def test_below_the_partition_a_pod_comes_back_as_it_was() -> None:
    old = stateful_set(2, spec={"template": template(app="db", version="1")})
    known = revision_of(old)
    of = stateful_set(
        2,
        spec={"updateStrategy": {"rollingUpdate": {"partition": 1}}},
        status={"currentRevision": known.name},
    )
    made = decide(of, [], [known, revision_of(of)], (), moment())
    body = next(each for each in creations(made) if each["kind"] == "Pod")
    assert body["metadata"]["labels"]["version"] == "1"
    assert body["metadata"]["labels"][REVISION_HASH] == known.name


def test_on_delete_nothing_is_rolled_out() -> None:
    of = stateful_set(1, spec={"updateStrategy": {"type": "OnDelete"}})
    assert moves(plan(of, member(0, "db-old"))) == []


def test_counts_and_revisions_are_reported() -> None:
    of = stateful_set(2, status={"currentRevision": "db-old"})
    mark = revision_of(of).name
    old = earlier("db-old", 0)
    pods = [member(0, "db-old"), member(1, mark)]
    made = decide(of, pods, [old, revision_of(of)], (), moment())
    status = written_status(made, "statefulsets")
    assert (status["replicas"], status["readyReplicas"]) == (2, 2)
    assert (status["currentReplicas"], status["updatedReplicas"]) == (1, 1)
    assert (status["currentRevision"], status["updateRevision"]) == ("db-old", mark)
    complete = decide(of, [member(0, mark), member(1, mark)], [old, revision_of(of)], (), moment())
    assert written_status(complete, "statefulsets")["currentRevision"] == mark


def test_a_template_that_comes_back_gets_its_revision_back() -> None:
    of = stateful_set(0)
    known = revision_of(of)
    later = earlier("db-later", 4)
    made = decide(of, [], [known, later], (), moment())
    renewed = [(patch.name, patch.body) for patch in patches(made) if not patch.subresource]
    assert renewed == [(known.name, {"revision": 5})]


def test_a_revision_is_named_after_its_bytes_and_left_ones_are_taken_in() -> None:
    of = stateful_set(metadata={"annotations": {"note": "x"}})
    made = revision_of(of)
    mark = revision_hash(made.data or {})
    assert made.name == f"db-{mark}"
    assert made.metadata.labels == {"app": "db", "controller.kubernetes.io/hash": mark}
    assert made.metadata.annotations == {"note": "x"}
    orphan = build(
        ControllerRevision,
        made.name,
        metadata={"labels": made.metadata.labels},
        data=made.data,
        revision=1,
    )
    again = decide(of, [], [orphan], (), moment())
    assert moves(again)[0] == f"~controllerrevisions {made.name}"
    assert not [body for body in creations(again) if body["kind"] == "ControllerRevision"]


# retention of claims


def owner(kind: str, name: str, uid: str = "") -> dict[str, Any]:
    (made,) = owned_by(kind, name)
    api_version = "v1" if kind == "Pod" else made["apiVersion"]
    return {**made, "apiVersion": api_version, "uid": uid or made["uid"]}


def with_retention(replicas: int, when_deleted: str, when_scaled: str) -> StatefulSet:
    policy = {"whenDeleted": when_deleted, "whenScaled": when_scaled}
    spec = {"volumeClaimTemplates": [CLAIM], "persistentVolumeClaimRetentionPolicy": policy}
    return stateful_set(replicas, spec=spec)


def owners_written(made: Plan) -> dict[str, list[str]]:
    """Claim -> kinds of the owners that it is given."""
    return {
        patch.name: [each["kind"] for each in patch.body["metadata"]["ownerReferences"] or ()]
        for patch in patches(made)
        if patch.resource.plural == "persistentvolumeclaims"
    }


@pytest.mark.parametrize(
    ("when_deleted", "when_scaled", "kept", "unwanted"),
    [
        ("Retain", "Retain", None, None),
        ("Delete", "Retain", ["StatefulSet"], ["StatefulSet"]),
        ("Retain", "Delete", None, ["Pod"]),
        ("Delete", "Delete", ["StatefulSet"], ["Pod"]),
    ],
)
def test_claims_are_given_to_whom_they_are_to_be_deleted_with(
    when_deleted: str, when_scaled: str, kept: list[str] | None, unwanted: list[str] | None
) -> None:
    of = with_retention(1, when_deleted, when_scaled)
    mark = revision_of(of).name
    made = plan(of, member(0, mark), member(1, mark), claims=[claim_of(0), claim_of(1)])
    expected = {"data-db-0": kept, "data-db-1": unwanted}
    assert owners_written(made) == {name: who for name, who in expected.items() if who}
    assert moves(made)[-1] == "-pods db-1"


def test_a_policy_that_retains_again_takes_the_owners_away() -> None:
    of = with_retention(1, "Retain", "Retain")
    mine = owner("StatefulSet", "db", of.metadata.uid)
    made = plan(of, member(0, revision_of(of).name), claims=[claim_of(0, mine)])
    assert owners_written(made) == {"data-db-0": []}


def test_claims_of_somebody_else_are_left_alone() -> None:
    of = with_retention(1, "Delete", "Delete")
    mark = revision_of(of).name
    for other in (owner("Backup", "b"), owner("StatefulSet", "db", "an earlier one")):
        assert owners_written(plan(of, member(0, mark), claims=[claim_of(0, other)])) == {}


def test_a_pod_waits_until_the_claim_of_its_predecessor_is_gone() -> None:
    of = with_retention(1, "Retain", "Delete")
    assert moves(plan(of, claims=[claim_of(0, owner("Pod", "db-0", "an earlier one"))])) == []
    assert moves(plan(of)) == ["+persistentvolumeclaims data-db-0", "+pods db-0"]
