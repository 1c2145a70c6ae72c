"""Every configuration that articles print, by the command lines printed beside it, at work.

One server for all of them; each scheduler is a process of its own that places pods. What is not as
printed: files stand in a directory of the test instead of `/etc/kubernetes`, services of others
(Prometheus, an extender) are at addresses of this machine, and ports are free ones.
"""

import os
import re
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest
import yaml
from support.apiserver.apiserver_process import RunningServer, serving
from support.commands.command_line import EXAMPLES
from support.deploy.shipped_manifests import newest_kubectl
from support.e2e.printed_cluster import (
    NODES,
    OWN_EXTENDER,
    OWN_PLUGINS,
    PODS,
    create,
    kube_scheduler,
    node,
    node_of,
    placed,
)
from support.e2e.printed_files import COPIES, placed_in, printed
from support.suite.requirements import ARTICLES
from support.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.slow

CLAIM = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/my-gpu-claim"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
GROUPS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
DELEGATED = ("--authentication-kubeconfig=DIR/scheduler.conf",
             "--authorization-kubeconfig=DIR/scheduler.conf")  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with serving(tmp_path_factory.mktemp("server"), "--plain") as running:
        for name in NODES:
            assert running.ask("POST", "/api/v1/nodes", node(name))[0] == 201
        yield running


@pytest.fixture
def here(tmp_path: Path, server: RunningServer) -> Path:
    """In the place of /etc/kubernetes."""
    for name in ("scheduler.conf", "scheduler-conf"):
        (tmp_path / name).write_bytes(server.kubeconfig.read_bytes())
    return tmp_path


@ARTICLES.skip_unless(printed())
def test_the_copies_say_what_the_articles_print() -> None:
    articles = printed()
    assert set(articles) == set(COPIES)
    for name, text in articles.items():
        assert yaml.safe_load(COPIES[name].read_text()) == yaml.safe_load(text), name


def test_plugins_of_ones_own_and_an_extender_without_verbs(
    server: RunningServer, here: Path
) -> None:
    placed_in(here, "000-0", "scheduler-extender.yaml")
    (here / "mine.py").write_text(OWN_PLUGINS)
    own = ("--plugin=mine.py:MyPlugin", "--plugin=mine.py:MyPlugin1")
    with kube_scheduler(here, "--config=DIR/scheduler-extender.yaml", *own) as process:
        requests = {"nvidia.com/vcuda-memory": "1024"}
        container = {"name": "c", "image": "cuda", "resources": {"limits": requests}}
        node = placed(
            server, "shares", schedulerName="multipoint-scheduler", containers=[container]
        )
    assert node == "n2"
    assert "LeaseDuration is an old spelling" in process.said
    assert "kube-scheduler fails every pod" in process.said


def gang(server: RunningServer, name: str) -> None:
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup"}
    body = {**group, "metadata": {"name": name}, "spec": {"minMember": 2}}
    assert server.ask("POST", GROUPS, body)[0] == 201
    label = {"scheduling.x-k8s.io/pod-group": name}
    create(server, f"{name}-0", labels=label)
    assert placed(server, f"{name}-1", labels=label)
    assert wait_until(lambda: node_of(server, f"{name}-0"))


@pytest.fixture(scope="module")
def groups(server: RunningServer) -> None:
    definition = yaml.safe_load((EXAMPLES / "coscheduling" / "crd.yaml").read_text())
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert server.ask("POST", path, definition)[0] == 201
    wait_until(lambda: server.ask("GET", GROUPS)[0] == 200)


@pytest.mark.usefixtures("groups")
def test_gangs_by_the_command_line_of_a_developer(server: RunningServer, here: Path) -> None:
    placed_in(here, "001-0", "scheduler-config.yaml")
    flags = (
        "--kube-api-qps=200",
        "--kube-api-burst=300",
        "--leader-elect=false",
        "--profiling=false",
        "--authentication-kubeconfig=DIR/scheduler-conf",
        "--authorization-kubeconfig=DIR/scheduler-conf",
        "--kubeconfig=DIR/scheduler-conf",
        "--config=DIR/scheduler-config.yaml",
        "--v=5",
    )
    with kube_scheduler(here, *flags) as process:
        gang(server, "developed")
    assert '"Attempting to schedule pod" pod="default/developed-0"' in process.said


def is_healthy(port: int) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with urlopen(
            f"https://127.0.0.1:{port}/healthz", timeout=PATIENCE_S, context=context
        ) as answer:
            return bool(answer.read() == b"ok")
    except HTTPError as refused:
        refused.close()
        return False
    except URLError:
        return False


