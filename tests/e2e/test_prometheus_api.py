"""A plugin asks whatever answers as Prometheus does: a server of the test's own, which is always
there.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.e2e.up_process import up
from support.waiting import wait_until

PODS = "/api/v1/namespaces/default/pods"
BYTES = {"node-0": 9000, "node-1": 10, "node-2": 8000}
NEVER_OLD = 4e9
"""A moment of the next century."""
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score:
      enabled: [{name: NetworkTraffic}]
      disabled: [{name: "*"}]
  pluginConfig:
  - name: NetworkTraffic
    args:
      prometheusAddress: "URL"
      networkInterface: ens192
      timeRangeInMinutes: 3
      refreshEverySeconds: 0.5
"""


@contextmanager
def query_api(asked: list[str]) -> Iterator[str]:
    """`/api/v1/query` with bytes of every node; the queries are noted."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(parse_qs(urlsplit(self.path).query))

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self._answer(parse_qs(self.rfile.read(length).decode()))

        def _answer(self, form: dict[str, list[str]]) -> None:
            asked.extend(form.get("query", ()))
            result = [
                {"metric": {"instance": f"{node}:9100"}, "value": [NEVER_OLD, str(number)]}
                for node, number in BYTES.items()
            ]
            body = json.dumps(
                {"status": "success", "data": {"resultType": "vector", "result": result}}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_pods_go_to_the_node_with_the_least_traffic(tmp_path: Path) -> None:
    asked: list[str] = []
    with query_api(asked) as url:
        file = tmp_path / "scheduler.yaml"
        file.write_text(CONFIGURATION.replace("URL", url))
        with up(tmp_path, "3", "--config", str(file)) as cluster:
            numbers = count()

            def place() -> str:
                """The node that a new pod gets."""
                name = f"p{next(numbers)}"
                spec = {"containers": [{"name": "c", "image": "i"}]}
                cluster.ask("POST", PODS, {"metadata": {"name": name}, "spec": spec})
                path = f"{PODS}?fieldSelector=metadata.name%3D{name}"
                (pod,) = cluster.until(path, lambda pods: bool(pods[0]["spec"].get("nodeName")))
                cluster.ask("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})
                return str(pod["spec"]["nodeName"])

            wait_until(lambda: place() == "node-1")  # the first may come before the first answer
            assert [place() for _ in range(3)] == ["node-1"] * 3
    assert 'sum_over_time(node_network_receive_bytes_total{device="ens192"}[3m0s])' in asked
