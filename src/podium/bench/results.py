"""What a measurement found out, as values and as JSON, and runs side by side.

The figures of the fastest run stand beside the rates of all runs. A workload file has one result,
which is printed without a list around it. Releases before `podium/v1` printed a plain JSON array
for several, which is still read.

Two runs side by side, as ratios. A ratio means something only beside the noise it was measured in:
it counts as a change when the slowest run of one side is faster than the fastest of the other.

What several schedulers needed for the same workload, and how they compare. Schedulers take turns,
so that each pair of runs had about the same machine to itself; a ratio is told with those of all
pairs, lowest and highest.

What a measurement found out, as the values that tables, files and plots are made of.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from podium.bench.cases import full_name
from podium.golang.errors import InputError


class Figures(msgspec.Struct, kw_only=True):
    """One run. Times are of the wall clock unless they say CPU; `load` is the machine's one-minute
    load at the end. Where other programs compete for the processor, pods a CPU second say more
    about the engine than pods a second do."""

    nodes: int
    init: int = 0
    pods: int
    bound: int
    failed: int
    attempts: int = 0
    evicted: int = 0
    load_cpu_seconds: float = 0.0
    """What it took to take in all that was there before."""
    seconds: float
    cpu_seconds: float
    pods_per_s: float
    pods_per_cpu_s: float = 0.0
    p50_ms: float
    p99_ms: float
    peak_rss_mb: float
    load: float


class Result(msgspec.Struct, kw_only=True):
    """All runs of one workload; `case` is its full name where it was asked for by another."""

    workload: str
    case: str
    runs: tuple[Figures, ...]

    @property
    def best(self) -> Figures:
        return max(self.runs, key=lambda run: run.pods_per_s)

    @property
    def slowest(self) -> float:
        return min(run.pods_per_s for run in self.runs)

    @property
    def best_by_cpu(self) -> float:
        return max(run.pods_per_cpu_s for run in self.runs)

    @property
    def spread(self) -> float:
        """How far the slowest run stayed behind the fastest, as a share of the fastest."""
        best = self.best.pods_per_s
        return (best - self.slowest) / best if best else 0.0


def percentile_ms(times_s: Sequence[float], percent: int) -> float:
    """A percentile of sorted times."""
    if not times_s:
        return 0.0
    return round(times_s[min(len(times_s) - 1, len(times_s) * percent // 100)] * 1000, 4)


class Recorded(msgspec.Struct, kw_only=True):
    """An earlier result, as far as it is compared."""

    workload: str
    case: str = ""
    nodes: int = 0
    pods: int = 0
    pods_per_s: float
    pods_per_cpu_s: float = 0.0
    runs: tuple[float, ...] = ()
    cpu_runs: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        return self.case or full_name(self.workload)

    @property
    def slowest(self) -> float:
        return min(self.runs, default=self.pods_per_s)

    @property
    def best_by_cpu(self) -> float:
        return max(self.cpu_runs, default=self.pods_per_cpu_s)


def to_document(result: Result) -> dict[str, Any]:
    """A result as plain data."""
    return {
        "workload": result.workload,
        "case": result.case,
        **msgspec.to_builtins(result.best),
        "runs": [run.pods_per_s for run in result.runs],
        "cpu_runs": [run.pods_per_cpu_s for run in result.runs],
        "spread": round(result.spread, 4),
    }


def record_result(result: Result) -> Recorded:
    return msgspec.convert(to_document(result), Recorded)


def read_results(data: bytes, source: str) -> list[Recorded]:
    """Results that `--json` printed before."""
    try:
        found = msgspec.json.decode(_items(data), type=list[Recorded] | Recorded)
    except (msgspec.DecodeError, RecursionError) as problem:
        raise InputError(
            f"not the results of a run: {problem}",
            source=source,
            remedy="give a file that `podium bench --json` has printed",
        ) from problem
    return found if isinstance(found, list) else [found]


def _items(data: bytes) -> bytes | msgspec.Raw:
    """The results of a list; a single result and a plain array are what they are."""
    found = msgspec.json.decode(data, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    return found.get("items", data) if isinstance(found, dict) else data


def by_name(results: Sequence[Recorded]) -> dict[str, Recorded]:
    return {result.name: result for result in results}


SAME = "within noise"
FASTER = "faster"
SLOWER = "slower"
OTHER_SIZE = "other size"


@dataclass(frozen=True, slots=True)
class Comparison:
    name: str
    before: Recorded
    now: Recorded

    @property
    def ratio(self) -> float:
        """Pods a second now for each one before."""
        return _divide(self.now.pods_per_s, self.before.pods_per_s)

    @property
    def cpu_ratio(self) -> float:
        """The same by CPU time; 0 if the earlier run did not say."""
        return _divide(self.now.best_by_cpu, self.before.best_by_cpu)

    @property
    def verdict(self) -> str:
        if (self.before.nodes, self.before.pods) != (self.now.nodes, self.now.pods):
            return OTHER_SIZE
        if self.now.slowest > self.before.pods_per_s:
            return FASTER
        if self.now.pods_per_s < self.before.slowest:
            return SLOWER
        return SAME


def compare(before: Sequence[Recorded], now: Sequence[Recorded]) -> list[Comparison]:
    """Workloads that both runs have, in the order of the later one."""
    earlier = by_name(before)
    return [
        Comparison(result.name, earlier[result.name], result)
        for result in now
        if result.name in earlier
    ]


def _divide(now: float, before: float) -> float:
    return now / before if before else 0.0


class LiveResult(Result, kw_only=True):
    """All runs of one scheduler with one workload."""

    scheduler: str

    @property
    def cpu_ms(self) -> float:
        """The scheduler's processor time per pod, of the run that needed least."""
        return min(cpu_ms(run) for run in self.runs)


