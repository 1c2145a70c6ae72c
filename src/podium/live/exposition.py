"""A registry of metrics of its own: counted numbers as series, and its text form.

Metrics are made here from their definitions, so that the flags that hide metrics or label values
hold for all of them. Gauges that can be read off something are read when somebody asks; nothing
keeps them up to date meanwhile.

Counted numbers as plain Python numbers, with labels looked up once. A counter that finds its labels
and takes a lock at every call costs microseconds, and a pod is counted a dozen times on its way.
Here whoever counts holds a series and adds to it; names, labels and texts matter only when somebody
reads.

Contract: a series without labels is shown from the start, as is a gauge; another one from its first
count on. After a reset every series counts from zero again, also for those who hold it.

Every component of Kubernetes says its release and its feature gates.
"""

import platform
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import Release
from podium.live import metric_definitions as known
from podium.live.metric_definitions import Definition, MetricKind
from podium.scheduler.config.flags.client_settings import HostEnvironment
from podium.scheduler.config.flags.option_checks import label_manifest
from podium.scheduler.config.flags.options import MetricsFlags as MetricOptions

_TOTAL: Final = "_total"
_LONGEST_WHOLE: Final = 6
_UNEXPECTED: Final = "unexpected"
"""What a label value becomes that an allow-list does not have."""

Labels = tuple[str, ...]
AllowedValues = Mapping[str, frozenset[str]]
"""Label -> the only values that are shown as they are."""


class Series(Protocol):
    @property
    def used(self) -> bool: ...

    def reset(self) -> None: ...

    def add_to(self, metric: Metric, name: str, labels: dict[str, str]) -> None: ...


class CounterSeries:
    __slots__ = ("value",)

    def __init__(self, _: Definition) -> None:
        self.value = 0

    def add(self, amount: int = 1) -> None:
        self.value += amount

    @property
    def used(self) -> bool:
        return self.value != 0

    def reset(self) -> None:
        self.value = 0

    def add_to(self, metric: Metric, name: str, labels: dict[str, str]) -> None:
        metric.add_sample(name, labels, self.value)


class GaugeSeries:
    __slots__ = ("used", "value")

    def __init__(self, _: Definition) -> None:
        self.value = 0.0
        self.used = False

    def set(self, value: float) -> None:
        self.value = value
        self.used = True

    def reset(self) -> None:
        self.value = 0.0
        self.used = False

    def add_to(self, metric: Metric, name: str, labels: dict[str, str]) -> None:
        metric.add_sample(name, labels, self.value)


