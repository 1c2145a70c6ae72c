"""`kubectl apply -f deploy/gpu-admission.yaml` describes an extender that shares out GPUs."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
import yaml
from support.deploy.deployed_server import PODS, DeployedServer, deployed_server
from support.deploy.shipped_manifests import DEPLOY, Manifest, one
from support.gpu.extender_clusters import equal_cards
from support.waiting import PATIENCE_S, wait_until

from podium.gpu.dialects import find_dialect

MANIFEST = DEPLOY / "gpu-admission.yaml"
ADDRESS = "http://gpu-admission.kube-system:3456/scheduler"
LISTENING = "--address=0.0.0.0:3456"


def manifests() -> list[Manifest]:
    return list(yaml.safe_load_all(MANIFEST.read_text()))


def test_the_service_is_where_schedulers_are_configured_to_find_it() -> None:
    service, deployment = one(manifests(), "Service"), one(manifests(), "Deployment")
    (port,) = service["spec"]["ports"]
    name = service["metadata"]
    assert f"http://{name['name']}.{name['namespace']}:{port['port']}/scheduler" == ADDRESS
    template = deployment["spec"]["template"]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    (container,) = template["spec"]["containers"]
    assert LISTENING in container["args"]
    assert {"name": port["targetPort"], "containerPort": 3456} in container["ports"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DeployedServer]:
    with deployed_server(tmp_path) as deployed:
        yield deployed


def add_gpu_node(server: DeployedServer) -> None:
    """A node whose agent has registered two cards."""
    write = find_dialect("gpu-scheduler").register(equal_cards(2, 8192), time.time())
    capacity = {"cpu": "64", "pods": "110", **write.capacity}
    annotations = {key: text for key, text in write.annotations.items() if text is not None}
    body = {
        "metadata": {"name": "gpu-0", "annotations": annotations},
        "status": {"capacity": capacity, "allocatable": capacity},
    }
    server.ask("POST", "/api/v1/nodes", body)


@pytest.mark.slow
def test_a_pod_that_asks_for_a_share_is_bound_with_the_account_of_the_manifest(
    server: DeployedServer,
) -> None:
    server.kubectl("apply", "-f", str(MANIFEST))
    add_gpu_node(server)
    container = server.container(manifests(), "gpu-admission")
    here = f"127.0.0.1:{container.port}"
    container.container["args"] = [
        each.replace("0.0.0.0:3456", here) for each in container.container["args"]
    ]
    limits = {"nvidia.com/vcuda-core": "30", "nvidia.com/vcuda-memory": "1024"}
    cuda = {"name": "c", "image": "cuda", "resources": {"limits": limits}}
    server.create_pod("shares", "nobody", containers=[cuda])

    def ask(path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(f"http://{here}{path}", data), timeout=PATIENCE_S) as answer:
                return answer.read().decode()
        except HTTPError as refused:
            refused.close()
            return ""
        except URLError:
            return ""

    with container.running() as process:
        wait_until(lambda: ask("/readyz") == "ok\n")
        pod = server.ask("GET", f"{PODS}/shares")
        names = {"Pod": pod, "Nodes": None, "NodeNames": ["n1", "gpu-0"]}
        found = json.loads(ask("/scheduler/filter", names))
        assert found["NodeNames"] == ["gpu-0"]
        metadata = pod["metadata"]
        binding = {
            "PodName": metadata["name"],
            "PodNamespace": metadata["namespace"],
            "PodUID": metadata["uid"],
            "Node": "gpu-0",
        }
        assert json.loads(ask("/scheduler/bind", binding))["Error"] == ""
        assert process.stopped() == 0
    assert server.node_of("shares") == "gpu-0"
    assert "forbidden" not in process.said
