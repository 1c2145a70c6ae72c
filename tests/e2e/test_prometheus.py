"""Plugins with data from a stock Prometheus, which goes away in the middle and comes back."""

from pathlib import Path
from typing import Any

from support.e2e.prometheus_process import (
    Exporter,
    Prometheus,
    exporter,
    prometheus,
    required,
)
from support.e2e.up_process import UpProcess, up
from support.waiting import wait_until

PODS = "/api/v1/namespaces/default/pods"
BYTES = "node_network_receive_bytes_total"
TEMPERATURE = "room_temperature_celsius"
CPU, MEMORY = "instance:node_cpu:ratio", "instance:node_memory_utilisation:ratio"
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      enabled: [{name: NetworkTraffic}]
      disabled: [{name: "*"}]
  pluginConfig:
  - name: NetworkTraffic
    args: {prometheusAddress: "URL", networkInterface: eth0, timeRangeInMinutes: 1, TIMES}
- schedulerName: by-temperature
  plugins:
    filter:
      enabled: [{name: PrometheusFilter}]
    score:
      enabled: [{name: PrometheusScore, weight: 3}]
      disabled: [{name: "*"}]
  pluginConfig:
  - name: PrometheusScore
    args: {prometheusAddress: "URL", query: room_temperature_celsius, TIMES}
  - name: PrometheusFilter
    args: {prometheusAddress: "URL", query: room_temperature_celsius, max: 40, TIMES}
- schedulerName: by-load
  plugins:
    score:
      enabled: [{name: LoadVariationRiskBalancing}]
      disabled: [{name: "*"}]
  pluginConfig:
  - name: LoadVariationRiskBalancing
    args: {metricProvider: {type: Prometheus, address: "URL"}, TIMES}
"""
TIMES = "refreshEverySeconds: 0.5, maxAgeSeconds: 3, timeoutSeconds: 2"


def pod(name: str, scheduler: str) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "10m"}}}]
    spec = {"schedulerName": scheduler, "containers": containers}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


class Scene:
    def __init__(self, cluster: UpProcess, measured: Exporter, server: Prometheus) -> None:
        self.cluster = cluster
        self.measured = measured
        self.prometheus = server
        self._count = 0

    def place(self, scheduler: str = "default-scheduler") -> str:
        """The node that a new pod gets, which then goes: nodes never become full of them."""
        self._count += 1
        name = f"pod-{self._count}"
        self.cluster.ask("POST", PODS, pod(name, scheduler))
        query = f"{PODS}?fieldSelector=metadata.name%3D{name}"
        found = self.cluster.until(
            query, lambda pods: bool(pods and pods[0]["spec"].get("nodeName"))
        )
        self.cluster.ask("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
        return str(found[0]["spec"]["nodeName"])

    def until_placed(self, scheduler: str, node: str) -> None:
        """Pods come until one gets a node, as it does when the measurements have arrived."""
        wait_until(lambda: self.place(scheduler) == node)


def test_pods_follow_what_prometheus_measures_and_are_placed_without_it(tmp_path: Path) -> None:
    required()
    with exporter() as measured, prometheus(tmp_path / "prometheus", measured.port) as server:
        measured.tell(BYTES, node_0=9000, node_1=10, node_2=8000)
        measured.tell(TEMPERATURE, "node", node_0=39, node_1=50, node_2=21)
        measured.tell(CPU, "instance", node_0=0.1, node_1=0.8, node_2=0.9)
        measured.tell(MEMORY, "instance", node_0=0.2, node_1=0.3, node_2=0.2)
        for metric in (BYTES, TEMPERATURE, MEMORY):
            server.until(metric, lambda series: len(series) == 3)
        file = tmp_path / "scheduler.yaml"
        file.write_text(CONFIGURATION.replace("URL", server.url).replace("TIMES", TIMES))
        with up(tmp_path, "3", "--config", str(file)) as cluster:
            scene = Scene(cluster, measured, server)
            _decide_by_measurements(scene)
            _go_on_without_prometheus(scene)
            _recover(scene)
            _, log = cluster.end()
    told = [line for line in log.splitlines() if "source PrometheusScore" in line]
    failures = [line for line in told if "cannot be fetched" in line and "still" not in line]
    assert len(failures) == 1
    assert len(told) < 5


def _decide_by_measurements(scene: Scene) -> None:
    scene.until_placed("default-scheduler", "node-1")
    scene.until_placed("by-temperature", "node-2")
    scene.until_placed("by-load", "node-0")
    # The decisions follow when the measurements change.
    scene.measured.tell(TEMPERATURE, "node", node_0=20, node_1=50, node_2=41)
    scene.until_placed("by-temperature", "node-0")


def _go_on_without_prometheus(scene: Scene) -> None:
    scene.prometheus.kill()
    # node-1 is too hot until that is too long ago; then nobody knows, and every node is as good.
    seen: set[str] = set()

    def any_node() -> bool:
        seen.add(scene.place("by-temperature"))
        return "node-1" in seen

    wait_until(any_node)
    assert scene.place() in {"node-0", "node-1", "node-2"}
    assert scene.place("by-load") in {"node-0", "node-1", "node-2"}


def _recover(scene: Scene) -> None:
    scene.measured.tell(TEMPERATURE, "node", node_0=45, node_1=10, node_2=60)
    scene.prometheus.start()
    for _ in range(3):
        scene.until_placed("by-temperature", "node-1")
    scene.until_placed("by-load", "node-0")
