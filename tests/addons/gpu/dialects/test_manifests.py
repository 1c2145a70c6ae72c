"""Manifests as users of each program write them."""

import msgspec
import pytest

from podium.addons.gpu.cards.requests import CardSelector, ContainerRequest, PodRequest
from podium.addons.gpu.dialects import find_dialect
from podium.golang.documents import read_documents
from podium.kubernetes.kinds.pod import Pod

VCUDA = """
apiVersion: v1
kind: Pod
metadata:
  name: vcuda
  annotations: {tencent.com/vcuda-core-limit: "50"}
spec:
  restartPolicy: Never
  containers:
    - name: nvidia
      image: nvidia/cuda:12.4.1-base
      command: [sleep, "360000000"]
      resources:
        requests: {tencent.com/vcuda-core: "50", tencent.com/vcuda-memory: "30"}
        limits: {tencent.com/vcuda-core: "50", tencent.com/vcuda-memory: "30"}
"""
GPUSHARE = """
apiVersion: v1
kind: Pod
metadata: {name: binpack-1}
spec:
  containers:
    - name: binpack-1
      image: example.com/gpu-player:v2
      resources: {limits: {aliyun.com/gpu-mem: 3}}
"""
HAMI = """
apiVersion: v1
kind: Pod
metadata:
  name: gpu-pod
  annotations:
    nvidia.com/use-gputype: "A100,V100"
    hami.io/gpu-scheduler-policy: "binpack"
spec:
  containers:
    - name: ubuntu-container
      image: ubuntu:22.04
      command: ["bash", "-c", "sleep 86400"]
      resources: {limits: {nvidia.com/gpu: 2, nvidia.com/gpumem: 3000, nvidia.com/gpucores: 30}}
    - name: logger
      image: busybox
"""
VGPU = """
apiVersion: v1
kind: Pod
metadata:
  name: gpu-pod1
  annotations: {nvidia.com/node-scheduler-policy: spread, nvidia.com/include-gpu-type: a10}
spec:
  schedulerName: vgpu-scheduler
  containers:
    - name: default
      image: example.com/pytorch:2
      resources:
        limits: {cpu: 2, memory: 4Gi, nvidia.com/vgpu-number: 1, nvidia.com/vgpu-cores: 10,
                 nvidia.com/vgpu-memory: 1024}
"""


def request_of(dialect: str, manifest: str) -> PodRequest:
    (document,) = read_documents(manifest, "manifest.yaml")
    found = find_dialect(dialect).pod_request(msgspec.convert(document.value, Pod))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("dialect", "manifest", "containers", "models"),
    [
        ("gpu-manager", VCUDA, (ContainerRequest(cores=50, memory=30),), ()),
        ("gpushare", GPUSHARE, (ContainerRequest(memory=3),), ()),
        (
            "hami",
            HAMI,
            (ContainerRequest(cards=2, cores=30, memory=3000), None),
            ("A100", "V100"),
        ),
        ("vgpu-manager", VGPU, (ContainerRequest(cores=10, memory=1024),), ("a10",)),
    ],
)
def test_a_manifest_is_read(
    dialect: str,
    manifest: str,
    containers: tuple[ContainerRequest | None, ...],
    models: tuple[str, ...],
) -> None:
    found = request_of(dialect, manifest)
    assert found.containers == containers
    assert found.selector == CardSelector(models=models)
