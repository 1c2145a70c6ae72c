"""A second scheduler as the page on running says: its file, its rights and no others."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.apiserver.apiserver_process import ApiServer, serving
from support.commands.command_line import EXAMPLES
from support.e2e.given_cluster import given_server
from support.e2e.scheduler_process import running_scheduler
from support.waiting import PATIENCE_S, wait_until

pytestmark = pytest.mark.slow

BESIDE = EXAMPLES / "beside"
ACCOUNT = "system:serviceaccount:kube-system:podium"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
PODS = "/api/v1/namespaces/default/pods"
ROLES = "/apis/rbac.authorization.k8s.io/v1"
NODE = {
    "metadata": {"name": "n1"},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
COLLECTIONS = {
    "ServiceAccount": "/api/v1/namespaces/kube-system/serviceaccounts",
    "ClusterRoleBinding": f"{ROLES}/clusterrolebindings",
    "Role": f"{ROLES}/namespaces/kube-system/roles",
    "RoleBinding": f"{ROLES}/namespaces/kube-system/rolebindings",
}


@pytest.fixture(params=["own", "given cluster"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ApiServer]:
    with serving(tmp_path) if request.param == "own" else given_server() as running:
        assert running.ask("POST", "/api/v1/nodes", NODE)[0] == 201
        yield running


def grant(server: ApiServer, *, without: tuple[str, str] = ("", "")) -> None:
    """Bring the rights of the example to the server, all but one."""
    for document in yaml.safe_load_all((BESIDE / "rbac.yaml").read_text()):
        if (document["kind"], document["metadata"]["name"]) == without:
            continue
        status, told = server.ask("POST", COLLECTIONS[document["kind"]], document)
        assert status == 201, told


def written_for_the_account(server: ApiServer, directory: Path) -> Path:
    """The configuration of the example, in a directory whose kubeconfig acts as the account."""
    kubeconfig: dict[str, Any] = yaml.safe_load(server.kubeconfig.read_text())
    for user in kubeconfig["users"]:
        user["user"]["as"] = ACCOUNT
    (directory / "podium.kubeconfig").write_text(yaml.safe_dump(kubeconfig))
    (directory / "podium.kubeconfig").chmod(0o600)
    file = directory / "scheduler.yaml"
    file.write_text((BESIDE / "scheduler.yaml").read_text())
    return file


def create_pod(server: ApiServer, name: str, scheduler: str) -> None:
    spec = {"schedulerName": scheduler, "containers": [{"name": "c", "image": "nginx"}]}
    assert server.ask("POST", PODS, {"metadata": {"name": name}, "spec": spec})[0] == 201


def node_of(server: ApiServer, name: str) -> str:
    return str(server.ask("GET", f"{PODS}/{name}")[1]["spec"].get("nodeName", ""))


def test_the_file_and_the_rights_of_the_example_are_enough(
    server: ApiServer, tmp_path: Path
) -> None:
    grant(server)
    room = tmp_path / "room"
    room.mkdir()
    file = written_for_the_account(server, room)
    with running_scheduler(room, "--config", str(file), "--secure-port=0") as process:
        create_pod(server, "ours", "podium")
        create_pod(server, "theirs", "default-scheduler")
        assert wait_until(lambda: node_of(server, "ours")) == "n1"
        assert '"Successfully acquired lease" lock="kube-system/podium"' in process.said
        events = "/apis/events.k8s.io/v1/namespaces/default/events"
        wait_until(lambda: server.ask("GET", events)[1]["items"])
        assert process.stopped() == 0
    assert "forbidden" not in process.said
    assert node_of(server, "theirs") == ""
    # kube-apiserver has one of its own.
    names = [each["metadata"]["name"] for each in server.ask("GET", LEASES)[1]["items"]]
    assert [name for name in names if not name.startswith("apiserver-")] == ["podium"]


def test_without_the_role_for_the_lease_it_never_leads(server: ApiServer, tmp_path: Path) -> None:
    grant(server, without=("RoleBinding", "podium-lease"))
    room = tmp_path / "room"
    room.mkdir()
    file = written_for_the_account(server, room)
    quick = ("--secure-port=0", "--leader-elect-retry-period=100ms")
    with running_scheduler(room, "--config", str(file), *quick) as process:
        told = f'User "{ACCOUNT}" cannot get resource "leases"'
        wait_until(lambda: told in process.said.replace("\\", ""))
        assert "Successfully acquired" not in process.said
        process.stopped()


def test_a_kubeconfig_flag_beside_a_file_is_said_to_be_ignored(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    file.write_text(header)
    flags = ("--config", str(file), "--kubeconfig", "other.kubeconfig", "--secure-port=0")
    with running_scheduler(tmp_path, *flags) as process:
        assert process.running.wait(PATIENCE_S) == 1
    told = "--kubeconfig is ignored with --config: what counts is clientConnection.kubeconfig in"
    assert f"{told} {file}" in process.said
