"""ElasticQuotas with real processes: the controller alone, and the one in `podium up`."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.apiserver.apiserver_process import RunningServer, serving
from support.commands.command_line import EXAMPLES
from support.e2e.up_process import up
from support.waiting import PATIENCE_S, wait_until

from podium.addons.collection.capacity_scheduling import ELASTIC_QUOTAS

pytestmark = pytest.mark.slow

QUOTAS = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/elasticquotas"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PODS = "/api/v1/namespaces/default/pods"
QUOTA = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "ElasticQuota",
    "metadata": {"name": "team"},
    "spec": {"min": {"cpu": "2"}, "max": {"cpu": "4"}},
}
POD = {
    "metadata": {"name": "a"},
    "spec": {
        "containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "300m"}}}]
    },
}


def used(server: RunningServer) -> Any:
    return server.ask("GET", f"{QUOTAS}/team")[1].get("status", {}).get("used")


def test_the_controller_alone_keeps_what_is_used(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert ELASTIC_QUOTAS.definition is not None
        assert server.ask("POST", DEFINITIONS, ELASTIC_QUOTAS.definition())[0] == 201
        wait_until(lambda: server.ask("GET", QUOTAS)[0] == 200)
        command = [sys.executable, "-m", "podium", "controller", "elasticquota", "--leader-elect"]
        log = tmp_path / "controller.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [*command, "--kubeconfig", str(server.kubeconfig)], stdout=out, stderr=out
            )
        try:
            wait_until(lambda: "the elasticquota controller works at" in log.read_text())
            assert server.ask("POST", QUOTAS, QUOTA)[0] == 201
            wait_until(lambda: used(server) == {"cpu": "0"})
            assert server.ask("POST", PODS, POD)[0] == 201
            _, pod = server.ask("GET", f"{PODS}/a")
            pod["status"] |= {"phase": "Running"}
            assert server.ask("PUT", f"{PODS}/a/status", pod)[0] == 200
            wait_until(lambda: used(server) == {"cpu": "300m"})
            events = server.ask("GET", "/api/v1/namespaces/default/events")[1]["items"]
            assert "Elastic Quota default/team synced successfully" in {
                each["message"] for each in events if each["reason"] == "Synced"
            }
            process.terminate()
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()
            process.wait()
        assert "Traceback" not in log.read_text()


def test_a_cluster_whose_scheduler_knows_quotas_keeps_them(tmp_path: Path) -> None:
    config = EXAMPLES / "scheduler-plugins" / "capacity-scheduling.yaml"
    with up(tmp_path, "--config", str(config), "--speed", "10") as cluster:
        cluster.ask("POST", QUOTAS, QUOTA)
        cluster.ask("POST", PODS, POD)
        (quota,) = cluster.until(
            QUOTAS, lambda found: found[0].get("status", {}).get("used") == {"cpu": "300m"}
        )
        assert quota["metadata"]["name"] == "team"
        assert cluster.end()[0] == 0
