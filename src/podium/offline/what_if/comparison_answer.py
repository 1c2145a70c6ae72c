"""What a comparison of configurations comes to: its runs, and what tables and documents have.

Whether two configurations differ, or two samples of arrivals did: differences seed by seed. Both
configurations get the same arrivals for a seed, so each seed gives one difference. If the
configurations were alike, each difference might as well have had the other sign. The p-value is the
part of all choices of signs with which the sum is at least as far from 0 as it is (sign-flip
permutation test). Up to `MAX_EXACT` seeds that differ all choices are counted; beyond, the sum is
taken for normal with the variance that random signs give it.

Example: differences 1, 2 and 3 can have 8 choices of signs, and two of them (all, none) give 6 or
-6, so p is 0.25. Six seeds are the fewest that can come below 0.05.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import erfc, sqrt
from statistics import fmean
from typing import ClassVar, Final

import numpy as np
from msgspec import UNSET, UnsetType, field
from msgspec.structs import asdict

from podium.golang.document_structs import Amount, Count, Document, DocumentPart, Notes
from podium.offline.simulate.report import PodOutcome
from podium.offline.simulate.reviewed_document import ReviewedDocument
from podium.offline.what_if.conditions import MetricCondition
from podium.offline.what_if.measured_runs import MeasuredRun, PodPlace, list_metrics
from podium.offline.what_if.records import Record
from podium.offline.what_if.run_metrics import TypicalPod

MAX_EXACT: Final = 20
"""A million choices of signs take some milliseconds."""
_TOLERANCE: Final = 1e-9
"""Sums that differ by rounding only are the same."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Of one metric, the second less the first; `p_value` is None for one seed."""

    mean: float
    lowest: float
    highest: float
    p_value: float | None


