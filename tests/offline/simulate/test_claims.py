"""Volumes and devices in a simulation: the scheduler's writes have somebody who answers them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import PodOutcome, Simulation, SimulationReport, load_scenario
from podium.scheduler.config.load import load_configuration
from podium.scheduler.framework.handle import ApiHandle, ExtenderApi
from podium.scheduler.plugins import in_tree_registry

Raw = dict[str, Any]


def node(name: str, zone: str = "a") -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": 110}},
    }


def pod(name: str, **spec: Any) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": "app"}], **spec},
    }


def using(claim: str) -> list[Raw]:
    return [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]


def storage_class(name: str, mode: str, provisioner: str = "csi.example.com") -> Raw:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def claim(name: str, of: str) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": of,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


@pytest.fixture
def simulate(tmp_path: Path) -> Any:
    def run(*objects: Raw) -> tuple[SimulationReport, Simulation]:
        path = tmp_path / "input.yaml"
        path.write_text(yaml.safe_dump_all(objects))
        scenario = load_scenario([str(path)], gates=FeatureGates())
        simulation = Simulation(
            scenario,
            load_configuration(None, gates=FeatureGates()),
            in_tree_registry(),
            gates=FeatureGates(),
        )
        return simulation.run(), simulation

    return run


def test_the_simulated_api_does_all_that_plugins_ask_for(simulate: Any) -> None:
    _, simulation = simulate(node("n1"))
    api: ApiHandle = simulation._api
    assert isinstance(api, ExtenderApi)


def test_a_volume_is_made_where_its_first_consumer_goes(simulate: Any) -> None:
    csi_node = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "n1"},
        "spec": {
            "drivers": [{"name": "csi.example.com", "nodeID": "n1", "topologyKeys": ["zone"]}]
        },
    }
    report, simulation = simulate(
        node("n1", zone="b"),
        csi_node,
        storage_class("late", "WaitForFirstConsumer"),
        claim("data", "late"),
        pod("a", volumes=using("data")),
    )
    assert [r.outcome for r in report.pods] == [PodOutcome.PLACED], report.pods[0].message
    catalog = simulation.engine.cluster.catalog
    stored = catalog.get(PersistentVolumeClaim, "data", "default")
    assert stored.status.phase == "Bound"
    volume = catalog.get(PersistentVolume, stored.spec.volume_name)
    (term,) = volume.spec.node_affinity.required.node_selector_terms
    assert [(r.key, r.values) for r in term.match_expressions] == [("zone", ("b",))]


def test_an_existing_volume_pulls_the_pod_to_its_node(simulate: Any) -> None:
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2"]}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "disk"},
        "spec": {
            "capacity": {"storage": "5Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "local": {"path": "/disk"},
            "nodeAffinity": {
                "required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
            },
        },
    }
    report, simulation = simulate(
        *(node(f"n{n}") for n in range(1, 4)),
        storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
        volume,
        claim("data", "local"),
        pod("a", volumes=using("data")),
    )
    assert [r.node for r in report.pods] == ["n2"], report.pods[0].message
    stored = simulation.engine.cluster.catalog.get(PersistentVolumeClaim, "data", "default")
    assert stored.spec.volume_name == "disk"


def test_claims_of_an_immediate_class_have_their_volumes_from_the_start(simulate: Any) -> None:
    report, _ = simulate(
        node("n1"),
        storage_class("now", "Immediate"),
        claim("data", "now"),
        pod("a", volumes=using("data")),
    )
    assert report.all_fit, report.pods[0].message


def test_a_stateful_set_gets_a_claim_for_each_pod(simulate: Any) -> None:
    template = claim("data", "late")
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": pod("x")["spec"]},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": template["spec"]}],
        },
    }
    report, simulation = simulate(
        node("n1"), storage_class("late", "WaitForFirstConsumer"), stateful
    )
    assert report.all_fit, report.pods[0].message
    claims = simulation.engine.cluster.catalog.all(PersistentVolumeClaim)
    assert sorted(c.metadata.name for c in claims if c.spec.volume_name) == [
        "data-db-0",
        "data-db-1",
        "data-db-2",
    ]


def devices(node_name: str, count: int) -> Raw:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node_name}-gpus"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": node_name,
            "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": f"gpu-{n}"} for n in range(count)],
        },
    }


DEVICE_CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]},
}
TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "one-gpu"},
    "spec": {
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
    },
}


def with_device(name: str, **more: Any) -> Raw:
    return pod(
        name, resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}], **more
    )


def test_devices_go_to_pods_until_none_is_left(simulate: Any) -> None:
    report, simulation = simulate(
        node("n1"),
        node("n2"),
        devices("n2", 2),
        DEVICE_CLASS,
        TEMPLATE,
        *(with_device(f"p{n}") for n in range(3)),
    )
    assert [(r.node, r.outcome.value) for r in report.pods] == [
        ("n2", "placed"),
        ("n2", "placed"),
        ("", "unschedulable"),
    ], [r.message for r in report.pods]
    claims = list(simulation.engine.cluster.catalog.all(ResourceClaim))
    given = [
        result.device
        for c in claims
        if c.status.allocation is not None
        for result in c.status.allocation.devices.results or ()
    ]
    assert sorted(given) == ["gpu-0", "gpu-1"]


def test_an_evicted_pod_gives_its_devices_back(simulate: Any) -> None:
    report, simulation = simulate(
        {**node("n1"), "status": {"allocatable": {"cpu": "1", "pods": 1}}},
        devices("n1", 1),
        DEVICE_CLASS,
        TEMPLATE,
        with_device("weak"),
    )
    assert report.all_fit, report.pods[0].message
    placed = simulation.engine.state.pods["default/weak"]
    simulation._api.release_claims(placed)
    assert list(simulation.engine.cluster.catalog.all(ResourceClaim)) == []
