"""Certificates of the shipped extender, as `podium extender certificates` makes them."""

import base64
import json
import ssl
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import yaml
from support.deploy.container_process import Container
from support.deploy.shipped_manifests import DEPLOY, NAMESPACE, Manifest
from support.waiting import PATIENCE_S

from podium.commands import main

ADMISSION: Final = DEPLOY / "gpu-admission.yaml"
ON_NODES: Final = "/etc/kubernetes/gpu-admission"


class ExtenderCertificates:
    def __init__(self, directory: Path) -> None:
        self.directory = directory / "extender-certificates"
        assert main(["extender", "certificates", str(self.directory)]) == 0

    def secret(self) -> Manifest:
        """What `kubectl create secret generic` makes of them."""
        data = {
            name: base64.b64encode((self.directory / name).read_bytes()).decode()
            for name in ("ca.crt", "tls.crt", "tls.key")
        }
        metadata = {"name": "gpu-admission-certificates", "namespace": NAMESPACE}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}

    def on_control_plane(self) -> dict[str, str]:
        """The files of a scheduler's node by path."""
        names = ("ca.crt", "client.crt", "client.key")
        return {f"{ON_NODES}/{name}": (self.directory / name).read_text() for name in names}

    def ask(self, url: str, body: Any = None, *, shows: bool = True) -> tuple[int, str]:
        """Status and text of an answer; 0 if nobody listens."""
        context = ssl.create_default_context(cafile=str(self.directory / "ca.crt"))
        if shows:
            context.load_cert_chain(self.directory / "client.crt", self.directory / "client.key")
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data, {"Content-Type": "application/json"})
        try:
            with urlopen(request, timeout=PATIENCE_S, context=context) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()
        except URLError as problem:
            return 0, str(problem)


def admission_manifests() -> list[Manifest]:
    files = sorted(ADMISSION.glob("*.yaml"))
    return [each for file in files for each in yaml.safe_load_all(file.read_text())]


def at_own_port(container: Container) -> str:
    """Where it listens in place of the manifest's address."""
    here = f"127.0.0.1:{container.port}"
    arguments = container.container["args"]
    container.container["args"] = [each.replace("0.0.0.0:3456", here) for each in arguments]
    return here