@pytest.mark.usefixtures("groups")
def test_gangs_by_the_command_line_of_a_static_pod(server: RunningServer, here: Path) -> None:
    placed_in(here, "001-0", "scheduler-config.yaml")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    flags = (
        *DELEGATED,
        "--bind-address=127.0.0.1",
        "--feature-gates=IPv6DualStack=true",
        "--port=0",
        "--profiling=false",
        "--config=DIR/scheduler-config.yaml",
    )
    with kube_scheduler(here, *flags, port=f"--secure-port={port}") as process:
        wait_until(lambda: is_healthy(port))
        gang(server, "static")
        assert server.ask("GET", LEASE)[1]["spec"]["holderIdentity"]
    assert "feature gate IPv6DualStack is gone" in process.said


def test_traffic_is_the_only_score(server: RunningServer, here: Path) -> None:
    address = f"file:{EXAMPLES / 'measurements' / 'traffic.json'}"
    replaced = {"http://prometheus-1616380099-server.monitor": address}
    placed_in(here, "002-0", "scheduler.yaml", **replaced)
    flags = ("--feature-gates=PodPriority=true", "--config=DIR/scheduler.yaml", "--v=2")
    with kube_scheduler(here, *flags) as process:
        placed(server, "quiet", priorityClassName="system-cluster-critical")
    assert re.search(
        r'"Score":\{"Enabled":\[\{"Name":"NetworkTraffic","Weight":1\}\]', process.said
    )
    assert "feature gate PodPriority is gone" in process.said


def test_the_gate_and_the_shape_for_storage(server: RunningServer, here: Path) -> None:
    placed_in(here, "002-1", "scheduler.yaml")
    flags = ("--feature-gates=StorageCapacityScoring=true", "--config=DIR/scheduler.yaml")
    with kube_scheduler(here, *flags, f"--master={server.url}"):
        assert placed(server, "stores") in NODES


