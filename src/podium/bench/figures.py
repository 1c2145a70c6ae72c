"""What a measurement found out, as the values that tables, files and plots are made of."""

from collections.abc import Sequence

import msgspec


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
