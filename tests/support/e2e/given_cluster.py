"""An API server that somebody else runs, named by $PODIUM_E2E_KUBECONFIG.

Tests that speak to a cluster run against it as they run against Podium's own server. It has to be
one for tests, without a scheduler: a bare kube-apiserver with etcd is enough. Its kubeconfig has
one context, and the token of an administrator. What a test has created is deleted afterwards.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from support.apiserver.apiserver_process import ApiServer, served_at
from support.suite.requirements import CLUSTER

_VARIABLE: Final = "PODIUM_E2E_KUBECONFIG"
_LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
_WRITTEN_BY_SCHEDULERS: Final = (
    *("/api/v1/namespaces/default/events", "/api/v1/namespaces/kube-system/events"),
    *(f"{_LEASES}/kube-scheduler", f"{_LEASES}/podium"),
)
_CLAIMS: Final = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
_NOW: Final = {"gracePeriodSeconds": 0}


@dataclass
class GivenServer(ApiServer):
    """Remembers what it was asked to create."""

    created: list[str] = field(default_factory=list)

    def ask(
        self, method: str, path: str, body: Any = None, connection: HTTPConnection | None = None
    ) -> tuple[int, Any]:
        status, answer = super().ask(method, path, body, connection)
        if (method, status) == ("POST", 201) and answer["metadata"].get("uid"):
            self.created.append(f"{path}/{answer['metadata']['name']}")
            if path == "/api/v1/nodes":
                return 201, self._make_ready(answer)
        return status, answer

    def _make_ready(self, node: Any) -> Any:
        """Admission taints every new node until a controller finds it ready, and there is none."""
        if not node["spec"].pop("taints", None):
            return node
        status, answer = super().ask("PUT", f"/api/v1/nodes/{node['metadata']['name']}", node)
        assert status == 200, answer
        return answer

    def delete_created(self) -> None:
        claims = super().ask("GET", _CLAIMS)[1].get("items", [])
        made = [f"{_CLAIMS}/{claim['metadata']['name']}" for claim in claims]
        for path in (*reversed(self.created), *made, *_WRITTEN_BY_SCHEDULERS):
            self._delete(path)
        self.created.clear()

    def _delete(self, path: str) -> None:
        """Also what waits for a controller that would let it go."""
        status, found = super().ask("GET", path)
        if status == 200 and found["metadata"].pop("finalizers", None):
            super().ask("PUT", path, found)
        super().ask("DELETE", path, _NOW)


@contextmanager
def given_server() -> Iterator[GivenServer]:
    """Skips the test where none is given."""
    named = os.environ.get(_VARIABLE)
    if not named:
        CLUSTER.skip()
    found = served_at(Path(named))
    server = GivenServer(found.kubeconfig, found.url, found.token, found.context)
    server.delete_created()
    try:
        # What a controller makes in a whole cluster, and every pod needs.
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        assert server.ask("POST", accounts, {"metadata": {"name": "default"}})[0] in (201, 409)
        yield server
    finally:
        server.delete_created()
