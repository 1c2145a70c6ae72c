"""The roles of the manifests grant what the scheduler does, all of it and nothing else.

A scheduler process runs with the account of the Deployment and has everything to do that there is.
Each attempt that the API server judges by a rule of the roles is recorded.
"""

from pathlib import Path
from typing import Any

import pytest
from support.deploy.account_kubeconfig import COLLECTIONS
from support.deploy.busy_cluster import BusyCluster
from support.deploy.container_process import ApiAddress, Container, account_token
from support.deploy.recorded_deployment import DEFINITIONS, GATES, recorded
from support.deploy.shipped_manifests import (
    DEPLOY,
    Manifest,
    one,
    rendered,
    written_with_components,
)
from support.e2e.given_cluster import given_server
from support.waiting import wait_until

pytestmark = pytest.mark.slow

ACCOUNT = "system:serviceaccount:kube-system:podium"
"""Refusals name whom they refuse."""
SCRAPER = {
    "ServiceAccount": {"metadata": {"name": "scraper", "namespace": "kube-system"}},
    "ClusterRole": {
        "metadata": {"name": "scraper"},
        "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
    },
    "ClusterRoleBinding": {
        "metadata": {"name": "scraper"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "scraper",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "scraper", "namespace": "kube-system"}],
    },
}


def gate_flag() -> str:
    return "--feature-gates=" + ",".join(f"{name}=true" for name in GATES)


@pytest.mark.parametrize("path", ["second-scheduler", "replace-kube-scheduler"])
def test_every_right_is_used_and_none_is_missing(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = rendered(DEPLOY / path)
    roles = one(manifests, "ClusterRole"), one(manifests, "Role")
    name = "podium" if path == "second-scheduler" else "default-scheduler"
    with recorded(tmp_path, monkeypatch, manifests, *roles) as (administrator, container, record):
        for kind, manifest in SCRAPER.items():
            administrator.create(COLLECTIONS[kind], manifest)
        scraper = account_token(administrator.create, "scraper")
        with container.running(gate_flag(), "--leader-elect-retry-period=200ms") as process:
            BusyCluster(administrator.ask, name).run()
            assert wait_until(lambda: container.fetch("/metrics", scraper)[0]) == 200
            assert process.stopped() == 0
        assert {verb for verb, *_ in record.unused} == {"list"}
        # Servers without streaming lists are asked for lists in pages.
        administrator.server.streams_lists = False
        with container.running(gate_flag()) as again:
            wait_until(lambda: not record.unused, lambda: f"never used: {record.unused}")
            assert again.stopped() == 0
    assert record.refused == set()
    assert ACCOUNT not in process.said + again.said


def test_every_right_of_the_component_for_plugins_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = written_with_components(tmp_path, "second-scheduler", "scheduler-plugins")
    manifests = rendered(place)
    role = one(manifests, "ClusterRole", "podium-scheduler-plugins")
    with recorded(tmp_path, monkeypatch, manifests, role) as (administrator, container, record):
        configuration = container.directory / "mounted" / "configuration" / "scheduler.yaml"
        shipped = configuration.read_text()
        # The older kind of pod groups, which no cluster of today serves by itself.
        administrator.create(DEFINITIONS, older_pod_groups(manifests))
        for streams in (True, False):
            administrator.server.streams_lists = streams
            for plugins in PLUGINS:
                configuration.write_text(shipped + plugins)
                said = run_until_ready(container)
                assert "Successfully acquired lease" in said
                assert ACCOUNT not in said
    assert record.refused == set()
    assert record.unused == set()


def test_the_rights_are_enough_for_a_given_cluster(tmp_path: Path) -> None:
    manifests = rendered(DEPLOY / "second-scheduler")
    with given_server() as server:

        def ask(method: str, path: str, body: Any = None) -> Any:
            status, answer = server.ask(method, path, body)
            assert status < 400, f"{method} {path}: {answer}"
            return answer

        for kind, path in COLLECTIONS.items():
            for manifest in manifests:
                if manifest["kind"] == kind:
                    ask("POST", path, manifest)
        container = Container(
            tmp_path / "container",
            one(manifests, "Deployment", "podium")["spec"]["template"],
            ApiAddress(server.kubeconfig),
            manifests=manifests,
            token=account_token(lambda path, body: ask("POST", path, body), "podium"),
        )
        has_groups = server.ask("GET", "/apis/scheduling.k8s.io/v1alpha2")[0] == 200
        gates = (gate_flag(),) if has_groups else ()
        with container.running(*gates, "--leader-elect-retry-period=200ms") as process:
            BusyCluster(ask, "podium", gangs=has_groups).run()
            assert process.stopped() == 0
    assert ACCOUNT not in process.said


def run_until_ready(container: Container) -> str:
    """What it says until it leads and has seen everything."""
    with container.running() as process:
        wait_until(lambda: "Successfully acquired lease" in process.said)
        wait_until(lambda: container.probe("readinessProbe") == 200)
        assert process.stopped() == 0
    return process.said


PLUGINS = (
    """\
  plugins:
    multiPoint:
      enabled:
      - {name: CapacityScheduling}
      - {name: Coscheduling}
      - {name: NodeResourceTopologyMatch}
      - {name: NetworkOverhead}
      - {name: SySched}
      disabled: [{name: PrioritySort}, {name: DefaultPreemption}]
""",
    """\
  plugins:
    queueSort:
      enabled: [{name: TopologicalSort}]
      disabled: [{name: "*"}]
    postFilter:
      enabled: [{name: PreemptionToleration}]
      disabled: [{name: "*"}]
""",
)


def older_pod_groups(manifests: list[Manifest]) -> Manifest:
    """PodGroups in the group that they had once."""
    found = one(manifests, "CustomResourceDefinition", "podgroups.scheduling.x-k8s.io")
    group = "scheduling.sigs.k8s.io"
    spec = {**found["spec"], "group": group}
    return {**found, "metadata": {**found["metadata"], "name": f"podgroups.{group}"}, "spec": spec}


def test_every_right_of_the_controller_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    components = ("scheduler-plugins", "podgroup-controller")
    manifests = rendered(written_with_components(tmp_path, "second-scheduler", *components))
    name = "podium-podgroup-controller"
    roles = one(manifests, "ClusterRole", name), one(manifests, "Role", name)
    with recorded(tmp_path, monkeypatch, manifests, *roles, deployment=name) as (
        administrator,
        container,
        record,
    ):
        groups = "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
        administrator.create(groups, {**GANG, "spec": {"minMember": 1}})
        with container.running() as process:
            wait_until(lambda: administrator.ask("GET", f"{groups}/gang").get("status"))
            assert process.stopped() == 0
        administrator.server.streams_lists = False
        with container.running() as process:
            wait_until(lambda: not record.unused, lambda: f"never used: {record.unused}")
            assert process.stopped() == 0
    assert record.refused == set()


GANG = {
    "apiVersion": "scheduling.x-k8s.io/v1alpha1",
    "kind": "PodGroup",
    "metadata": {"name": "gang"},
}