def compare_pairs(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    differences = np.array(second, dtype=np.float64) - np.array(first, dtype=np.float64)
    return PairedDifference(
        float(differences.mean()),
        float(differences.min()),
        float(differences.max()),
        sign_flip_p_value(differences.tolist()) if len(differences) > 1 else None,
    )


def sign_flip_p_value(differences: Sequence[float]) -> float:
    sizes = np.array([each for each in differences if each], dtype=np.float64)
    if not len(sizes):
        return 1.0
    sizes = sizes / np.abs(sizes).sum()
    observed = abs(float(sizes.sum()))
    if len(sizes) > MAX_EXACT:
        return erfc(observed / sqrt(2 * float((sizes**2).sum())))
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate((sums + size, sums - size))
    return float((np.abs(sums) >= observed - _TOLERANCE).mean())


class TypicalRequests(DocumentPart, frozen=True):
    """The pod by which fragmentation is judged."""

    cpu: Count
    """Its request in milli-cores."""
    memory: Count
    """Its request in bytes."""


class MetricDifference(DocumentPart, frozen=True):
    """Of one metric to the first configuration, seed by seed."""

    mean: float
    """The mean difference."""
    lowest: float
    """The lowest difference of a seed."""
    highest: float
    """The highest difference of a seed."""
    p_value: Amount | None
    """The probability of a mean as far from 0 if the configurations were alike; null for one
    seed."""


class ComparedMetric(DocumentPart, frozen=True):
    """One metric of one configuration."""

    name: str
    """The name of the metric."""
    mean: float
    """Its mean over seeds."""
    lowest: float
    """Its lowest value."""
    highest: float
    """Its highest value."""
    difference: MetricDifference | None
    """To the first configuration, seed by seed; null for the first itself."""


class ComparedConfiguration(DocumentPart, frozen=True):
    """One configuration over all seeds."""

    name: str
    """The file, or `default`."""
    metrics: tuple[ComparedMetric, ...]
    """Each metric over all seeds."""


class ComparedRun(DocumentPart, frozen=True):
    """One configuration with one seed."""

    configuration: str
    """The name of the configuration."""
    seed: int
    """The seed of the run."""
    metrics: Mapping[str, float]
    """Metrics of this run by name."""


class PlaceUnder(DocumentPart, frozen=True):
    """What comes of a pod under one configuration."""

    configuration: str
    """The name of the configuration."""
    outcome: PodOutcome
    node: str | None
    """Where it goes."""


class DifferentlyPlaced(DocumentPart, frozen=True):
    """A pod that not all configurations treat alike."""

    pod: str
    """The pod, `namespace/name`."""
    places: tuple[PlaceUnder, ...]
    """What comes of it under each configuration."""


class JudgedCondition(DocumentPart, frozen=True):
    """A condition, and what it holds of."""

    condition: str
    """As it was given with `--fail-if`."""
    holds: bool
    """Whether it is so of some configuration."""
    configurations: tuple[str, ...]
    """The configurations of which it is so."""


class ComparisonDocument(ReviewedDocument, frozen=True, kw_only=True):
    """What `podium compare` prints: scheduler configurations on the same pods."""

    KIND: ClassVar[str] = "Comparison"

    trace: str | UnsetType = UNSET
    """The recording that was replayed; only with --trace."""
    seeds: tuple[int, ...]
    """One run of each configuration for each of them. The first has pods in the order of the
    input."""
    typical_pod: TypicalRequests
    """The pod by which fragmentation is judged."""
    configurations: tuple[ComparedConfiguration, ...]
    """The configurations, as they were given; others are compared with the first."""
    runs: tuple[ComparedRun, ...]
    """Every run by itself."""
    pod_count: Count
    """How many pods were to be placed."""
    different_pods: tuple[DifferentlyPlaced, ...]
    """Pods that not all configurations treat alike with the first seed."""
    conditions: tuple[JudgedCondition, ...]
    """What was to be watched for."""
    failed: bool
    """Whether any of the conditions holds."""
    notes: Notes = ()


class MetricRecord(DocumentPart, frozen=True):
    """One metric of one configuration over all seeds, as scripts have it."""

    configuration: str
    """The configuration's file, or default."""
    metric: str
    """The metric's name."""
    mean: float
    """Its mean over seeds."""
    lowest: float
    """The lowest value."""
    highest: float
    """The highest value."""
    difference: float | None
    """The mean difference to the first configuration; null for the first."""
    difference_lowest: float | None = field(name="difference_lowest")
    """The lowest difference of a seed; null for the first configuration."""
    difference_highest: float | None = field(name="difference_highest")
    """The highest difference of a seed; null for the first configuration."""
    p_value: float | None = field(name="p_value")
    """The probability that chance alone makes the difference as large; null with one seed."""


class HeldCondition(DocumentPart, frozen=True):
    """A condition, and the configurations of which it holds."""

    condition: str
    """A condition of --fail-if."""
    configurations: tuple[str, ...]
    """Those of which it holds."""


class ScenarioComparisonDocument(Document, frozen=True):
    """Configurations on the same scenario, printed by `podium scenario compare -o json`."""

    KIND: ClassVar[str] = "ScenarioComparison"

    scenario: str
    """The scenario's name."""
    seeds: tuple[int, ...]
    """The seeds of the runs."""
    metrics: tuple[MetricRecord, ...]
    """Each configuration and metric over all seeds."""
    runs: tuple[ComparedRun, ...]
    """Each run."""
    conditions: tuple[HeldCondition, ...]
    """Conditions of --fail-if."""


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

    condition: MetricCondition
    configurations: tuple[int, ...]


@dataclass(frozen=True)
class ComparisonAnswer:
    """`runs` are in order of seeds, then of configurations."""

    names: tuple[str, ...]
    seeds: tuple[int, ...]
    runs: tuple[MeasuredRun, ...]
    _by_configuration: Mapping[int, list[MeasuredRun]] = dataclasses.field(init=False, repr=False)

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

    def judge(self, conditions: Iterable[MetricCondition]) -> list[Judgement]:
        """Which conditions hold, of means over seeds. Raises InputError for unknown metrics."""
        wanted: Sequence[MetricCondition] = list(conditions)
        for condition in wanted:
            condition.require_metric(self.metrics)
        return [Judgement(each, tuple(self._find_holding(each))) for each in wanted]

    def document(
        self,
        judgements: Iterable[Judgement],
        typical: TypicalPod,
        notes: Iterable[str] = (),
        trace: str | UnsetType = UNSET,
    ) -> ComparisonDocument:
        judged = tuple(self._judge_condition(each) for each in judgements)
        return ComparisonDocument(
            trace=trace,
            seeds=self.seeds,
            typical_pod=TypicalRequests(typical.cpu_milli, typical.memory_bytes),
            configurations=tuple(
                ComparedConfiguration(
                    name, tuple(self._compare_metric(index, metric) for metric in self.metrics)
                )
                for index, name in enumerate(self.names)
            ),
            runs=self.list_runs(),
            pod_count=self.pod_count,
            different_pods=tuple(
                DifferentlyPlaced(
                    places[0].pod,
                    tuple(
                        PlaceUnder(name, PodOutcome(place.outcome), place.node or None)
                        for name, place in zip(self.names, places, strict=True)
                    ),
                )
                for places in self.different_pods
            ),
            conditions=judged,
            failed=any(each.holds for each in judged),
            notes=tuple(notes),
        )

    def scenario_document(
        self, scenario: str, judgements: Iterable[Judgement]
    ) -> ScenarioComparisonDocument:
        judged = map(self._judge_condition, judgements)
        return ScenarioComparisonDocument(
            scenario,
            self.seeds,
            self.list_metrics(),
            self.list_runs(),
            tuple(HeldCondition(each.condition, each.configurations) for each in judged),
        )

    def list_runs(self) -> tuple[ComparedRun, ...]:
        """Every run with all metrics."""
        return tuple(
            ComparedRun(
                self.names[run.configuration],
                run.seed,
                {name: run.metrics.get(name, 0.0) for name in self.metrics},
            )
            for run in self.runs
        )

    def list_metrics(self) -> tuple[MetricRecord, ...]:
        """Each configuration and metric over all seeds; differences are to the first."""
        return tuple(
            self._metric_record(index, metric)
            for index in range(len(self.names))
            for metric in self.metrics
        )

    def _metric_record(self, index: int, metric: str) -> MetricRecord:
        summary = self.summary(index, metric)
        difference = summary.difference
        return MetricRecord(
            self.names[index],
            metric,
            summary.mean,
            summary.lowest,
            summary.highest,
            difference.mean if difference else None,
            difference.lowest if difference else None,
            difference.highest if difference else None,
            difference.p_value if difference else None,
        )

    def _compare_metric(self, index: int, metric: str) -> ComparedMetric:
        summary = self.summary(index, metric)
        found = summary.difference
        difference = (
            MetricDifference(found.mean, found.lowest, found.highest, found.p_value)
            if found is not None
            else None
        )
        return ComparedMetric(metric, summary.mean, summary.lowest, summary.highest, difference)

    def _judge_condition(self, found: Judgement) -> JudgedCondition:
        names = tuple(self.names[index] for index in found.configurations)
        return JudgedCondition(found.condition.text, bool(names), names)

    def _find_holding(self, condition: MetricCondition) -> Iterable[int]:
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


def metric_records(answer: ComparisonAnswer) -> list[Record]:
    """Each configuration and metric over all seeds; differences are to the first."""
    return [asdict(each) for each in answer.list_metrics()]


def run_records(answer: ComparisonAnswer) -> list[Record]:
    """Each run with its metrics."""
    return [
        {"configuration": run.configuration, "seed": run.seed, **run.metrics}
        for run in answer.list_runs()
    ]


def difference_records(answer: ComparisonAnswer) -> list[Record]:
    """Each pod and configuration that does otherwise than the first, with the first seed."""
    found: list[Record] = []
    for index, name in enumerate(answer.names):
        for places in answer.different_pods:
            first, other = places[0], places[index]
            if first == other:
                continue
            namespace, _, pod = first.pod.partition("/")
            found.append(
                {
                    "namespace": namespace,
                    "name": pod,
                    "configuration": name,
                    "first_node": first.node or None,
                    "node": other.node or None,
                    "first_outcome": first.outcome,
                    "outcome": other.outcome,
                }
            )
    return found
