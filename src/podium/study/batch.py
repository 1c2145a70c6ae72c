"""All runs of a study: traces by policies by seeds, on all cores or on a GPU.

Runs that share a trace and a seed share their workload, so they are done together. What a run gives
does not depend on where it is done, nor on which others are.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

import numpy as np

from podium.api.errors import InputError
from podium.files.bounded_files import MAX_CLUSTER_BYTES, read_input
from podium.gpu.columns import Ints
from podium.study.metrics import measure
from podium.study.numpy_engine import NO_NODE, Placements, place
from podium.study.policy_numbers import POLICY_NUMBERS
from podium.study.results import RunKey, RunResult, make_result
from podium.study.trace_files import read_trace
from podium.study.traces import Trace
from podium.study.user_policies import load_policy, policy_digest, policy_name
from podium.study.workloads import Workload, make_workload

DeviceName = Literal["numpy", "numba", "cuda"]


@dataclass(frozen=True, slots=True)
class TraceFiles:
    name: str
    nodes: Path
    pods: Path


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs of one workload under several policies."""

    files: TraceFiles
    seed: int
    policies: tuple[str, ...]
    demand_percent: int


def default_device() -> DeviceName:
    return "numba" if find_spec("numba") else "numpy"


def require_device(device: DeviceName) -> None:
    package, extra = {"numba": ("numba", "study"), "cuda": ("cupy", "study-cuda")}.get(
        device, ("numpy", "")
    )
    if not find_spec(package):
        raise InputError(f"{package} is not installed", remedy=f"pip install 'podium[{extra}]'")
    if device == "numba":
        _compiled_engine()


def plan_runs(
    traces: Sequence[TraceFiles],
    policies: Sequence[str],
    seeds: Sequence[int],
    demand_percent: int,
    known: set[RunKey],
) -> list[RunGroup]:
    """The runs whose results are not known."""
    groups = []
    for files in traces:
        digests = {spec: digest(files, spec, demand_percent) for spec in policies}
        for seed in seeds:
            missing = tuple(
                spec
                for spec in policies
                if (files.name, policy_name(spec), seed, digests[spec]) not in known
            )
            if missing:
                groups.append(RunGroup(files, seed, missing, demand_percent))
    return groups


def run_on_cores(
    groups: Sequence[RunGroup], device: DeviceName, jobs: int
) -> Iterator[list[RunResult]]:
    """The results of groups as they end."""
    if jobs == 1 or len(groups) < 2:
        for group in groups:
            yield run_group(group, device)
        return
    with ProcessPoolExecutor(min(jobs, len(groups)), get_context("spawn")) as pool:
        waiting = [pool.submit(run_group, group, device) for group in groups]
        try:
            for ended in as_completed(waiting):
                yield ended.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def run_group(group: RunGroup, device: DeviceName) -> list[RunResult]:
    trace = _trace(group.files)
    workload = make_workload(trace, group.seed, group.demand_percent / 100)
    return [
        _result(group, spec, workload.stream, trace, place_on_cpu(workload, spec, device))
        for spec in group.policies
    ]


def place_on_cpu(workload: Workload, spec: str, device: DeviceName) -> Placements:
    """Compiled where the policy is one that compiled loops know."""
    if device != "numpy" and spec in POLICY_NUMBERS and find_spec("numba"):
        return _compiled_engine()(workload, spec)
    return place(workload, load_policy(spec))


def _compiled_engine() -> Callable[[Workload, str], Placements]:
    try:
        from podium.study.numba_engine import place_compiled
    except RuntimeError:
        # Numba looks for the folder of its cache when a function is declared.
        raise InputError(
            "numba finds no folder that it can write to, to keep compiled code in",
            remedy="set NUMBA_CACHE_DIR to such a folder, or add --device numpy",
        ) from None
    return place_compiled


class Verification:
    """Whether a GPU placed every pod where the CPU places it."""

    def __init__(self) -> None:
        self.runs = 0
        self.different: list[str] = []

    def compare(self, found: Placements, workload: Workload, spec: str) -> None:
        expected = place_on_cpu(workload, spec, "numba")
        self.runs += 1
        same = np.array_equal(found.rows, expected.rows)
        if not (same and np.array_equal(found.devices, expected.devices)):
            self.different.append(f"{workload.trace.name} {spec} {workload.seed}")


def run_on_gpu(
    groups: Sequence[RunGroup],
    verification: Verification | None = None,
    tell_kernel_time: Callable[[str, float], None] = lambda _name, _seconds: None,
) -> Iterator[list[RunResult]]:
    """The same on a GPU; policies of users, which are Python, on the CPU."""
    from podium.study.cuda import CudaDevice
    from podium.study.kernel_engine import KernelRun, place_on_device

    runs = [(group, spec) for group in groups for spec in group.policies]
    compiled = [(group, spec) for group, spec in runs if spec in POLICY_NUMBERS]
    if compiled:
        device = CudaDevice()
        kernel_runs = [KernelRun(_trace(group.files), group.seed, spec) for group, spec in compiled]
        ratio = groups[0].demand_percent / 100
        results = place_on_device(kernel_runs, device, ratio)
        for (group, spec), run, found in zip(compiled, kernel_runs, results, strict=True):
            if verification is not None:
                workload = make_workload(run.trace, run.seed, ratio)
                verification.compare(found.placements, workload, spec)
            yield [_result(group, spec, found.stream, run.trace, found.placements)]
        tell_kernel_time(device.name, device.kernel_s)
    for group, spec in runs:
        if spec not in POLICY_NUMBERS:
            yield run_group(
                RunGroup(group.files, group.seed, (spec,), group.demand_percent), "numpy"
            )


def digest(files: TraceFiles, spec: str, demand_percent: int) -> str:
    """Stands for everything that a result follows from, but for the seed."""
    load_policy(spec)
    parts = (_file_digest(files.nodes), _file_digest(files.pods), policy_digest(spec))
    return sha256("/".join((*parts, spec, str(demand_percent))).encode()).hexdigest()[:16]


def _result(
    group: RunGroup,
    spec: str,
    stream: Ints,
    trace: Trace,
    placements: Placements,
) -> RunResult:
    return make_result(
        group.files.name,
        policy_name(spec),
        group.seed,
        digest(group.files, spec, group.demand_percent),
        int((placements.rows != NO_NODE).sum()),
        len(stream),
        measure(trace, stream, placements),
    )


@lru_cache(maxsize=64)
def _trace(files: TraceFiles) -> Trace:
    return read_trace(files.name, files.nodes, files.pods)


@lru_cache(maxsize=256)
def _file_digest(path: Path) -> str:
    return sha256(read_input(str(path), MAX_CLUSTER_BYTES)).hexdigest()
