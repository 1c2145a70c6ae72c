"""Runs with numpy: no device holds more than it has, ties go to the first node, nothing is
remembered that has changed, and published runs come out as published."""

import numpy as np
import pytest
from support.addons.gpu.packing_traces import needs_published_traces, published_trace, small_trace

from podium.addons.gpu.packing.fragmentation import node_fragmentation
from podium.addons.gpu.packing.node_columns import NodeColumns, Pod
from podium.addons.gpu.packing.policies import POLICIES, Scored
from podium.addons.gpu.packing.typical_pods import TypicalPods
from podium.addons.gpu.study.numpy_engine import place
from podium.addons.gpu.study.results import measure
from podium.addons.gpu.study.workloads import (
    StudyWorkload,
    empty_nodes,
    make_workload,
    nodes_in_order,
)


def replayed(
    workload: StudyWorkload, rows: list[int], devices: list[int]
) -> tuple[NodeColumns, float]:
    """Place pods one after the other, refusing what does not fit."""
    nodes = nodes_in_order(workload)
    columns, memory = empty_nodes(nodes), nodes.memory_mib.copy()
    pods = workload.trace.pods
    for number, row, mask in zip(workload.stream.tolist(), rows, devices, strict=True):
        if row < 0:
            continue
        pod = Pod(int(pods.cpu_milli[number]), int(pods.gpu_milli[number]), int(pods.gpus[number]))
        assert mask.bit_count() == pod.gpus
        assert pod.gpus == 0 or nodes.mask(pods.specs[number]) & int(nodes.model_bit[row])
        columns.put(row, pod, mask)
        memory[row] -= pods.memory_mib[number]
        assert columns.left[row].min() >= 0 <= columns.cpu_left[row]
        assert memory[row] >= 0
    return columns, float(
        node_fragmentation(
            columns.cpu_left, columns.left, columns.model_bit, workload.typical
        ).sum()
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_no_node_is_overcommitted_and_fragmentation_is_that_of_the_nodes(policy: str) -> None:
    workload = make_workload(small_trace(3), 5)
    found = place(workload, POLICIES[policy])
    assert (found.rows < 0).any()
    _, fragments = replayed(workload, found.rows.tolist(), found.devices.tolist())
    assert found.fragments_milli[-1] == pytest.approx(fragments)


def test_equal_scores_go_to_the_first_node_that_fits() -> None:
    def indifferent(nodes: NodeColumns, _pod: Pod, _typical: TypicalPods) -> Scored:
        return Scored(np.zeros_like(nodes.gpus))

    workload = make_workload(small_trace(1), 5)
    found = place(workload, indifferent)
    first = int(workload.stream[0])
    pods, nodes = workload.trace.pods, nodes_in_order(workload)
    fits = (
        (nodes.cpu_milli >= pods.cpu_milli[first])
        & (nodes.memory_mib >= pods.memory_mib[first])
        & (nodes.gpus >= pods.gpus[first])
        & ((nodes.model_bit & nodes.mask(pods.specs[first])) != 0)
    )
    assert found.rows[0] == np.flatnonzero(fits)[0]


@pytest.mark.parametrize("policy", ["GpuClustering", "GpuPacking", "FGD"])
def test_what_is_remembered_is_what_would_be_found(policy: str) -> None:
    """A policy that is asked about all rows each time places the same."""
    workload = make_workload(small_trace(2, nodes=20, pods=80), 5)
    remembered = place(workload, POLICIES[policy])
    nodes = nodes_in_order(workload)
    columns, memory = empty_nodes(nodes), nodes.memory_mib.copy()
    pods = workload.trace.pods
    for position, number in enumerate(workload.stream.tolist()):
        shape = (pods.cpu_milli[number], pods.gpu_milli[number], pods.gpus[number])
        pod = Pod(*(int(value) for value in shape))
        allowed = (columns.model_bit & nodes.mask(pods.specs[number])) != 0
        feasible = columns.fits(pod) & allowed & (memory >= pods.memory_mib[number])
        rows = np.flatnonzero(feasible)
        if not len(rows):
            assert remembered.rows[position] == -1
            continue
        scored = POLICIES[policy](columns.take(rows), pod, workload.typical)
        assert remembered.rows[position] == rows[scored.scores.argmax()]
        columns.put(int(remembered.rows[position]), pod, int(remembered.devices[position]))
        memory[remembered.rows[position]] -= pods.memory_mib[number]


@needs_published_traces
@pytest.mark.parametrize(
    ("policy", "at_100", "at_130"),
    [
        ("DotProd", 90.34, 90.54),
        ("GpuClustering", 91.33, 91.53),
        ("GpuPacking", 91.37, 91.57),
        ("BestFit", 92.94, 93.13),
        ("FGD", 95.14, 95.29),
    ],
)
def test_a_published_run_comes_out_as_published(policy: str, at_100: float, at_130: float) -> None:
    workload = make_workload(published_trace("default"), 42)
    allocation = measure(
        workload.trace, workload.stream, place(workload, POLICIES[policy])
    ).allocation
    assert (allocation[100], allocation[130]) == (at_100, at_130)
