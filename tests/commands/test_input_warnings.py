"""What `simulate`, `explain` and `story` say first when the input cannot carry the answer."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import Raw, Write, node, pod, podium, priority_class, writer

pytestmark = pytest.mark.usefixtures("wide_output")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def stored(obj: Raw, **metadata: Any) -> Raw:
    """The object as a server gave it."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": "7", **metadata}}


def mounting(name: str = "p", claim: str = "data") -> Raw:
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}])


def claim(name: str = "data", **spec: Any) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "resourceVersion": "7"},
        "spec": {"accessModes": ["ReadWriteOnce"], **spec},
    }


def volume(name: str = "pv-1") -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "csi": {"driver": "csi.example.com", "volumeHandle": "h"},
        },
    }


def storage_class(name: str = "fast") -> Raw:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "csi.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def driver() -> Raw:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": "csi.example.com"},
        "spec": {"storageCapacity": True},
    }


def device_claim(kind: str = "ResourceClaim") -> Raw:
    devices = {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}
    spec: Raw = {"devices": devices}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "gpu"},
        "spec": spec if kind == "ResourceClaim" else {"spec": spec},
    }


def owned(kind: str) -> Raw:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": "u", "controller": True}
    return stored(pod("p"), ownerReferences=[owner])


def selecting_namespaces() -> Raw:
    term = {
        "labelSelector": {},
        "topologyKey": "kubernetes.io/hostname",
        "namespaceSelector": {"matchLabels": {"team": "a"}},
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return pod("p", affinity={"podAntiAffinity": required})


CASES: dict[str, tuple[list[Raw], str]] = {
    "PersistentVolumeClaim": ([mounting()], "1 pod (default/p)"),
    "PersistentVolume": ([mounting(), claim(volumeName="pv-1")], "1 claim (default/data)"),
    "StorageClass": ([mounting(), claim(storageClassName="fast")], "1 claim (default/data)"),
    "CSINode": ([mounting(), claim(volumeName="pv-1"), volume()], "1 volume (pv-1)"),
    "CSIDriver": (
        [mounting(), claim(storageClassName="fast"), storage_class()],
        "1 claim (default/data)",
    ),
    "CSIStorageCapacity": (
        [mounting(), claim(storageClassName="fast"), storage_class(), driver()],
        "1 driver (csi.example.com)",
    ),
    "ResourceClaim": (
        [pod("p", resourceClaims=[{"name": "r", "resourceClaimName": "gpu"}])],
        "1 pod (default/p)",
    ),
    "ResourceClaimTemplate": (
        [pod("p", resourceClaims=[{"name": "r", "resourceClaimTemplateName": "gpu"}])],
        "1 pod (default/p)",
    ),
    "DeviceClass": (
        [
            pod("p", resourceClaims=[{"name": "r", "resourceClaimName": "gpu"}]),
            device_claim(),
        ],
        "1 claim (default/gpu)",
    ),
    "ResourceSlice": (
        [
            pod("p", resourceClaims=[{"name": "r", "resourceClaimName": "gpu"}]),
            device_claim(),
        ],
        "1 claim (default/gpu)",
    ),
    "PriorityClass": (
        [stored(pod("p", priorityClassName="gold", priority=9))],
        "1 pod (default/p)",
    ),
    "Namespace": ([selecting_namespaces()], "1 pod (default/p)"),
    "ReplicaSet": ([owned("ReplicaSet")], "1 pod (default/p)"),
    "StatefulSet": ([owned("StatefulSet")], "1 pod (default/p)"),
    "ReplicationController": ([owned("ReplicationController")], "1 pod (default/p)"),
    "PodGroup": (
        [stored(pod("p", schedulingGroup={"podGroupName": "g"}))],
        "1 pod (default/p)",
    ),
}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("command", [("simulate",), ("explain", "p"), ("story", "p")])
def test_a_kind_that_is_referred_to_and_absent_is_told_before_the_answer(
    capsys: pytest.CaptureFixture[str], write: Write, kind: str, command: tuple[str, ...]
) -> None:
    objects, told = CASES[kind]
    arguments = (*command, "-f", write(node(), *objects))
    done = podium(capsys, *arguments)
    assert done.out.lstrip("\n").startswith("Incomplete input  the answer below may be wrong\n")
    assert f"no {kind} in the input, but" in done.out
    assert "podium dump-command" in done.out
    document = podium(capsys, *arguments, "-o", "json").decoded()
    assert list(document)[:3] == ["apiVersion", "kind", "incomplete"]
    (found,) = (each for each in document["incomplete"] if each["kind"] == kind)
    assert told in found["sentence"]
    assert found["affects"]
    assert "kubectl get --raw" in found["command"]


@pytest.mark.parametrize("kind", CASES)
def test_an_empty_list_says_that_there_are_none(
    capsys: pytest.CaptureFixture[str], write: Write, kind: str, tmp_path: Path
) -> None:
    objects, _ = CASES[kind]
    empty = tmp_path / "empty.json"
    empty.write_text(f'{{"kind": "{kind}List", "apiVersion": "v1", "items": []}}')
    done = podium(capsys, "simulate", "-f", write(node(), *objects), "-f", str(empty), "-o", "json")
    assert kind not in {each["kind"] for each in done.decoded()["incomplete"]}


def test_budgets_are_missed_when_pods_of_a_dump_are_evicted(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path
) -> None:
    victim = stored(pod("low", cpu="4", nodeName="n1", priority=0))
    high = pod("high", cpu="4", priorityClassName="high")
    objects = write(node(), victim, priority_class("high", 5), high)
    done = podium(capsys, "simulate", "-f", objects)
    assert (
        "no PodDisruptionBudget in the input, but it matters to 1 evicted pod (default/low)"
        in done.out
    )
    empty = tmp_path / "none.json"
    empty.write_text('{"kind": "PodDisruptionBudgetList", "apiVersion": "policy/v1", "items": []}')
    done = podium(capsys, "simulate", "-f", objects, "-f", str(empty))
    assert "Incomplete" not in done.out


def test_volumes_of_pods_that_run_already_are_nobodys_business(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    running = mounting("old")
    running["spec"]["nodeName"] = "n1"
    done = podium(capsys, "simulate", "-f", write(node(), running, pod("new")))
    assert "Incomplete" not in done.out


def test_an_input_without_nodes_says_how_to_get_them(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    done = podium(capsys, "simulate", "-f", write(pod("p")))
    assert done.code == 2
    assert "podium dump-command prints the command" in done.err


def waiting(name: str, message: str, cpu: str = "1", reason: str = "Unschedulable") -> Raw:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    return {**pod(name, cpu=cpu), "status": {"conditions": [condition]}}


def test_messages_that_are_not_those_of_the_cluster_are_told_and_counted(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    objects = write(
        node(), waiting("a", "0/5 nodes are available: 5 Insufficient cpu."), waiting("b", "x", "9")
    )
    done = podium(capsys, "simulate", "-f", objects)
    assert "Not what the cluster's scheduler said  2 of 2 pods with one" in done.out
    assert "cluster: 0/5 nodes are available: 5 Insufficient cpu." in done.out
    assert "here:    goes to n1" in done.out
    document = podium(capsys, "simulate", "-f", objects, "-o", "json").decoded()
    recorded = document["recordedMessages"]
    assert recorded["compared"] == 2
    assert [each["pod"] for each in recorded["differences"]] == ["default/a", "default/b"]
    assert recorded["differences"][0]["node"] == "n1"
    explained = podium(capsys, "explain", "b", "-f", objects)
    assert "cluster: x" in explained.out
    assert "default/a" not in explained.out.split("Pod ", 1)[0]


def test_a_message_that_agrees_is_not_mentioned(
    capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    first = podium(capsys, "simulate", "-f", write(node(), pod("a", cpu="9")), "-o", "json")
    message = first.decoded()["pods"][0]["message"]
    objects = write(
        node(), waiting("a", message, "9"), waiting("g", "gates", "9", "SchedulingGated")
    )
    document = podium(capsys, "simulate", "-f", objects, "-o", "json").decoded()
    assert document["recordedMessages"] == {"compared": 1, "differences": []}
    assert "cluster's scheduler" not in podium(capsys, "simulate", "-f", objects).out


def test_the_dump_command_is_one_line_that_a_shell_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = podium(capsys, "dump-command")
    assert done.code == 0
    assert done.out.count("\n") == 1
    words = shlex.split(done.out)
    assert words[:3] == ["for", "path", "in"]
    document = podium(capsys, "dump-command", "-o", "json").decoded()
    assert document["command"] + "\n" == done.out
    assert all(f" {each['path']}" in done.out for each in document["kinds"])