def give_devices(server: RunningServer) -> None:
    """A GPU on n2, a device of another driver on n3, and the claim that the article's pod names."""
    group, named = "/apis/resource.k8s.io/v1", {"name": "my-gpu-claim"}
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]
    selector = {"cel": {"expression": "device.driver == 'gpu.example.com'"}}

    def devices(driver: str, node: str) -> dict[str, Any]:
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": [{"name": "gpu-0"}]}
        return {"metadata": {"name": node}, "spec": spec}

    for path, body in (
        ("deviceclasses", {"metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}}),
        ("resourceslices", devices("gpu.example.com", "n2")),
        ("resourceslices", devices("fpga.example.com", "n3")),
        (
            "namespaces/default/resourceclaims",
            {"metadata": named, "spec": {"devices": {"requests": requests}}},
        ),
    ):
        status, told = server.ask("POST", f"{group}/{path}", body)
        assert status == 201, told


def test_the_gate_and_the_file_for_devices(server: RunningServer, here: Path) -> None:
    placed_in(here, "002-2", "scheduler.yaml")
    give_devices(server)
    flags = ("--feature-gates=DynamicResourceAllocation=true", "--config=DIR/scheduler.yaml")
    container = {
        "name": "ml-training",
        "image": "tensorflow/tensorflow:latest-gpu",
        "resources": {"claims": [{"name": "gpu-resource"}]},
    }
    with kube_scheduler(here, *flags, f"--master={server.url}"):
        node = placed(
            server,
            "gpu-workload",
            schedulerName="default-scheduler",
            containers=[container],
            resourceClaims=[
                {"name": "gpu-resource", "source": {"resourceClaimName": "my-gpu-claim"}}
            ],
        )
    assert node == "n2"
    status = server.ask("GET", CLAIM)[1]["status"]
    assert status["allocation"]["devices"]["results"][0]["device"] == "gpu-0"
    assert [user["name"] for user in status["reservedFor"]] == ["gpu-workload"]


@contextmanager
def own_extender(here: Path) -> Iterator[str]:
    """`podium extender serve` below the path of the article's extender; its address."""
    (here / "extender.py").write_text(OWN_EXTENDER)
    command = (sys.executable, "-m", "podium", "extender", "serve", "extender.py", "--port", "0")
    with subprocess.Popen(
        [*command, "--path-prefix", "/scheduler"], cwd=here, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            announced = process.stdout.readline()
            found = re.search(r"on http://(\S+), also below /scheduler$", announced)
            assert found is not None, announced
            yield found[1]
        finally:
            process.kill()


def test_the_policy_and_its_extender(server: RunningServer, here: Path) -> None:
    with own_extender(here) as address:
        placed_in(here, "002-3", "scheduler-policy.json", **{"127.0.0.1:12346": address})
        flags = (
            "--policy-config-file=DIR/scheduler-policy.json",
            "--kubeconfig=DIR/scheduler.conf",
        )
        with kube_scheduler(here, *flags):
            assert placed(server, "by-policy") == "n3"


# --- lines for kubectl ---------------------------------------------------------------------------


def shell(here: Path, *lines: str) -> None:
    """Lines as they are printed, with kubectl for this server."""
    link = here / "kubectl"
    if not link.exists():
        link.symlink_to(newest_kubectl())
    variables = {
        "PATH": f"{here}:{os.environ['PATH']}",
        "KUBECONFIG": str(here / "scheduler.conf"),
        "HOME": str(here),
    }
    for line in lines:
        subprocess.run(["bash", "-c", line], env=variables, check=True, timeout=PATIENCE_S)


EVICTED = (
    "kubectl -n NAMESPACE get pods | grep Evicted | awk '{print $1}'"
    " | xargs kubectl -n NAMESPACE delete pod"
)


def test_the_one_line_that_clears_evicted_pods_away(server: RunningServer, here: Path) -> None:
    namespace = "20190905164919672-9b8b-6b2e04122"
    named = {"metadata": {"name": namespace}}
    assert server.ask("POST", "/api/v1/namespaces", named)[0] == 201
    pods = f"/api/v1/namespaces/{namespace}/pods"
    for name in ("gone-1", "gone-2", "stays"):
        spec = {"containers": [{"name": "c", "image": "nginx"}], "schedulerName": "nobody"}
        status, made = server.ask("POST", pods, {"metadata": {"name": name}, "spec": spec})
        assert status == 201, made
        if name != "stays":
            made["status"] |= {"phase": "Failed", "reason": "Evicted"}
            assert server.ask("PUT", f"{pods}/{name}/status", made)[0] == 200
    shell(here, EVICTED.replace("NAMESPACE", namespace))
    left = [each["metadata"]["name"] for each in server.ask("GET", pods)[1]["items"]]
    assert left == ["stays"]


LABELLED = "kubectl label nodes node-01 disktype=ssd"
TAINTED = (
    "kubectl taint nodes node1 key1=value1:NoSchedule",
    "kubectl taint nodes node1 key1=value1:NoExecute",
    "kubectl taint nodes node1 key2=value2:NoSchedule",
)


def tolerating(*taints: tuple[str, str]) -> dict[str, Any]:
    """For a pod that only node1 is for."""
    return {
        "nodeSelector": {"kubernetes.io/hostname": "node1"},
        "tolerations": [
            {
                "key": f"key{number}",
                "operator": "Equal",
                "value": f"value{number}",
                "effect": effect,
            }
            for number, effect in taints
        ],
    }


def test_by_the_oldest_command_line_pods_follow_labels_and_taints_set_as_printed(
    server: RunningServer, here: Path
) -> None:
    for name in ("node-01", "node1"):
        assert server.ask("POST", "/api/v1/nodes", node(name))[0] == 201
    two = (("1", "NoSchedule"), ("1", "NoExecute"))
    flags = ("--address=127.0.0.1", "--leader-elect=true", "--kubeconfig=DIR/scheduler.conf")
    shell(here, *TAINTED)
    with kube_scheduler(here, *flags) as process:
        create(server, "on-a-disk", nodeSelector={"disktype": "ssd"})
        create(server, "two-of-three", **tolerating(*two))
        path = f"{PODS}/two-of-three"
        found = wait_until(lambda: server.ask("GET", path)[1]["status"].get("conditions"))
        assert "1 node(s) had untolerated taint(s)" in found[0]["message"]
        assert placed(server, "all-three", **tolerating(*two, ("2", "NoSchedule"))) == "node1"
        assert node_of(server, "on-a-disk") == ""
        shell(here, LABELLED)
        assert wait_until(lambda: node_of(server, "on-a-disk")) == "node-01"
        assert node_of(server, "two-of-three") == ""
        assert server.ask("GET", LEASE)[1]["spec"]["holderIdentity"]
    assert "Flag --address has been deprecated" in process.said
    for name in ("on-a-disk", "two-of-three", "all-three"):
        server.ask("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
    for name in ("node-01", "node1"):
        assert server.ask("DELETE", f"/api/v1/nodes/{name}")[0] == 200


def test_the_effective_configuration_of_wyq_scheduler(server: RunningServer, here: Path) -> None:
    placed_in(here, "003-0", "scheduler.yaml")
    flags = ("--config=DIR/scheduler.yaml", f"--master={server.url}", "--v=3")
    with kube_scheduler(here, *flags) as process:
        node = placed(server, "test", schedulerName="wyq")
        wait_until(lambda: f"PostBind: pod: test, node: {node}" in process.said)
