"""The log of a scheduler that runs: lines of its verbosity, which can be changed meanwhile."""

import json
import socket
import ssl
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from support.apiserver.apiserver_process import serving
from support.e2e.scheduler_process import running_scheduler
from support.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.slow

PODS = "/api/v1/namespaces/default/pods"
NODE = {
    "metadata": {"name": "n1"},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
BOUND = '"Successfully bound pod to node" pod="default/{}" node="n1" evaluatedNodes=1'


def pod(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}]}}


def set_verbosity(port: int, token: str, level: int) -> str:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    address = f"https://127.0.0.1:{port}/debug/flags/v"
    request = Request(address, str(level).encode(), method="PUT")
    request.add_header("Authorization", f"Bearer {token}")
    with urlopen(request, timeout=PATIENCE_S, context=context) as answer:
        return str(answer.read().decode())


def test_the_verbosity_of_the_log_is_changed_while_it_runs(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(tmp_path) as server:
        server.ask("POST", "/api/v1/nodes", NODE)
        kubeconfig = str(server.kubeconfig)
        flags = (
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            "--leader-elect=false",
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
        )
        with running_scheduler(tmp_path, *flags) as process:
            server.ask("POST", PODS, pod("quiet"))
            wait_until(lambda: server.ask("GET", f"{PODS}/quiet")[1]["spec"].get("nodeName"))
            assert "successfully set" in set_verbosity(port, server.token, 3)
            server.ask("POST", PODS, pod("told"))
            wait_until(lambda: BOUND.format("told") in process.said)
            set_verbosity(port, server.token, 0)
            server.ask("POST", PODS, pod("quiet-again"))
            wait_until(lambda: server.ask("GET", f"{PODS}/quiet-again")[1]["spec"].get("nodeName"))
            assert process.stopped() == 0
        said = process.said
        assert '"Attempting to schedule pod" pod="default/told"' in said
        assert "default/quiet" not in said


def test_the_log_in_json_is_one_object_a_line(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.ask("POST", "/api/v1/nodes", NODE)
        kubeconfig = f"--kubeconfig={server.kubeconfig}"
        flags = ("--secure-port=0", "--leader-elect=false", "--logging-format=json", "-v=5")
        with running_scheduler(tmp_path, *flags, kubeconfig) as process:
            server.ask("POST", PODS, pod("web"))
            wait_until(lambda: "Delete event for unscheduled pod" in process.said)
            assert process.stopped() == 0
        lines = [json.loads(line) for line in process.said.splitlines()]
        (bound,) = (line for line in lines if line["msg"] == "Successfully bound pod to node")
        assert bound["pod"] == {"name": "web", "namespace": "default"}
        assert (bound["v"], bound["node"], bound["evaluatedNodes"]) == (2, "n1", 1)
