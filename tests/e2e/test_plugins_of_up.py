"""Plugins of one's own in `podium up`: one that is busy or broken leaves the servers alone."""

import json
import urllib.error
import urllib.request
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.e2e.up_process import UpProcess, up
from support.user_code.plugin_files import UNORDERED
from support.waiting import PATIENCE_S, wait_until

from podium.commands.recorded_options import SCHEDULER_EXTENSION

NODES = "/api/v1/nodes"
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


class Visitor:
    """A browser that has the link, and a Prometheus that has the token."""

    def __init__(self, cluster: UpProcess) -> None:
        link = cluster.output.lines[0].rpartition("  ")[2]
        self._origin, _, token = link.partition("/?token=")
        self._page = {"Authorization": f"Bearer {token}"}
        config = yaml.safe_load(cluster.server.kubeconfig.read_text())
        extensions = config["clusters"][0]["cluster"]["extensions"]
        told = {each["name"]: each["extension"] for each in extensions}
        self._scheduler = told[SCHEDULER_EXTENSION]["server"]
        self._operator = {"Authorization": f"Bearer {cluster.server.token}"}
        self._context = cluster.server.context

    def document(self, path: str) -> Any:
        with self._open(f"{self._origin}/data/{path}", self._page) as answer:
            return json.load(answer)

    def events(self) -> Generator[Any]:
        with self._open(f"{self._origin}/data/events", self._page) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    yield json.loads(line.removeprefix(b"data: "))

    def step(self, body: Any) -> int:
        headers = {**self._page, "Origin": self._origin, "Content-Type": "application/json"}
        data = json.dumps(body).encode()
        try:
            with self._open(f"{self._origin}/play/steps", headers, data) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as problem:
            with problem:
                return problem.code

    def scheduler(self, path: str) -> tuple[int, str, str | None]:
        try:
            with self._open(f"{self._scheduler}{path}", self._operator) as answer:
                return answer.status, answer.read().decode(), answer.headers["Age"]
        except urllib.error.HTTPError as problem:
            with problem:
                return problem.code, problem.read().decode(), None

    def _open(self, url: str, headers: dict[str, str], data: bytes | None = None) -> Any:
        request = urllib.request.Request(url, data, headers)
        context = self._context if url.startswith("https:") else None
        return urllib.request.urlopen(request, timeout=PATIENCE_S, context=context)


def test_page_metrics_and_health_answer_while_a_plugin_computes(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(BUSY)
    with up(tmp_path, "1", "--plugin", "busy.py", "--plugin-timeout", "0") as cluster:
        visitor = Visitor(cluster)
        cluster.ask("POST", PODS, pod("first"))
        cluster.until(PODS, lambda pods: all(each["spec"].get("nodeName") for each in pods))
        wait_until(lambda: visitor.document("overview")["pods"] == 1)
        for path in ("overview", "queue?seen=before"):
            assert "stale" not in visitor.document(path)
        metrics = visitor.scheduler("/metrics")
        assert metrics[2] is None
        stream = visitor.events()
        assert "stale" not in next(stream)

        cluster.ask("POST", PODS, pod("held"))
        wait_until((tmp_path / "begun").exists)
        for path in ("/healthz", "/livez", "/readyz"):
            assert visitor.scheduler(path)[:2] == (200, "ok")
        told = visitor.document("overview")
        assert (told["stale"], told["pods"], told["kind"]) == (True, 1, "PageOverview")
        assert told["ageSeconds"] >= 0
        for path in ("cluster", "queue", "play", "queue?seen=before"):
            assert visitor.document(path)["stale"] is True
        with pytest.raises(urllib.error.HTTPError, match="503") as unseen:
            visitor.document("configuration")
        assert b"the scheduler is busy for" in unseen.value.read()
        unseen.value.close()
        assert next(event for event in stream if event.get("stale"))["pods"] == 1
        status, text, age = visitor.scheduler("/metrics")
        assert (status, age is not None) == (200, True)
        assert 'scheduler_schedule_attempts_total{profile="default-scheduler"' in text
        assert visitor.scheduler("/debug/podium/queue")[0] == 503
        (node,) = cluster.ask("GET", NODES)["items"]
        cordon = {"step": "cordon", "node": node["metadata"]["name"]}
        assert visitor.step(cordon) == 503

        (tmp_path / "release").touch()
        cluster.until(PODS, lambda pods: all(each["spec"].get("nodeName") for each in pods))
        assert "stale" not in next(event for event in stream if event["pods"] == 2)
        stream.close()
        assert "stale" not in visitor.document("overview")
        assert visitor.scheduler("/metrics")[2] is None
        (node,) = cluster.ask("GET", NODES)["items"]
        assert not node["spec"].get("unschedulable"), "a step that was refused was carried out"
        assert visitor.step(cordon) == 200
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
