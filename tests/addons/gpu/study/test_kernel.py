"""The kernel for GPUs, compiled for the CPU, places every pod where runs with numpy place it."""

import numpy as np
import pytest
from support.addons.gpu.kernel_on_cpu import COMPILER, CpuDevice, compile_kernel
from support.addons.gpu.packing_traces import needs_published_traces, published_trace, small_trace
from support.suite.requirements import C_COMPILER, GPU

from podium.addons.gpu.packing.policies import POLICIES
from podium.addons.gpu.study.kernel_engine import (
    KernelDevice,
    KernelResult,
    KernelRun,
    place_on_device,
)
from podium.addons.gpu.study.numpy_engine import place
from podium.addons.gpu.study.workloads import make_workload
from podium.golang.errors import InputError


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> KernelDevice:
    if COMPILER is None:
        C_COMPILER.skip()
    return CpuDevice(compile_kernel(tmp_path_factory.mktemp("kernel")))


def assert_as_with_numpy(run: KernelRun, found: KernelResult, ratio: float = 1.3) -> None:
    workload = make_workload(run.trace, run.seed, ratio)
    expected = place(workload, POLICIES[run.policy])
    assert np.array_equal(found.stream, workload.stream)
    assert np.array_equal(found.node_order, workload.node_order)
    assert np.array_equal(found.placements.rows, expected.rows)
    assert np.array_equal(found.placements.devices, expected.devices)
    gap = np.abs(found.placements.fragments_milli - expected.fragments_milli)
    assert gap.max() < 1e-3


@pytest.mark.parametrize("threads", [1, 4])
def test_runs_of_several_traces_are_the_same(device: KernelDevice, threads: int) -> None:
    traces = [small_trace(1), small_trace(2, nodes=7, pods=60)]
    runs = [KernelRun(trace, 3, policy) for trace in traces for policy in POLICIES]
    for run, found in zip(runs, place_on_device(runs, device, threads=threads), strict=True):
        assert_as_with_numpy(run, found)


@pytest.mark.parametrize("threads", [1, 4])
def test_pods_are_taken_out_the_same_way(device: KernelDevice, threads: int) -> None:
    runs = [KernelRun(small_trace(4), seed, "FGD") for seed in (1, 2)]
    for run, found in zip(runs, place_on_device(runs, device, 0.4, threads), strict=True):
        assert_as_with_numpy(run, found, 0.4)


@needs_published_traces
def test_a_published_run_is_the_same(device: KernelDevice) -> None:
    run = KernelRun(published_trace("default"), 45, "FGD")
    [found] = place_on_device([run], device, threads=1)
    assert_as_with_numpy(run, found)


def test_a_real_gpu_places_the_same() -> None:
    try:
        from podium.addons.gpu.study.cuda import CudaDevice

        gpu = CudaDevice()
    except (ImportError, InputError):
        GPU.skip()
    runs = [KernelRun(small_trace(seed), seed, policy) for seed in (1, 2) for policy in POLICIES]
    for run, found in zip(runs, place_on_device(runs, gpu), strict=True):
        assert_as_with_numpy(run, found)
