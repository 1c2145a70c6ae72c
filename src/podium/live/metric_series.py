"""Counted numbers as plain Python numbers, with labels looked up once.

A counter that finds its labels and takes a lock at every call costs microseconds, and a pod is
counted a dozen times on its way. Here whoever counts holds a series and adds to it; names, labels
and texts matter only when somebody reads.

Contract: a series without labels is shown from the start, as is a gauge; another one from its first
count on. After a reset every series counts from zero again, also for those who hold it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Generic, Protocol, TypeVar

from prometheus_client.core import Metric

from podium.live.metric_definitions import Definition, MetricKind

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
