"""Shared GPUs with the rights that are shipped for them: each is used, and none is missing.

An extender as deploy/gpu-admission.yaml has it, with the scheduler that asks it, and the scheduler
with GPUShare. There are no agents: what they would do, the test does.
"""

import json
import time
from pathlib import Path
from typing import Any, Final

import pytest
from support.addons.gpu.extender_clusters import equal_cards, pod_manifest
from support.deploy.busy_cluster import refuse_binding
from support.deploy.container_process import ApiAddress, Container
from support.deploy.extender_certificates import (
    ExtenderCertificates,
    admission_manifests,
    at_own_port,
)
from support.deploy.recorded_deployment import Administrator, recorded
from support.deploy.recorded_rights import RecordedRights
from support.deploy.shipped_manifests import (
    DEPLOY,
    one,
    rendered,
    written_with_components,
)
from support.waiting import wait_until

from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect import Dialect

pytestmark = pytest.mark.slow

ACCOUNT: Final = "system:serviceaccount:kube-system:"
"""Refusals name whom they refuse."""
PODS: Final = "/api/v1/namespaces/default/pods"
NODES: Final = "/api/v1/nodes"
MAPS: Final = "/api/v1/namespaces/kube-system/configmaps"
AHEAD_S: Final = 3600.0
"""Agents are not silent as long as the test may take."""
SHARES: Final = {
    "gpu-scheduler": {"nvidia.com/vcuda-core": 30, "nvidia.com/vcuda-memory": 1000},
    "gpu-manager": {"tencent.com/vcuda-core": 30, "tencent.com/vcuda-memory": 4},
    "hami": {"nvidia.com/gpu": 1, "nvidia.com/gpucores": 30, "nvidia.com/gpumem": 1000},
}


class GPUCluster:
    """A node with cards, and pods that ask for shares of them."""

    def __init__(self, administrator: Administrator, dialect: str, scheduler: str) -> None:
        self._ask = administrator.ask
        self._dialect: Dialect = find_dialect(dialect)
        self._scheduler = scheduler
        self.node = f"{dialect}-0"

    def add_node(self) -> None:
        write = self._dialect.register(equal_cards(2, 8192), time.time() + AHEAD_S)
        capacity = {"cpu": "64", "pods": "110", **write.capacity}
        annotations = {key: text for key, text in write.annotations.items() if text is not None}
        status = {"capacity": capacity, "allocatable": capacity}
        body = {"metadata": {"name": self.node, "annotations": annotations}, "status": status}
        self._ask("POST", NODES, body)

    def add_pod(self, name: str) -> None:
        spec = {"schedulerName": self._scheduler}
        self._ask("POST", PODS, pod_manifest(name, SHARES[self._dialect.name], spec=spec))

    def pod(self, name: str) -> Any:
        return self._ask("GET", f"{PODS}/{name}")

    def place(self, name: str) -> None:
        """The pod gets its cards and its node, which its agent unlocks then."""
        self.add_pod(name)
        assert wait_until(lambda: self.pod(name)["spec"].get("nodeName")) == self.node
        written = json.dumps(self.pod(name)["metadata"])
        assert self.node in written
        if self._dialect.lock is not None:
            assert self.lock()
            patch = {"metadata": {"annotations": {self._dialect.lock.key: None}}}
            self._ask("PATCH", f"{NODES}/{self.node}", patch)

    def lock(self) -> str:
        key = "" if self._dialect.lock is None else self._dialect.lock.key
        metadata = self._ask("GET", f"{NODES}/{self.node}")["metadata"]
        return str(metadata.get("annotations", {}).get(key, ""))

    def fail_to_bind(self, name: str) -> None:
        """What was written before the binding was refused is taken back."""
        self.add_pod(name)
        wait_until(lambda: "denied request" in json.dumps(self.pod(name)) or self._told(name))
        wait_until(lambda: self.node not in json.dumps(self.pod(name)["metadata"]))
        wait_until(lambda: not self.lock())
        self._ask("DELETE", f"{PODS}/{name}", {"gracePeriodSeconds": 0})

    def _told(self, name: str) -> bool:
        events = self._ask("GET", "/apis/events.k8s.io/v1/namespaces/default/events")["items"]
        return any(name in json.dumps(each) and "denied" in json.dumps(each) for each in events)


# --- the extender -------------------------------------------------------------------------------


