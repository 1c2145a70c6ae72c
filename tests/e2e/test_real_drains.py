"""What `podium what-if` foretells of a drain is what a real drain does.

The workloads leave the scheduler no choice: each is bound to a pair of nodes, so that whoever
leaves one of them has to go to the other, if anywhere.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.apiserver.kubectl_process import Kubectl, installed, required
from support.e2e.up_process import UpProcess, up

from podium.commands import main

pytestmark = pytest.mark.slow

PODS = "/api/v1/namespaces/default/pods"


class Drained(NamedTuple):
    """By app: where its pods went, how many have no node, how many were not evicted."""

    moved: Counter[tuple[str, str]]
    stranded: Counter[str]
    kept: Counter[str]


def deployment(app: str, replicas: int, **selector: str) -> dict[str, Any]:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": app},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": {
                "metadata": {"labels": {"app": app}},
                "spec": {
                    "nodeSelector": selector,
                    "containers": [container],
                    "terminationGracePeriodSeconds": 0,
                },
            },
        },
    }


class DrainedCluster:
    """Pairs of nodes with a workload each; on the last pair one that has a single node to go to,
    and one that its budget never lets go."""

    def __init__(self, cluster: UpProcess, kubectl: Kubectl, kubeconfig: Path, nodes: int) -> None:
        self._cluster = cluster
        self._kubectl = kubectl
        self._kubeconfig = kubeconfig
        listed = cluster.until("/api/v1/nodes", lambda found: len(found) == nodes)
        self.nodes = sorted(node["metadata"]["name"] for node in listed)
        for pair in range(nodes // 2):
            kubectl("label", "nodes", *self.nodes[2 * pair : 2 * pair + 2], f"pair=p{pair}")
        last = f"p{nodes // 2 - 1}"
        workloads = [deployment(f"web-{n}", 2, pair=f"p{n}") for n in range(nodes // 2)]
        workloads.append(deployment("lonely", 1, **{"kubernetes.io/hostname": self.nodes[-1]}))
        workloads.append(deployment("guarded", 1, pair=last))
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "guarded"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}},
        }
        self._wanted = {each["metadata"]["name"]: each["spec"]["replicas"] for each in workloads}
        listing = {"apiVersion": "v1", "kind": "List", "items": [budget, *workloads]}
        kubectl("create", "-f", "-", stdin=json.dumps(listing))

    def settled(self) -> list[Any]:
        """The pods, once each of them runs or cannot be placed."""
        return self._cluster.until(PODS, self._is_settled)

    def _is_settled(self, pods: Sequence[Any]) -> bool:
        counts = Counter(pod["metadata"]["labels"]["app"] for pod in pods)
        return counts == self._wanted and all(_stands_still(pod) for pod in pods)

    def foretell(self, node: str, capsys: pytest.CaptureFixture[str]) -> tuple[Drained, Any]:
        """What `what-if` says of the drain, and of the node failing."""
        apps = {_key(pod): pod["metadata"]["labels"]["app"] for pod in self.settled()}
        words = ["--kubeconfig", str(self._kubeconfig), "-o", "json"]
        assert main(["what-if", "--drain", node, *words]) in (0, 1)
        told = json.loads(capsys.readouterr().out)
        assert main(["what-if", "--each-node", *words]) in (0, 1)
        failures = json.loads(capsys.readouterr().out)["nodeFailures"]
        failure = next(each for each in failures if each["name"] == node)
        drained = Drained(
            Counter((apps[each["pod"]], each["after"]) for each in told["moved"]),
            Counter(apps[each["pod"]] for each in told["stranded"]),
            Counter(apps[each["pod"]] for each in told["kept"]),
        )
        return drained, failure

    def drain(self, node: str, *, hangs: bool) -> Drained:
        """What a real drain does; the node takes pods again afterwards."""
        before = {pod["metadata"]["uid"] for pod in self.settled()}
        patience = "3s" if hangs else "60s"
        words = ("drain", node, "--ignore-daemonsets", f"--timeout={patience}")
        self._kubectl(*words, code=1 if hangs else 0)
        pods = self.settled()
        made = [pod for pod in pods if pod["metadata"]["uid"] not in before]
        kept = [pod for pod in pods if pod["spec"].get("nodeName") == node]
        self._kubectl("uncordon", node)
        placed = [pod for pod in made if pod["spec"].get("nodeName")]
        return Drained(
            Counter((pod["metadata"]["labels"]["app"], pod["spec"]["nodeName"]) for pod in placed),
            Counter(pod["metadata"]["labels"]["app"] for pod in made if pod not in placed),
            Counter(pod["metadata"]["labels"]["app"] for pod in kept),
        )


def _stands_still(pod: Any) -> bool:
    if "deletionTimestamp" in pod["metadata"]:
        return False
    conditions = pod["status"].get("conditions") or ()
    known = {each["type"]: each["status"] for each in conditions}
    if pod["spec"].get("nodeName"):
        return known.get("Ready") == "True"
    return known.get("PodScheduled") == "False"


def _key(pod: Any) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _app(key: str) -> str:
    """That of a pod that a deployment has made, by its name."""
    return key.partition("/")[2].rsplit("-", 2)[0]


def test_a_drain_does_what_was_foretold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = max(installed(), default=None)
    program = required(release)
    assert release is not None
    with up(tmp_path, "8", "--speed", "20") as process:
        kubeconfig = tmp_path / "kubeconfig"
        kubectl = Kubectl(program, release, kubeconfig, tmp_path)
        cluster = DrainedCluster(process, kubectl, kubeconfig, nodes=8)
        seen: Counter[str] = Counter()
        for node in (cluster.nodes[0], cluster.nodes[1], *cluster.nodes[-2:]):
            told, failure = cluster.foretell(node, capsys)
            assert cluster.drain(node, hangs=bool(told.kept)) == told, node
            if not told.kept:
                assert {
                    each["pod"].split("/")[1].split("-")[0] for each in failure["stranded"]
                } == {*told.stranded}
            seen.update({"moved": told.moved.total(), "stranded": told.stranded.total()})
            seen["kept"] += told.kept.total()
        assert all(seen[each] for each in ("moved", "stranded", "kept")), seen
