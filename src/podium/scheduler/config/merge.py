"""How a user's plugin lists, the defaults and `multiPoint` become the lists of all points.

Two steps, both pure. Merging lays the user's sets over the default ones: a default that the user
lists again keeps its place and takes the user's weight. Expansion then answers what runs at one
point: plugins of `multiPoint` that the user also lists at the point come first, in the user's
order; then the rest of `multiPoint`; then what is listed at the point only.

    defaults        multiPoint: A B C
    user            multiPoint: enabled D, disabled B        score: enabled C
    merged          multiPoint: A C D                        score: enabled C
    at score        C, A, D

Precedence in one sentence: the point beats the user's `multiPoint`, which beats the defaults, and
at the same level *enabled* beats *disabled*.

Sources: `pkg/scheduler/apis/config/v1/default_plugins.go` and
`pkg/scheduler/framework/runtime/framework.go`.

The plugin lists of whole profiles, with every check that upstream makes when it builds them.
`merge.expand_point` answers for one point; here all points of all profiles are answered together,
in upstream's order, so that of several mistakes the same one is reported. The plugins themselves
are described by two questions that the caller answers, because this package knows none of them.

Other weights for the score plugins of a profile, as somebody would write them into a file. A weight
is changed where it is: in the list of `score`, otherwise in `multiPoint`. A weight of 0 means
unset in a file, so here it stands for a plugin that is disabled at `score`, which is what whoever
asks for it means.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from podium.golang.quoting import go_quote
from podium.kubernetes.releases.release import release
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.types import (
    API_VERSION,
    KIND,
    Configuration,
    ExtensionPoint,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfiguration,
    points_of,
)
from podium.scheduler.config.validation import IN_TREE_VOLUME_LIMITS

ALL: Final = "*"

Implements = Callable[[str, ExtensionPoint], bool]
"""Whether the plugin of this name can run at this point."""

Exists = Callable[[str], bool]
"""Whether there is a plugin of this name at all."""


class PluginListError(ConfigurationError):
    """A profile's plugin lists that contradict the plugins or themselves."""


def merge_plugins(defaults: Plugins, user: Plugins) -> Plugins:
    """Lay the user's sets over the default ones, each of the fifteen on its own."""
    return Plugins(
        **{name: merge_set(default, getattr(user, name)) for name, default in defaults.items()}
    )


def merge_set(default: PluginSet, user: PluginSet) -> PluginSet:
    """Lay one user's set over the default one. Weights of disabled plugins are dropped."""
    disabled = tuple(PluginRef(plugin.name) for plugin in (*user.disabled, *default.disabled))
    off = {plugin.name for plugin in disabled}
    index_of = {plugin.name: index for index, plugin in enumerate(user.enabled)}
    taken: set[int] = set()
    enabled: list[PluginRef] = []
    if ALL not in off:
        for plugin in default.enabled:
            if plugin.name in off:
                continue
            index = index_of.get(plugin.name)
            if index is None:
                enabled.append(plugin)
            else:
                taken.add(index)
                enabled.append(user.enabled[index])
    enabled.extend(plugin for index, plugin in enumerate(user.enabled) if index not in taken)
    return PluginSet(tuple(enabled), disabled)


def every_name(_name: str) -> bool:
    """The answer of a caller who knows that all the plugins named exist."""
    return True


def expand_point(
    plugins: Plugins,
    point: ExtensionPoint | str,
    implements: Implements,
    exists: Exists = every_name,
) -> tuple[PluginRef, ...]:
    """What runs at one point, in order, with the weights in force there.

    Weights are 0 at points where they mean nothing. Raises PluginListError when the lists name a
    plugin that does not exist, name one twice, or list one at a point that it does not implement.
    """
    point = ExtensionPoint(point)
    specific = check_specific(plugins, point, implements, exists)
    names = _with_multi_point(plugins, point, implements, exists, specific)
    weights = point_weights(plugins, point, implements) if point.is_weighted else {}
    return tuple(PluginRef(name, weights.get(name, 0)) for name in names)


def check_specific(
    plugins: Plugins, point: ExtensionPoint, implements: Implements, exists: Exists = every_name
) -> tuple[str, ...]:
    """The names listed at the point itself, once it is certain that they can run there."""
    names: dict[str, None] = {}
    for plugin in plugins.at(point).enabled:
        _check_exists(plugin.name, point, exists)
        if not implements(plugin.name, point):
            raise PluginListError(
                f"plugin {go_quote(plugin.name)} does not extend {point.plugin_type} plugin"
            )
        if plugin.name in names:
            raise _registered_twice(plugin.name, point)
        names[plugin.name] = None
    return tuple(names)


