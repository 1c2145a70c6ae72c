"""What a comparison of configurations comes to: plain values that tables, JSON and tests read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from podium.offline.what_if.conditions import Condition
from podium.offline.what_if.measured_runs import MeasuredRun, PodPlace, list_metrics
from podium.offline.what_if.paired_differences import PairedDifference, compare_pairs


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """One metric of one configuration over all seeds; `difference` is to the first one."""

    mean: float
    lowest: float
    highest: float
    difference: PairedDifference | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A condition and the numbers of the configurations of which it holds."""

    condition: Condition
    configurations: tuple[int, ...]


@dataclass(frozen=True)
class ComparisonAnswer:
    """`runs` are in order of seeds, then of configurations."""

    names: tuple[str, ...]
    seeds: tuple[int, ...]
    runs: tuple[MeasuredRun, ...]
    _by_configuration: Mapping[int, list[MeasuredRun]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        found: dict[int, list[MeasuredRun]] = {}
        for run in self.runs:
            found.setdefault(run.configuration, []).append(run)
        object.__setattr__(self, "_by_configuration", found)

    @cached_property
    def metrics(self) -> list[str]:
        """Names of all metrics, in order."""
        return list_metrics(self.runs)

    def first_run(self, configuration: int) -> MeasuredRun:
        """The run that has pods in the order of the input."""
        return self._by_configuration[configuration][0]

    def waits(self, configuration: int) -> list[tuple[float, ...]]:
        """Seed by seed, at `WAIT_PERCENTILES`."""
        return [run.waits for run in self._by_configuration[configuration]]

    def values(self, configuration: int, metric: str) -> list[float]:
        """Seed by seed."""
        return [run.metrics.get(metric, 0.0) for run in self._by_configuration[configuration]]

    def summary(self, configuration: int, metric: str) -> MetricSummary:
        values = self.values(configuration, metric)
        difference = compare_pairs(self.values(0, metric), values) if configuration else None
        return MetricSummary(fmean(values), min(values), max(values), difference)

    @cached_property
    def different_pods(self) -> list[tuple[PodPlace, ...]]:
        """Pods that not all configurations treat alike with the first seed, each with its place
        under every one of them; in order of names."""
        by_pod: dict[str, list[PodPlace]] = {}
        for index in range(len(self.names)):
            for place in self.first_run(index).places:
                by_pod.setdefault(place.pod, []).append(place)
        return [tuple(places) for _, places in sorted(by_pod.items()) if len({*places}) > 1]

    @property
    def pod_count(self) -> int:
        return len(self.runs[0].places)

    @property
    def crashes(self) -> list[tuple[str, str]]:
        """Pods that met a bug, once each, with the traceback."""
        return list({pod: (pod, text) for run in self.runs for pod, text in run.crashes}.values())

    def judge(self, conditions: Iterable[Condition]) -> list[Judgement]:
        """Which conditions hold, of means over seeds. Raises InputError for unknown metrics."""
        wanted: Sequence[Condition] = list(conditions)
        for condition in wanted:
            condition.require_metric(self.metrics)
        return [Judgement(each, tuple(self._holding(each))) for each in wanted]

    def _holding(self, condition: Condition) -> Iterable[int]:
        for index in range(len(self.names)):
            summary = self.summary(index, condition.metric)
            if not condition.is_difference:
                value = summary.mean
            elif summary.difference is not None:
                value = summary.difference.mean
            else:
                continue
            if condition.holds(value):
                yield index
