"""`kubectl apply -f deploy/` describes Wyq-Scheduler: plugins, pods and log."""

from pathlib import Path

import pytest
import yaml
from support.commands.command_line import EXAMPLES
from support.deploy.deployed_server import deployed_server
from support.deploy.shipped_manifests import DEPLOY, rendered
from support.waiting import wait_until

TEST_POD = EXAMPLES / "wyq" / "test-pod.yaml"


def test_the_profile_is_that_of_the_example() -> None:
    files = (DEPLOY / "wyq-scheduler" / "scheduler.yaml", EXAMPLES / "wyq" / "scheduler.yaml")
    shipped, example = (yaml.safe_load(file.read_text()) for file in files)
    assert shipped["profiles"] == example["profiles"]


@pytest.mark.slow
def test_one_file_has_what_the_kustomization_renders() -> None:
    """It is what `kubectl apply -f deploy/` finds, and nothing else is."""
    found = [path.name for path in DEPLOY.iterdir() if path.is_file()]
    manifests = [name for name in found if name.endswith((".yaml", ".yml", ".json"))]
    assert manifests == ["wyq-scheduler.yaml"]
    written = list(yaml.safe_load_all((DEPLOY / "wyq-scheduler.yaml").read_text()))
    assert written == rendered(DEPLOY / "wyq-scheduler")


@pytest.mark.slow
def test_the_test_pod_goes_to_the_node_with_its_image_and_the_log_tells_every_point(
    tmp_path: Path,
) -> None:
    with deployed_server(tmp_path) as server:
        holding = server.ask("GET", "/api/v1/nodes/n2")
        holding["status"]["images"] = [{"names": ["team/model:latest"], "sizeBytes": 2_000_000_000}]
        server.ask("PUT", "/api/v1/nodes/n2/status", holding)
        server.kubectl("apply", "-f", f"{DEPLOY}/")
        container = server.container(server.apply(DEPLOY / "wyq-scheduler"))
        with container.running() as process:
            server.kubectl("apply", "-f", str(TEST_POD))
            assert server.until_bound("test") == "n2"
            wait_until(lambda: "PostBind: pod: test, node: n2" in process.said)
            assert process.stopped() == 0
    for line in ("PreFilter: test", "Score: pod: test, node: n2", "Permit: pod: test, node: n2"):
        assert line in process.said
    assert '"Attempting to schedule pod" pod="default/test"' in process.said