def point_weights(
    plugins: Plugins, point: ExtensionPoint, implements: Implements
) -> Mapping[str, int]:
    """The weight of every plugin that could run at the point.

    The first mention counts, the point's own list before `multiPoint`, and 0 becomes 1. Hence a
    plugin listed at the point without a weight has 1 there, whatever `multiPoint` says.
    """
    weights: dict[str, int] = {}
    for plugin in (*plugins.at(point).enabled, *plugins.multi_point.enabled):
        if plugin.name not in weights and implements(plugin.name, point):
            weights[plugin.name] = plugin.weight or 1
    return weights


def _with_multi_point(
    plugins: Plugins,
    point: ExtensionPoint,
    implements: Implements,
    exists: Exists,
    specific: tuple[str, ...],
) -> list[str]:
    off = {plugin.name for plugin in plugins.at(point).disabled}
    if ALL in off:
        return list(specific)
    multi: dict[str, None] = {}
    overridden: set[str] = set()
    for plugin in plugins.multi_point.enabled:
        _check_exists(plugin.name, point, exists)
        if plugin.name in off or not implements(plugin.name, point):
            continue
        if plugin.name in specific:
            overridden.add(plugin.name)
        elif plugin.name in multi:
            raise _registered_twice(plugin.name, point)
        else:
            multi[plugin.name] = None
    return [
        *(name for name in specific if name in overridden),
        *multi,
        *(name for name in specific if name not in overridden),
    ]


def _check_exists(name: str, point: ExtensionPoint, exists: Exists) -> None:
    if not exists(name):
        raise PluginListError(f"{point.plugin_type} {go_quote(name)} does not exist")


def _registered_twice(name: str, point: ExtensionPoint) -> PluginListError:
    return PluginListError(f'plugin {go_quote(name)} already registered as "{point.plugin_type}"')


PointLists = Mapping[ExtensionPoint, tuple[PluginRef, ...]]

_MAX_NODE_SCORE: Final = 100
_MAX_INT64: Final = 2**63 - 1
_WEIGHTED_POINTS: Final = (
    (ExtensionPoint.SCORE, "score plugins"),
    (ExtensionPoint.PLACEMENT_SCORE, "placement score plugins"),
)


def expand_profiles(
    configuration: Configuration, implements: Implements, exists: Exists
) -> Mapping[str, PointLists]:
    """What runs at every point of every profile, by scheduler name.

    Raises PluginListError with the text that kube-scheduler exits with.
    """
    if configuration.api_version == API_VERSION:
        exists = _without_volume_limits(exists)
    expanded: dict[str, PointLists] = {}
    for profile in configuration.profiles:
        try:
            expanded[profile.scheduler_name] = expand_profile(profile, implements, exists)
        except PluginListError as error:
            raise PluginListError(
                f"initializing profiles: creating profile for scheduler name "
                f"{profile.scheduler_name}: {error}"
            ) from None
        _check_same_queue_sort(configuration.profiles[0], profile, expanded)
    return expanded


def _without_volume_limits(exists: Exists) -> Exists:
    """upstream: v1 knows nothing of these, while older versions have them as defaults."""
    return lambda name: name not in IN_TREE_VOLUME_LIMITS and exists(name)


def expand_profile(
    profile: ProfileConfiguration, implements: Implements, exists: Exists
) -> PointLists:
    """What runs at every point of one profile."""
    plugins = profile.plugins
    # Two rounds: a mistake in any point's own list is reported before one in multiPoint.
    points = points_of(release())
    for point in points:
        check_specific(plugins, point, implements, exists)
    lists = {point: expand_point(plugins, point, implements, exists) for point in points}
    _check_counts(profile.scheduler_name, lists)
    for point, title in _WEIGHTED_POINTS:
        _check_total_weight(point_weights(plugins, point, implements), title)
    return lists


