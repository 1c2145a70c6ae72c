"""Gangs with real processes: a server, `podium run` and `podium controller podgroup` beside it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.apiserver.apiserver_process import RunningServer, serving
from support.commands.command_line import EXAMPLES
from support.e2e.scheduler_process import running_scheduler
from support.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.slow

GANGS = EXAMPLES / "coscheduling"
PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/podium-podgroup-controller"
LABEL = "scheduling.x-k8s.io/pod-group"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with serving(tmp_path) as running:
        for name in ("n1", "n2"):
            status = {
                "allocatable": {"cpu": "2", "memory": "8Gi", "pods": "110"},
                "conditions": [{"type": "Ready", "status": "True"}],
            }
            node = {"metadata": {"name": name}, "status": status}
            assert running.ask("POST", "/api/v1/nodes", node)[0] == 201
        yield running


@contextmanager
def running_controller(server: RunningServer, directory: Path) -> Iterator[Path]:
    """The controller with leader election, and the file of what it says."""
    log = directory / "controller.log"
    command = [sys.executable, "-m", "podium", "controller", "podgroup", "--leader-elect"]
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, "--kubeconfig", str(server.kubeconfig)], stdout=out, stderr=out
        )
    try:
        yield log
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text()


def define_groups(server: RunningServer) -> None:
    definition = yaml.safe_load((GANGS / "crd.yaml").read_text())
    assert server.ask("POST", DEFINITIONS, definition)[0] == 201
    wait_until(lambda: server.ask("GET", GROUPS)[0] == 200)


def create_group(server: RunningServer, name: str, members: int) -> None:
    body = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"minMember": members, "scheduleTimeoutSeconds": 10},
    }
    assert server.ask("POST", GROUPS, body)[0] == 201


def create_member(server: RunningServer, group: str, number: int) -> None:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}
    metadata = {"name": f"{group}-{number}", "labels": {LABEL: group}}
    body = {"metadata": metadata, "spec": {"containers": [container]}}
    status, told = server.ask("POST", PODS, body)
    assert status == 201, told


def bound(server: RunningServer) -> set[str]:
    pods: list[dict[str, Any]] = server.ask("GET", PODS)[1]["items"]
    return {pod["metadata"]["name"] for pod in pods if pod["spec"].get("nodeName")}


def phase(server: RunningServer, group: str) -> str:
    found = server.ask("GET", f"{GROUPS}/{group}")[1]
    return str(found.get("status", {}).get("phase", ""))


def test_a_gang_is_bound_when_all_of_it_is_there_and_its_group_says_so(
    server: RunningServer, tmp_path: Path
) -> None:
    define_groups(server)
    configuration = yaml.safe_load((GANGS / "scheduler.yaml").read_text())
    configuration["clientConnection"] = {"kubeconfig": str(server.kubeconfig)}
    configuration["leaderElection"] = {"leaderElect": False}
    (tmp_path / "scheduler.yaml").write_text(yaml.safe_dump(configuration))
    flags = ("--secure-port=0", "--config", "scheduler.yaml")
    with running_controller(server, tmp_path) as said:
        wait_until(lambda: "the podgroup controller works at" in said.read_text())
        assert server.ask("GET", LEASE)[1]["spec"]["holderIdentity"]
        with running_scheduler(tmp_path, *flags) as process:
            create_group(server, "training", 4)
            for number in range(3):
                create_member(server, "training", number)
            wait_until(lambda: phase(server, "training") == "Pending")
            assert bound(server) == set()
            create_member(server, "training", 3)
            wait_until(lambda: len(bound(server)) == 4)
            wait_until(lambda: phase(server, "training") in ("Scheduling", "Scheduled", "Running"))
            # No room is left for another gang: none of it gets a node.
            create_group(server, "second", 2)
            for number in range(2):
                create_member(server, "second", number)
            path = f"{PODS}/second-0"
            wait_until(lambda: server.ask("GET", path)[1]["status"].get("conditions"))
            assert not {"second-0", "second-1"} & bound(server)
            assert process.stopped() == 0


def test_without_the_kind_the_controller_says_what_to_install(
    server: RunningServer,
) -> None:
    command = [sys.executable, "-m", "podium", "controller", "podgroup"]
    done = subprocess.run(
        [*command, "--kubeconfig", str(server.kubeconfig)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    assert "install their CustomResourceDefinition" in done.stderr
