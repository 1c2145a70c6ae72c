"""All runs of a study: traces by policies by seeds, on all cores, on Dask or on a GPU.

Runs that share a trace and a seed share their workload, so they are done together. What a run gives
does not depend on where it is done, nor on which others are. Tables of results for other programs
are `runs`, and `cells` as `cells.csv` has them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from podium.addons.gpu.cards.columns import Ints
from podium.addons.gpu.packing.policies import POLICY_NUMBERS
from podium.addons.gpu.study.devices import DeviceName, require_installed
from podium.addons.gpu.study.numpy_engine import NO_NODE, Placements, place
from podium.addons.gpu.study.results import ResultFolder, RunKey, RunResult, make_result, measure
from podium.addons.gpu.study.traces import Trace, read_trace
from podium.addons.gpu.study.workloads import StudyWorkload, make_workload
from podium.commands.study_policies import (
    load_policy,
    policy_digest,
    policy_name,
    require_policy,
)
from podium.golang.errors import InputError
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_input
from podium.offline.sweeps.execution import collect_finished, execute_sweep
from podium.offline.sweeps.executors import Executor, PlannedRun, Sweep, digest_values
from podium.offline.sweeps.result_tables import Column, TableFormat, open_table

MIN_COMPILED_STEPS: Final = 200_000_000
"""Nodes times pods times runs; numpy takes some twenty seconds for as many."""


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
    digests: tuple[str, ...]
    """Of what a policy's result follows from, in the order of the policies."""


@dataclass(frozen=True, slots=True)
class BatchInput:
    """What processes that take part get: traces by name, and digests of users' policies."""

    traces: Mapping[str, Trace]
    policies: Mapping[str, str]
    device: DeviceName


def choose_device(traces: Sequence[TraceFiles], policies: int, seeds: int) -> DeviceName:
    """numba where it is installed and there is enough to do to make up for compiling, which takes
    half a minute at first."""
    if not find_spec("numba"):
        return "numpy"
    steps = 0
    for files in traces:
        trace = _trace(files)
        steps += len(trace.nodes.names) * len(trace.pods.names) * policies * seeds
    return "numba" if steps >= MIN_COMPILED_STEPS else "numpy"


def require_device(device: DeviceName) -> None:
    require_installed(device)
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
                stand_for = tuple(digests[spec] for spec in missing)
                groups.append(RunGroup(files, seed, missing, demand_percent, stand_for))
    return groups


def plan_batch(groups: Sequence[RunGroup], device: DeviceName) -> Sweep[list[RunResult]]:
    """Groups as runs of a sweep: one of them is enough work to be sent somewhere."""
    policies = {spec: policy_digest(spec) for group in groups for spec in group.policies}
    return Sweep(
        prepare_groups,
        BatchInput({group.files.name: _trace(group.files) for group in groups}, policies, device),
        list[RunResult],
        tuple(
            PlannedRun(
                digest_values(group.digests, group.seed),
                f"{group.files.name}, seed {group.seed}",
                group,
            )
            for group in groups
        ),
    )


def run_groups(
    groups: Sequence[RunGroup],
    device: DeviceName,
    executor: Executor,
    folder: ResultFolder | None = None,
    on_ended: Callable[[int], None] = lambda _: None,
) -> Iterator[RunResult]:
    """All results, in order; a folder gets them as they come. Raises RunsFailed after the last."""
    if not groups:
        return
    store = None if folder is None else _FolderStore(folder)
    ended = execute_sweep(plan_batch(groups, device), executor, store)
    for run in collect_finished(ended):
        on_ended(len(run.result))
        yield from run.result


class _FolderStore:
    """Results as they come; which of them are there already was asked when runs were planned."""

    def __init__(self, folder: ResultFolder) -> None:
        self._folder = folder

    def read(self, _: str) -> bytes | None:
        return None

    def write(self, _: str, result: bytes) -> None:
        self._folder.add(msgspec.json.decode(result, type=list[RunResult]))


def prepare_groups(given: BatchInput) -> Callable[[RunGroup], list[RunResult]]:
    """Raises InputError if a user's policy is not what it was where runs were planned."""
    for spec, wanted in given.policies.items():
        require_policy(spec, wanted)
    return lambda group: run_group(group, given.traces[group.files.name], given.device)


def run_group(group: RunGroup, trace: Trace, device: DeviceName) -> list[RunResult]:
    workload = make_workload(trace, group.seed, group.demand_percent / 100)
    return [
        _result(group, spec, workload.stream, trace, place_on_cpu(workload, spec, device))
        for spec in group.policies
    ]


def place_on_cpu(workload: StudyWorkload, spec: str, device: DeviceName) -> Placements:
    """Compiled where the policy is one that compiled loops know."""
    if device != "numpy" and spec in POLICY_NUMBERS and find_spec("numba"):
        return _compiled_engine()(workload, spec)
    return place(workload, load_policy(spec))


def _compiled_engine() -> Callable[[StudyWorkload, str], Placements]:
    try:
        from podium.addons.gpu.study.numba_engine import place_compiled
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

    def compare(self, found: Placements, workload: StudyWorkload, spec: str) -> None:
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
    from podium.addons.gpu.study.cuda import CudaDevice
    from podium.addons.gpu.study.kernel_engine import KernelRun, place_on_device

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
            yield run_group(_narrow(group, spec), _trace(group.files), "numpy")


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
        _digest_of(group, spec),
        int((placements.rows != NO_NODE).sum()),
        len(stream),
        measure(trace, stream, placements),
    )


def _digest_of(group: RunGroup, spec: str) -> str:
    return group.digests[group.policies.index(spec)]


def _narrow(group: RunGroup, spec: str) -> RunGroup:
    return replace(group, policies=(spec,), digests=(_digest_of(group, spec),))


@lru_cache(maxsize=64)
def _trace(files: TraceFiles) -> Trace:
    return read_trace(files.name, files.nodes, files.pods)


@lru_cache(maxsize=256)
def _file_digest(path: Path) -> str:
    return sha256(read_input(str(path), MAX_CLUSTER_BYTES)).hexdigest()


_RUN: Final = (
    Column("run", "int64"),
    Column("trace", "string"),
    Column("policy", "string"),
    Column("seed", "int64"),
)
RUN_COLUMNS: Final = (
    *_RUN,
    Column("digest", "string"),
    Column("pods", "int64"),
    Column("placed", "int64"),
)
CELL_COLUMNS: Final = (
    *_RUN,
    Column("arrived_percent", "int64"),
    Column("allocation_percent", "double"),
    Column("fragmentation_ratio_percent", "double"),
    Column("fragmentation_amount_percent", "double"),
)


def write_tables(results: Sequence[RunResult], directory: Path, form: TableFormat) -> None:
    """Raises InputError."""
    named = [((number, run.trace, run.policy, run.seed), run) for number, run in enumerate(results)]
    with open_table(directory, "runs", RUN_COLUMNS, form) as table:
        table.append((*name, run.digest, run.pods, run.placed) for name, run in named)
    with open_table(directory, "cells", CELL_COLUMNS, form) as table:
        for name, run in named:
            columns = (
                run.allocation_percent,
                run.fragmentation_ratio_percent,
                run.fragmentation_amount_percent,
            )
            table.append(
                (*name, percent, *cells)
                for percent, cells in enumerate(zip(*columns, strict=True))
                if cells[0] is not None
            )