def _check_counts(scheduler_name: str, lists: PointLists) -> None:
    of_profile = f"profile with scheduler name {go_quote(scheduler_name)}"
    queue_sorts = len(lists[ExtensionPoint.QUEUE_SORT])
    if queue_sorts != 1:
        raise PluginListError(
            f"only one queue sort plugin required for {of_profile}, but got {queue_sorts}"
        )
    if not lists[ExtensionPoint.BIND]:
        raise PluginListError(f"at least one bind plugin is needed for {of_profile}")
    if len(lists[ExtensionPoint.PLACEMENT_GENERATE]) > 1:
        raise PluginListError(f"at most one placement generate plugin is allowed for {of_profile}")


def _check_total_weight(weights: Mapping[str, int], title: str) -> None:
    # upstream: the guard is 64-bit arithmetic that wraps, so a negative running sum makes it refuse
    # whatever plugin follows, while a negative weight at the end passes.
    total = 0
    for weight in weights.values():
        if weight * _MAX_NODE_SCORE > _wrap_weight(_MAX_INT64 - total):
            raise PluginListError(f"{title}: total score of Score plugins could overflow")
        total = _wrap_weight(total + weight * _MAX_NODE_SCORE)


def _wrap_weight(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _check_same_queue_sort(
    first: ProfileConfiguration, profile: ProfileConfiguration, expanded: Mapping[str, PointLists]
) -> None:
    ours = _queue_sort(expanded[profile.scheduler_name])
    theirs = _queue_sort(expanded[first.scheduler_name])
    if ours != theirs:
        raise PluginListError(
            f"initializing profiles: different queue sort plugins for profile "
            f"{go_quote(profile.scheduler_name)}: {go_quote(ours)}, first: {go_quote(theirs)}"
        )
    if profile.plugin_args.get(ours) != first.plugin_args.get(ours):
        raise PluginListError(
            f"initializing profiles: different queue sort plugin args for profile "
            f"{go_quote(profile.scheduler_name)}"
        )


def _queue_sort(lists: PointLists) -> str:
    return lists[ExtensionPoint.QUEUE_SORT][0].name


MAX_WEIGHT: Final = 100


def with_score_weights(
    configuration: Configuration, scheduler_name: str, weights: Mapping[str, int]
) -> Configuration:
    """The configuration with these weights by plugin in one profile; others stay as they are."""
    profiles = tuple(
        _reweight_profile(profile, weights) if profile.scheduler_name == scheduler_name else profile
        for profile in configuration.profiles
    )
    return replace(configuration, profiles=profiles)


def _reweight_profile(
    profile: ProfileConfiguration, weights: Mapping[str, int]
) -> ProfileConfiguration:
    plugins = profile.plugins
    own = {ref.name for ref in plugins.score.enabled}
    everywhere = {name: w for name, w in weights.items() if w and name not in own}
    off = [name for name, weight in weights.items() if not weight]
    disabled = plugins.score.disabled
    if all(ref.name != ALL for ref in disabled):
        disabled = (*disabled, *map(PluginRef, off))
    listed = tuple(ref for ref in plugins.score.enabled if ref.name not in off)
    return replace(
        profile,
        plugins=replace(
            plugins,
            score=PluginSet(_weigh_plugins(listed, weights), disabled),
            multi_point=PluginSet(
                _weigh_plugins(plugins.multi_point.enabled, everywhere),
                plugins.multi_point.disabled,
            ),
        ),
    )


def _weigh_plugins(
    refs: tuple[PluginRef, ...], weights: Mapping[str, int]
) -> tuple[PluginRef, ...]:
    return tuple(PluginRef(ref.name, weights.get(ref.name, ref.weight)) for ref in refs)


def score_weights_file(
    plugins: Plugins, scheduler_name: str, weights: Mapping[str, int]
) -> dict[str, Any]:
    """What a file has to say so that these weights are in force and everything else is as it is by
    default; `plugins` are those of the profile before."""
    own = {ref.name for ref in plugins.score.enabled}
    lists: dict[str, Any] = {}
    for point, names in (
        ("multiPoint", [name for name in weights if name not in own]),
        ("score", [name for name in weights if name in own]),
    ):
        enabled = [{"name": name, "weight": weights[name]} for name in names if weights[name]]
        if enabled:
            lists.setdefault(point, {})["enabled"] = enabled
    off = [{"name": name} for name, weight in weights.items() if not weight]
    if off:
        lists.setdefault("score", {})["disabled"] = off
    profile = {"schedulerName": scheduler_name, "plugins": lists}
    return {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
