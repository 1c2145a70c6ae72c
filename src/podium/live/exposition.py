"""A registry of metrics of its own, and its text form.

Metrics are made here from their definitions, so that the flags that hide metrics or label values
hold for all of them. Gauges that can be read off something are read when somebody asks; nothing
keeps them up to date meanwhile.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from podium.live.metric_definitions import Definition
from podium.live.metric_series import (
    AllowedValues,
    CounterSeries,
    Family,
    GaugeSeries,
    HistogramSeries,
    Labels,
    metric_of,
    shown_values,
)
from podium.scheduler.config.flags.client_settings import HostEnvironment
from podium.scheduler.config.flags.option_checks import label_manifest
from podium.scheduler.config.flags.options import Metrics as MetricOptions

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
Reading = Iterable[tuple[Labels, float]]


@dataclass(frozen=True, slots=True)
class MetricRules:
    """What users want hidden: whole metrics, and label values that are not on a list."""

    disabled: frozenset[str] = frozenset()
    allowed: Mapping[str, AllowedValues] = field(default_factory=dict)


EVERYTHING: Final = MetricRules()


def rules_of(options: MetricOptions, host: HostEnvironment) -> MetricRules:
    """The rules of the command line; a manifest that it names is read, and wins.

    Raises FileProblem or ConfigurationError, unless the options have been checked before.
    """
    lists = dict(options.allow_metric_labels or {})
    if options.allow_metric_labels_manifest:
        lists.update(label_manifest(host.read(options.allow_metric_labels_manifest)))
    allowed: dict[str, dict[str, frozenset[str]]] = {}
    for where, values in lists.items():
        metric, _, label = where.partition(",")
        allowed.setdefault(metric, {})[label] = frozenset(values.split(","))
    return MetricRules(frozenset(options.disabled_metrics), allowed)


class Exposition(Collector):
    def __init__(self, rules: MetricRules = EVERYTHING, *, process: bool = True) -> None:
        """`process` adds what is known of any process: CPU time, memory, open files."""
        self._rules = rules
        self._families: list[Family[Any]] = []
        self._readings: list[tuple[Definition, Callable[[], Reading]]] = []
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        if process:
            ProcessCollector(registry=self._registry)

    def counter(self, definition: Definition) -> Family[CounterSeries]:
        return self._kept(Family(definition, CounterSeries, self._allowed(definition)))

    def gauge(self, definition: Definition) -> Family[GaugeSeries]:
        return self._kept(Family(definition, GaugeSeries, self._allowed(definition)))

    def histogram(self, definition: Definition) -> Family[HistogramSeries]:
        return self._kept(Family(definition, HistogramSeries, self._allowed(definition)))

    def read(self, definition: Definition, reading: Callable[[], Reading]) -> None:
        """A metric that is read when somebody asks: label values and a number for each series."""
        if definition.name not in self._rules.disabled:
            self._readings.append((definition, reading))

    def collect(self) -> Iterator[Metric]:
        for family in self._families:
            metric = family.collect()
            if metric is not None:
                yield metric
        for definition, reading in self._readings:
            metric = self._read(definition, reading())
            if metric.samples:
                yield metric

    def text(self) -> bytes:
        return generate_latest(self._registry)

    def reset(self) -> None:
        """Count from zero again."""
        for family in self._families:
            family.reset()

    def _read(self, definition: Definition, reading: Reading) -> Metric:
        metric, allowed = metric_of(definition), self._allowed(definition)
        totals: dict[Labels, float] = {}
        for values, number in reading:
            labels = shown_values(definition, values, allowed)
            totals[labels] = totals.get(labels, 0) + number
        for labels, number in totals.items():
            named = dict(zip(definition.labels, labels, strict=True))
            metric.add_sample(definition.name, named, number)
        return metric

    def _allowed(self, definition: Definition) -> AllowedValues:
        return self._rules.allowed.get(definition.name, {})

    def _kept(self, family: "Family[Any]") -> "Family[Any]":
        """A metric that nobody wants to see is counted all the same, and not shown."""
        if family.definition.name not in self._rules.disabled:
            self._families.append(family)
        return family
