"""The metrics API of `podium up`: load-aware plugins decide by it, and kubectl shows it."""

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.kubectl_process import Kubectl, releases, required
from support.e2e.up_process import UpProcess, up
from support.waiting import wait_until

PODS = "/api/v1/namespaces/default/pods"
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      enabled: [{name: LoadVariationRiskBalancing}]
      disabled: [{name: "*"}]
  pluginConfig:
  - name: LoadVariationRiskBalancing
    args: {refreshEverySeconds: 0.5}
"""


def place(cluster: UpProcess, name: str) -> str:
    """The node that a new pod gets."""
    spec = {"containers": [{"name": "c", "image": "i"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    cluster.ask("POST", PODS, pod)
    query = f"{PODS}?fieldSelector=metadata.name%3D{name}"
    found = cluster.until(query, lambda pods: bool(pods and pods[0]["spec"].get("nodeName")))
    return str(found[0]["spec"]["nodeName"])


def load(cluster: UpProcess, node: str, cpu: str) -> None:
    def annotate(found: Any) -> None:
        found["metadata"].setdefault("annotations", {})["podium.dev/cpu-usage"] = cpu

    cluster.change(f"/api/v1/nodes/{node}", annotate)


def _is_next_on(cluster: UpProcess, numbers: Iterator[int], node: str) -> bool:
    return place(cluster, f"pod-{next(numbers)}") == node


@pytest.mark.slow
@pytest.mark.parametrize("release", releases())
def test_pods_go_where_little_is_used(release: Any, tmp_path: Path) -> None:
    program = required(release)
    file = tmp_path / "scheduler.yaml"
    file.write_text(CONFIGURATION)
    with up(tmp_path, "3", "--config", str(file)) as cluster:
        numbers = count()
        for idle in ("node-1", "node-2"):
            for node in ("node-0", "node-1", "node-2"):
                load(cluster, node, "0" if node == idle else "7")
            wait_until(partial(_is_next_on, cluster, numbers, idle))
        kubectl = Kubectl(program, release, cluster.server.kubeconfig, tmp_path)
        nodes = kubectl("top", "nodes", "--no-headers").splitlines()
        assert [line.split()[:2] for line in nodes] == [
            ["node-0", "7000m"],
            ["node-1", "7000m"],
            ["node-2", "0m"],
        ]
        query = f"{PODS}?fieldSelector=metadata.name%3Dpod-0"
        cluster.until(query, lambda pods: pods[0]["status"].get("phase") == "Running")
        assert "pod-0" in kubectl("top", "pods", "--no-headers")
