"""The commands that `podium why` prints, run by a shell with a real kubectl: the pod gets a node.

A cluster of `podium up` is dumped as a user would dump it, the question is put to the dump, and the
lines that carry out a proposal are given to `sh` one by one.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.kubectl_process import installed, required
from support.e2e.hard_pending_workloads import quota
from support.e2e.up_process import Objects, UpProcess, up
from support.e2e.workload_manifests import daemon_set, job, stateful_set
from support.waiting import PATIENCE_S, wait_until

from podium.commands import main

KINDS = (
    "nodes,pods,replicasets,statefulsets,persistentvolumeclaims,persistentvolumes,storageclasses"
)
numbers = count(1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UpProcess]:
    with up(tmp_path_factory.mktemp("up"), "--speed", "10") as running:
        yield running


class Shell:
    """`sh` with the newest kubectl on its path, in a namespace of the test's own."""

    def __init__(self, cluster: UpProcess, folder: Path) -> None:
        program = required(max(installed(), default=None))
        (folder / "bin").mkdir()
        (folder / "bin" / "kubectl").symlink_to(program)
        self._folder = folder
        self._environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "KUBECONFIG": str(cluster.server.kubeconfig),
            "HOME": str(folder),
        }
        self._cluster = cluster
        self.namespace = f"team-{next(numbers)}"
        cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        self.pods = f"/api/v1/namespaces/{self.namespace}/pods"

    def run(self, line: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["sh", "-c", line],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self._environment,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{line} ended with {done.returncode}: {done.stdout}"
        return done.stdout

    def create(self, *objects: dict[str, Any]) -> None:
        body = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self.run(f"kubectl create --namespace={self.namespace} --filename=-", body)

    def dump(self) -> str:
        path = self._folder / "cluster.json"
        path.write_text(self.run(f"kubectl get {KINDS} --all-namespaces --output=json"))
        return str(path)

    def until_waiting(self) -> str:
        """The name of a pod that the scheduler has refused, once there is one."""

        def refused(pods: Objects) -> list[Any]:
            return [
                pod
                for pod in pods
                if any(c["status"] == "False" for c in pod["status"].get("conditions", ()))
                and not pod["spec"].get("nodeName")
            ]

        pods = self._cluster.until(self.pods, lambda pods: bool(refused(pods)))
        name: str = refused(pods)[0]["metadata"]["name"]
        return name

    def until_all_placed(self, number: int) -> None:
        self._cluster.until(
            self.pods,
            lambda pods: (
                sum(bool(pod["spec"].get("nodeName")) for pod in pods) == len(pods) == number
            ),
        )


@pytest.fixture
def shell(cluster: UpProcess, tmp_path: Path) -> Iterator[Shell]:
    made = Shell(cluster, tmp_path)
    yield made
    cluster.ask("DELETE", f"/api/v1/namespaces/{made.namespace}")


def pod_spec(cpu: str = "100m", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    ports = spec.pop("ports", None)
    if ports:
        container["ports"] = ports
    return {"terminationGracePeriodSeconds": 0, "containers": [container], **spec}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
    return {**body, "spec": pod_spec(**spec)}


def template(labels: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "spec": pod_spec(**spec)}


def on(node: str) -> dict[str, str]:
    return {"kubernetes.io/hostname": node}


def carry_out(shell: Shell, code: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Ask about the pod that waits and run the commands of the first proposal with a code."""
    name = shell.until_waiting()
    assert main(["why", f"{shell.namespace}/{name}", "-f", shell.dump(), "-o", "json"]) == 0
    proposals = json.loads(capsys.readouterr().out)["proposals"]
    found = [proposal for proposal in proposals if proposal["code"] == code]
    assert found, [proposal["sentence"] for proposal in proposals]
    for line in found[0]["commands"]:
        shell.run(line)
    commands: list[str] = found[0]["commands"]
    return commands


def test_a_pod_is_given_a_toleration_in_place(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run("kubectl taint nodes node-0 team=red:NoSchedule")
    try:
        shell.create(pod("waits", nodeSelector=on("node-0")))
        (line,) = carry_out(shell, "tolerate-taint", capsys)
        assert line.startswith("kubectl patch pod/waits --type=json ")
        shell.until_all_placed(1)
    finally:
        shell.run("kubectl taint nodes node-0 team=red:NoSchedule-")


@pytest.mark.slow
def test_a_pod_without_an_owner_is_made_anew_with_the_label_corrected(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.create(pod("typo", nodeSelector={"kubernetes.io/os": "linuxx"}))
    (line,) = carry_out(shell, "correct-label-value", capsys)
    assert line.endswith("| kubectl replace --force --filename=-")
    shell.until_all_placed(1)


def test_the_template_of_a_deployment_is_given_the_largest_request_that_fits(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = {"app": "web"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": template(labels, cpu="9"),
        },
    }
    shell.create(deployment)
    (line,) = carry_out(shell, "lower-request", capsys)
    assert line.startswith("kubectl patch deployment/web ")
    shell.until_all_placed(1)


@pytest.mark.slow
def test_the_template_of_a_stateful_set_is_changed_and_its_pod_made_again(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = {"app": "db"}
    ports = [{"containerPort": 5432, "hostPort": 5432}, {"containerPort": 80}]
    shell.create(pod("holder", ports=ports, nodeSelector=on("node-1")))
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": 1,
            "serviceName": "db",
            "selector": {"matchLabels": labels},
            "template": template(labels, ports=ports, nodeSelector=on("node-1")),
        },
    }
    shell.until_all_placed(1)
    shell.create(stateful)
    lines = carry_out(shell, "drop-host-port", capsys)
    assert [line.split()[1] for line in lines] == ["patch", "delete"]
    shell.until_all_placed(2)


@pytest.mark.slow
def test_a_job_is_made_anew(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    spec = pod_spec(cpu="9", restartPolicy="Never")
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "report"},
        "spec": {"template": {"spec": spec}},
    }
    shell.create(job)
    carry_out(shell, "lower-request", capsys)
    shell.until_all_placed(1)


@pytest.mark.slow
def test_a_scheduling_gate_is_removed(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    gates = [{"name": "example.com/quota"}, {"name": "example.com/review"}]
    shell.create(pod("gated", schedulingGates=gates))
    carry_out(shell, "remove-scheduling-gate", capsys)
    shell.until_all_placed(1)


@pytest.mark.slow
def test_a_node_is_uncordoned(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run("kubectl cordon node-2")
    shell.create(pod("waits", nodeSelector=on("node-2")))
    assert carry_out(shell, "uncordon-node", capsys) == ["kubectl uncordon node/node-2"]
    shell.until_all_placed(1)


@pytest.mark.slow
def test_a_node_is_labelled(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.create(pod("waits", nodeSelector={"example.com/team": "red"}))
    carry_out(shell, "label-node", capsys)
    shell.until_all_placed(1)


@pytest.mark.slow
def test_a_pod_in_the_way_is_moved(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run("kubectl cordon node-1 && kubectl cordon node-2")
    shell.create(pod("in-the-way", cpu="5"))
    shell.until_all_placed(1)
    shell.run("kubectl uncordon node-1 && kubectl uncordon node-2")
    shell.create(pod("waits", cpu="6", nodeSelector=on("node-0")))
    lines = carry_out(shell, "move-pods", capsys)
    assert lines[0] == "kubectl cordon node/node-0"
    shell.until_all_placed(2)


@pytest.mark.slow
def test_a_missing_claim_is_created(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": shell.namespace},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    shell.create(storage, pod("waits", volumes=[volume]))
    carry_out(shell, "create-object", capsys)
    shell.until_all_placed(1)


@pytest.mark.slow
def test_the_priority_is_raised_with_a_class_that_is_created_first(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.create(pod("small", cpu="5", nodeSelector=on("node-0")))
    shell.until_all_placed(1)
    shell.create(pod("waits", cpu="6", nodeSelector=on("node-0")))
    lines = carry_out(shell, "raise-priority", capsys)
    assert len(lines) == 2
    shell.until_all_placed(1)


@pytest.mark.slow
def test_a_node_is_added(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.create(pod("waits", cpu="12"))
    carry_out(shell, "add-larger-node", capsys)
    shell.until_all_placed(1)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["why", "explain"])
@pytest.mark.parametrize("kind", ["DaemonSet", "StatefulSet", "Job"])
def test_a_cluster_is_asked_what_its_quota_refuses_to_a_workload(
    cluster: UpProcess,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    command: str,
) -> None:
    shell = Shell(cluster, tmp_path)
    made = {"DaemonSet": daemon_set("x"), "StatefulSet": stateful_set("x"), "Job": job("x", 2)}
    shell.create(quota("q", pods="1"))
    shell.create(made[kind])
    cluster.until(
        shell.pods, lambda pods: [bool(p["spec"].get("nodeName")) for p in pods] == [True]
    )
    named = f"{kind.lower()}/x"
    arguments = [command, named, "-n", shell.namespace, "--kubeconfig"]
    wanted = len(cluster.ask("GET", "/api/v1/nodes")["items"]) if kind == "DaemonSet" else 2
    has = f"{shell.namespace}/{named} wants {wanted} pods and has 1: "
    # What it wants is told in its status, which its controller writes when it has made pods.
    wait_until(lambda: says(capsys, *arguments, str(cluster.server.kubeconfig)).startswith(has))
    refusal = 'pods "x-new" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1'
    assert refusal in says(capsys, *arguments, str(cluster.server.kubeconfig))


def says(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command says on standard error, when its answer is no."""
    code = main(list(arguments))
    said = capsys.readouterr().err
    return said.removeprefix("podium: ") if code == 1 else ""
