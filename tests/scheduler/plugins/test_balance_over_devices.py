"""Balanced allocation over an extended resource that devices serve.

kube-scheduler 1.36.4 crashes when the device class of such a resource has selectors. Podium counts
the devices that match the class and those in use, as it does for a class without selectors.
"""

from typing import Any

from support.scheduler.plugins.device_builders import DRIVER, device, make_class, make_slice

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.search import FirstByName
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

GPU = "example.com/gpu"
BIG = f'device.attributes["{DRIVER}"].size == "big"'


def engine_with(*selectors: str) -> Engine:
    resources = [{"name": name, "weight": 1} for name in ("cpu", "memory", GPU)]
    profile = {
        "pluginConfig": [
            {"name": "NodeResourcesBalancedAllocation", "args": {"resources": resources}}
        ]
    }
    raw: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    engine = Engine(
        load_configuration(raw, gates=FeatureGates()),
        in_tree_registry(),
        choice=FirstByName(),
        gates=FeatureGates(),
    )
    for name, sizes in (("n1", ("big", "big")), ("n2", ("big", "small", "small", "small"))):
        engine.cluster.put_node(make_node(name))
        devices = [device(f"gpu-{i}", {"size": size}) for i, size in enumerate(sizes)]
        engine.cluster.catalog.put(make_slice(f"slice-{name}", devices, node=name))
    engine.cluster.catalog.put(make_class("gpu", *selectors, extendedResourceName=GPU))
    return engine


def balance(engine: Engine) -> dict[str, int]:
    pod = make_pod("new", requests={"cpu": "1", "memory": "2Gi", GPU: 1})
    decision = engine.schedule(engine.cluster.infos.of(pod)).decision
    assert decision.message is None
    return {
        decision.node_names[row]: decision.node_scores(position)[
            "NodeResourcesBalancedAllocation"
        ].raw
        for position, row in enumerate(decision.feasible)
    }


def test_a_class_with_selectors_counts_only_the_devices_that_match() -> None:
    # n1: cpu 1/4, memory 2/8, 1 of 2 big devices; n2: 1 of 1
    assert balance(engine_with(BIG)) == {"n1": 69, "n2": 57}


def test_a_class_without_selectors_counts_every_device() -> None:
    # n1: 1 of 2 devices; n2: 1 of 4, as even as it gets
    assert balance(engine_with()) == {"n1": 69, "n2": 75}
