"""A profile: one scheduler name with its plugins, instantiated and in calling order.

Which plugin serves which point is decided by configuration (merged with the defaults) and by what
the plugin classes implement; this module builds each plugin once and offers every phase of an
attempt as one call.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.catalog import IndexedPods
from podium.scheduler.cluster.growth import Rows
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.errors import ConfigurationError, FieldProblem
from podium.scheduler.config.flags.client_settings import ClientSettings
from podium.scheduler.config.merge import PointLists, expand_profiles
from podium.scheduler.config.types import Configuration, ExtensionPoint, ProfileConfiguration
from podium.scheduler.framework.asking import in_calling_order
from podium.scheduler.framework.caches import phases
from podium.scheduler.framework.caches.templates import TemplateCache, kinds_to_pass_over
from podium.scheduler.framework.caches.totals import Totals
from podium.scheduler.framework.caches.vectors import VectorCache
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import FilterResult
from podium.scheduler.framework.events import WatchedKind, unique_kinds
from podium.scheduler.framework.faults import locate_problem
from podium.scheduler.framework.filtering import (
    PreFilterOutcome,
    filter_with_nominated,
    run_filters,
    run_pre_filters,
)
from podium.scheduler.framework.handle import Handle, PluginMetrics, Preempting
from podium.scheduler.framework.log import SILENT, Log
from podium.scheduler.framework.points import (
    BindPlugin,
    FilterPlugin,
    PermitPlugin,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.queued import WaitingPods
from podium.scheduler.framework.registry import ArgumentsError, PluginRegistry, arguments_of
from podium.scheduler.framework.scoring import PluginScores, run_pre_scores, run_scores
from podium.scheduler.framework.sources import Sources

P = TypeVar("P", bound=Plugin)


class Profile:
    def __init__(
        self,
        configuration: ProfileConfiguration,
        lists: PointLists,
        plugins: Mapping[str, Plugin],
    ) -> None:
        self.name = configuration.scheduler_name
        self.percentage_of_nodes_to_score = configuration.percentage_of_nodes_to_score
        self.all_reasons = configuration.always_check_all_predicates
        self.plugins = dict(plugins)
        self.vectors: VectorCache | None = VectorCache()
        self.templates = TemplateCache(kinds_to_pass_over(plugins.values()))
        self._lists = lists
        self.pre_enqueue = self._at(ExtensionPoint.PRE_ENQUEUE, PreEnqueuePlugin)
        self.queue_sort = self._at(ExtensionPoint.QUEUE_SORT, QueueSortPlugin)[0]
        self.pre_filter = self._at_or_needed(ExtensionPoint.PRE_FILTER, PreFilterPlugin)
        self.extensions = [p for p in self.pre_filter if isinstance(p, PreFilterExtensions)]
        self.filter = self._at(ExtensionPoint.FILTER, FilterPlugin)
        self.post_filter = self._at(ExtensionPoint.POST_FILTER, PostFilterPlugin)
        self.pre_score = self._at_or_needed(ExtensionPoint.PRE_SCORE, PreScorePlugin)
        self.score = self._list_weighted(ExtensionPoint.SCORE, ScorePlugin)
        self.reserve = self._at(ExtensionPoint.RESERVE, ReservePlugin)
        self.permit = self._at(ExtensionPoint.PERMIT, PermitPlugin)
        self.pre_bind = self._at(ExtensionPoint.PRE_BIND, PreBindPlugin)
        self.bind = self._at(ExtensionPoint.BIND, BindPlugin)
        self.post_bind = self._at(ExtensionPoint.POST_BIND, PostBindPlugin)
        self.placement_generate = self._at(
            ExtensionPoint.PLACEMENT_GENERATE, PlacementGeneratePlugin
        )
        self.placement_score = self._list_weighted(
            ExtensionPoint.PLACEMENT_SCORE, PlacementScorePlugin
        )

    def set_weights(self, lists: PointLists) -> None:
        """Score with the plugins and weights of these lists from now on, between two cycles; they
        differ from those before in nothing else."""
        if lists == self._lists:
            return
        self._lists = lists
        self.score = self._list_weighted(ExtensionPoint.SCORE, ScorePlugin)
        self.placement_score = self._list_weighted(
            ExtensionPoint.PLACEMENT_SCORE, PlacementScorePlugin
        )
        self.templates = TemplateCache(kinds_to_pass_over(self.plugins.values()))
        if self.vectors is not None:
            self.vectors = VectorCache()

    def run_pre_filters(self, cycle: Cycle) -> PreFilterOutcome:
        cycle.all_reasons = self.all_reasons
        remembers = self.vectors is not None and not self.all_reasons
        template = cycle.template = self.templates.of(cycle) if remembers else None
        if template is None:
            return run_pre_filters(self.pre_filter, cycle)
        return phases.pre_filters(self.pre_filter, cycle, template)

    def filter_rows(self, cycle: Cycle, rows: Rows) -> FilterResult:
        """The filter chain over some rows, nominated pods respected."""
        if self.vectors is None or cycle.template is None:
            result = run_filters(self.filter, cycle, rows, self.vectors)
        else:
            result = phases.filters(
                self.filter, cycle, rows, self.vectors, self.templates, cycle.template
            )
        if cycle.nominated:
            filter_with_nominated(self.filter, self.extensions, cycle, rows, result)
        return result

    def run_pre_scores(self, cycle: Cycle, rows: Rows) -> list[str]:
        """Prepare scoring of the feasible rows; returns who stands aside."""
        if cycle.template is None:
            return run_pre_scores(self.pre_score, cycle, rows)
        return phases.pre_scores(self.pre_score, cycle, rows, cycle.template)

    def score_rows(self, cycle: Cycle, rows: Rows) -> tuple[list[PluginScores], Totals]:
        """Scores per plugin and weighted totals of the feasible rows."""
        if self.vectors is None or cycle.template is None:
            scores, total = run_scores(self.score, cycle, rows, self.vectors)
            return scores, Totals(total)
        return phases.scores(self.score, cycle, rows, self.vectors, self.templates, cycle.template)

    @property
    def watched_kinds(self) -> tuple[WatchedKind, ...]:
        """Kinds that its plugins read beside those that every scheduler watches."""
        return unique_kinds(kind for p in self.plugins.values() for kind in p.watched_kinds)

    def rows_are_independent(self, cycle: Cycle) -> bool:
        """Whether a pod on one node cannot change what the filters say of another."""
        return all(plugin.name in cycle.skip_filter for plugin in self.extensions)

    def points(self) -> dict[str, list[tuple[str, int]]]:
        """Extension point -> plugins in order with their weights (0 where weights mean nothing)."""
        return {
            point.value: [(ref.name, ref.weight) for ref in refs]
            for point, refs in self._lists.items()
        }

    def _at(self, point: ExtensionPoint, kind: type[P]) -> list[P]:
        found: list[P] = []
        for ref in self._lists[point]:
            plugin = self.plugins[ref.name]
            if isinstance(plugin, kind):
                found.append(plugin)
        return found

    def _at_or_needed(self, point: ExtensionPoint, kind: type[P]) -> list[P]:
        """Those that are listed, and those that build on the point and are off there.

        Upstream has the latter fail every pod: they find nothing of what they read later.
        """
        found = self._at(point, kind)
        for at, refs in self._lists.items():
            for ref in refs:
                plugin = self.plugins[ref.name]
                needed = plugin.builds_on.get(at.value) == point.value
                if needed and isinstance(plugin, kind) and plugin not in found:
                    found.append(plugin)
        return found

    def _list_weighted(self, point: ExtensionPoint, kind: type[P]) -> list[tuple[P, int]]:
        weights = {ref.name: ref.weight or 1 for ref in self._lists[point]}
        return [(plugin, weights[plugin.name]) for plugin in self._at(point, kind)]


def build_profiles(
    configuration: Configuration,
    registry: PluginRegistry,
    cluster: Cluster,
    gates: FeatureGates,
    waiting: WaitingPods,
    preempting: Preempting | None = None,
    clock: Callable[[], float] = lambda: 0.0,
    *,
    sources: Sources | None = None,
    pods: IndexedPods | None = None,
    client_settings: ClientSettings | None = None,
    log: Log = SILENT,
    metrics: PluginMetrics | None = None,
) -> dict[str, Profile]:
    """Every profile of a configuration, by scheduler name; raises ConfigurationError."""
    metrics = metrics if metrics is not None else PluginMetrics()
    sources = sources if sources is not None else Sources(cluster.nodes, clock)
    known_pods = pods if pods is not None else IndexedPods()
    lists = expand_profiles(configuration, registry.implements, registry.__contains__)
    extenders = in_calling_order(configuration.extenders)
    return {
        profile.scheduler_name: _build_profile(
            profile,
            index,
            lists[profile.scheduler_name],
            registry,
            Handle(
                cluster,
                gates,
                waiting,
                preempting,
                clock,
                extenders,
                sources=sources,
                pods=known_pods,
                client_settings=client_settings,
                log=log,
                metrics=metrics,
            ),
        )
        for index, profile in enumerate(configuration.profiles)
    }


def _build_profile(
    configuration: ProfileConfiguration,
    index: int,
    lists: PointLists,
    registry: PluginRegistry,
    handle: Handle,
) -> Profile:
    plugins = {
        name: _build_plugin(registry.get(name), configuration, index, handle)
        for name in _names(lists.values())
    }
    profile = Profile(configuration, lists, plugins)
    handle.profile = profile
    return profile


def _build_plugin(
    kind: type[Plugin], configuration: ProfileConfiguration, index: int, handle: Handle
) -> Plugin:
    name = kind.name
    try:
        plugin = kind(arguments_of(kind, configuration.plugin_args.get(name)), handle)
        for source in plugin.sources():
            handle.sources.declare(source, name)
        for metric in plugin.metrics():
            handle.metrics.declare(metric, name)
        return plugin
    except ArgumentsError as problem:
        path = _arguments_path(configuration, index, name) + problem.path.removeprefix("args")
        field = FieldProblem(path, f"{problem.problem} (plugin {name})")
        raise ConfigurationError(str(field), (field,), remedy=problem.remedy) from None
    except Exception as problem:
        raise ConfigurationError(
            f"initializing profiles: creating profile for scheduler name"
            f' {configuration.scheduler_name}: initializing plugin "{name}":'
            f" {locate_problem(problem)}"
        ) from problem


def _arguments_path(configuration: ProfileConfiguration, index: int, plugin: str) -> str:
    """Where a plugin's arguments stand, or would stand, in the file."""
    written = list(configuration.plugin_args)
    entry = str(written.index(plugin)) if plugin in written else ""
    return f"profiles[{index}].pluginConfig[{entry}].args"


def _names(lists: Iterable[Sequence[object]]) -> list[str]:
    found: dict[str, None] = {}
    for refs in lists:
        for ref in refs:
            found[str(getattr(ref, "name", ""))] = None
    return list(found)
