"""The container of a pod or a pod template, as a process on this machine.

Its command, arguments, mounted files and service account are what the manifest says. Only places
differ: what is mounted lies in a directory of the test, so paths in the command and in mounted
configurations are mapped to it, the endpoints have a free port of loopback, and the API server is
where the test has it.
"""

import base64
import socket
import ssl
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import yaml
from support.deploy.shipped_manifests import NAMESPACE, Manifest, one
from support.e2e.scheduler_process import SchedulerProcess
from support.waiting import PATIENCE_S

_PORT: Final = 10259
_START: Final = """\
import runpy, sys
from podium.scheduler.config.flags import client_settings
directory = sys.argv.pop(1)
client_settings.TOKEN_FILE = directory + "/token"
client_settings.ROOT_CA_FILE = directory + "/ca.crt"
from podium.client import connection
connection._NAMESPACE_FILE = directory + "/namespace"
sys.argv[0] = "podium"
runpy.run_module("podium", run_name="__main__")
"""
"""`podium` with the place where a pod finds its service account exchanged."""


class ApiAddress:
    """Where the API server is, and who has signed its certificate; from its kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        cluster = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]
        self.authority = base64.b64decode(cluster["certificate-authority-data"])
        parts = urlsplit(cluster["server"])
        self.host, self.port = str(parts.hostname), str(parts.port)


class Container:
    """A container that has been prepared; `files` are of the host, for hostPath volumes, and
    `token` is that of the pod's service account."""

    def __init__(
        self,
        directory: Path,
        pod: Manifest,
        address: ApiAddress,
        *,
        manifests: list[Manifest] | None = None,
        files: Mapping[str, str] | None = None,
        token: str = "",
    ) -> None:
        directory.mkdir()
        self.directory = directory
        self.spec: Manifest = pod["spec"]
        (self.container,) = self.spec["containers"]
        self.port = _free_port()
        self._address = address
        self._account = directory / "account"
        self._paths: dict[str, str] = {}
        self._mount(manifests or [], files or {})
        if token:
            assert self.spec["automountServiceAccountToken"] is True
            self._account.mkdir()
            (self._account / "token").write_text(token)
            (self._account / "ca.crt").write_bytes(address.authority)
            (self._account / "namespace").write_text(NAMESPACE)

    def _mount(self, manifests: list[Manifest], files: Mapping[str, str]) -> None:
        volumes = {each["name"]: each for each in self.spec["volumes"]}
        mounts = self.container["volumeMounts"]
        assert {each["name"] for each in mounts} == set(volumes)
        for mount in mounts:
            place = self.directory / "mounted" / mount["name"]
            self._paths[mount["mountPath"]] = str(place)
        for mount in mounts:
            volume, place = volumes[mount["name"]], Path(self._paths[mount["mountPath"]])
            if "Directory" in volume.get("hostPath", {}).get("type", ""):
                path = volume["hostPath"]["path"]
                place.mkdir(parents=True)
                for name, text in files.items():
                    if name.startswith(f"{path}/"):
                        (place / Path(name).name).write_text(text)
                continue
            if "hostPath" in volume:
                path = volume["hostPath"]["path"]
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(self.mapped(files[path]))
                place.chmod(0o600)
                continue
            place.mkdir(parents=True)
            if "secret" in volume:
                self._mount_secret(volume["secret"], place, manifests)
            if "configMap" in volume:
                found = one(manifests, "ConfigMap", volume["configMap"]["name"])
                for name, text in found["data"].items():
                    (place / name).write_text(self.mapped(text))

    def _mount_secret(self, volume: Manifest, place: Path, manifests: list[Manifest]) -> None:
        found = [
            each
            for each in manifests
            if each["kind"] == "Secret" and each["metadata"]["name"] == volume["secretName"]
        ]
        assert found or volume.get("optional")
        for name, text in found[0]["data"].items() if found else ():
            (place / name).write_bytes(base64.b64decode(text))

    def mapped(self, text: str) -> str:
        for inside, outside in self._paths.items():
            if inside != "/tmp":
                text = text.replace(inside, outside)
        return text

    @property
    def command(self) -> list[str]:
        whole = [*self.container["command"], *self.container.get("args", [])]
        assert whole[0] == "podium"
        return [self.mapped(word) for word in whole[1:]]

    @contextmanager
    def running(self, *more: str) -> Iterator[SchedulerProcess]:
        """It runs, with `more` arguments; it must not break or leave anything open."""
        command = self.command
        if command[0] == "run":
            command += [f"--secure-port={self.port}", "--bind-address=127.0.0.1"]
        process = SchedulerProcess(
            self.directory,
            *(str(self._account), *command, *more),
            command=(sys.executable, "-c", _START),
            environment={
                "KUBERNETES_SERVICE_HOST": self._address.host,
                "KUBERNETES_SERVICE_PORT": self._address.port,
                "TMPDIR": self._paths["/tmp"],
                "HOME": "/nonexistent",
            },
        )
        try:
            yield process
        finally:
            if process.running.poll() is None:
                process.running.kill()
                process.running.wait()
        assert "Traceback" not in process.said
        assert "ResourceWarning" not in process.said

    def probe(self, kind: str) -> int:
        """The answer to a probe of the manifest."""
        wanted = self.container[kind]["httpGet"]
        ports = {each["name"]: each["containerPort"] for each in self.container.get("ports", [])}
        assert wanted["scheme"] == "HTTPS"
        assert ports.get(wanted["port"], wanted["port"]) == _PORT
        return self.fetch(wanted["path"])[0]

    def fetch(self, path: str, token: str = "") -> tuple[int, str]:
        """A page of its endpoints; (0, why) if it does not listen."""
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = Request(f"https://127.0.0.1:{self.port}{path}", headers=headers)
        try:
            with urlopen(request, context=trusting, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()
        except OSError as problem:
            return 0, str(problem)


def account_token(ask: Any, account: str) -> str:
    """A token of a service account, as the kubelet asks for one; `ask` posts an object."""
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
    made = ask(path, {"spec": {"expirationSeconds": 3600}})
    return str(made["status"]["token"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
