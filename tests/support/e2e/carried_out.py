"""Proposals of `podium why` carried out with a real kubectl in a real cluster, and what came of it.

One `podium up` serves many cases: before each the cluster is emptied, nodes included. The question
is put to the cluster itself, and the shell knows of no cluster: a command that does not name it
fails.
"""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.kubectl_process import installed, required
from support.e2e.pending_workloads import PendingWorkload
from support.e2e.up_process import Objects, UpProcess
from support.e2e.workload_manifests import Manifest
from support.waiting import PATIENCE_S, wait_until

from podium.commands import main

NAMESPACE = "work"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
_PATHS = {
    "Node": "/api/v1/nodes",
    "Pod": PODS,
    "PersistentVolume": "/api/v1/persistentvolumes",
    "PersistentVolumeClaim": f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims",
    "StorageClass": "/apis/storage.k8s.io/v1/storageclasses",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "Deployment": f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments",
    "ReplicaSet": f"/apis/apps/v1/namespaces/{NAMESPACE}/replicasets",
    "StatefulSet": f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets",
    "DaemonSet": f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets",
    "Job": f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs",
    "LimitRange": f"/api/v1/namespaces/{NAMESPACE}/limitranges",
    "PodDisruptionBudget": f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets",
    "ReplicationController": f"/api/v1/namespaces/{NAMESPACE}/replicationcontrollers",
    "ResourceQuota": f"/api/v1/namespaces/{NAMESPACE}/resourcequotas",
}
_CLUSTER_WIDE = ("Node", "PersistentVolume", "StorageClass", "PriorityClass")


class Stage:
    """A cluster in which one case after the other is played."""

    def __init__(self, cluster: UpProcess, folder: Path) -> None:
        program = required(max(installed(), default=None))
        (folder / "bin").mkdir()
        (folder / "bin" / "kubectl").symlink_to(program)
        self._cluster = cluster
        self._environment = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "HOME": str(folder)}

    # --- setting up ---------------------------------------------------------------------------

    def set_up(self, case: PendingWorkload) -> None:
        self._clear()
        self._cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        self._create(case.nodes)
        self._cluster.until(_PATHS["Node"], lambda nodes: all(map(_is_ready, nodes)))
        self._create(case.first)
        self._settle(case.first)
        self._create(case.then)
        self._settle((*case.first, *case.then))

    def _clear(self) -> None:
        status, _ = self._cluster.server.ask("DELETE", f"/api/v1/namespaces/{NAMESPACE}")
        if status < 300:
            self._cluster.until(
                "/api/v1/namespaces",
                lambda found: all(each["metadata"]["name"] != NAMESPACE for each in found),
            )
        for kind in _CLUSTER_WIDE:
            for each in self._cluster.ask("GET", _PATHS[kind])["items"]:
                name = each["metadata"]["name"]
                if not name.startswith("system-"):
                    self._cluster.server.ask("DELETE", f"{_PATHS[kind]}/{name}")
            self._cluster.until(
                _PATHS[kind],
                lambda found: all(o["metadata"]["name"].startswith("system-") for o in found),
            )

    def _create(self, manifests: Iterable[Manifest]) -> None:
        for each in manifests:
            self._cluster.ask("POST", _PATHS[each["kind"]], each)

    def _settle(self, manifests: Iterable[Manifest]) -> None:
        """Until as many pods are there as are to be, each on a node or refused by the scheduler."""
        wanted = list(manifests)
        self._cluster.until(
            PODS,
            lambda pods: (
                all(_is_populated(each, pods) for each in wanted) and all(map(_is_decided, pods))
            ),
        )

    # --- asking and doing ---------------------------------------------------------------------

    def ask(self, case: PendingWorkload, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
        kind, _, name = case.ask.partition("/")
        kubeconfig = ("--kubeconfig", str(self._cluster.server.kubeconfig))
        asked = [f"{kind}/{name}", "-n", NAMESPACE, *kubeconfig, "-o", "json"]
        capsys.readouterr()
        main(["why", *asked])
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    def run(self, lines: Iterable[str]) -> None:
        for line in lines:
            done = subprocess.run(
                ["sh", "-c", line],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=self._environment,
                timeout=PATIENCE_S,
                check=False,
            )
            assert done.returncode == 0, f"{line} ended with {done.returncode}: {done.stdout}"

    def pods(self) -> Objects:
        found: Objects = self._cluster.ask("GET", PODS)["items"]
        return found

    def until(self, holds: Any) -> None:
        """Ask until the pods are as wanted, and still are when asked again."""
        wait_until(lambda: holds(self.pods()) and holds(self.pods()))


def _is_populated(manifest: Manifest, pods: Objects) -> bool:
    """Whether a controller has made its pods; those of a StatefulSet wait for each other."""
    kind, spec = manifest["kind"], manifest.get("spec", {})
    own = [pod for pod in pods if belongs_to(pod, f"{kind.lower()}/{manifest['metadata']['name']}")]
    if kind == "StatefulSet" and any(_is_refused(pod) for pod in own):
        return True
    match kind:
        case "Pod" | "DaemonSet":
            return bool(own)
        case "Job":
            return len(own) >= int(spec["parallelism"])
    return "template" not in spec or len(own) >= int(spec["replicas"])


def _is_ready(node: Any) -> bool:
    conditions = node.get("status", {}).get("conditions", ())
    taints = node["spec"].get("taints", ())
    fresh = any(taint["key"] == "node.kubernetes.io/not-ready" for taint in taints)
    return not fresh and any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _is_decided(pod: Any) -> bool:
    if pod["spec"].get("nodeName"):
        return bool(pod["status"].get("phase") == "Running")
    # Nothing is said about pods of another scheduler, nor while a claim does not exist.
    if pod["spec"].get("schedulerName") != "default-scheduler" or pod["spec"].get("resourceClaims"):
        return True
    return _is_refused(pod)


def _is_refused(pod: Any) -> bool:
    return any(
        c["type"] == "PodScheduled" and c["status"] == "False"
        for c in pod["status"].get("conditions", ())
    )


def has_node(pod: Any) -> bool:
    return bool(pod["spec"].get("nodeName")) and "deletionTimestamp" not in pod["metadata"]


def name_of(pod: Any) -> str:
    return str(pod["metadata"]["name"])


def belongs_to(pod: Any, ask: str) -> bool:
    """Whether a pod is the one that was asked about, or of the workload that was."""
    kind, _, name = ask.partition("/")
    if kind == "pod":
        return name_of(pod) == name
    return bool(pod["metadata"].get("labels", {}).get("app") == name) or bool(
        pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name") == name
    )
