"""Numbers of plugins for whoever runs the scheduler: counted in memory, shown by the driver.

A plugin says by `Plugin.metrics` what it has to show: counters that it adds to, and gauges that are
read when somebody asks. A driver that serves `/metrics` shows them there under their names; others
leave them alone, and counting costs a look into a dictionary.

The plugins of several profiles are one program to those who look: counters of one name are added
up, and of gauges the first is shown that says something of the same labels.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_OF_THE_SCHEDULER: Final = (
    "scheduler_",
    "rest_client_",
    "leader_election_",
    "kubernetes_",
    "kube_",
    "process_",
)

Labels = tuple[str, ...]
Samples = Iterable[tuple[Labels, float]]


class MetricError(ValueError):
    """A metric is declared in a way that cannot be."""


class PluginMetric:
    """A name, a line of help, and the names of its labels."""

    def __init__(self, name: str, words: str, labels: Labels = ()) -> None:
        """Raises MetricError."""
        for text in (name, *labels):
            if not _NAME.fullmatch(text):
                raise MetricError(f"metric {name}: {text!r} is no name: right is a_name_like_this")
        if name.startswith(_OF_THE_SCHEDULER):
            raise MetricError(f"metric {name}: such names are the scheduler's own; begin otherwise")
        self.name = name
        self.words = words
        self.labels = labels

    def samples(self) -> Samples:
        """Values of the labels, in their order, and a number for each."""
        raise NotImplementedError

    def _checked(self, labels: Labels) -> Labels:
        if len(labels) != len(self.labels):
            raise MetricError(f"metric {self.name} has the labels {self.labels}, not {labels}")
        return labels


class CounterMetric(PluginMetric):
    """Something that is counted; its name ends with `_total`."""

    def __init__(self, name: str, words: str, labels: Labels = ()) -> None:
        super().__init__(name, words, labels)
        if not name.endswith("_total"):
            raise MetricError(f"counter {name}: right is {name}_total")
        self._counts: dict[Labels, int] = {}

    def add(self, *labels: str, amount: int = 1) -> None:
        known = self._counts.get(labels)
        if known is None:
            known = self._counts[self._checked(labels)] = 0
        self._counts[labels] = known + amount

    def samples(self) -> Samples:
        return list(self._counts.items())

    def reset(self) -> None:
        """Count from zero again."""
        self._counts.clear()


class GaugeMetric(PluginMetric):
    """Something that is read when somebody asks."""

    def __init__(
        self, name: str, words: str, labels: Labels = (), *, read: Callable[[], Samples]
    ) -> None:
        super().__init__(name, words, labels)
        self._read = read

    def samples(self) -> Samples:
        return [(self._checked(labels), number) for labels, number in self._read()]


class PluginMetrics:
    """All metrics of the plugins of one scheduler, by name."""

    def __init__(self) -> None:
        self._declared: dict[str, list[PluginMetric]] = {}
        self._declared_by: dict[str, str] = {}

    def declare(self, metric: PluginMetric, plugin: str) -> None:
        """Raises MetricError."""
        if not isinstance(metric, CounterMetric | GaugeMetric):
            raise MetricError(
                f"{type(metric).__name__} is no metric: make a CounterMetric or a GaugeMetric"
            )
        name = metric.name
        owner = self._declared_by.setdefault(name, plugin)
        known = self._declared.setdefault(name, [])
        alike = all(type(each) is type(metric) and each.labels == metric.labels for each in known)
        if owner != plugin or not alike:
            raise MetricError(
                f"metric {name} of plugin {plugin} is not the one that plugin {owner} declared:"
                " give it a name of its own"
            )
        known.append(metric)

    def all(self) -> Mapping[str, "list[PluginMetric]"]:
        """The metrics of each name, one for each profile that has the plugin."""
        return self._declared

    def plugin_of(self, name: str) -> str:
        return self._declared_by[name]


def joined_samples(metrics: Iterable[PluginMetric]) -> dict[Labels, float]:
    """What metrics of one name say together."""
    found: dict[Labels, float] = {}
    for metric in metrics:
        adds_up = isinstance(metric, CounterMetric)
        for labels, number in metric.samples():
            if adds_up:
                found[labels] = found.get(labels, 0) + number
            else:
                found.setdefault(labels, number)
    return found
