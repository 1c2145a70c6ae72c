"""Examples that articles explain in words: what they say happens, happens."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import node, pod, podium, writer
from support.e2e.printed_files import COPIES

ONE = {"key": "key1", "operator": "Equal", "value": "value1", "effect": "NoSchedule"}
TWO = {"key": "key1", "operator": "Equal", "value": "value1", "effect": "NoExecute"}
THREE = {"key": "key2", "operator": "Equal", "value": "value2", "effect": "NoSchedule"}


HOST = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def placed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *objects: dict[str, Any], flags: Any = ()
) -> Any:
    done = podium(capsys, "simulate", writer(tmp_path)(*objects), *flags, "-o", "json")
    return {each["name"]: each["node"] for each in done.decoded()["pods"]}


def labelled(name: str, **labels: str) -> dict[str, Any]:
    return node(name, labels={HOST: name, **labels})


def of_key(key: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def test_a_pod_has_to_tolerate_all_taints_of_a_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tainted = node("node1")
    tainted["spec"] = {
        "taints": [{k: each[k] for k in ("key", "value", "effect")} for each in (ONE, TWO, THREE)]
    }
    two_of_three = pod("two-of-three", tolerations=[ONE, TWO])
    all_three = pod("all", tolerations=[ONE, {**TWO, "tolerationSeconds": 600}, THREE])
    found = placed(capsys, tmp_path, tainted, two_of_three, all_three)
    assert found == {"two-of-three": None, "all": "node1"}


def test_of_the_nodes_that_filters_leave_the_one_with_the_highest_score_wins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def preferring(weight: int, name: str) -> dict[str, Any]:
        chosen = {"key": "kubernetes.io/hostname", "operator": "In", "values": [name]}
        return {"weight": weight, "preference": {"matchExpressions": [chosen]}}

    nodes = [
        node(name, cpu=cpu, labels={"kubernetes.io/hostname": name})
        for name, cpu in (("node-1", "4"), ("node-2", "4"), ("node-3", "500m"))
    ]
    terms = [preferring(2, "node-1"), preferring(5, "node-2"), preferring(100, "node-3")]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    assert placed(capsys, tmp_path, *nodes, pod("p", affinity=affinity)) == {"p": "node-2"}


def test_a_daemon_set_runs_on_the_nodes_that_its_selector_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = {"app": "agent"}
    spec = {"nodeSelector": {"disktype": "ssd"}, "containers": [{"name": "c", "image": "agent"}]}
    agents = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    nodes = labelled("node-01", disktype="ssd"), labelled("node-02", disktype="hdd")
    assert list(placed(capsys, tmp_path, *nodes, agents).values()) == ["node-01"]


def test_a_pod_goes_where_it_must_and_there_where_it_would_like_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zone, liked = "kubernetes.io/e2e-az-name", "another-node-label-key"
    must = {"nodeSelectorTerms": [of_key(zone, "e2e-az1", "e2e-az2")]}
    like = {"weight": 1, "preference": of_key(liked, "another-node-label-value")}
    affinity = {"nodeAffinity": {REQUIRED: must, PREFERRED: [like]}}
    nodes = [
        labelled("plain", **{zone: "e2e-az1"}),
        labelled("liked", **{zone: "e2e-az2", liked: "another-node-label-value"}),
        labelled("elsewhere", **{zone: "e2e-az3", liked: "another-node-label-value"}),
    ]
    wanting = pod("with-node-affinity", affinity=affinity)
    assert placed(capsys, tmp_path, *nodes, wanting) == {"with-node-affinity": "liked"}
    assert placed(capsys, tmp_path, nodes[2], wanting) == {"with-node-affinity": None}


def test_a_pod_goes_into_the_zone_of_one_pod_and_not_beside_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def running(name: str, at: str, security: str) -> dict[str, Any]:
        made = pod(name, cpu="10m", nodeName=at)
        made["metadata"]["labels"] = {"security": security}
        return made

    old_zone = "failure-domain.beta.kubernetes.io/zone"
    near = {"labelSelector": of_key("security", "S1"), "topologyKey": old_zone}
    away = {
        "weight": 100,
        "podAffinityTerm": {"labelSelector": of_key("security", "S2"), "topologyKey": HOST},
    }
    affinity = {"podAffinity": {REQUIRED: [near]}, "podAntiAffinity": {PREFERRED: [away]}}
    zone = "topology.kubernetes.io/zone"
    objects = [
        labelled("a1", **{zone: "a"}),
        labelled("a2", **{zone: "a"}),
        labelled("b1", **{zone: "b"}),
        running("first", "a1", "S1"),
        running("second", "a1", "S2"),
        pod("with-pod-affinity", affinity=affinity),
    ]
    found = placed(capsys, tmp_path, *objects)
    assert found["with-pod-affinity"] == "a2"


def test_a_node_under_pressure_takes_no_pod_without_requests(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pressed = node("n1")
    key = "node.kubernetes.io/memory-pressure"
    pressed["spec"] = {"taints": [{"key": key, "effect": "NoSchedule"}]}
    best_effort = pod("best-effort")
    del best_effort["spec"]["containers"][0]["resources"]
    tolerating = pod("burstable", tolerations=[{"key": key, "operator": "Exists"}])
    found = placed(capsys, tmp_path, pressed, best_effort, tolerating)
    assert found == {"best-effort": None, "burstable": "n1"}


PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")


def troubled(name: str, condition: str, status: str = "True") -> dict[str, Any]:
    made = node(name)
    ready = {"type": "Ready", "status": "True"}
    made["status"]["conditions"] = [ready, {"type": condition, "status": status}]
    if condition == "Ready":
        made["status"]["conditions"] = [{"type": condition, "status": status}]
    return made


@pytest.mark.parametrize(
    ("condition", "status"),
    [*((each, "True") for each in PRESSURES), ("Ready", "False"), ("Ready", "Unknown")],
)
def test_a_node_whose_conditions_speak_against_it_takes_no_pod(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], condition: str, status: str
) -> None:
    files = writer(tmp_path)(troubled("n1", condition, status), pod("p"))
    done = podium(capsys, "simulate", files)
    assert done.code == 1
    assert f"1 node tainted because of the condition {condition}" in done.out


def test_a_node_that_is_well_takes_pods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = placed(capsys, tmp_path, troubled("n1", "MemoryPressure", "False"), pod("p"))
    assert found == {"p": "n1"}


def test_under_a_policy_that_checks_memory_only_pods_without_requests_are_kept_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best_effort = pod("best-effort")
    del best_effort["spec"]["containers"][0]["resources"]
    predicates = ["GeneralPredicates", "CheckNodeMemoryPressure", "CheckNodeDiskPressure"]
    flags = by_policy(tmp_path, "LeastRequestedPriority", predicates=predicates)

    pressed = troubled("n1", "MemoryPressure")
    found = placed(capsys, tmp_path, pressed, best_effort, pod("burstable"), flags=flags)
    assert found == {"best-effort": None, "burstable": "n1"}

    full = troubled("n1", "DiskPressure")
    assert placed(capsys, tmp_path, full, pod("burstable"), flags=flags) == {"burstable": None}

    converted = podium(capsys, "config", "convert", flags[1])
    assert "CheckNodeMemoryPressure kept only pods out that ask for nothing" in converted.out


def test_opaque_integer_resources_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "pod.alpha.kubernetes.io/opaque-int-resource-dongle"
    has_two = node("n1")
    has_two["status"]["allocatable"][name] = "2"

    def wanting(pod_name: str, count: str) -> dict[str, Any]:
        made = pod(pod_name)
        made["spec"]["containers"][0]["resources"] = {
            "requests": {name: count},
            "limits": {name: count},
        }
        return made

    found = placed(capsys, tmp_path, has_two, wanting("two", "2"), wanting("one-more", "1"))
    assert found == {"two": "n1", "one-more": None}


def by_policy(
    tmp_path: Path, *priorities: str, predicates: Sequence[str] = ("GeneralPredicates",)
) -> tuple[str, str]:
    policy = {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": [{"name": name} for name in predicates],
        "priorities": [{"name": name, "weight": 1} for name in priorities],
    }
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    return "--config", str(tmp_path / "policy.json")


def test_with_the_equal_priority_alone_every_node_is_as_good_as_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = by_policy(tmp_path, "EqualPriority")
    pods = [pod(f"p{number}", cpu="10m") for number in range(4)]
    nodes = node("large", cpu="64"), node("small", cpu="2")
    found = placed(capsys, tmp_path, *nodes, *pods, flags=flags)
    assert sorted(found.values()) == ["large", "large", "small", "small"]


@pytest.mark.parametrize("priority", ["ServiceSpreadingPriority", "SelectorSpreadPriority"])
def test_pods_of_a_service_are_spread_by_the_priorities_for_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], priority: str
) -> None:
    labels = {"app": "web"}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": labels, "ports": [{"port": 80}]},
    }
    pods = [pod(f"web-{number}", cpu="10m") for number in range(3)]
    for each in pods:
        each["metadata"]["labels"] = labels
    nodes = [labelled(f"n{number}") for number in range(3)]
    flags = by_policy(tmp_path, priority)
    found = placed(capsys, tmp_path, service, *nodes, *pods, flags=flags)
    assert sorted(found.values()) == ["n0", "n1", "n2"]


@pytest.mark.parametrize(
    ("priority", "counts_controllers"),
    [("ServiceSpreadingPriority", False), ("SelectorSpreadPriority", True)],
)
def test_only_one_of_them_counts_the_pods_of_a_controller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], priority: str, counts_controllers: bool
) -> None:
    """No service selects these pods; a sibling of their controller is on n0."""
    labels = {"app": "web"}
    replicas = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "uid": "uid-web"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod("web")["spec"]},
        },
    }
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web",
        "uid": "uid-web",
        "controller": True,
    }
    pods = [pod("web-0", cpu="10m", nodeName="n0"), pod("web-1", cpu="10m")]
    for each in pods:
        each["metadata"] |= {"labels": labels, "ownerReferences": [owner]}
    files = writer(tmp_path)(replicas, labelled("n0"), labelled("n1"), *pods)
    flags = by_policy(tmp_path, priority)
    done = podium(capsys, "explain", "web-1", files, *flags, "-o", "json")
    (attempt,) = done.decoded()["attempts"]
    scores = {each["total"] for each in attempt["nodes"]}
    assert len(scores) == (2 if counts_controllers else 1)


def test_a_policy_is_explained_in_the_groups_of_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tainted = node("n1")
    tainted["spec"] = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    files = writer(tmp_path)(tainted, pod("p"))
    predicates = ["GeneralPredicates", "NoVolumeZoneConflict", "MatchInterPodAffinity"]
    flags = by_policy(tmp_path, predicates=predicates)

    done = podium(capsys, "explain", "p", files, *flags)
    assert "Predicates  as a Policy groups them" in done.out
    (host,) = [line for line in done.out.splitlines() if line.startswith("Host Filtering Rules")]
    assert host.split()[-1] == "1"
    assert "TaintToleration" in host

    document = podium(capsys, "explain", "p", files, *flags, "-o", "json").decoded()
    groups = document["attempts"][0]["filters"]["groups"]
    assert groups["TaintToleration"] == "Host Filtering Rules"
    assert groups["VolumeZone"] == "Volume Filtering Rules"
    assert groups["NodeResourcesFit"] == groups["InterPodAffinity"] == "Pod Filtering Rules"

    document = podium(capsys, "explain", "p", files, "-o", "json").decoded()
    assert "groups" not in document["attempts"][0]["filters"]


def test_the_toleration_of_critical_add_ons_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toleration = {"key": "CriticalAddonsOnly", "operator": "Exists"}
    plain = pod("plain", tolerations=[toleration])
    critical = pod("dns", tolerations=[toleration], priorityClassName="system-cluster-critical")
    files = writer(tmp_path)(node("n1"), plain, critical)

    told = (
        "tolerates CriticalAddonsOnly, which marked critical add-ons before there were priorities"
    )
    done = podium(capsys, "explain", "plain", files, "-o", "json")
    (note,) = [each for each in done.decoded()["notes"] if "Critical" in each]
    assert note.startswith(told)
    assert note.endswith("what makes a pod critical is priorityClassName system-cluster-critical")
    done = podium(capsys, "explain", "dns", files, "-o", "json")
    (note,) = [each for each in done.decoded()["notes"] if "Critical" in each]
    assert note.endswith("the pod is critical by its priority (system-cluster-critical)")
    assert "CriticalAddonsOnly" in podium(capsys, "explain", "plain", files).out


# --- scores by what storage there is --------------------------------------------------------------


def local_volume(at: str, size: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"disk-{at}"},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "local": {"path": "/mnt/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [of_key(HOST, at)]}},
        },
    }


def stored() -> list[dict[str, Any]]:
    """A pod with a claim of 10 GiB, and two nodes with local volumes of 10 and of 100 GiB."""
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "resources": {"requests": {"storage": "10Gi"}},
        },
    }
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    nodes = [labelled("exact"), labelled("roomy")]
    volumes = [local_volume("exact", "10Gi"), local_volume("roomy", "100Gi")]
    return [storage_class, claim, *nodes, *volumes, pod("db", volumes=[volume])]


def test_the_printed_shape_fills_volumes_and_the_default_prefers_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = ("--feature-gates", "StorageCapacityScoring=true")
    printed = ("--config", str(COPIES["002-1"]), *gate)
    assert placed(capsys, tmp_path, *stored(), flags=printed) == {"db": "exact"}
    assert placed(capsys, tmp_path, *stored(), flags=gate) == {"db": "roomy"}


def test_the_gate_of_before_prefers_the_smallest_volume_that_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = stored()
    objects[1]["spec"]["resources"]["requests"]["storage"] = "8Gi"
    old = ("--feature-gates", "VolumeCapacityPriority=true")
    assert placed(capsys, tmp_path, *objects, flags=old) == {"db": "exact"}
    new = ("--feature-gates", "StorageCapacityScoring=true")
    assert placed(capsys, tmp_path, *objects, flags=new) == {"db": "roomy"}
    both = (*old, *new)
    assert placed(capsys, tmp_path, *objects, flags=both) == {"db": "roomy"}


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2", "v1beta3"])
def test_the_gate_of_before_scores_by_volumes_in_files_of_its_days(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = stored()
    objects[1]["spec"]["resources"]["requests"]["storage"] = "8Gi"
    file = tmp_path / f"{version}.yaml"
    file.write_text(
        f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n"
    )
    named = ("--config", str(file), "--feature-gates")
    flags = (*named, "VolumeCapacityPriority=true")
    assert placed(capsys, tmp_path, *objects, flags=flags) == {"db": "exact"}
    flags = (*named, "StorageCapacityScoring=true")
    assert placed(capsys, tmp_path, *objects, flags=flags) == {"db": "roomy"}


def test_what_the_printed_shape_leaves_whole_takes_a_large_claim_that_would_need_another_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = stored()
    claim = {**objects[1], "metadata": {"name": "lake"}}
    claim["spec"] = {**claim["spec"], "resources": {"requests": {"storage": "90Gi"}}}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "lake"}}
    both = (*objects, claim, pod("lake", volumes=[volume]))
    gate = ("--feature-gates", "StorageCapacityScoring=true")
    printed = ("--config", str(COPIES["002-1"]), *gate)
    assert placed(capsys, tmp_path, *both, flags=printed) == {"db": "exact", "lake": "roomy"}
    assert placed(capsys, tmp_path, *both, flags=gate) == {"db": "roomy", "lake": None}
