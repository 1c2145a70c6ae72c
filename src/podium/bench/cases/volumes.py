"""Cases of pods with volumes: secrets, and claims that are bound to volumes already."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import convert

from podium.bench.templates import (
    ArrivingPod,
    BenchmarkPlan,
    Raw,
    Scene,
    arrivals,
    make_nodes,
    make_pod,
    node_name,
    on_node,
)
from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import CSINode, PersistentVolume, PersistentVolumeClaim

DRIVER = "ebs.csi.aws.com"
IN_TREE = "kubernetes.io/aws-ebs"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
LIMIT = 39
READ_ONLY_MANY = ["ReadOnlyMany"]

Source = Callable[[str], Raw]
"""The part of a PersistentVolume's spec that says what it is, for a volume id."""


def secrets(plan: BenchmarkPlan) -> Scene:
    volumes = [{"name": "secret", "secret": {"secretName": "secret"}}]
    return Scene(
        nodes=make_nodes(plan.nodes),
        init=(
            make_pod(f"init-{i}", volumes=volumes, **on_node(i % plan.nodes))
            for i in range(plan.init)
        ),
        measured=arrivals(make_pod(f"pod-{i}", volumes=volumes) for i in range(plan.pods)),
    )


def in_tree(plan: BenchmarkPlan) -> Scene:
    return _with_volumes(plan, _ebs, csi_nodes=False)


def migrate_volumes(plan: BenchmarkPlan) -> Scene:
    """Volumes of the in-tree kind on nodes whose kubelet hands them to the CSI driver."""
    return _with_volumes(plan, _ebs, csi_nodes=True, annotations={MIGRATED: IN_TREE})


def csi(plan: BenchmarkPlan) -> Scene:
    return _with_volumes(plan, _csi, csi_nodes=True)


def _ebs(volume_id: str) -> Raw:
    return {"awsElasticBlockStore": {"volumeID": volume_id}}


def _csi(volume_id: str) -> Raw:
    return {"csi": {"driver": DRIVER, "volumeHandle": volume_id}}


def _with_volumes(
    plan: BenchmarkPlan,
    source: Source,
    *,
    csi_nodes: bool,
    annotations: dict[str, str] | None = None,
) -> Scene:
    """Each pod has a claim of its own, bound to a volume of its own."""

    def storage() -> Iterator[KubeStruct]:
        if csi_nodes:
            for index in range(plan.nodes):
                yield _csi_node(node_name(index), annotations)
        for index in range(plan.init):
            yield from _bound_claim(f"init-{index}", source)

    def arrival(index: int) -> ArrivingPod:
        name = f"pod-{index}"
        return ArrivingPod(_make_claiming_pod(name), tuple(_bound_claim(name, source)))

    limits = {f"attachable-volumes-csi-{DRIVER}": str(LIMIT)} if csi_nodes else None
    return Scene(
        nodes=make_nodes(plan.nodes, allocatable=limits),
        objects=storage(),
        init=(_make_claiming_pod(f"init-{i}", **on_node(i % plan.nodes)) for i in range(plan.init)),
        measured=map(arrival, range(plan.pods)),
    )


def _make_claiming_pod(name: str, **placed: Any) -> Pod:
    volumes = [{"name": "vol", "persistentVolumeClaim": {"claimName": f"claim-{name}"}}]
    return make_pod(name, volumes=volumes, **placed)


def _bound_claim(pod: str, source: Source) -> tuple[PersistentVolumeClaim, PersistentVolume]:
    claim, volume = f"claim-{pod}", f"vol-{pod}"
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": claim}
    return (
        convert(
            {
                "metadata": {
                    "name": claim,
                    "namespace": "default",
                    "uid": claim,
                    "annotations": {"pv.kubernetes.io/bind-completed": "true"},
                },
                "spec": {
                    "accessModes": READ_ONLY_MANY,
                    "resources": {"requests": {"storage": "1Gi"}},
                    "volumeName": volume,
                },
                "status": {"phase": "Bound"},
            },
            PersistentVolumeClaim,
        ),
        convert(
            {
                "metadata": {"name": volume, "uid": volume},
                "spec": {
                    "accessModes": READ_ONLY_MANY,
                    "capacity": {"storage": "1Gi"},
                    "claimRef": {**reference, "uid": claim},
                    **source(claim),
                },
                "status": {"phase": "Bound"},
            },
            PersistentVolume,
        ),
    )


def _csi_node(name: str, annotations: dict[str, str] | None) -> CSINode:
    driver = {"name": DRIVER, "nodeID": name, "allocatable": {"count": LIMIT}}
    return convert(
        {
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"drivers": [driver]},
        },
        CSINode,
    )
