"""A loaded configuration written out again: the effective configuration of kube-scheduler.

The form is that of `--write-config-to`: the version it was read in, everything filled in,
`multiPoint` merged but not expanded, arguments only of plugins in use and sorted by name, a weight
on every plugin. Loading what is written here gives the same configuration.
"""

import base64
import math
import struct
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import fields

from podium.golang.durations import Duration
from podium.kubernetes.kinds.pod import (
    NodeSelector,
    NodeSelectorRequirement,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
)
from podium.scheduler.config.expand import PointLists
from podium.scheduler.config.json_text import WrittenFloat
from podium.scheduler.config.merge import ALL
from podium.scheduler.config.plugin_args import (
    NO_ARGS,
    DynamicResourcesArgs,
    PluginArgs,
    RawArgs,
    ResourceSpec,
    UtilizationShapePoint,
)
from podium.scheduler.config.typed_args import ARGS_SUFFIX
from podium.scheduler.config.types import (
    KIND,
    Configuration,
    Extender,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfiguration,
)

_DEFAULTS_AT_POINTS: Final = ("v1beta1", "v1beta2")
_MISSING_POINTS: Final = {
    "v1beta1": ("preEnqueue", "multiPoint", "placementGenerate", "placementScore"),
    "v1beta2": ("preEnqueue", "placementGenerate", "placementScore"),
    "v1beta3": ("placementGenerate", "placementScore"),
}
# Fields of arguments that came later, by version and plugin.
_MISSING_IN_ARGS: Final = {
    ("v1beta1", "InterPodAffinity"): "ignorePreferredTermsOfExistingPods",
}
_DEFAULT_EXTENDER_TIMEOUT: Final = Duration.of_seconds(5)
# Fields that Go writes even when they are empty.
_ALWAYS_WRITTEN: Final[Mapping[type[msgspec.Struct], tuple[str, ...]]] = {
    Extender: ("urlPrefix",),
    NodeSelector: ("nodeSelectorTerms",),
    NodeSelectorRequirement: ("key", "operator"),
    PreferredSchedulingTerm: ("weight", "preference"),
    TopologySpreadConstraint: ("maxSkew", "topologyKey", "whenUnsatisfiable"),
}


def effective(configuration: Configuration) -> dict[str, Any]:
    """The configuration as a document, its keys in the order of the alphabet."""
    document = {
        "apiVersion": configuration.api_version,
        "kind": KIND,
        "parallelism": configuration.parallelism,
        "percentageOfNodesToScore": configuration.percentage_of_nodes_to_score,
        "podInitialBackoffSeconds": configuration.pod_initial_backoff_seconds,
        "podMaxBackoffSeconds": configuration.pod_max_backoff_seconds,
        "leaderElection": _whole(configuration.leader_election),
        "clientConnection": {
            **_whole(configuration.client_connection),
            "qps": _shortest(configuration.client_connection.qps),
        },
        "enableProfiling": configuration.enable_profiling,
        "enableContentionProfiling": configuration.enable_contention_profiling,
        "profiles": [
            _profile(profile, configuration.api_version) for profile in configuration.profiles
        ],
    }
    if configuration.api_version.endswith("/v1beta2"):
        document |= {"healthzBindAddress": "", "metricsBindAddress": ""}
    if configuration.delay_cache_until_active:
        document["delayCacheUntilActive"] = True
    if configuration.extenders:
        document["extenders"] = [_extender(extender) for extender in configuration.extenders]
    return dict(_sorted(document))


def expanded(lists: Mapping[str, PointLists]) -> list[dict[str, list[Any]]]:
    """What runs at every point of every profile; points without plugins are left out."""
    return [
        {
            point.value: [[p.name, p.weight] if point.is_weighted else p.name for p in found]
            for point, found in profile.items()
            if found
        }
        for profile in lists.values()
    ]


