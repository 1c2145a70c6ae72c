"""Metrics of plugins beside the scheduler's own, and what plugins refused, told to those who count.

A plugin's answers about nodes are remembered, so that it cannot count them where it gives them: it
is told after each attempt what it refused (`Plugin.count_refusal`). Code of plugins that breaks
here is told in the log and costs a metric, never a page or an attempt.
"""

from collections.abc import Callable, Iterator, Sequence

from podium.live.exposition import Exposition, Reading
from podium.live.metric_definitions import Definition, MetricKind, Stability
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.faults import describe
from podium.scheduler.framework.handle import CounterMetric, PluginMetric, joined_samples
from podium.scheduler.framework.log import Log
from podium.scheduler.framework.plugin import Plugin
from podium.scheduler.framework.status import Status


def show_plugins(shown: Exposition, engine: Engine) -> None:
    """Let the metrics of an engine's plugins be shown, and their refusals be counted."""
    declared, log = engine.plugin_metrics, engine.log
    for name, metrics in declared.all().items():
        first = metrics[0]
        kind = MetricKind.COUNTER if isinstance(first, CounterMetric) else MetricKind.GAUGE
        definition = Definition(name, kind, Stability.ALPHA, first.words, first.labels)
        shown.read(definition, _reader(declared.plugin_of(name), metrics, log))
    counting = RefusalCounts(engine)
    if counting.is_needed:
        engine.observers.add(counting)


def reset_plugins(engine: Engine) -> None:
    for metrics in engine.plugin_metrics.all().values():
        for metric in metrics:
            if isinstance(metric, CounterMetric):
                metric.reset()


def _reader(plugin: str, metrics: Sequence[PluginMetric], log: Log) -> Callable[[], Reading]:
    def read() -> Reading:
        try:
            return list(joined_samples(metrics).items())
        except Exception as problem:
            name = metrics[0].name
            log.error("Metric cannot be read", err=describe(problem), plugin=plugin, metric=name)
            return ()

    return read


Refusal = tuple[str, Status, int]
"""The point, the status, and of how many nodes."""


class RefusalCounts(Observer):
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._counting = {
            name: {
                plugin.name: plugin
                for plugin in profile.plugins.values()
                if type(plugin).count_refusal is not Plugin.count_refusal
            }
            for name, profile in engine.profiles.items()
        }

    @property
    def is_needed(self) -> bool:
        return any(self._counting.values())

    def pod_decided(self, decision: Decision) -> None:
        counting = self._counting.get(decision.profile)
        if not counting:
            return
        for point, status, nodes in _refusals(decision, counting):
            plugin = counting.get(status.plugin)
            if plugin is not None:
                try:
                    plugin.count_refusal(point, status, nodes)
                except Exception as problem:
                    err = describe(problem)
                    self._engine.log.error("Refusals are not counted", err=err, plugin=plugin.name)


def _refusals(decision: Decision, counting: dict[str, Plugin]) -> Iterator[Refusal]:
    outcome, diagnosis = decision.pre_filter, decision.diagnosis
    if outcome is not None and outcome.status is not None:
        yield "preFilter", outcome.status, diagnosis.node_count if diagnosis else 0
    for result in decision.results:
        if counting.keys().isdisjoint(result.plugins):
            continue
        for status, positions in result.groups():
            yield "filter", status, len(positions)
    if decision.refused_by is not None:
        yield "reserve", decision.refused_by, 1
