"""What the scheduler counts, by kube-scheduler's names, and gauges read off the engine.

    engine ── observed by ──▶ SchedulerMetrics ◀── tells ── driver
                                    │
                                 text()                      /metrics

The engine says what happens to pods, in its queue and to its bindings (`Observer`); the driver
tells of its lease, and counts its own requests and writes beside this (`metered_transport`,
`write_metrics`). What can be read off the engine (pending pods, sizes) is read when somebody asks.
Counting one attempt costs a few microseconds: series are looked up once per profile.

Gauges that are read off the engine when somebody asks. A number that exists anyway is not counted a
second time: it cannot drift from what it stands for. Reading takes one walk over the pods that wait
and one over those on nodes.

Metrics of plugins beside the scheduler's own, and what plugins refused, told to those who count. A
plugin's answers about nodes are remembered, so that it cannot count them where it gives them: it is
told after each attempt what it refused (`Plugin.count_refusal`). Code of plugins that breaks here
is logged and costs a metric, never a page or an attempt.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from podium.live import metric_definitions as known
from podium.live.exposition import (
    EVERYTHING,
    CounterSeries,
    Exposition,
    HistogramSeries,
    MetricRules,
    Reading,
    show_component,
)
from podium.live.metric_definitions import Definition, MetricKind, Stability
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine import Decision, Engine
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.observer import Observer
from podium.scheduler.engine.post_filter import PLUGIN as PREEMPTION
from podium.scheduler.engine.post_filter import POST_FILTER_SKIPPED
from podium.scheduler.engine.requests import Preemptor
from podium.scheduler.framework.events import ClusterEvent
from podium.scheduler.framework.faults import describe
from podium.scheduler.framework.handle import CounterMetric, PluginMetric, joined_samples
from podium.scheduler.framework.log import Log
from podium.scheduler.framework.plugin import Plugin
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.status import Code, Status

_MAX_ATTEMPTS: Final = 15
_SUCCESS: Final = Code.SUCCESS.label
_ERROR: Final = Code.ERROR.label
_BINDING_POINTS: Final = ("PreBind", "Bind", "PostBind")


class _ProfileSeries:
    """The series of one profile that every attempt adds to."""

    def __init__(self, metrics: "SchedulerMetrics", name: str) -> None:
        points = metrics.point_duration
        self.pre_filter = points.of("PreFilter", _SUCCESS, name)
        self.filter = points.of("Filter", _SUCCESS, name)
        self.score = points.of("Score", _SUCCESS, name)
        self.binding = {point: points.of(point, _SUCCESS, name) for point in _BINDING_POINTS}
        results = ("scheduled", "unschedulable", "error")
        self.attempts = {result: metrics.attempts.of(result, name) for result in results}
        self.durations = {result: metrics.attempt_duration.of(result, name) for result in results}


class SchedulerMetrics(Observer):
    def __init__(self, engine: Engine, rules: MetricRules = EVERYTHING) -> None:
        """Observes from now on."""
        self._engine = engine
        shown = self.exposition = Exposition(rules)
        self.attempts = shown.counter(known.SCHEDULE_ATTEMPTS)
        self.attempt_duration = shown.histogram(known.ATTEMPT_DURATION)
        self.point_duration = shown.histogram(known.POINT_DURATION)
        self._algorithm = shown.histogram(known.ALGORITHM_DURATION).of()
        self._permit_wait = shown.histogram(known.PERMIT_WAIT)
        self._sli = shown.histogram(known.POD_SLI_DURATION)
        self._pod_attempts = shown.histogram(known.POD_ATTEMPTS).of()
        self._after_flush = shown.counter(known.SCHEDULED_AFTER_FLUSH).of()
        self._incoming = shown.counter(known.QUEUE_INCOMING)
        self._handling = shown.histogram(known.EVENT_HANDLING)
        self._preemption_attempts = shown.counter(known.PREEMPTION_ATTEMPTS).of()
        self._victims = shown.histogram(known.PREEMPTION_VICTIMS).of()
        self._preemptions = shown.counter(known.PREEMPTION_EXECUTIONS)
        self._preemption_duration = shown.histogram(known.PREEMPTION_DURATION)
        if engine.gates["GenericWorkload"]:
            self._group_attempts = shown.counter(known.GROUP_ATTEMPTS)
            self._group_duration = shown.histogram(known.GROUP_ATTEMPT_DURATION)
            self._group_algorithm = shown.histogram(known.GROUP_ALGORITHM_DURATION).of()
        self._leader = shown.gauge(known.LEADER)
        self._slow_paths = shown.counter(known.LEADER_SLOW_PATH)
        self._evaluated: Counter[tuple[str, str, bool, tuple[str, ...]]] = Counter()
        shown.read(known.PLUGIN_EVALUATIONS, self._evaluations)
        show_engine(shown, engine)
        show_plugins(shown, engine)
        show_component(shown, engine.gates)
        self._profiles = {name: _ProfileSeries(self, name) for name in engine.profiles}
        self._incoming_of: dict[tuple[str, ClusterEvent], CounterSeries] = {}
        self._handling_of: dict[ClusterEvent, HistogramSeries] = {}
        self._preempting = {
            name
            for name, profile in engine.profiles.items()
            if any(plugin.name == PREEMPTION for plugin in profile.post_filter)
        }
        engine.observers.add(self)

    def text(self) -> bytes:
        return self.exposition.text()

    @property
    def victims_total(self) -> int:
        """How many pods had to go for others."""
        return int(self._victims.total)

    def reset(self) -> None:
        """Count from zero again."""
        self.exposition.reset()
        self._evaluated.clear()
        reset_plugins(self._engine)

    # --- what the engine says -----------------------------------------------------------------

    def entered_queue(self, part: str, event: ClusterEvent, queued: QueuedPod) -> None:  # noqa: ARG002
        key = (part, event)
        series = self._incoming_of.get(key)
        if series is None:
            series = self._incoming_of[key] = self._incoming.of(part, str(event))
        series.value += 1

    def pod_decided(self, decision: Decision) -> None:
        """The decision knows what took how long."""
        durations = decision.durations_s
        outcome = decision.pre_filter
        if outcome is None or "pre_filter" not in durations:
            return
        name = decision.profile
        series = self._series_of(name)
        searched = outcome.status is None
        pre_filter_s = durations["pre_filter"]
        filter_s = durations.get("filter", 0.0)
        if outcome.status is not None:
            code = outcome.status.code.label
            self.point_duration.of("PreFilter", code, name).observe(pre_filter_s)
        else:
            series.pre_filter.observe(pre_filter_s)
            if "filter" in durations:
                series.filter.observe(filter_s)
            else:  # filtering broke
                lost_s = durations.get("total", pre_filter_s) - pre_filter_s
                self.point_duration.of("Filter", _ERROR, name).observe(lost_s)
        self._evaluated["Filter", name, searched, tuple(outcome.skipped)] += 1
        rest_s = self._observe_second_half(decision, series)
        self._algorithm.observe(pre_filter_s + filter_s + rest_s)

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:  # noqa: ARG002
        self._observe_attempt(queued, "unschedulable" if rejected else "error")

    def binding_ended(self, queued: QueuedPod, binding: Binding, problem: Status | None) -> None:
        self._time_binding(binding)
        if problem is not None:
            return  # told as a failure
        self._observe_attempt(queued, "scheduled")
        count = queued.attempts
        self._pod_attempts.observe(count)
        if queued.initial_attempt_timestamp is not None:
            shown = str(count) if count < _MAX_ATTEMPTS else f"{_MAX_ATTEMPTS}+"
            waited_s = self._engine.clock() - queued.initial_attempt_timestamp
            self._sli.of(shown).observe(waited_s)
        if queued.flushed:
            self._after_flush.add()

    def _time_binding(self, binding: Binding) -> None:
        name = binding.profile.name
        held = self._series_of(name).binding
        for point, code, seconds in binding.timings:
            if code is Code.SUCCESS:
                held[point].observe(seconds)
            else:
                self.point_duration.of(point, code.label, name).observe(seconds)

    def event_handled(self, event: ClusterEvent, seconds: float) -> None:
        series = self._handling_of.get(event)
        if series is None:
            series = self._handling_of[event] = self._handling.of(str(event))
        series.observe(seconds)

    def preemption_started(
        self,
        preemptor: Preemptor,  # noqa: ARG002
        victims: Sequence[PodInfo],
        node_name: str,  # noqa: ARG002
    ) -> None:
        self._victims.observe(len(victims))

    def preemption_ended(
        self,
        preemptor: Preemptor,  # noqa: ARG002
        node_name: str,  # noqa: ARG002
        problem: str | None,
        seconds: float,
    ) -> None:
        result = "success" if problem is None else "error"
        self._preemptions.of(result).add()
        self._preemption_duration.of(result).observe(seconds)

    def wait_ended(self, waiting: WaitingPod, seconds: float) -> None:
        if waiting.outcome is not None:
            self._permit_wait.of(waiting.outcome.code.label).observe(seconds)

    def group_tried(self, profile: str, result: str, seconds: float, deciding_s: float) -> None:
        self._group_attempts.of(result, profile).add()
        self._group_duration.of(result, profile).observe(seconds)
        self._group_algorithm.observe(deciding_s)

    def _observe_attempt(self, queued: QueuedPod, result: str) -> None:
        series = self._series_of(queued.info.pod.spec.scheduler_name)
        series.attempts[result].value += 1
        series.durations[result].observe(self._engine.clock() - queued.popped_at)

    # --- what the driver tells ----------------------------------------------------------------

    def set_leading(self, lease: str, *, leading: bool) -> None:
        """This scheduler holds the lease from now on, or does not."""
        self._leader.of(lease).set(1 if leading else 0)

    def renewed_slowly(self, lease: str) -> None:
        """A lease could not be renewed without looking at it first."""
        self._slow_paths.of(lease).add()

    def _observe_second_half(self, decision: Decision, series: _ProfileSeries) -> float:
        """The second half of an attempt, scoring or PostFilter; how long it took."""
        durations, name = decision.durations_s, decision.profile
        score_s = durations.get("score")
        if score_s is not None:
            if decision.totals is not None:
                series.score.observe(score_s)
                self._evaluated["Score", name, True, tuple(decision.pre_score_skipped)] += 1
            return score_s
        answer = decision.post_filter
        post_filter_s = durations.get("post_filter", 0.0)
        if answer is None or answer is POST_FILTER_SKIPPED:
            return post_filter_s
        self.point_duration.of("PostFilter", answer.code.label, name).observe(post_filter_s)
        if name in self._preempting:
            self._preemption_attempts.add()
        return post_filter_s

    def _series_of(self, profile: str) -> _ProfileSeries:
        found = self._profiles.get(profile)
        if found is None:  # the pod changed its scheduler's name on the way
            found = self._profiles[profile] = _ProfileSeries(self, profile)
        return found

    def _evaluations(self) -> Reading:
        """Plugins that were asked: one evaluation is for all nodes of an attempt."""
        return [
            ((plugin, point, name), float(count))
            for (half, name, whole, skipped), count in self._evaluated.items()
            for plugin, point in self._list_called_plugins(half, name, whole=whole)
            if plugin not in skipped
        ]

    def _list_called_plugins(
        self, half: str, name: str, *, whole: bool
    ) -> Iterator[tuple[str, str]]:
        profile = self._engine.profiles.get(name)
        if profile is None:
            return
        if half == "Score":
            yield from ((plugin.name, "PreScore") for plugin in profile.pre_score)
            yield from ((plugin.name, "Score") for plugin, _ in profile.score)
            return
        yield from ((plugin.name, "PreFilter") for plugin in profile.pre_filter)
        if whole:
            yield from ((plugin.name, "Filter") for plugin in profile.filter)


def show_engine(shown: Exposition, engine: Engine) -> None:
    shown.read(known.PENDING_PODS, lambda: _read_pending(engine))
    shown.read(known.UNSCHEDULABLE_PODS, lambda: _unschedulable(engine))
    if engine.gates["SchedulerQueueingHints"]:
        shown.read(known.INFLIGHT_EVENTS, lambda: _in_flight(engine))
    shown.read(known.CACHE_SIZE, lambda: _cache(engine))
    shown.read(known.GOROUTINES, lambda: _read_binding(engine))


def _read_pending(engine: Engine) -> Reading:
    return [((part,), count) for part, count in engine.queue.sizes()._asdict().items()]


def _unschedulable(engine: Engine) -> Reading:
    """Waiting pods by every plugin that has rejected them since they were last tried."""
    found: dict[tuple[str, ...], int] = {}
    for queued in engine.queue:
        if queued.rejectors:
            profile = queued.info.pod.spec.scheduler_name
            for plugin in queued.rejectors:
                labels = (plugin, profile)
                found[labels] = found.get(labels, 0) + 1
    return found.items()


def _in_flight(engine: Engine) -> Reading:
    return [((event,), count) for event, count in engine.queue.entries_in_flight().items()]


def _cache(engine: Engine) -> Reading:
    placements = engine.cluster.placements
    assumed = sum(1 for placement in placements.values() if placement.assumed)
    return [
        (("nodes",), engine.cluster.nodes.present_count),
        (("pods",), len(placements)),
        (("assumed_pods",), assumed),
    ]


def _read_binding(engine: Engine) -> Reading:
    """upstream: goroutines; here tasks that bind."""
    under_way = sum(1 for flight in engine.state.flights.values() if flight.started)
    return [(("binding",), under_way)]


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
