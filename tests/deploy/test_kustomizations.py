"""What `kubectl apply -k` brings to a cluster describes schedulers that place pods."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.deploy.container_process import ApiAddress, Container
from support.deploy.deployed_server import DeployedServer, deployed_server
from support.deploy.shipped_manifests import DEPLOY, NAMESPACE, one, rendered
from support.waiting import wait_until

pytestmark = pytest.mark.slow

QUICK = ("--leader-elect-retry-period=200ms",)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DeployedServer]:
    with deployed_server(tmp_path) as deployed:
        yield deployed


def probed(container: Container) -> dict[str, int]:
    kinds = ("startupProbe", "livenessProbe", "readinessProbe")
    return {kind: container.probe(kind) for kind in kinds}


ALL_WELL = {"startupProbe": 200, "livenessProbe": 200, "readinessProbe": 200}


def test_a_second_scheduler_takes_its_own_pods_with_its_own_rights(server: DeployedServer) -> None:
    manifests = server.apply(DEPLOY / "second-scheduler")
    container = server.container(manifests)
    with container.running() as process:
        server.create_pod("ours", "podium")
        server.create_pod("theirs", "default-scheduler")
        assert server.until_bound("ours") in {"n1", "n2"}
        wait_until(lambda: probed(container) == ALL_WELL)
        assert server.node_of("theirs") == ""
        assert server.holder("podium")
        assert server.holder("kube-scheduler") == ""
        assert process.stopped() == 0
    assert "forbidden" not in process.said
    assert "ignored" not in process.said


def test_of_two_replicas_one_leads_and_the_other_is_ready_to(server: DeployedServer) -> None:
    manifests = server.apply(DEPLOY / "second-scheduler")
    assert one(manifests, "Deployment")["spec"]["replicas"] == 2
    first, second = server.container(manifests), server.container(manifests)
    with first.running(*QUICK) as leader:
        wait_until(lambda: "Successfully acquired lease" in leader.said)
        with second.running(*QUICK) as standby:
            wait_until(lambda: probed(second) == ALL_WELL)
            assert "Successfully acquired lease" not in standby.said
            assert leader.stopped() == 0
            wait_until(lambda: "Successfully acquired lease" in standby.said)
            server.create_pod("later", "podium")
            assert server.until_bound("later")
            assert standby.stopped() == 0


def test_podium_waits_for_kube_scheduler_to_go_and_gives_way_when_it_is_back(
    server: DeployedServer,
) -> None:
    """Both have one lease, so the pods of a cluster never have two schedulers."""
    manifests = server.apply(DEPLOY / "replace-kube-scheduler")
    container = server.container(manifests)
    other = static_pod(server)
    with other.running(*QUICK) as before:
        wait_until(lambda: "Successfully acquired lease" in before.said)
        with container.running(*QUICK) as process:
            wait_until(lambda: probed(container) == ALL_WELL)
            assert "Successfully acquired lease" not in process.said
            server.create_pod("before", "default-scheduler")
            assert server.until_bound("before")
            assert before.stopped() == 0
            wait_until(lambda: "Successfully acquired lease" in process.said)
            server.create_pod("with-podium", "default-scheduler")
            assert server.until_bound("with-podium")
            with static_pod(server).running(*QUICK) as after:
                wait_until(lambda: "Attempting to acquire leader lease" in after.said)
                assert process.stopped(signal.SIGTERM) == 0
                server.create_pod("after", "default-scheduler")
                assert server.until_bound("after")
                assert "Successfully acquired lease" in after.said
                assert after.stopped() == 0
    assert "forbidden" not in process.said


# --- the static pod -----------------------------------------------------------------------------


def static_pod(server: DeployedServer, path: str = "static-pod", **files: str) -> Container:
    """The static pod, on a control plane node with a kubeconfig as kubeadm has it."""
    (pod,) = rendered(DEPLOY / path)
    server.kubectl("apply", "--dry-run=server", "-k", str(DEPLOY / path))
    kubeconfig = server.server.kubeconfig.read_text()
    kubeconfig = kubeconfig.replace("    token:", "    as: system:kube-scheduler\n    token:")
    assert "as: system:kube-scheduler" in kubeconfig
    config = (DEPLOY / "static-pod" / "scheduler-config.yaml").read_text()
    number = sum(1 for _ in server.directory.glob("static-*"))
    return Container(
        server.directory / f"static-{number}",
        pod,
        ApiAddress(server.server.kubeconfig),
        files={
            "/etc/kubernetes/scheduler.conf": kubeconfig,
            "/etc/kubernetes/scheduler-config.yaml": config,
            "/etc/localtime": "",
            **files,
        },
    )


def test_the_static_pod_schedules_with_the_kubeconfig_of_the_node(server: DeployedServer) -> None:
    container = static_pod(server)
    with container.running() as process:
        server.create_pod("web", "default-scheduler")
        assert server.until_bound("web")
        wait_until(lambda: probed(container) == ALL_WELL)
        assert server.holder("kube-scheduler")
        assert process.stopped() == 0
    assert "forbidden" not in process.said
    assert "ignored" not in process.said


def test_the_static_pod_with_an_extender_reads_the_files_of_one(server: DeployedServer) -> None:
    config = (DEPLOY / "static-pod" / "scheduler-config.yaml").read_text()
    extender = "extenders:\n- {urlPrefix: 'http://127.0.0.1:1', filterVerb: f, ignorable: true}\n"
    files = {
        "/etc/kubernetes/scheduler-extender.yaml": config + extender,
        "/etc/kubernetes/scheduler-policy-config.json": "",
    }
    container = static_pod(server, "static-pod-with-extender", **files)
    with container.running() as process:
        server.create_pod("web", "default-scheduler")
        assert server.until_bound("web")
        assert process.stopped() == 0
    assert "127.0.0.1:1" in process.said


def test_every_manifest_is_in_the_namespace_of_the_control_plane() -> None:
    for path in ("second-scheduler", "replace-kube-scheduler", "static-pod"):
        for manifest in rendered(DEPLOY / path):
            if not manifest["kind"].startswith("Cluster"):
                assert manifest["metadata"]["namespace"] == NAMESPACE
