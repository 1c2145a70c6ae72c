"""Plugins of one's own in `podium up`: one that is busy or broken leaves the API server alone."""

from pathlib import Path

import pytest
from support.e2e.up_process import up
from support.waiting import PATIENCE_S, wait_until

PODS = "/api/v1/namespaces/default/pods"
BUSY = """
from pathlib import Path

from podium.plugin import NodeFilterPlugin

class Busy(NodeFilterPlugin):
    name = "Busy"

    def filter_node(self, pod, node):
        if pod.metadata.name == "held":
            Path("begun").touch()
            while not Path("release").exists():
                sum(range(1000))
        return None
"""
INTERRUPTING = """
from podium.plugin import NodeFilterPlugin

class Interrupting(NodeFilterPlugin):
    name = "Interrupting"

    def filter_node(self, pod, node):
        if pod.metadata.name == "held":
            raise KeyboardInterrupt
        return None
"""
UNORDERED = """
from podium.plugin import QueueSortPlugin

class Unordered(QueueSortPlugin):
    name = "Unordered"

    def less(self, one, other):
        raise LookupError("no order")
"""
UNORDERED_CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    queueSort: {enabled: [{name: Unordered}], disabled: [{name: "*"}]}
"""


def pod(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}


def test_the_api_server_answers_while_a_plugin_computes(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(BUSY)
    flags = ("--plugin", "busy.py", "--plugin-timeout", "0", "--no-page")
    with up(tmp_path, *flags) as cluster:
        cluster.ask("POST", PODS, pod("held"))
        wait_until((tmp_path / "begun").exists)
        for number in range(5):
            cluster.ask("POST", PODS, pod(f"other-{number}"))
            assert len(cluster.ask("GET", PODS)["items"]) == number + 2
        assert not any(each["spec"].get("nodeName") for each in cluster.ask("GET", PODS)["items"])
        (tmp_path / "release").touch()
        cluster.until(PODS, lambda pods: all(each["spec"].get("nodeName") for each in pods))
        assert cluster.end() == (0, "podium: stopped\n")


@pytest.mark.slow
def test_an_interruption_that_a_plugin_raises_fails_its_pod_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(INTERRUPTING)
    with up(tmp_path, "--plugin", "mine.py", "--no-page") as cluster:
        cluster.ask("POST", PODS, pod("held"))
        cluster.ask("POST", PODS, pod("other"))
        cluster.until(PODS, lambda pods: any(each["spec"].get("nodeName") for each in pods))
        cluster.until(
            f"{PODS}?fieldSelector=metadata.name=held",
            lambda pods: "KeyboardInterrupt (mine.py, line 9)" in str(pods),
        )
        assert cluster.end()[0] == 0


@pytest.mark.slow
def test_an_order_that_breaks_ends_it_with_code_2(tmp_path: Path) -> None:
    (tmp_path / "unordered.py").write_text(UNORDERED)
    (tmp_path / "config.yaml").write_text(UNORDERED_CONFIGURATION)
    (tmp_path / "busy.py").write_text(BUSY)
    plugins = ("--plugin", "unordered.py", "--plugin", "busy.py", "--plugin-timeout", "0")
    with up(tmp_path, *plugins, "--config", "config.yaml", "--no-page") as cluster:
        # They come while one is being scheduled, so that they have to be compared.
        cluster.ask("POST", PODS, pod("held"))
        wait_until((tmp_path / "begun").exists)
        for number in range(20):
            cluster.ask("POST", PODS, pod(f"other-{number}"))
        (tmp_path / "release").touch()
        assert cluster.process.wait(PATIENCE_S) == 2
        assert cluster.process.stderr is not None
        told = cluster.process.stderr.read().splitlines()
    (line,) = [line for line in told if "cannot order the queue" in line]
    assert line == (
        "podium: plugin Unordered cannot order the queue: LookupError: no order"
        " (unordered.py, line 8)"
    )
