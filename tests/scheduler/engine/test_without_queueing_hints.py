"""`--emulated-version=1.33 --feature-gates=SchedulerQueueingHints=false`: who is woken by what."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from podium.kubernetes.kinds.storage import PersistentVolumeClaim, StorageClass
from podium.kubernetes.releases.feature_gates import FeatureGateError, FeatureGates
from podium.kubernetes.releases.release import Version
from podium.testing import FakeCluster, make_node, make_pod

OFF = FeatureGates({"SchedulerQueueingHints": False}, emulated=Version(1, 33))
ON = FeatureGates(emulated=Version(1, 33))
SMALL = {"cpu": "1", "memory": "1Gi", "pods": 10}
FULL = {"cpu": "4", "memory": "8Gi", "pods": 1}


def spread(key: str) -> dict[str, Any]:
    return {
        "labels": {"app": "web"},
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
            }
        ],
    }


def rejected(driver: FakeCluster, *pods: Any) -> FakeCluster:
    driver.put(*pods)
    driver.run()
    where = driver.where()
    assert {where[pod.metadata.name] for pod in pods} == {"unschedulable"}
    return driver


def test_the_gate_is_locked_since_1_34() -> None:
    with pytest.raises(FeatureGateError, match="feature is locked to true"):
        FeatureGates({"SchedulerQueueingHints": False}, emulated=Version(1, 34))


@pytest.mark.parametrize(
    ("gates", "zonal"), [(OFF, "backoff"), (ON, "unschedulable")], ids=["off", "on"]
)
def test_every_registered_event_wakes_whoever_was_rejected(gates: FeatureGates, zonal: str) -> None:
    driver = FakeCluster(
        make_node("a", labels={"rack": "r1"}, allocatable=SMALL),
        make_node("b", labels={"rack": "r2", "zone": "z"}, allocatable=FULL),
        make_pod("tenant", node="b"),
        make_pod("web", node="a", labels={"app": "web"}),
        gates=gates,
    )
    rejected(
        driver, make_pod("by-rack", **spread("rack")), make_pod("by-host", **spread("hostname"))
    )
    driver.engine.intake.node_deleted("b")
    assert driver.where()["by-rack"] == "backoff"
    assert driver.where()["by-host"] == zonal


def test_a_new_node_is_shown_only_to_pods_that_it_admits() -> None:
    driver = FakeCluster(make_node("full", allocatable=FULL), gates=OFF)
    driver.put(make_pod("tenant", node="full", hostNetwork=True))
    rejected(
        driver,
        make_pod("fits"),
        make_pod("too-large", requests={"cpu": "8"}),
        make_pod("elsewhere", nodeSelector={"disk": "ssd"}),
        make_pod("tolerant", tolerations=[{"operator": "Exists"}]),
    )
    driver.put(make_node("tainted", taints=[("team", "a", "NoSchedule")]))
    woken = {name for name, part in driver.where().items() if part == "backoff"}
    assert woken == {"tolerant"}
    driver.put(make_node("open"))
    woken = {name for name, part in driver.where().items() if part == "backoff"}
    assert woken == {"tolerant", "fits"}


def test_a_label_that_makes_a_node_admit_a_pod_counts_like_a_new_node() -> None:
    driver = FakeCluster(make_node("small", allocatable=SMALL), gates=OFF)
    driver.put(make_node("other", allocatable=SMALL, labels={"disk": "ssd"}))
    driver.put(make_pod("tenant", node="other", requests={"cpu": "1"}))
    rejected(driver, make_pod("p", requests={"cpu": "600m"}, nodeSelector={"disk": "ssd"}))
    driver.put(make_node("small", allocatable=SMALL, labels={"disk": "ssd"}))
    assert driver.where()["p"] == "backoff"


def test_a_pod_that_comes_to_a_node_is_shown_to_those_who_spread_or_are_drawn_to_it() -> None:
    near = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}
        ]
    }
    driver = FakeCluster(make_node("n", labels={"zone": "z"}), gates=OFF)
    far = {"podAffinity": near}
    rejected(
        driver,
        make_pod("drawn", affinity=far),
        make_pod("large", requests={"cpu": "64"}),
        make_pod("spreads", **spread("rack")),
    )
    driver.put(make_pod("db", node="n", labels={"app": "db"}))
    assert driver.where() == {
        "db": "n",
        "drawn": "backoff",
        "spreads": "backoff",
        "large": "unschedulable",
    }


def test_any_update_of_the_pod_itself_counts_but_for_its_status() -> None:
    driver = FakeCluster(make_node("n", allocatable=SMALL), gates=OFF)
    rejected(driver, make_pod("p", requests={"cpu": "2"}))
    driver.change("p", start_time="2026-01-01T00:00:00Z")
    assert driver.where() == {"p": "unschedulable"}
    pod = driver.pod("p")
    driver.put(replace(pod, metadata=replace(pod.metadata, annotations={"a": "b"})))
    assert driver.where() == {"p": "backoff"}


def test_a_pod_whose_gates_are_gone_enters_the_queue() -> None:
    driver = FakeCluster(make_node("n"), gates=OFF)
    driver.put(make_pod("p", schedulingGates=[{"name": "g"}]))
    assert driver.where() == {"p": "gated"}
    driver.put(make_pod("p"))
    assert driver.where() == {"p": "active"}


def test_only_a_storage_class_that_waits_for_its_consumer_wakes_anybody() -> None:
    def storage_class(name: str, mode: str) -> StorageClass:
        metadata = replace(make_node(name).metadata, labels=None)
        return StorageClass(metadata=metadata, provisioner="p", volume_binding_mode=mode)

    claim = msgspec.convert(
        {
            "metadata": {"name": "c", "namespace": "default", "uid": "c"},
            "spec": {"storageClassName": "slow", "accessModes": ["ReadWriteOnce"]},
        },
        PersistentVolumeClaim,
    )
    driver = FakeCluster(make_node("n"), storage_class("slow", "Immediate"), claim, gates=OFF)
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    rejected(driver, make_pod("p", volumes=volumes))
    driver.put(storage_class("now", "Immediate"))
    assert driver.where() == {"p": "unschedulable"}
    driver.put(storage_class("later", "WaitForFirstConsumer"))
    assert driver.where() == {"p": "backoff"}
