"""The container of a Deployment beside an API server that records which rights it uses."""

import json
import ssl
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from support.apiserver.recorded_server import RecordedServer, recorded_server
from support.deploy.account_kubeconfig import COLLECTIONS
from support.deploy.container_process import ApiAddress, Container, account_token
from support.deploy.recorded_rights import RecordedRights, recorded_rights
from support.deploy.shipped_manifests import Manifest, one

from podium.kubernetes.releases.feature_gates import FeatureGates

GATES = {"GenericWorkload": True, "GangScheduling": True, "DRADeviceTaintRules": True}
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Administrator:
    def __init__(self, server: RecordedServer) -> None:
        assert server.certificates is not None
        self.server = server
        self._trusted = ssl.create_default_context(cadata=server.certificates.authority.decode())

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(
            f"{self.server.url}{path}",
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.server.token}", "Content-Type": kind},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, context=self._trusted) as answer:
                return json.load(answer)
        except HTTPError as refused:
            with refused:
                pytest.fail(f"{method} {path}: {refused.read().decode()}")

    def create(self, path: str, body: Any) -> Any:
        return self.ask("POST", path, body)

    def apply(self, manifests: list[Manifest]) -> None:
        for kind, path in {**COLLECTIONS, "CustomResourceDefinition": DEFINITIONS}.items():
            for manifest in manifests:
                if manifest["kind"] == kind:
                    self.create(path, manifest)


@contextmanager
def recorded(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    manifests: list[Manifest],
    *roles: Manifest,
    deployment: str = "podium",
) -> Iterator[tuple[Administrator, Container, RecordedRights]]:
    """A server with the roles, the container of a deployment, and the record of its attempts."""
    with (
        recorded_rights(monkeypatch, *roles) as record,
        recorded_server(FeatureGates(GATES)) as server,
    ):
        administrator = Administrator(server)
        administrator.apply(manifests)
        kubeconfig = directory / "kubeconfig"
        server.kubeconfig(kubeconfig)
        container = Container(
            directory / "container",
            one(manifests, "Deployment", deployment)["spec"]["template"],
            ApiAddress(kubeconfig),
            manifests=manifests,
            token=account_token(administrator.create, deployment),
        )
        yield administrator, container, record