def _profile(profile: ProfileConfiguration, api_version: str) -> dict[str, Any]:
    written: dict[str, Any] = {
        "schedulerName": profile.scheduler_name,
        "plugins": _plugins(profile.plugins, api_version),
    }
    if profile.percentage_of_nodes_to_score is not None:
        written["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
    used = profile.plugins.enabled_names()
    entries = [
        _plugin_config(name, args, api_version)
        for name, args in sorted(profile.plugin_args.items())
        if name in used and args != NO_ARGS
    ]
    if entries:
        written["pluginConfig"] = entries
    return written


def _plugins(plugins: Plugins, api_version: str) -> dict[str, Any]:
    version = api_version.rpartition("/")[2]
    sets = {info.encode_name: getattr(plugins, info.name) for info in fields(plugins)}
    if version in _DEFAULTS_AT_POINTS:
        # These versions remember nothing as disabled; without this the defaults would come back.
        sets = {
            name: PluginSet(found.enabled, (PluginRef(ALL),)) if name != "multiPoint" else found
            for name, found in sets.items()
        }
    missing = _MISSING_POINTS.get(version, ())
    return {name: _plugin_set(found) for name, found in sets.items() if name not in missing}


def _plugin_config(name: str, args: PluginArgs | RawArgs, api_version: str) -> dict[str, Any]:
    if isinstance(args, RawArgs):
        return {"name": name, "args": _plain(args.value)}
    header = {"apiVersion": api_version, "kind": f"{name}{ARGS_SUFFIX}"}
    written = {**header, **_plain(args)}
    if isinstance(args, DynamicResourcesArgs):
        # upstream: written even when its gate is off and there is none.
        written.setdefault("filterTimeout", None)
    written.pop(_MISSING_IN_ARGS.get((api_version.rpartition("/")[2], name), ""), None)
    return {"name": name, "args": written}


def _plugin_set(plugins: PluginSet) -> dict[str, Any]:
    lists = {"enabled": plugins.enabled, "disabled": plugins.disabled}
    return {name: [_whole(plugin) for plugin in found] for name, found in lists.items() if found}


def _extender(extender: Extender) -> dict[str, Any]:
    timeout = extender.http_timeout
    if not timeout.nanoseconds:
        extender = msgspec.structs.replace(extender, http_timeout=_DEFAULT_EXTENDER_TIMEOUT)
    written: dict[str, Any] = _plain(extender)
    return written


def _whole(value: msgspec.Struct) -> dict[str, Any]:
    """A Struct with all its fields, whatever they are."""
    return {info.encode_name: _plain(getattr(value, info.name)) for info in fields(value)}


def _plain(value: Any) -> Any:
    """A value as JSON has it; of a Struct, only the fields that say something."""
    match value:
        case Duration():
            return str(value)
        case ResourceSpec() | UtilizationShapePoint():
            return _whole(value)
        case PluginArgs():
            inner = ((info.encode_name, getattr(value, info.name)) for info in fields(value))
            return {name: _plain(v) for name, v in inner if v is not None and v != ()}
        case msgspec.Struct():
            always = _ALWAYS_WRITTEN.get(type(value), ())
            return {
                info.encode_name: _plain(getattr(value, info.name))
                for info in fields(value)
                if info.encode_name in always
                or getattr(value, info.name) not in (info.default, (), None)
            }
        case Mapping():
            return {key: _plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_plain(inner) for inner in value]
        case bytes():
            return base64.b64encode(value).decode()
        case bool() | str() | None:
            return value
        case int():
            # upstream: what goes beyond 64 bits has become a float.
            return value if -(2**63) <= value < 2**64 else float(value)
        case WrittenFloat() if math.isinf(value):
            return value.text
        case float():
            return int(value) if value.is_integer() and abs(value) < 1e21 else float(value)
    return msgspec.to_builtins(value)


def _shortest(number: float) -> float:
    """The shortest decimal that means the same 32-bit number, as Go prints it."""
    for digits in range(1, 10):
        candidate = float(f"{number:.{digits}g}")
        try:
            same = struct.unpack("<f", struct.pack("<f", candidate))[0] == number
        except OverflowError:
            same = False
        if same:
            whole = candidate.is_integer() and abs(candidate) < 1e21
            return int(candidate) if whole else candidate
    return number


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(inner) for inner in value] if isinstance(value, list) else value
