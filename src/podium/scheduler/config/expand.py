"""The plugin lists of whole profiles, with every check that upstream makes when it builds them.

`merge.expand_point` answers for one point; here all points of all profiles are answered together,
in upstream's order, so that of several mistakes the same one is reported. The plugins themselves
are described by two questions that the caller answers, because this package knows none of them.
"""

from collections.abc import Mapping
from typing import Final

from podium.golang.quoting import quoted
from podium.kubernetes.releases.release import release
from podium.scheduler.config.merge import (
    Exists,
    Implements,
    PluginListError,
    check_specific,
    expand_point,
    point_weights,
)
from podium.scheduler.config.points import ExtensionPoint, points_of
from podium.scheduler.config.types import (
    API_VERSION,
    Configuration,
    PluginRef,
    ProfileConfiguration,
)
from podium.scheduler.config.validation import IN_TREE_VOLUME_LIMITS

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
    of_profile = f"profile with scheduler name {quoted(scheduler_name)}"
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
        if weight * _MAX_NODE_SCORE > _wrapped(_MAX_INT64 - total):
            raise PluginListError(f"{title}: total score of Score plugins could overflow")
        total = _wrapped(total + weight * _MAX_NODE_SCORE)


def _wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _check_same_queue_sort(
    first: ProfileConfiguration, profile: ProfileConfiguration, expanded: Mapping[str, PointLists]
) -> None:
    ours = _queue_sort(expanded[profile.scheduler_name])
    theirs = _queue_sort(expanded[first.scheduler_name])
    if ours != theirs:
        raise PluginListError(
            f"initializing profiles: different queue sort plugins for profile "
            f"{quoted(profile.scheduler_name)}: {quoted(ours)}, first: {quoted(theirs)}"
        )
    if profile.plugin_args.get(ours) != first.plugin_args.get(ours):
        raise PluginListError(
            f"initializing profiles: different queue sort plugin args for profile "
            f"{quoted(profile.scheduler_name)}"
        )


def _queue_sort(lists: PointLists) -> str:
    return lists[ExtensionPoint.QUEUE_SORT][0].name
