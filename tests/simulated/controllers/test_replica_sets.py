"""Replica sets: as many pods as were asked for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.simulated.controller_objects import (
    build,
    creations,
    moment,
    pod,
    shown,
    template,
    written_status,
)
from support.simulated.simulated_clusters import Cluster, in_cluster, workload

from podium.client.resources import REPLICA_SETS, REPLICATION_CONTROLLERS, RESOURCE_QUOTAS
from podium.kubernetes.controllers.pods import Pod, least_missed
from podium.kubernetes.controllers.replica_sets import KIND, OLD_KIND, decide
from podium.kubernetes.controllers.workloads import ReplicaSet, ReplicationController


def replica_set(replicas: int | None = 3, **fields: Any) -> ReplicaSet:
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": "web"}},
        "template": template(app="web"),
        **fields.pop("spec", {}),
    }
    return build(ReplicaSet, "web", spec=spec, **fields)


def member(name: str, phase: str = "Running", **more: Any) -> Pod:
    labels = more.pop("labels", {"app": "web"})
    return pod(name, phase, owner=("ReplicaSet", "web"), labels=labels, **more)


def plan(owner: ReplicaSet, *pods: Pod, now_s: float = 0.0) -> Any:
    return decide(KIND, REPLICA_SETS, owner, pods, moment(now_s))


def test_missing_pods_are_made_from_the_template() -> None:
    made = plan(replica_set(3), member("a"))
    assert shown(made) == ["+pods web-*", "+pods web-*", "~replicasets/status web"]
    body = creations(made)[0]
    assert body["metadata"]["labels"] == {"app": "web"}
    (owner,) = body["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("ReplicaSet", "uid-web", True)
    assert body["spec"] == template()["spec"]


def test_pods_that_ended_or_go_are_replaced() -> None:
    going = member("b", deletionTimestamp="2027-01-15T08:00:00Z")
    made = plan(replica_set(2), member("a", "Failed"), going, member("c"))
    assert shown(made) == ["+pods web-*", "~replicasets/status web"]


def test_surplus_pods_go_and_those_that_are_missed_least_go_first() -> None:
    pods = [
        member("ready-old"),
        member("ready-new", ready_at_s=100),
        member("unready", ready=False),
        member("pending", "Pending"),
        member("unplaced", "Pending", node=""),
    ]
    made = plan(replica_set(2), *pods)
    assert shown(made)[:3] == ["-pods unplaced", "-pods pending", "-pods unready"]
    cheap = member("cheap", annotations={"controller.kubernetes.io/pod-deletion-cost": "-5"})
    assert [each.name for each in least_missed([*pods[:2], cheap])] == [
        "cheap",
        "ready-new",
        "ready-old",
    ]


def test_pods_that_crowd_a_node_go_before_others() -> None:
    pods = [member("alone", node="n1"), member("x", node="n2"), member("y", node="n2")]
    assert least_missed(pods)[-1].name == "alone"


def test_orphans_are_taken_in_and_pods_with_other_labels_let_go() -> None:
    orphan = pod("orphan", labels={"app": "web"})
    stranger = pod("stranger", labels={"app": "other"})
    lost = member("lost", labels={"app": "changed"})
    made = plan(replica_set(2), member("a"), orphan, stranger, lost)
    assert shown(made) == ["~pods orphan", "~pods lost", "~replicasets/status web"]
    adoption, release = made.actions[0].body, made.actions[1].body
    assert adoption["metadata"]["ownerReferences"][0]["uid"] == "uid-web"
    assert release["metadata"]["ownerReferences"] is None


def test_a_set_that_is_deleted_makes_and_takes_in_nothing() -> None:
    going = replica_set(3, metadata={"deletionTimestamp": "2027-01-15T08:00:00Z"})
    orphan = pod("orphan", labels={"app": "web"})
    assert shown(plan(going, orphan)) == ["~replicasets/status web"]


def test_counts_are_reported_once() -> None:
    pods = [member("a"), member("b", ready=False)]
    status = written_status(plan(replica_set(2), *pods), "replicasets")
    assert status == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "observedGeneration": 1,
    }
    assert shown(plan(replica_set(2, status=status), *pods)) == []


def test_a_pod_is_available_when_it_was_ready_for_long_enough() -> None:
    patient = replica_set(1, spec={"minReadySeconds": 30})
    early = plan(patient, member("a", ready_at_s=0), now_s=10)
    assert written_status(early, "replicasets")["availableReplicas"] == 0
    assert early.again_after_s == 20
    late = plan(patient, member("a", ready_at_s=0), now_s=30)
    assert written_status(late, "replicasets")["availableReplicas"] == 1


def test_many_pods_are_made_in_bursts() -> None:
    made = plan(replica_set(1200))
    assert len(creations(made)) == 500
    assert made.again_after_s == 0


def test_a_replication_controller_is_looked_after_in_the_same_way() -> None:
    spec = {"replicas": 1, "selector": {"app": "web"}, "template": template()}
    old = build(ReplicationController, "web", spec=spec).as_replica_set()
    made = decide(OLD_KIND, REPLICATION_CONTROLLERS, old, [], moment())
    assert shown(made) == ["+pods web-*", "~replicationcontrollers/status web"]
    assert creations(made)[0]["metadata"]["ownerReferences"][0]["kind"] == "ReplicationController"


PODS = st.lists(
    st.tuples(st.sampled_from(["Pending", "Running", "Failed"]), st.booleans()), max_size=12
)


@given(PODS, st.integers(0, 12))
def test_whatever_there_is_the_plan_leads_to_the_number_that_is_wanted(
    states: list[tuple[str, bool]], wanted: int
) -> None:
    pods = [
        member(f"p{i}", phase, **({"deletionTimestamp": "x"} if going else {}))
        for i, (phase, going) in enumerate(states)
    ]
    active = sum(each.is_active for each in pods)
    made = shown(plan(replica_set(wanted), *pods))
    assert active + made.count("+pods web-*") - sum(a[0] == "-" for a in made) == wanted


@pytest.mark.parametrize("selector", [None, {"matchExpressions": [{"key": "a", "operator": "?"}]}])
def test_a_selector_that_selects_nothing_owns_nothing(selector: Any) -> None:
    odd = replica_set(0, spec={"selector": selector})
    assert shown(plan(odd, pod("a", labels={"app": "web"}))) == ["~replicasets/status web"]


def test_a_set_whose_pods_are_refused_says_so_until_they_are_taken() -> None:
    async def scenario(cluster: Cluster) -> None:
        quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}}
        await cluster.create(RESOURCE_QUOTAS, quota)

        async def is_reckoned() -> bool:
            found = await cluster.get(RESOURCE_QUOTAS, "few")
            return "used" in found.get("status", {})

        await cluster.until(is_reckoned)
        await cluster.create(REPLICA_SETS, workload("web", 3))

        async def conditions() -> list[Any]:
            found = await cluster.get(REPLICA_SETS, "web")
            return list(found["status"].get("conditions", ()))

        async def has_failed() -> bool:
            return bool(await conditions())

        await cluster.until(has_failed)
        (failure,) = await conditions()
        assert (failure["type"], failure["reason"]) == ("ReplicaFailure", "FailedCreate")
        assert "exceeded quota: few" in failure["message"]
        await cluster.patch(REPLICA_SETS, "web", {"spec": {"replicas": 2}})

        async def is_well() -> bool:
            return not await conditions()

        await cluster.until(is_well)

    in_cluster(scenario)