class Ratio(msgspec.Struct, kw_only=True, frozen=True):
    """One scheduler's figure for each one of another: of the best runs, and of pairs of runs."""

    best: float
    lowest: float
    highest: float


class LiveComparison(msgspec.Struct, kw_only=True, frozen=True):
    workload: str
    scheduler: str
    to: str
    pods_per_s: Ratio
    cpu: Ratio


def cpu_ms(run: Figures) -> float:
    """Processor time per bound pod."""
    return 1000 * run.cpu_seconds / max(1, run.bound)


def compare_live(ours: LiveResult, other: LiveResult) -> LiveComparison:
    pairs = list(zip(ours.runs, other.runs, strict=True))
    return LiveComparison(
        workload=ours.workload,
        scheduler=ours.scheduler,
        to=other.scheduler,
        pods_per_s=_make_ratio(
            ours.best.pods_per_s / _some(other.best.pods_per_s),
            [mine.pods_per_s / _some(others.pods_per_s) for mine, others in pairs],
        ),
        cpu=_make_ratio(
            ours.cpu_ms / _some(other.cpu_ms),
            [cpu_ms(mine) / _some(cpu_ms(others)) for mine, others in pairs],
        ),
    )


def live_document(
    results: list[LiveResult], comparisons: list[LiveComparison]
) -> dict[str, list[dict[str, Any]]]:
    """Everything as plain data."""
    return {
        "results": [
            {
                "scheduler": result.scheduler,
                **to_document(result),
                "cpu_ms_per_pod": round(result.cpu_ms, 4),
                "cpu_ms_per_pod_runs": [round(cpu_ms(run), 4) for run in result.runs],
            }
            for result in results
        ],
        "compared": [msgspec.to_builtins(each) for each in comparisons],
    }


def _make_ratio(best: float, pairs: list[float]) -> Ratio:
    return Ratio(best=round(best, 3), lowest=round(min(pairs), 3), highest=round(max(pairs), 3))


def _some(figure: float) -> float:
    """A figure to divide by."""
    return figure or 1e-9
