"""Compiled runs place every pod where runs with numpy place it."""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from support.addons.gpu.packing_traces import needs_published_traces, published_trace, small_trace
from support.suite.late_imports import LateImport

from podium.addons.gpu.packing.policies import POLICIES
from podium.addons.gpu.study.numpy_engine import Placements, place
from podium.addons.gpu.study.results import measure
from podium.addons.gpu.study.workloads import SEEDS, make_workload
from podium.commands.app import main

pytestmark = pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed")
numba_engine = LateImport("podium.addons.gpu.study.numba_engine")


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
    [
        ("multigpu20", "Random"),
        ("gpushare40", "GpuPacking"),
        pytest.param("multigpu20", "FGDStranded", marks=pytest.mark.slow),
    ],
)
def test_published_workloads_are_placed_the_same(trace: str, policy: str) -> None:
    workload = make_workload(published_trace(trace), 44)
    found = numba_engine.place_compiled(workload, policy)
    assert_same(found, place(workload, POLICIES[policy]))


@needs_published_traces
@pytest.mark.parametrize(
    ("trace", "policy", "allocation", "ratio"),
    [
        pytest.param(
            *("default", "FGD", (89.98, 95.23, 95.39), (49.97, 99.07, 99.10)),
            marks=pytest.mark.slow,
        ),
        ("multigpu20", "GpuClustering", (90.00, 93.34, 93.56), (68.06, 97.13, 97.28)),
        pytest.param(
            *("default", "FGDStranded", (89.99, 95.83, 95.93), (47.25, 99.07, 99.26)),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_means_over_ten_seeds_are_those_published_or_documented(
    trace: str,
    policy: str,
    allocation: tuple[float, float, float],
    ratio: tuple[float, float, float],
) -> None:
    found = []
    for seed in SEEDS:
        workload = make_workload(published_trace(trace), seed)
        placements = numba_engine.place_compiled(workload, policy)
        found.append(measure(workload.trace, workload.stream, placements))
    columns = [90, 100, 130]
    means = np.mean([each.allocation[columns] for each in found], axis=0)
    ratios = np.mean([each.fragmentation_ratio[columns] for each in found], axis=0)
    assert np.abs(means - allocation).max() <= 0.00501
    assert np.abs(ratios - ratio).max() <= 0.00501


def test_without_a_folder_for_compiled_code_a_remedy_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from numba.core.caching import CacheImpl

    for name in ("podium.addons.gpu.study.numba_engine", "podium.addons.gpu.study.packing_rules"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    folder = Path(__file__).resolve().parents[4] / "examples" / "study"
    files = ("--nodes", str(folder / "nodes.csv"), "--pods", str(folder / "mixed.csv"))
    assert main(["study", "gpu-packing", *files, "--device", "numba", "--seeds", "1"]) == 2
    told = capsys.readouterr().err
    assert "numba finds no folder that it can write to" in told
    assert "NUMBA_CACHE_DIR" in told
