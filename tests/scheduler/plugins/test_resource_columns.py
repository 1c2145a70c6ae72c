"""The columns behind the resource scores."""

import numpy as np
import pytest

from podium.kubernetes.kinds.devices import DeviceClass, DeviceClassSpec
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import ResourceSpec
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.plugins.dynamic_resources.inventory import InventoryRules
from podium.scheduler.plugins.resources import columns
from podium.scheduler.plugins.resources.columns import Buffers, ResourceColumn, ResourceColumns
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses
from podium.testing import cycle_for, make_cluster, make_node, make_pod, present_rows

GPU = "example.com/gpu"


def columns_of(
    cluster: Cluster, name: str, request: int, *, devices: bool = True
) -> list[ResourceColumn]:
    classes = ExtendedResourceClasses(cluster.catalog) if devices else None
    columns = ResourceColumns(
        (ResourceSpec(name, 1),), cluster.nodes, classes, nonzero=True, gates=FeatureGates()
    )
    cycle = cycle_for(make_pod("pending"), cluster)
    return columns.of(cycle, present_rows(cluster), {name: request})


def test_a_resource_counts_only_on_nodes_that_have_it() -> None:
    nodes = [make_node("a", allocatable={GPU: 2}), make_node("b", allocatable={"cpu": 1})]
    (column,) = columns_of(make_cluster(nodes), GPU, 1)
    assert column.considered is not None
    assert column.considered.tolist() == [True, False]
    assert column.divisor.tolist() == [2.0, 1.0]


def test_a_changed_node_is_noticed() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "1"})])
    columns = ResourceColumns(
        (ResourceSpec("cpu", 1),), cluster.nodes, None, nonzero=True, gates=FeatureGates()
    )
    cycle, rows = cycle_for(make_pod("pending"), cluster), present_rows(cluster)
    assert columns.of(cycle, rows, {})[0].divisor.tolist() == [1000.0]
    cluster.put_node(make_node("a", allocatable={"cpu": "2"}))
    assert columns.of(cycle, rows, {})[0].divisor.tolist() == [2000.0]


@pytest.mark.parametrize(("memory", "floats"), [("16383Gi", True), ("16Ti", False)])
def test_amounts_too_large_for_floats_are_told(memory: str, floats: bool) -> None:
    nodes = [make_node("a", allocatable={"memory": memory}), make_node("b")]
    (column,) = columns_of(make_cluster(nodes), "memory", 1)
    assert column.exact_in_floats is floats


def test_a_node_that_is_gone_does_not_make_the_others_slow() -> None:
    nodes = [make_node("a", allocatable={"memory": "20Ti"}), make_node("b")]
    cluster = make_cluster(nodes, [make_pod("p", node="a")])
    cluster.remove_node("a")
    (column,) = columns_of(cluster, "memory", 1)
    assert column.exact_in_floats
    assert column.considered is None


def test_devices_count_on_nodes_that_have_none_of_the_resource(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def counted(
        cycle: Cycle, device_class: DeviceClass, rows: Rows, _offers: InventoryRules
    ) -> tuple[Ints, Ints]:
        assert device_class.metadata.name == "gpu"
        return np.array([4, 4, 0], dtype=np.int64), np.array([1, 1, 0], dtype=np.int64)

    monkeypatch.setattr(columns, "device_counts", counted)
    offers = ({GPU: 8}, {GPU: 0}, {"cpu": 1})
    cluster = make_cluster(
        [make_node(f"n{i}", allocatable=offered) for i, offered in enumerate(offers)],
        [make_pod("p", node="n0", requests={GPU: 3})],
    )
    serves = DeviceClassSpec(extended_resource_name=GPU)
    cluster.catalog.put(DeviceClass(metadata=ObjectMeta(name="gpu"), spec=serves))
    (column,) = columns_of(cluster, GPU, 1)
    assert column.allocatable.tolist() == [8, 4, 0]
    assert column.used.tolist() == [3, 1, 0]
    assert column.considered is not None
    assert column.considered.tolist() == [True, True, False]
    (plain,) = columns_of(cluster, GPU, 1, devices=False)
    assert plain.allocatable.tolist() == [8, 0, 0]


def test_a_buffer_is_used_again_and_grows_when_needed() -> None:
    buffers = Buffers()
    first = buffers.floats("x", 4)
    assert np.shares_memory(first, buffers.floats("x", 2))
    assert not np.shares_memory(first, buffers.floats("y", 4))
    assert len(buffers.floats("x", 8)) == 8
