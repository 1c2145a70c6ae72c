"""Compiled runs place every pod where runs with numpy place it."""

import numpy as np
import pytest
from support.study.packing_traces import needs_published_traces, published_trace, small_trace

from podium.study.numpy_engine import Placements, place
from podium.study.policies import POLICIES
from podium.study.workloads import make_workload

numba_engine = pytest.importorskip("podium.study.numba_engine", exc_type=ImportError)


def assert_same(found: Placements, expected: Placements) -> None:
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.devices, expected.devices)
    assert np.allclose(found.fragments_milli, expected.fragments_milli, rtol=0, atol=1e-3)


@pytest.mark.parametrize("policy", POLICIES)
def test_small_runs_are_the_same(policy: str) -> None:
    for seed in range(3):
        workload = make_workload(small_trace(seed), seed)
        found = numba_engine.place_compiled(workload, policy)
        assert_same(found, place(workload, POLICIES[policy]))
        assert (found.rows >= 0).any()
        assert (found.rows < 0).any()


@needs_published_traces
@pytest.mark.parametrize(
    ("trace", "policy"),
    [("multigpu20", "Random"), ("gpushare40", "GpuPacking"), ("multigpu20", "FGDStranded")],
)
def test_published_workloads_are_placed_the_same(trace: str, policy: str) -> None:
    workload = make_workload(published_trace(trace), 44)
    found = numba_engine.place_compiled(workload, policy)
    assert_same(found, place(workload, POLICIES[policy]))
