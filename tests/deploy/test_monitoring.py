"""The dashboard and the alerts ask a real Prometheus for what a running scheduler really tells."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.deploy.busy_cluster import refuse_binding
from support.deploy.deployed_server import DeployedServer, deployed_server
from support.deploy.shipped_manifests import (
    DEPLOY,
    Manifest,
    one,
    written_with_components,
)
from support.e2e.prometheus_process import Prometheus, prometheus, required
from support.waiting import wait_until

pytestmark = pytest.mark.slow

MONITORING = ("service-monitor", "prometheus-rule")
DASHBOARD = json.loads((DEPLOY / "grafana" / "podium.json").read_text())
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: KIND, plural: PLURAL}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
"""The operator's kinds, in so far as they matter here."""
SCRAPER = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: scraper, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: scraper}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: podium-metrics-reader}
subjects: [{kind: ServiceAccount, name: scraper, namespace: kube-system}]
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DeployedServer]:
    required()
    with deployed_server(tmp_path) as deployed:
        for kind in ("ServiceMonitor", "PrometheusRule"):
            text = DEFINITION.replace("KIND", kind).replace("PLURAL", f"{kind.lower()}s")
            deployed.kubectl("apply", "-f", "-", stdin=text)
        deployed.kubectl("apply", "-f", "-", stdin=SCRAPER)
        yield deployed


def scraping(manifests: list[Manifest], directory: Path, port: int, token: str) -> str:
    """What the operator makes of the monitor and the rules, for one replica."""
    (endpoint,) = one(manifests, "ServiceMonitor")["spec"]["endpoints"]
    service = one(manifests, "Service")
    assert endpoint["port"] in {each["name"] for each in service["spec"]["ports"]}
    label = one(manifests, "ServiceMonitor")["spec"]["jobLabel"]
    rules = directory / "rules.yml"
    rules.write_text(yaml.safe_dump(one(manifests, "PrometheusRule")["spec"]))
    scrape = {
        "job_name": service["metadata"]["labels"][label],
        "scheme": endpoint["scheme"],
        "metrics_path": endpoint["path"],
        "authorization": {"credentials": token},
        "tls_config": {"insecure_skip_verify": endpoint["tlsConfig"]["insecureSkipVerify"]},
        "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
    }
    every = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
    return yaml.safe_dump({"global": every, "rule_files": [str(rules)], "scrape_configs": [scrape]})


def work(server: DeployedServer) -> None:
    """Some of everything that metrics count."""
    urgent = {"metadata": {"name": "urgent"}, "value": 1000}
    server.ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", urgent)

    def containers(cpu: str) -> list[Any]:
        return [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]

    for number in range(2):
        name = f"victim-{number}"
        server.create_pod(
            name, "podium", containers=containers("3"), terminationGracePeriodSeconds=0
        )
        server.until_bound(name)
    server.create_pod("urgent", "podium", containers=containers("3"), priorityClassName="urgent")
    server.until_bound("urgent")
    server.create_pod("large", "podium", containers=containers("64"))
    refuse_binding(server.ask, "unbindable")
    server.create_pod("unbindable", "podium")


def states(monitor: Prometheus) -> dict[str, str]:
    return {rule["name"]: rule["state"] for rule in monitor.rules()}


def without_threshold(expression: str) -> str:
    inner = re.fullmatch(r"absent\((.*)\)", expression)
    return inner[1] if inner else re.sub(r"\s*[<>]\s*[\d.]+\s*$", "", expression)


def quiet_alerts(monitor: Prometheus) -> set[str]:
    return {name for name, state in states(monitor).items() if state == "inactive"}


def test_every_query_and_every_alert_finds_what_it_is_about(
    server: DeployedServer, tmp_path: Path
) -> None:
    place = written_with_components(tmp_path, "second-scheduler", *MONITORING)
    manifests = server.apply(place)
    container = server.container(manifests)
    configuration = scraping(manifests, tmp_path, container.port, server.token("scraper"))
    with (
        container.running() as process,
        prometheus(tmp_path / "prometheus", configuration=configuration) as monitor,
    ):
        wait_until(lambda: "Successfully acquired lease" in process.said)
        work(server)
        for panel in DASHBOARD["panels"]:
            for target in panel["targets"]:
                query = target["expr"].replace("$job", "podium")
                monitor.until(query.replace("$__rate_interval", "30s"), bool)
        for rule in alerts(manifests):
            # This API server answers nothing with 5xx.
            query = without_threshold(rule["expr"]).replace('code=~"5.."', 'code=~"2.."')
            monitor.until(query, bool)
        wait_until(lambda: states(monitor).get("PodiumPodsArePending") == "pending")
        assert {rule["health"] for rule in monitor.rules()} == {"ok"}
        others = {rule["alert"] for rule in alerts(manifests)} - {"PodiumPodsArePending"}
        # A scrape that a busy machine lost makes one pending until the next.
        wait_until(lambda: quiet_alerts(monitor) == others, lambda: str(states(monitor)))
        assert process.stopped() == 0
        wait_until(lambda: states(monitor)["PodiumDown"] == "pending")


def alerts(manifests: list[Manifest]) -> list[Manifest]:
    (group,) = one(manifests, "PrometheusRule")["spec"]["groups"]
    found: list[Manifest] = group["rules"]
    return found


def test_a_replica_that_only_stands_by_is_missed_as_a_leader(
    server: DeployedServer, tmp_path: Path
) -> None:
    manifests = server.apply(written_with_components(tmp_path, "second-scheduler", *MONITORING))
    held = {"holderIdentity": "other", "leaseDurationSeconds": 3600}
    times = {
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z",
    }
    lease = {"metadata": {"name": "podium"}, "spec": {**held, **times}}
    server.ask("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", lease)
    container = server.container(manifests)
    configuration = scraping(manifests, tmp_path, container.port, server.token("scraper"))
    with (
        container.running() as process,
        prometheus(tmp_path / "prometheus", configuration=configuration) as monitor,
    ):
        wait_until(lambda: states(monitor).get("PodiumHasNoLeader") == "pending")
        assert states(monitor)["PodiumDown"] == "inactive"
        assert process.stopped() == 0


def test_metrics_that_are_asked_for_are_on_the_page_about_metrics() -> None:
    page = (DEPLOY.parent / "docs" / "metrics.md").read_text()
    rules = yaml.safe_load(
        (DEPLOY / "components" / "prometheus-rule" / "prometheus-rule.yaml").read_text()
    )
    asked = [rule["expr"] for rule in alerts([rules])]
    asked += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    names = {
        re.sub(r"_(bucket|sum|count)$", "", name)
        for text in asked
        for name in re.findall(r"\b((?:scheduler|rest_client|leader|kubernetes)_\w+)\{", text)
    }
    assert len(names) > 15
    for name in names:
        assert f"`{name}`" in page, name
