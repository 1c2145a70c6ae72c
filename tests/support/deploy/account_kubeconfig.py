"""A kubeconfig with the account that `deploy/` has for a scheduler, and its rights."""

from pathlib import Path
from typing import Any

import yaml
from support.apiserver.apiserver_process import ApiServer
from support.deploy.container_process import account_token
from support.deploy.shipped_manifests import DEPLOY, NAMESPACE, rendered

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
COLLECTIONS = {
    "ServiceAccount": f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
    "ClusterRole": f"{_RBAC}/clusterroles",
    "ClusterRoleBinding": f"{_RBAC}/clusterrolebindings",
    "Role": f"{_RBAC}/namespaces/{NAMESPACE}/roles",
    "RoleBinding": f"{_RBAC}/namespaces/{NAMESPACE}/rolebindings",
}


def account_kubeconfig(server: ApiServer, directory: Path) -> Path:
    """Brings account and roles of `replace-kube-scheduler` to a server."""

    def create(path: str, body: Any) -> Any:
        status, answer = server.ask("POST", path, body)
        assert status == 201, answer
        return answer

    manifests = rendered(DEPLOY / "replace-kube-scheduler")
    for kind, path in COLLECTIONS.items():
        for manifest in manifests:
            if manifest["kind"] == kind:
                create(path, manifest)
    written: dict[str, Any] = yaml.safe_load(server.kubeconfig.read_text())
    written["users"][0]["user"] = {"token": account_token(create, "podium")}
    file = directory / "account.kubeconfig"
    file.write_text(yaml.safe_dump(written))
    file.chmod(0o600)
    return file
