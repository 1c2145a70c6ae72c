"""Results of measurements: the figures of runs, ratios between runs, and the documents of both.

A result has the figures of its fastest run beside the rates of all runs. A ratio means something
only beside the noise it was measured in: it counts as a change when the slowest run of one side is
faster than the fastest of the other. Schedulers that are compared take turns, so that each pair of
runs had about the same machine to itself; their ratio is told with those of all pairs, lowest and
highest.

A workload file has one result, which is printed without a list around it. Releases before
`podium/v1` printed a plain JSON array for several, which is still read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from podium.bench.cases import full_name
from podium.bench.function_times import FunctionTime
from podium.golang.document_structs import Amount, Count, Document, DocumentPart
from podium.golang.errors import InputError


class Figures(DocumentPart, kw_only=True, frozen=True, rename=None):
    """One run. Times are of the wall clock unless they say CPU. Where other programs compete for
    the processor, pods a CPU second say more about the engine than pods a second do."""

    nodes: Count
    """Nodes of the cluster."""
    init: Count = 0
    """Pods that were there before."""
    pods: Count
    """Pods that were measured."""
    bound: Count
    """Those that got a node."""
    failed: Count
    """Those that did not."""
    attempts: Count = 0
    """Scheduling attempts."""
    evicted: Count = 0
    """Pods that were evicted for others."""
    load_cpu_seconds: Amount = 0.0
    """CPU time it took to take in all that was there before."""
    seconds: Amount
    """Duration of the fastest run."""
    cpu_seconds: Amount
    """CPU time of the fastest run."""
    pods_per_s: Amount
    """Pods a second of the fastest run."""
    pods_per_cpu_s: Amount = 0.0
    """Pods a CPU second of the fastest run."""
    p50_ms: Amount
    """Time of a pod, in milliseconds: the median."""
    p99_ms: Amount
    """Time of a pod, in milliseconds: the 99th percentile."""
    peak_rss_mb: Amount
    """The most memory that the process had, in megabytes."""
    load: Amount
    """The machine's one-minute load at the end."""


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


class BenchmarkFigures(Figures, frozen=True, rename=None):
    """The figures of a workload: rates of all runs, and what the fastest one took."""

    workload: str
    """The workload by the name it was asked for; a file's name."""
    case: str
    """The workload's full name."""
    runs: tuple[Amount, ...]
    """Pods a second of every run."""
    cpu_runs: tuple[Amount, ...]
    """Pods a CPU second of every run."""
    spread: Amount
    """How far the slowest run stayed behind the fastest, as a share of the fastest."""


def list_figures(result: Result) -> dict[str, Any]:
    """The fields of a `BenchmarkFigures`."""
    return {
        "workload": result.workload,
        "case": result.case,
        **msgspec.structs.asdict(result.best),
        "runs": tuple(run.pods_per_s for run in result.runs),
        "cpu_runs": tuple(run.pods_per_cpu_s for run in result.runs),
        "spread": round(result.spread, 4),
    }


def record_result(result: Result) -> Recorded:
    return msgspec.convert(list_figures(result), Recorded)


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


RatioVerdict = Literal["faster", "slower", "within noise", "other size"]
SAME: Final = "within noise"
FASTER: Final = "faster"
SLOWER: Final = "slower"
OTHER_SIZE: Final = "other size"


@dataclass(frozen=True, slots=True)
class ResultComparison:
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
    def verdict(self) -> RatioVerdict:
        if (self.before.nodes, self.before.pods) != (self.now.nodes, self.now.pods):
            return OTHER_SIZE
        if self.now.slowest > self.before.pods_per_s:
            return FASTER
        if self.now.pods_per_s < self.before.slowest:
            return SLOWER
        return SAME


def compare(before: Sequence[Recorded], now: Sequence[Recorded]) -> list[ResultComparison]:
    """Workloads that both runs have, in the order of the later one."""
    earlier = by_name(before)
    return [
        ResultComparison(result.name, earlier[result.name], result)
        for result in now
        if result.name in earlier
    ]


