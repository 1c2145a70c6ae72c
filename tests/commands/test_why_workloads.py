"""`podium why` for the pods of workloads: what is proposed is what its commands would do to all."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import podium
from support.e2e.hard_pending_workloads import HARD_CASES, limit_range, quota, with_spec
from support.e2e.pending_workloads import CASES, PendingWorkload
from support.e2e.workload_manifests import (
    apart,
    daemon_set,
    deployment,
    job,
    node,
    pod,
    priority_class,
    replica_set,
    stateful_set,
    three_nodes,
)

Manifest = dict[str, Any]


class Asker:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._file = folder / "cluster.json"
        self._capsys = capsys

    def ask(self, reference: str, *objects: Manifest) -> dict[str, Any]:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self._file.write_text(json.dumps(listed))
        told = podium(self._capsys, "why", reference, "-f", str(self._file), "-o", "json")
        answer: dict[str, Any] = told.decoded()
        return answer

    def proposals(self, reference: str, *objects: Manifest) -> dict[str, Any]:
        """By code, the first of each."""
        found = self.ask(reference, *objects)["proposals"]
        return {each["code"]: each for each in reversed(found)}


@pytest.fixture
def asker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asker:
    return Asker(tmp_path, capsys)


def test_a_workload_is_answered_for_with_all_its_pods(asker: Asker) -> None:
    answer = asker.ask(
        "deployment/anti", *three_nodes(), deployment("anti", 5, affinity=apart("anti"))
    )
    assert answer["workload"] == {
        "kind": "Deployment",
        "name": "anti",
        "wanted": 5,
        "placed": 3,
        "waiting": 2,
    }
    by_code = {each["code"]: each for each in answer["proposals"]}
    relaxed = by_code["relax-pod-anti-affinity"]
    assert relaxed["pods"] == {"wanted": 5, "before": 3, "after": 5}
    # New pods are kept away by old ones, which may not be missing unless the strategy says so.
    assert '"maxUnavailable":3' in relaxed["commands"][0]
    assert "restarts the 3 pods of deployment/anti with a node" in relaxed["disruptions"]
    assert by_code["scale-down"]["commands"] == [
        "kubectl scale deployment/anti --replicas=3 --namespace=default"
    ]


def test_a_new_node_has_room_for_the_pods_of_daemon_sets(asker: Asker) -> None:
    daemons = daemon_set("agent", cpu="500m")
    found = asker.proposals("big", *three_nodes(), daemons, pod("big", cpu="5"))
    assert "5.5 cpu" in found["add-larger-node"]["sentence"]


def test_pods_of_the_same_workload_are_neither_evicted_nor_preempted(asker: Asker) -> None:
    found = asker.proposals(
        "deployment/web", *three_nodes(), priority_class("high", 9), deployment("web", 5, cpu="3")
    )
    assert not {"evict-pods", "raise-priority", "move-pods"} & set(found)


def test_pods_of_daemon_sets_and_of_the_system_are_never_preempted(asker: Asker) -> None:
    system = pod("dns", cpu="3", nodeName="node-0")
    system["metadata"]["namespace"] = "kube-system"
    found = asker.proposals(
        "p", node("node-0"), priority_class("high", 9), system, pod("p", cpu="3")
    )
    assert not {"evict-pods", "raise-priority"} & set(found)
    assert "add-node" in found


@pytest.mark.parametrize("other", [stateful_set("other", 3, cpu="3"), daemon_set("other", cpu="3")])
def test_what_comes_back_by_itself_is_not_deleted_to_make_room(
    asker: Asker, other: Manifest
) -> None:
    where = {"kubernetes.io/hostname": "node-0"}
    found = asker.proposals("p", *three_nodes(), other, pod("p", cpu="3", nodeSelector=where))
    assert "evict-pods" not in found


def test_a_set_is_not_scaled_down_for_room_while_pods_of_it_wait(asker: Asker) -> None:
    found = asker.proposals(
        "p", *three_nodes(), replica_set("other", 4, cpu="3"), pod("p", cpu="3")
    )
    assert "evict-pods" not in found


def test_a_claim_without_a_class_is_left_alone_when_a_volume_is_made_for_it(asker: Asker) -> None:
    case = next(each for each in CASES if each.name == "claim-without-class")
    found = asker.proposals("p", *case.nodes, *case.first, *case.then)
    commands = " ".join(found["create-volume"]["commands"])
    assert "PersistentVolume" in commands
    assert "replace --force" not in commands


def test_a_toleration_without_a_value_is_in_the_patch(asker: Asker) -> None:
    case = next(each for each in CASES if each.name == "taint-without-value")
    found = asker.proposals(case.ask, *case.nodes, *case.then)
    assert '"node.kubernetes.io/maintenance"' in found["tolerate-taint"]["commands"][0]


def test_the_node_of_a_daemon_is_its_controllers_choice(asker: Asker) -> None:
    case = next(each for each in CASES if each.name == "daemon-set-cpu")
    found = asker.proposals(case.ask, *case.nodes, *case.first, *case.then)
    assert not {"change-label-value", "drop-node-selector"} & set(found)


def test_the_corpus_is_large_and_names_each_case_once() -> None:
    names = [case.name for case in CASES]
    assert len(names) >= 60
    assert len(set(names)) == len(names)
    assert all(isinstance(case, PendingWorkload) for case in CASES)


@pytest.mark.parametrize("command", ["why", "explain"])
def test_pods_that_a_quota_refuses_are_told_of(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = 'pods "web-1-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1'
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    replicas = replica_set("web-1", 3)
    replicas["metadata"] |= {"uid": "u", "ownerReferences": [{**owner, "uid": "d"}]}
    condition = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}
    replicas["status"] = {"replicas": 1, "conditions": [{**condition, "message": refused}]}
    runs = pod("web-1-a", nodeName="node-0")
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": True}
    runs["metadata"]["ownerReferences"] = [{**owner, "uid": "u"}]
    listed = {"apiVersion": "v1", "kind": "List", "items": [node("node-0"), replicas, runs]}
    (tmp_path / "cluster.json").write_text(json.dumps(listed))
    done = podium(capsys, command, "deployment/web", "-f", str(tmp_path / "cluster.json"))
    assert done.code == 1
    assert f"deployment/web wants 3 pods and has 1: {refused}" in done.err


REFUSED = "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"


def few_pods(made: Manifest) -> dict[str, Any]:
    """A cluster whose quota lets a workload have one pod, which has a node."""
    made["metadata"] |= {"uid": "u"}
    runs = pod("x-0", nodeName="node-0")
    above = {key: made[key] for key in ("apiVersion", "kind")}
    runs["metadata"]["ownerReferences"] = [{**above, "name": "x", "controller": True, "uid": "u"}]
    items = [quota("q", pods="1"), *three_nodes(), made, runs]
    return {"apiVersion": "v1", "kind": "List", "items": items}


@pytest.mark.parametrize("command", ["why", "explain"])
@pytest.mark.parametrize(
    ("cluster", "named"),
    [
        (few_pods({**daemon_set("x"), "status": {"desiredNumberScheduled": 3}}), "daemonset/x"),
        (few_pods(stateful_set("x", 3)), "statefulset/x"),
        (few_pods(job("x", 3)), "job/x"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_controllers_without_conditions_are_answered_for_by_the_quota(
    command: str,
    cluster: dict[str, Any],
    named: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(cluster))
    done = podium(capsys, command, named, "-f", str(file))
    assert done.code == 1
    said = f'default/{named} wants 3 pods and has 1: pods "x-new" is forbidden: {REFUSED}'
    assert said in done.err


@pytest.mark.parametrize(("wanted", "code"), [(3, 1), (1, 0)])
def test_pods_that_a_stateful_set_has_not_made_are_told_of(
    wanted: int, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = replica_set("db", wanted)
    made["kind"] = "StatefulSet"
    made["metadata"] |= {"uid": "u"}
    made["spec"]["serviceName"] = "db"
    runs = pod("db-0", nodeName="node-0")
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}
    runs["metadata"]["ownerReferences"] = [{**owner, "uid": "u"}]
    made["status"] = {"replicas": 1, "currentReplicas": 1}
    listed = {"apiVersion": "v1", "kind": "List", "items": [node("node-0"), made, runs]}
    (tmp_path / "cluster.json").write_text(json.dumps(listed))
    done = podium(capsys, "explain", "statefulset/db", "-f", str(tmp_path / "cluster.json"))
    assert done.code == code
    said = "statefulset/db wants 3 pods and has 1, with a node; the Events of its controller"
    assert (said in done.err) == (code == 1)


def test_refused_pods_of_a_namesake_elsewhere_are_not_what_was_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replicas = replica_set("web", 3)
    replicas["metadata"] |= {"namespace": "tight", "uid": "u"}
    failed = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: q"}
    replicas["status"] = {"replicas": 0, "conditions": [failed]}
    runs = pod("web-a", nodeName="node-0")
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": True}
    runs["metadata"] |= {"ownerReferences": [{**owner, "uid": "v"}], "namespace": "shop"}
    held = pod("web-b", nodeName="node-0")
    held["metadata"] |= {"ownerReferences": [{**owner, "uid": "u"}], "namespace": "tight"}
    items = [node("node-0"), replicas, runs, held]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    there = podium(capsys, "why", "replicaset/web", "-n", "tight", "-f", str(file))
    assert "exceeded quota" in there.err
    elsewhere = podium(capsys, "why", "replicaset/web", "-n", "shop", "-f", str(file))
    assert "exceeded quota" not in elsewhere.err
    assert elsewhere.code == 0


def test_a_workload_without_pods_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = {**stateful_set("db", 0)}
    listed = {"apiVersion": "v1", "kind": "List", "items": [node("node-0"), empty, pod("p")]}
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(listed))
    done = podium(capsys, "why", "statefulset/db", "-f", str(file))
    assert done.code == 1
    assert "default/statefulset/db has no pods" in done.err
    assert "Events" in done.err


# --- what an API server and controllers say of a proposal ---------------------------------------


def with_namespace(*objects: Manifest) -> tuple[Manifest, ...]:
    namespaced = {"LimitRange", "ResourceQuota"}
    return tuple(
        {**each, "metadata": {**each["metadata"], "namespace": "default"}}
        if each["kind"] in namespaced
        else each
        for each in objects
    )


def hard_case(name: str) -> tuple[str, tuple[Manifest, ...]]:
    case = next(each for each in HARD_CASES if each.name == name)
    return case.ask.removeprefix("pod/"), with_namespace(*case.nodes, *case.first, *case.then)


def test_a_pod_is_not_deleted_for_one_that_a_limit_range_would_refuse(asker: Asker) -> None:
    pending = pod("p", cpu="6")
    without, limited = three_nodes(), with_namespace(limit_range("l", min={"cpu": "5"}))
    assert "lower-request" in asker.proposals("p", *without, pending)
    assert "lower-request" not in asker.proposals("p", *without, *limited, pending)


def test_a_pod_is_not_moved_if_it_would_not_be_taken_again(asker: Asker) -> None:
    movable = {**pod("small", cpu="2")}
    movable["spec"]["nodeName"] = "node-0"
    movable["metadata"]["resourceVersion"] = "1"  # it was there before the limit
    nodes = (node("node-0"), node("node-1", "2"))
    limited = with_namespace(limit_range("l", min={"cpu": "3"}))
    assert "move-pods" in asker.proposals("p", *nodes, movable, pod("p", cpu="3"))
    assert "move-pods" not in asker.proposals("p", *nodes, *limited, movable, pod("p", cpu="3"))


def test_a_template_is_not_changed_to_one_whose_pods_a_limit_range_refuses(asker: Asker) -> None:
    reference, objects = hard_case("limit-range-minimum")
    assert "lower-request" not in asker.proposals(reference, *objects)


def test_a_quota_without_room_for_a_surge_is_reckoned_with(asker: Asker) -> None:
    reference, objects = hard_case("quota-without-surge")
    found = asker.proposals(reference, *objects)["tolerate-taint"]
    assert found["pods"] == {"wanted": 3, "before": 1, "after": 3}
    assert '"maxUnavailable":3' in found["commands"][0]


def test_a_claim_that_a_quota_refuses_is_not_proposed(asker: Asker) -> None:
    fast = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    objects = (*three_nodes(), fast, pod("p", volumes=volumes))
    none = with_namespace(quota("q", persistentvolumeclaims="0"))
    assert "create-object" in asker.proposals("p", *objects)
    assert "create-object" not in asker.proposals("p", *objects, *none)


def test_a_template_below_the_partition_of_a_stateful_set_changes_nothing(asker: Asker) -> None:
    reference, objects = hard_case("partition-above")
    assert not any("node-label" in code for code in asker.proposals(reference, *objects))


def test_pods_that_wait_are_deleted_where_a_daemon_set_leaves_that_to_users(asker: Asker) -> None:
    agent = daemon_set("agent", cpu="5")
    nodes = (node("node-0", "4"), node("node-1", "8"))
    rolling = asker.proposals("daemonset/agent", *nodes, agent)["lower-request"]
    assert not any("kubectl delete" in line for line in rolling["commands"])
    by_hand = with_spec(agent, updateStrategy={"type": "OnDelete"})
    found = asker.proposals("daemonset/agent", *nodes, by_hand)["lower-request"]
    assert any(line.startswith("kubectl delete pod/") for line in found["commands"])
    assert found["pods"] == {"wanted": 2, "before": 1, "after": 2}


def test_a_claim_that_a_template_makes_again_with_its_mistake_helps_one_pod(asker: Asker) -> None:
    reference, objects = hard_case("claim-templates-without-class")
    proposals = asker.ask(reference, *objects)["proposals"]
    after = {each["code"]: each["pods"]["after"] for each in proposals}
    # The second pod's claim is made from the template, of the class that does not exist.
    assert after == {"change-storage-class": 1, "create-object": 2, "create-volume": 1}
