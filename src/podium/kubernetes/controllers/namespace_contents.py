"""What every namespace has: the service account `default`, and the cluster's certificate authority.

Both are made again when somebody deletes them, for as long as their namespace is not on its way out
(`pkg/controller/serviceaccount`, `pkg/controller/certificates/rootcacertpublisher`).
"""

from typing import Final

from podium.kubernetes.controllers.controller import NOTHING, CreateAction, PatchAction, Plan, Wake
from podium.kubernetes.controllers.stores import KindStore, Stores
from podium.kubernetes.controllers.workloads import ConfigMap
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.resources.resource_types import CONFIG_MAPS, SERVICE_ACCOUNTS
from podium.kubernetes.rules.timestamps import Moment

SERVICE_ACCOUNT: Final = "default"
ROOT_CA: Final = "kube-root-ca.crt"
_DESCRIPTION: Final = "kubernetes.io/description"
_DESCRIBED: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)


class ServiceAccounts:
    """Keys are names of namespaces."""

    name = "serviceaccounts"

    def __init__(self, stores: Stores) -> None:
        self._namespaces, self._accounts = stores.namespaces, stores.service_accounts

    def watch(self, wake: Wake) -> None:
        def account_changed(old: KubeObject | None, new: KubeObject | None) -> None:
            if new is None and old is not None and old.name == SERVICE_ACCOUNT:
                wake(old.namespace)

        _wake_changed(self._namespaces, wake)
        self._accounts.listen(account_changed)

    def plan(self, key: str, moment: Moment) -> Plan:
        del moment
        namespace = self._namespaces.get("", key)
        if namespace is None or namespace.metadata.is_terminating:
            return NOTHING
        if self._accounts.get(key, SERVICE_ACCOUNT) is not None:
            return NOTHING
        body = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": SERVICE_ACCOUNT, "namespace": key},
        }
        return Plan([CreateAction(SERVICE_ACCOUNTS, key, body)])


class RootCAPublisher:
    """Keys are names of namespaces; without an authority there is nothing to publish."""

    name = "rootcapublisher"

    def __init__(self, stores: Stores, authority: str) -> None:
        self._namespaces, self._maps = stores.namespaces, stores.config_maps
        self._authority = authority

    def watch(self, wake: Wake) -> None:
        def map_changed(old: ConfigMap | None, new: ConfigMap | None) -> None:
            changed = new or old
            if changed is not None and changed.name == ROOT_CA:
                wake(changed.namespace)

        _wake_changed(self._namespaces, wake)
        self._maps.listen(map_changed)

    def plan(self, key: str, moment: Moment) -> Plan:
        del moment
        namespace = self._namespaces.get("", key)
        if namespace is None or namespace.metadata.is_terminating or not self._authority:
            return NOTHING
        data = {"ca.crt": self._authority}
        annotations = {_DESCRIPTION: _DESCRIBED}
        found = self._maps.get(key, ROOT_CA)
        if found is None:
            body = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": ROOT_CA, "namespace": key, "annotations": annotations},
                "data": data,
            }
            return Plan([CreateAction(CONFIG_MAPS, key, body)])
        if found.data == data and found.metadata.annotation(_DESCRIPTION):
            return NOTHING
        strays = dict.fromkeys(found.data or {})
        restored = {"metadata": {"annotations": annotations}, "data": {**strays, **data}}
        return Plan([PatchAction(CONFIG_MAPS, key, ROOT_CA, restored)])


def _wake_changed(namespaces: KindStore[KubeObject], wake: Wake) -> None:
    def namespace_changed(_: KubeObject | None, new: KubeObject | None) -> None:
        if new is not None:
            wake(new.name)

    namespaces.listen(namespace_changed)
