"""The commands that `podium rebalance` prints, given to a shell as a whole, with a real kubectl."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.kubectl_process import installed, required
from support.e2e.up_process import UpProcess, up
from support.waiting import PATIENCE_S

from podium.commands import main
from podium.offline.what_if.rebalance_answer import MoveStep

PODS = "/api/v1/namespaces/default/pods"
BUDGET = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


def run_script(cluster: UpProcess, folder: Path, lines: list[str]) -> tuple[int, str]:
    """Give a block of commands to `sh` that stops at the first that fails."""
    program = required(max(installed(), default=None))
    (folder / "bin").mkdir(exist_ok=True)
    if not (folder / "bin" / "kubectl").exists():
        (folder / "bin" / "kubectl").symlink_to(program)
    done = subprocess.run(
        ["sh", "-e"],
        input="\n".join(lines),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "KUBECONFIG": str(cluster.server.kubeconfig),
            "HOME": str(folder),
        },
        timeout=PATIENCE_S,
        check=False,
    )
    return done.returncode, done.stdout


def deployment(name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}
    spec = {"terminationGracePeriodSeconds": 1, "containers": [container]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def budget(allowed: int) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"maxUnavailable": allowed, "selector": selector},
    }


def plan_moves(
    cluster: UpProcess, folder: Path, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    code, dump = run_script(
        cluster,
        folder,
        ["kubectl get nodes,pods,replicasets,poddisruptionbudgets -A -o json"],
    )
    assert code == 0, dump
    (folder / "cluster.json").write_text(dump)
    main(["rebalance", "-f", str(folder / "cluster.json"), "--free-nodes", "1", "-o", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_block_moves_each_pod_where_it_says_and_respects_budgets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with up(tmp_path, "3", "--speed", "10") as cluster:
        cluster.ask("POST", "/apis/apps/v1/namespaces/default/deployments", deployment("web", 6))
        cluster.ask("POST", BUDGET, budget(1))
        cluster.until(
            PODS,
            lambda pods: len(pods) == 6 and all(p["status"]["phase"] == "Running" for p in pods),
        )
        cluster.until(
            BUDGET, lambda found: found[0].get("status", {}).get("disruptionsAllowed") == 1
        )
        document = plan_moves(cluster, tmp_path, capsys)
        assert document["reached"]
        assert document["moves"] == 2

        code, told = run_script(cluster, tmp_path, document["commands"])

        assert code == 0, told
        pods = cluster.ask("GET", PODS)["items"]
        went = sorted(each["spec"]["nodeName"] for each in pods)
        (freed,) = document["cordoned"]
        assert len(pods) == 6
        assert freed not in went
        kept = {each["pod"].split("/")[1] for each in document["steps"]}
        assert not kept & {each["metadata"]["name"] for each in pods}
        nodes = cluster.ask("GET", "/api/v1/nodes")["items"]
        closed = [n["metadata"]["name"] for n in nodes if n["spec"].get("unschedulable")]
        assert closed == [freed]

        # A budget that has changed since stops the block at its first eviction.
        cluster.change(f"{BUDGET}/web", lambda found: found["spec"].update(maxUnavailable=0))
        cluster.until(
            BUDGET, lambda found: found[0].get("status", {}).get("disruptionsAllowed") == 0
        )
        again = MoveStep(f"default/{pods[0]['metadata']['name']}", went[0], went[-1])

        code, told = run_script(cluster, tmp_path, again.list_commands())

        assert code != 0
        assert "disruption budget" in told
        assert len(cluster.ask("GET", PODS)["items"]) == 6
