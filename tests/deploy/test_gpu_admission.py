"""`kubectl apply -f deploy/gpu-admission.yaml` describes an extender that shares out GPUs."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from support.addons.gpu.extender_clusters import equal_cards
from support.deploy.deployed_server import PODS, DeployedServer, deployed_server
from support.deploy.extender_certificates import (
    ADMISSION,
    ON_NODES,
    ExtenderCertificates,
    admission_manifests,
    at_own_port,
)
from support.deploy.shipped_manifests import DEPLOY, one, rendered
from support.waiting import PATIENCE_S, wait_until

from podium.addons.gpu.dialects import find_dialect
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_file

ADDRESS = "https://gpu-admission.kube-system:3456/scheduler"
LISTENING = "--address=0.0.0.0:3456"
POLICY = DEPLOY / "network-policy" / "gpu-admission.yaml"


def test_the_service_is_where_schedulers_are_configured_to_find_it() -> None:
    manifests = admission_manifests()
    service, deployment = one(manifests, "Service"), one(manifests, "Deployment")
    (port,) = service["spec"]["ports"]
    name = service["metadata"]
    assert f"https://{name['name']}.{name['namespace']}:{port['port']}/scheduler" == ADDRESS
    template = deployment["spec"]["template"]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    (container,) = template["spec"]["containers"]
    assert LISTENING in container["args"]
    assert {"name": port["targetPort"], "containerPort": 3456} in container["ports"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["scheme"] == "HTTPS"


@pytest.mark.parametrize("file", ["scheduler-extender.yaml", "scheduler-policy-config.json"])
def test_the_shipped_configurations_show_a_certificate(file: str) -> None:
    text = (DEPLOY / "static-pod-with-extender" / file).read_bytes()
    (extender,) = load_file(text, gates=FeatureGates()).extenders
    assert (extender.url_prefix, extender.enable_https) == (ADDRESS, True)
    assert extender.tls_config is not None
    files = (extender.tls_config.ca_file, extender.tls_config.cert_file)
    assert files == (f"{ON_NODES}/ca.crt", f"{ON_NODES}/client.crt")
    assert extender.tls_config.key_file == f"{ON_NODES}/client.key"


def test_the_network_policy_lets_in_schedulers_to_the_extenders_port_alone() -> None:
    policy = yaml.safe_load(POLICY.read_text())
    template = one(admission_manifests(), "Deployment")["spec"]["template"]
    selected = policy["spec"]["podSelector"]["matchLabels"]
    assert selected.items() <= template["metadata"]["labels"].items()
    (rule,) = policy["spec"]["ingress"]
    (port,) = rule["ports"]
    (container,) = template["spec"]["containers"]
    assert port["port"] in [each["name"] for each in container["ports"]]
    labels = [each["podSelector"]["matchLabels"] for each in rule["from"] if "podSelector" in each]
    second = one(rendered(DEPLOY / "second-scheduler"), "Deployment")["spec"]["template"]
    static = yaml.safe_load((DEPLOY / "static-pod" / "kube-scheduler.yaml").read_text())
    for pod in (second, static):
        assert any(each.items() <= pod["metadata"]["labels"].items() for each in labels)
    assert {} not in labels


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
    certificates = ExtenderCertificates(server.directory)
    server.kubectl("apply", "-f", str(ADMISSION))
    add_gpu_node(server)
    container = server.container([*admission_manifests(), certificates.secret()], "gpu-admission")
    url = f"https://{at_own_port(container)}"
    limits = {"nvidia.com/vcuda-core": "30", "nvidia.com/vcuda-memory": "1024"}
    cuda = {"name": "c", "image": "cuda", "resources": {"limits": limits}}
    server.create_pod("shares", "nobody", containers=[cuda])
    with container.running() as process:
        wait_until(lambda: certificates.ask(f"{url}/readyz", shows=False) == (200, "ok\n"))
        pod = server.ask("GET", f"{PODS}/shares")
        names = {"Pod": pod, "Nodes": None, "NodeNames": ["n1", "gpu-0"]}
        found = json.loads(certificates.ask(f"{url}/scheduler/filter", names)[1])
        assert found["NodeNames"] == ["gpu-0"]
        metadata = pod["metadata"]
        binding = {
            "PodName": metadata["name"],
            "PodNamespace": metadata["namespace"],
            "PodUID": metadata["uid"],
            "Node": "gpu-0",
        }
        refused, _ = certificates.ask(f"{url}/scheduler/bind", binding, shows=False)
        assert (refused, server.node_of("shares")) == (401, "")
        bound = certificates.ask(f"{url}/scheduler/bind", binding)
        assert bound == (200, '{"Error":""}')
        assert process.stopped() == 0
    assert server.node_of("shares") == "gpu-0"
    assert "forbidden" not in process.said


@pytest.mark.slow
def test_without_its_certificates_it_says_how_to_make_them(server: DeployedServer) -> None:
    server.kubectl("apply", "-f", str(ADMISSION))
    container = server.container(admission_manifests(), "gpu-admission")
    with container.running() as process:
        assert process.running.wait(PATIENCE_S) == 2
        wait_until(lambda: "podium extender certificates" in process.said)


@pytest.mark.slow
def test_the_network_policy_is_one(server: DeployedServer) -> None:
    server.kubectl("apply", "-f", str(POLICY))