def _divide(now: float, before: float) -> float:
    return now / before if before else 0.0


class RatioToBefore(DocumentPart, frozen=True, rename=None):
    """How a workload fares beside an earlier run."""

    before: Amount
    """Pods a second then."""
    ratio: Amount
    """Pods a second now for each one then."""
    cpu_ratio: Amount
    """The same by CPU time; 0 if the earlier run did not say."""
    verdict: RatioVerdict
    """Whether the runs differ by more than their noise."""

    @classmethod
    def of(cls, compared: ResultComparison) -> "RatioToBefore":
        ratio, cpu_ratio = round(compared.ratio, 3), round(compared.cpu_ratio, 3)
        return cls(compared.before.pods_per_s, ratio, cpu_ratio, compared.verdict)


class EngineBenchmark(BenchmarkFigures, Document, frozen=True, kw_only=True, rename=None):
    """What `podium bench --json` prints about a workload."""

    KIND: ClassVar[str] = "EngineBenchmark"
    LISTED: ClassVar[str] = "What `podium bench --json` prints about named workloads."

    compared: RatioToBefore | UnsetType = UNSET
    """Ratios to an earlier run; with --compare."""
    functions: tuple[FunctionTime, ...] | UnsetType = UNSET
    """Functions by their own time; with --profile."""

    @classmethod
    def of(
        cls,
        result: Result,
        compared: ResultComparison | None = None,
        functions: tuple[FunctionTime, ...] | None = None,
    ) -> "EngineBenchmark":
        return cls(
            **list_figures(result),
            compared=UNSET if compared is None else RatioToBefore.of(compared),
            functions=UNSET if functions is None else functions,
        )


class LiveResult(Result, kw_only=True):
    """All runs of one scheduler with one workload."""

    scheduler: str

    @property
    def cpu_ms(self) -> float:
        """The scheduler's processor time per pod, of the run that needed least."""
        return min(cpu_ms(run) for run in self.runs)


class Ratio(DocumentPart, frozen=True, kw_only=True, rename=None):
    """One scheduler's figure for each one of another."""

    best: Amount
    """Of the best runs."""
    lowest: Amount
    """Of pairs of runs, the lowest."""
    highest: Amount
    """Of pairs of runs, the highest."""


class LiveComparison(DocumentPart, frozen=True, kw_only=True, rename=None):
    """Podium beside another scheduler."""

    workload: str
    """The workload."""
    scheduler: str
    """Podium."""
    to: str
    """The other one."""
    pods_per_s: Ratio
    """Pods a second."""
    cpu: Ratio
    """Processor time per pod."""


class SchedulerFigures(BenchmarkFigures, frozen=True, kw_only=True, rename=None):
    """The figures of one scheduler with one workload."""

    scheduler: str
    """Its program."""
    cpu_ms_per_pod: Amount
    """The scheduler's processor time per pod in milliseconds, of the run that needed least."""
    cpu_ms_per_pod_runs: tuple[Amount, ...]
    """The same of every run."""

    @classmethod
    def of(cls, result: LiveResult) -> "SchedulerFigures":
        return cls(
            **list_figures(result),
            scheduler=result.scheduler,
            cpu_ms_per_pod=round(result.cpu_ms, 4),
            cpu_ms_per_pod_runs=tuple(round(cpu_ms(run), 4) for run in result.runs),
        )


class LiveBenchmark(Document, frozen=True):
    """What `podium bench live --output json` prints."""

    KIND: ClassVar[str] = "LiveBenchmark"

    results: tuple[SchedulerFigures, ...]
    """Every scheduler with every workload."""
    compared: tuple[LiveComparison, ...]
    """Podium beside every other scheduler."""


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


def _make_ratio(best: float, pairs: list[float]) -> Ratio:
    return Ratio(best=round(best, 3), lowest=round(min(pairs), 3), highest=round(max(pairs), 3))


def _some(figure: float) -> float:
    """A figure to divide by."""
    return figure or 1e-9
