"""An API server with nodes to which manifests of `deploy/` are applied with kubectl."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.apiserver.apiserver_process import RunningServer, serving
from support.apiserver.kubectl_process import Kubectl, installed
from support.deploy.container_process import ApiAddress, Container, account_token
from support.deploy.shipped_manifests import NAMESPACE, Manifest, newest_kubectl, one, rendered
from support.waiting import wait_until

PODS = "/api/v1/namespaces/default/pods"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"


class DeployedServer:
    def __init__(self, server: RunningServer, directory: Path) -> None:
        self.server = server
        self.directory = directory
        self.address = ApiAddress(server.kubeconfig)
        self.kubectl = Kubectl(newest_kubectl(), max(installed()), server.kubeconfig, directory)
        self._count = 0

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.server.ask(method, path, body)
        assert status in (200, 201), answer
        return answer

    def apply(self, kustomization: Path) -> list[Manifest]:
        """Apply a kustomization twice, the second time without any change; what it renders."""
        self.kubectl("apply", "-k", str(kustomization))
        before = self._versions(kustomization)
        self.kubectl("apply", "-k", str(kustomization))
        assert self._versions(kustomization) == before
        return rendered(kustomization)

    def _versions(self, kustomization: Path) -> dict[str, str]:
        found = self.kubectl.value("get", "-k", str(kustomization))["items"]
        return {each["metadata"]["uid"]: each["metadata"]["resourceVersion"] for each in found}

    def container(self, manifests: list[Manifest], deployment: str = "podium") -> Container:
        """The container of a Deployment as the server has stored it."""
        stored = self.kubectl.within(NAMESPACE).value("get", "deployment", deployment)
        template = stored["spec"]["template"]
        account = template["spec"]["serviceAccountName"]
        one(manifests, "ServiceAccount", account)
        self._count += 1
        return Container(
            self.directory / f"container-{self._count}",
            template,
            self.address,
            manifests=manifests,
            token=self.token(account),
        )

    def token(self, account: str) -> str:
        return account_token(lambda path, body: self.ask("POST", path, body), account)

    def create_pod(self, name: str, scheduler: str, **spec: Any) -> None:
        whole = {"schedulerName": scheduler, "containers": [{"name": "c", "image": "i"}], **spec}
        self.ask("POST", PODS, {"metadata": {"name": name}, "spec": whole})

    def node_of(self, name: str) -> str:
        return str(self.ask("GET", f"{PODS}/{name}")["spec"].get("nodeName", ""))

    def until_bound(self, name: str) -> str:
        return str(wait_until(lambda: self.node_of(name)))

    def holder(self, lease: str) -> str:
        status, found = self.server.ask("GET", f"{LEASES}/{lease}")
        return str(found["spec"]["holderIdentity"]) if status == 200 else ""


def node(name: str, cpu: str = "4") -> Manifest:
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {
            "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


@contextmanager
def deployed_server(directory: Path, *flags: str) -> Iterator[DeployedServer]:
    newest_kubectl()
    with serving(directory, *flags) as server:
        deployed = DeployedServer(server, directory)
        for name in ("n1", "n2"):
            deployed.ask("POST", "/api/v1/nodes", node(name))
        yield deployed
