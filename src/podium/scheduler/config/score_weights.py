"""Other weights for the score plugins of a profile, as somebody would write them into a file.

A weight is changed where it stands: in the list of `score`, otherwise in `multiPoint`. A weight of
0 means unset in a file, so here it stands for a plugin that is disabled at `score`, which is what
whoever asks for it means.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from podium.scheduler.config.merge import ALL
from podium.scheduler.config.types import (
    API_VERSION,
    KIND,
    Configuration,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfiguration,
)

MAX_WEIGHT: Final = 100


def with_score_weights(
    configuration: Configuration, scheduler_name: str, weights: Mapping[str, int]
) -> Configuration:
    """The configuration with these weights by plugin in one profile; others stay as they are."""
    profiles = tuple(
        _reweighted(profile, weights) if profile.scheduler_name == scheduler_name else profile
        for profile in configuration.profiles
    )
    return replace(configuration, profiles=profiles)


def _reweighted(profile: ProfileConfiguration, weights: Mapping[str, int]) -> ProfileConfiguration:
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
            score=PluginSet(_weighted(listed, weights), disabled),
            multi_point=PluginSet(
                _weighted(plugins.multi_point.enabled, everywhere), plugins.multi_point.disabled
            ),
        ),
    )


def _weighted(refs: tuple[PluginRef, ...], weights: Mapping[str, int]) -> tuple[PluginRef, ...]:
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
