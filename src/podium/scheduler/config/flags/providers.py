"""Algorithm providers: the default plugins by name, as `--algorithm-provider` chose them.

Until 1.21 there were two. `DefaultProvider` is the default plugins of v1beta1, and
`ClusterAutoscalerProvider` the same packing pods where the other spreads them. A provider is what a
v1beta1 file starts from; later formats bring their own defaults.

Source: `pkg/scheduler/algorithmprovider/registry.go` at v1.21.
"""

import dataclasses
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.legacy_plugins import V1BETA1_DEFAULTS, merged_v1beta1
from podium.scheduler.config.load import READERS
from podium.scheduler.config.types import PluginRef, Plugins, PluginSet
from podium.scheduler.config.versions import V1BETA1, Version

_DEFAULT: Final = "DefaultProvider"
_AUTOSCALER: Final = "ClusterAutoscalerProvider"
_PACKED: Final = {"NodeResourcesLeastAllocated": "NodeResourcesMostAllocated"}


def is_provider(name: str) -> bool:
    """Whether there is such a provider; an empty name asks for none."""
    return name in ("", _DEFAULT, _AUTOSCALER)


def readers_with(provider: str) -> Mapping[str, Version]:
    """How files are read when their default plugins are a provider's."""
    if provider != _AUTOSCALER:
        return READERS
    return {**READERS, V1BETA1.api_version: dataclasses.replace(V1BETA1, merged=_merged_packed)}


def _merged_packed(user: Plugins, gates: FeatureGates) -> Plugins:
    scores = (
        PluginRef(_PACKED.get(plugin.name, plugin.name), plugin.weight)
        for plugin in V1BETA1_DEFAULTS.score.enabled
    )
    defaults = replace(V1BETA1_DEFAULTS, score=PluginSet(tuple(scores)))
    return merged_v1beta1(user, gates, defaults)
