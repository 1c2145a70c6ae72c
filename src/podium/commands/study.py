"""`podium study`: policies compared over many runs of recorded workloads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Group, Parameter

from podium.addons.gpu.study.devices import DeviceName
from podium.commands.answering import IN_FULL, Answer, answers
from podium.commands.run_options import NO_DASK, DaskOptions, follow_runs, list_tables
from podium.commands.same_command import HowOptions
from podium.commands.study_manifests import write_manifests
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.addons.gpu.study.results import ResultFolder, RunKey, RunResult
    from podium.commands.study_runs import RunGroup, TraceFiles, Verification


MAX_DEMAND_PERCENT = 130
MAX_DIFFERENT_TOLD = 10

study = App(
    name="study",
    help="Compare policies over many runs.",
    group_commands=Group("Commands"),
)
study.command(write_manifests, name="manifests")


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class StudyRunOptions(HowOptions):
    """With what runs are done, and where results are kept."""

    device: Annotated[
        DeviceName | None,
        Parameter(
            help="What runs are done with: numba for large studies if installed, else numpy."
        ),
    ] = None
    jobs: Annotated[int | None, Parameter(help="Processes; one for each core by default.")] = None
    dask: DaskOptions = NO_DASK
    out: Annotated[
        Path | None, Parameter(help="A folder for results; a study that was ended goes on there.")
    ] = None
    parquet: Annotated[
        Path | None,
        Parameter(metavar="DIR", help="Write runs.parquet and cells.parquet there."),
    ] = None
    verify: Annotated[
        bool,
        Parameter(negative="", help="With --device cuda, place on the CPU too and compare."),
    ] = False


_ANYWHERE: Final = StudyRunOptions()


@study.command(name="gpu-packing")
@answers("study gpu-packing", IN_FULL)
def gpu_packing(
    *,
    nodes: Annotated[
        Path, Parameter(help="The cluster: a CSV file of nodes, or nodes as kubectl prints them.")
    ],
    pods: Annotated[
        list[Path],
        Parameter(
            negative="",
            help="A trace: a CSV file of pods, or pods as kubectl prints them. May be repeated.",
        ),
    ],
    policy: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            help="A policy by name, or FILE.py:FUNCTION. May be repeated; all of Podium's by"
            " default.",
        ),
    ] = None,
    seeds: Annotated[str, Parameter(help="Seeds, as `42-51` or `1,2,3`.")] = "42-51",
    demand: Annotated[
        int, Parameter(help="How much of the cluster's GPUs pods ask for in all, in percent.")
    ] = 130,
    baseline: Annotated[str, Parameter(help="The policy that others are compared with.")] = "FGD",
    runs: StudyRunOptions = _ANYWHERE,
    bound: Annotated[
        bool,
        Parameter(
            negative="",
            help="Show what no policy can allocate more of; needs pip install 'podium[optimum]'.",
        ),
    ] = False,
) -> Answer:
    """Compare how policies pack pods that share GPUs, on recorded or own traces.

    Each run offers a trace's pods, shuffled by a seed, to one policy until so much of the cluster's
    GPUs has been asked for. Pods only arrive; one that does not fit is dropped. Shown are the part
    of all GPUs that is allocated and the part of idle GPUs that typical pods cannot use, as means
    over seeds, when a part of the demand has arrived.

    **Examples**

    ```
    podium study gpu-packing --nodes nodes.csv --pods pods.csv
    podium study gpu-packing --nodes nodes.csv --pods a.csv --pods b.csv --out results
    podium study gpu-packing --nodes nodes.csv --pods pods.csv --policy FGD --policy mine.py:score
    podium study gpu-packing --nodes nodes.csv --pods pods.csv --dask tcp://scheduler:8786
    podium study gpu-packing --nodes nodes.csv --pods pods.csv --html report.html
    podium study gpu-packing --nodes nodes.csv --pods pods.csv --device cuda --verify
    podium study gpu-packing --nodes nodes.csv --pods pods.csv --policy FGD --bound
    podium study gpu-packing --nodes cluster.json --pods cluster.json
    ```

    **Exit code** 0; 1 if a GPU placed a pod elsewhere than the CPU; 2 if the input is wrong.
    """
    from podium.addons.gpu.packing.policies import POLICIES
    from podium.addons.gpu.study.results import SHOWN_PERCENT, ResultFolder, summarize
    from podium.commands.study_bound import find_bounds
    from podium.commands.study_runs import (
        Verification,
        choose_device,
        require_device,
        run_groups,
        run_on_gpu,
        write_tables,
    )
    from podium.commands.study_view import StudyView
    from podium.commands.tables import count
    from podium.offline.optimum.integer_program import require_solver

    started = time.monotonic()
    _require_possible(runs)
    executor, tables = runs.dask.make_executor(runs.jobs or 0), list_tables(runs.parquet, None)
    wanted = _wanted_runs(nodes, pods, policy or list(POLICIES), seeds, demand)
    chosen = runs.device or choose_device(wanted.traces, len(wanted.policies), len(wanted.seeds))
    require_device(chosen)
    if bound:
        require_solver()
    folder = None if runs.out is None else ResultFolder(runs.out)
    known = {run.key: run for run in folder.read()} if folder is not None else {}
    groups = wanted.plan_missing(set(known))
    notes = _describe_reuse(len(wanted.keys) - _run_count(groups), runs.out)
    verification = Verification() if runs.verify else None
    with follow_runs(_run_count(groups)) as on_ended:
        if chosen == "cuda":
            placed = run_on_gpu(
                groups,
                verification,
                lambda name, kernel_s: notes.append(f"{name}: kernels took {kernel_s:.2f} s"),
            )
            ended = _keep_results(placed, folder, on_ended)
        else:
            ended = run_groups(groups, chosen, executor, folder, on_ended)
        for result in ended:
            known[result.key] = result
    results = [known[key] for key in wanted.keys]
    if folder is not None:
        folder.write_cells(results)
    for directory, form in tables:
        write_tables(results, directory, form)
    notes.extend(_describe_verification(verification))
    took = time.monotonic() - started
    notes.append(f"{count(_run_count(groups), 'run')} with {chosen}")
    shown = [each for each in SHOWN_PERCENT if each <= demand]
    summaries = summarize(results, baseline, shown)
    bounds = find_bounds(wanted.traces, wanted.seeds, demand, shown) if bound else {}
    return StudyView(
        results,
        summaries,
        baseline,
        shown,
        bounds,
        len(wanted.seeds),
        notes,
        took,
        verification is None or not verification.different,
    )


def _require_possible(runs: StudyRunOptions) -> None:
    """That options go together. Raises InputError."""
    if runs.verify and runs.device != "cuda":
        raise InputError("--verify compares a GPU with the CPU", remedy="add --device cuda")
    if runs.jobs is not None and runs.jobs < 1:
        raise InputError("--jobs must be at least 1")
    if runs.dask.dask is not None and runs.device == "cuda":
        raise InputError(
            "runs on Dask are done on CPUs", remedy="leave --device cuda or --dask out"
        )


@dataclass(frozen=True, slots=True)
class _WantedRuns:
    traces: list[TraceFiles]
    policies: list[str]
    seeds: list[int]
    demand_percent: int
    keys: list[RunKey]
    """Of their results, in the order in which they are shown."""

    def plan_missing(self, known: set[RunKey]) -> list[RunGroup]:
        from podium.commands.study_runs import plan_runs

        return plan_runs(self.traces, self.policies, self.seeds, self.demand_percent, known)


def _wanted_runs(
    nodes: Path, pods: Sequence[Path], policies: Sequence[str], seeds: str, demand: int
) -> _WantedRuns:
    from podium.commands.study_policies import policy_name, require_different_names
    from podium.commands.study_runs import TraceFiles, digest

    specs = list(dict.fromkeys(policies))
    require_different_names(specs)
    if not 1 <= demand <= MAX_DEMAND_PERCENT:
        raise InputError(f"--demand must be between 1 and {MAX_DEMAND_PERCENT}")
    traces = [TraceFiles(_trace_name(path), nodes, path) for path in dict.fromkeys(pods)]
    _require_different_traces(traces)
    numbers = _parse_seeds(seeds)
    keys = []
    for trace in traces:
        for spec in specs:
            stands_for = digest(trace, spec, demand)
            keys += [(trace.name, policy_name(spec), seed, stands_for) for seed in numbers]
    return _WantedRuns(traces, specs, numbers, demand, keys)


def _describe_reuse(runs: int, out: Path | None) -> list[str]:
    from podium.commands.tables import count

    return [f"{count(runs, 'run')} had a result in {out}"] if runs else []


def _describe_verification(verification: Verification | None) -> list[str]:
    from podium.commands.tables import count

    if verification is None:
        return []
    different = verification.different
    told = f"{count(verification.runs, 'run')} placed on the CPU as well, {len(different)} differ"
    return [told, *(f"different: {name}" for name in different[:MAX_DIFFERENT_TOLD])]


def _keep_results(
    ended: Iterator[list[RunResult]], folder: ResultFolder | None, on_ended: Callable[[int], None]
) -> Iterator[RunResult]:
    """Results as they come, written down and counted."""
    for results in ended:
        if folder is not None:
            folder.add(results)
        on_ended(len(results))
        yield from results


def _run_count(groups: Sequence[RunGroup]) -> int:
    return sum(len(group.policies) for group in groups)


def _trace_name(path: Path) -> str:
    from podium.addons.gpu.study.traces import SUFFIXES

    name = path.name.removesuffix(".gz")
    for suffix in (".csv", *SUFFIXES):
        name = name.removesuffix(suffix)
    return name.removeprefix("openb_pod_list_") or name


def _require_different_traces(files: Sequence[TraceFiles]) -> None:
    names = [trace.name for trace in files]
    for trace in files:
        if names.count(trace.name) > 1:
            raise InputError(f"two traces are named {trace.name}", remedy="rename one of the files")


def _parse_seeds(text: str) -> list[int]:
    """`42-51`, `1,2,3`, or both."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdecimal() and int(end) < 2**31 for end in ends):
            raise InputError(f"--seeds {text}: not seeds", remedy="for example 42-51 or 1,2,3")
        if int(ends[1]) - int(ends[0]) not in range(10_000):
            raise InputError(f"--seeds {part}: from 1 to 10,000 seeds in a row")
        seeds.extend(range(int(ends[0]), int(ends[1]) + 1))
    return list(dict.fromkeys(seeds))
