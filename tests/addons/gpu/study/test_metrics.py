"""Cells are means over arrivals that round to their percentage."""

from dataclasses import replace

import numpy as np
import pytest
from support.addons.gpu.packing_traces import small_trace

from podium.addons.gpu.study.numpy_engine import Placements
from podium.addons.gpu.study.results import measure
from podium.addons.gpu.study.workloads import StudyWorkload, make_workload


@pytest.fixture
def workload() -> StudyWorkload:
    """Pods of one whole GPU each, on a cluster with 200 GPUs: half a percent each."""
    made = make_workload(small_trace(), 1)
    ones = np.ones_like(made.trace.pods.gpus)
    pods = replace(made.trace.pods, gpus=ones, gpu_milli=1000 * ones)
    gpus = np.zeros_like(made.trace.nodes.gpus)
    gpus[:25] = 8
    trace = replace(made.trace, pods=pods, nodes=replace(made.trace.nodes, gpus=gpus))
    return replace(made, trace=trace, stream=np.zeros(8, np.int64))


def test_a_cell_is_the_mean_over_its_arrivals(workload: StudyWorkload) -> None:
    # Demand is 0.5, 1, 1.5, 2 ... %; halves go to the even percentage.
    rows = np.array([0, 0, -1, 0, 0, 0, 0, 0], np.int32)
    fragments = np.arange(8.0) * 2000
    found = measure(workload.trace, workload.stream, Placements(rows, rows, fragments))
    assert found.allocation[:5].tolist() == [0.5, 1.0, 1.5, 2.5, 3.25]
    assert found.fragmentation_amount[:5].tolist() == [0.0, 1.0, 3.0, 5.0, 6.5]
    assert found.fragmentation_ratio[1] == pytest.approx(round(100 * 2000 / 198_000, 2))


def test_a_cell_without_arrivals_takes_its_neighbours_and_is_empty_without_them(
    workload: StudyWorkload,
) -> None:
    gone = replace(workload, stream=workload.stream[:2])
    rows = np.zeros(2, np.int32)
    found = measure(gone.trace, gone.stream, Placements(rows, rows, np.zeros(2)))
    assert found.allocation[2] == 1.0
    assert np.isnan(found.allocation[3:]).all()