class HistogramSeries:
    __slots__ = ("_bounds", "_shown_bounds", "counts", "total")

    def __init__(self, definition: Definition) -> None:
        self._bounds = definition.bounds
        self._shown_bounds = [*map(go_number, definition.bounds), "+Inf"]
        self.counts = [0] * (len(self._bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    @property
    def used(self) -> bool:
        return any(self.counts)

    def reset(self) -> None:
        self.counts = [0] * len(self.counts)
        self.total = 0.0

    def add_to(self, metric: Metric, name: str, labels: dict[str, str]) -> None:
        seen = 0
        for bound, count in zip(self._shown_bounds, self.counts, strict=True):
            seen += count
            metric.add_sample(f"{name}_bucket", {**labels, "le": bound}, seen)
        metric.add_sample(f"{name}_sum", labels, self.total)
        metric.add_sample(f"{name}_count", labels, seen)


SeriesT = TypeVar("SeriesT", bound=Series)


class Family(Generic[SeriesT]):
    """All series of one metric."""

    def __init__(
        self,
        definition: Definition,
        make: Callable[[Definition], SeriesT],
        allowed: AllowedValues | None = None,
    ) -> None:
        self.definition = definition
        self._make = make
        self._allowed = allowed or {}
        self._series: dict[Labels, SeriesT] = {}
        if not definition.labels:
            self.of()

    def of(self, *values: str) -> SeriesT:
        """The series with these label values, to be held by whoever counts often."""
        labels = shown_values(self.definition, values, self._allowed)
        found = self._series.get(labels)
        if found is None:
            found = self._series[labels] = self._make(self.definition)
        return found

    def items(self) -> Iterable[tuple[Labels, SeriesT]]:
        """All series with their label values."""
        return self._series.items()

    def collect(self) -> Metric | None:
        """What there is to show."""
        definition = self.definition
        shown = [
            (labels, series)
            for labels, series in self._series.items()
            if series.used or not definition.labels
        ]
        if not shown:
            return None
        metric = metric_of(definition)
        for labels, series in shown:
            named = dict(zip(definition.labels, labels, strict=True))
            series.add_to(metric, definition.name, named)
        return metric

    def reset(self) -> None:
        for series in self._series.values():
            series.reset()


def shown_values(
    definition: Definition, values: Iterable[str], allowed: AllowedValues
) -> tuple[str, ...]:
    """Label values as they are shown, where only some of them may be."""
    if not allowed:
        return tuple(values)
    return tuple(
        value if label not in allowed or value in allowed[label] else _UNEXPECTED
        for label, value in zip(definition.labels, values, strict=True)
    )


def metric_of(definition: Definition) -> Metric:
    """An empty metric for prometheus_client, which puts `_total` behind counters by itself."""
    name = definition.name
    if definition.kind is MetricKind.COUNTER:
        name = name.removesuffix(_TOTAL)
    return Metric(name, definition.help, definition.kind)


def go_number(number: float) -> str:
    """A number as Go spells it in metrics: `0.001`, `1`, `1.6777216e+07`."""
    text = repr(float(number)).removesuffix(".0")
    whole, _, fraction = text.partition(".")
    digits = whole.lstrip("-")
    if "e" in text or len(digits) <= _LONGEST_WHOLE:
        return text
    sign = whole.removesuffix(digits)
    rest = (digits[1:] + fraction).rstrip("0")
    mantissa = f"{digits[0]}.{rest}" if rest else digits[0]
    return f"{sign}{mantissa}e+{len(digits) - 1:02d}"


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
        return self._kept(Family(definition, CounterSeries, self._allowed_values(definition)))

    def gauge(self, definition: Definition) -> Family[GaugeSeries]:
        return self._kept(Family(definition, GaugeSeries, self._allowed_values(definition)))

    def histogram(self, definition: Definition) -> Family[HistogramSeries]:
        return self._kept(Family(definition, HistogramSeries, self._allowed_values(definition)))

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
        metric, allowed = metric_of(definition), self._allowed_values(definition)
        totals: dict[Labels, float] = {}
        for values, number in reading:
            labels = shown_values(definition, values, allowed)
            totals[labels] = totals.get(labels, 0) + number
        for labels, number in totals.items():
            named = dict(zip(definition.labels, labels, strict=True))
            metric.add_sample(definition.name, named, number)
        return metric

    def _allowed_values(self, definition: Definition) -> AllowedValues:
        return self._rules.allowed.get(definition.name, {})

    def _kept(self, family: "Family[Any]") -> "Family[Any]":
        """A metric that nobody wants to see is counted all the same, and not shown."""
        if family.definition.name not in self._rules.disabled:
            self._families.append(family)
        return family


_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def show_component(shown: Exposition, gates: FeatureGates) -> None:
    shown.read(known.FEATURE_ENABLED, lambda: _features(gates))
    shown.read(known.BUILD_INFO, lambda: [(_build(gates.release), 1)])


def runtime() -> str:
    """What is where other components name their version of Go: `CPython 3.11.9`."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def _features(gates: FeatureGates) -> Reading:
    stages = gates.known
    return [((name, stages[name].stage.value), int(on)) for name, on in gates.items()]


def _build(release: Release) -> tuple[str, ...]:
    machine = _ARCHITECTURES.get(platform.machine(), platform.machine())
    return (
        str(release.version.major),
        str(release.version.minor),
        release.patch,
        "",
        "",
        "",
        "",
        runtime(),
        f"{platform.system().lower()}/{machine}",
    )