def scheduler_of_node(
    directory: Path, kubeconfig: Path, extender: str, certificates: ExtenderCertificates
) -> Container:
    """The static pod with the files that are shipped for it, and the extender's address."""
    (pod,) = rendered(DEPLOY / "static-pod-with-extender")
    shipped = DEPLOY / "static-pod-with-extender"
    config = (shipped / "scheduler-extender.yaml").read_text()
    assert "https://gpu-admission.kube-system:3456/scheduler" in config
    return Container(
        directory / "scheduler",
        pod,
        ApiAddress(kubeconfig),
        files={
            "/etc/kubernetes/scheduler.conf": kubeconfig.read_text(),
            "/etc/kubernetes/scheduler-extender.yaml": config.replace(
                "gpu-admission.kube-system:3456", extender
            ),
            "/etc/kubernetes/scheduler-policy-config.json": (
                shipped / "scheduler-policy-config.json"
            ).read_text(),
            "/etc/localtime": "",
            **certificates.on_control_plane(),
        },
    )


def test_the_extender_and_its_scheduler_place_pods_with_just_the_rights_of_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates = ExtenderCertificates(tmp_path)
    manifests = [*admission_manifests(), certificates.secret()]
    roles = one(manifests, "ClusterRole"), one(manifests, "Role")
    with recorded(tmp_path, monkeypatch, manifests, *roles, deployment="gpu-admission") as (
        administrator,
        container,
        record,
    ):
        administrator.create(MAPS, one(manifests, "ConfigMap"))
        address = at_own_port(container)
        cluster = GPUCluster(administrator, "gpu-scheduler", "default-scheduler")
        cluster.add_node()
        refuse_binding(administrator.ask, "refused")
        scheduler = scheduler_of_node(tmp_path, tmp_path / "kubeconfig", address, certificates)
        with container.running() as process:
            wait_until(
                lambda: certificates.ask(f"https://{address}/readyz", shows=False)[0] == 200,
                lambda: f"refused: {record.refused}; said: {process.said}",
            )
            with scheduler.running() as asking:
                cluster.place("first")
                cluster.fail_to_bind("refused")
                cluster.place("second")
                assert asking.stopped() == 0
            assert process.stopped() == 0
        use_lists(administrator, container, record)
    assert record.refused == set()
    assert ACCOUNT not in process.said


def use_lists(administrator: Administrator, container: Container, record: RecordedRights) -> None:
    """Servers without streaming lists are asked for lists."""
    administrator.server.streams_lists = False
    with container.running() as again:
        wait_until(lambda: not record.unused, lambda: f"never used: {record.unused}")
        assert again.stopped() == 0


# --- GPUShare -----------------------------------------------------------------------------------


def with_gpu_share(shipped: str, dialect: str) -> str:
    ignored = [name for name in find_dialect(dialect).resources if name != "nvidia.com/gpu"]
    return f"""{shipped}\
  plugins:
    multiPoint:
      enabled: [{{name: GPUShare, weight: 10}}]
  pluginConfig:
  - name: GPUShare
    args: {{dialect: {dialect}, quota: {{configMap: kube-system/gpuquota}}}}
  - name: NodeResourcesFit
    args: {{ignoredResources: {json.dumps(ignored)}}}
"""


def test_a_scheduler_with_gpu_share_uses_just_the_rights_of_its_component(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = rendered(written_with_components(tmp_path, "second-scheduler", "gpu-share"))
    name = "podium-gpu-share"
    roles = one(manifests, "ClusterRole", name), one(manifests, "Role", name)
    with recorded(tmp_path, monkeypatch, manifests, *roles) as (administrator, container, record):
        administrator.create(MAPS, one(admission_manifests(), "ConfigMap"))
        configuration = container.directory / "mounted" / "configuration" / "scheduler.yaml"
        shipped = configuration.read_text()
        refuse_binding(administrator.ask, "refused")
        said = ""
        for dialect in ("hami", "gpu-manager"):
            configuration.write_text(with_gpu_share(shipped, dialect))
            cluster = GPUCluster(administrator, dialect, "podium")
            cluster.add_node()
            with container.running() as process:
                cluster.place(f"first-{dialect}")
                cluster.fail_to_bind("refused")
                cluster.place(f"second-{dialect}")
                assert process.stopped() == 0
            said += process.said
        use_lists(administrator, container, record)
    assert record.refused == set()
    assert ACCOUNT not in said
