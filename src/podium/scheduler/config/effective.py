"""The effective configuration of kube-scheduler: written out, as YAML, and as differences.

The form is that of `--write-config-to`: the version it was read in, everything filled in,
`multiPoint` merged but not expanded, arguments only of plugins in use and sorted by name, a weight
on every plugin. Loading what is written here gives the same configuration.

An effective configuration as YAML, the same in files, in the log and on screens. Text is quoted
wherever a reader of Kubernetes' YAML would take it for something else, and keys are sorted, as
kube-scheduler writes them.

What a configuration changes, as a list of differences that can be read on their own. A plain text
diff of two effective configurations shows lines without saying where they are, and a second profile
as one block. Here every line has its whole path; entries with names are matched by them, and every
profile is held against the default one.

    -parallelism: 16
    +parallelism: 8
    -profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight: 2
    +profiles[0].plugins.multiPoint.enabled[NodeAffinity].weight: 5
"""

import base64
import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

import msgspec
import yaml
from msgspec.structs import fields

from podium.golang.durations import Duration
from podium.golang.yaml_scalars import ScalarError, plain
from podium.golang.yaml_writer import dump_yaml
from podium.kubernetes.kinds.pod import (
    NodeSelector,
    NodeSelectorRequirement,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
)
from podium.scheduler.config.decode_values import WrittenFloat
from podium.scheduler.config.merge import ALL, PointLists
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
    return dict(_sort_keys(document))


def expand_lists(lists: Mapping[str, PointLists]) -> list[dict[str, list[Any]]]:
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


def _sort_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sort_keys(value[key]) for key in sorted(value)}
    return [_sort_keys(inner) for inner in value] if isinstance(value, list) else value


def effective_yaml(document: Mapping[str, Any]) -> str:
    return dump_yaml(document, _Dumper, sort_keys=True)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes text in quotes wherever a reader of Kubernetes' YAML would take it for more."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    try:
        is_text = plain(text) == text and isinstance(plain(text), str)
    except ScalarError:
        is_text = False
    style = None if is_text and text != "<<" and text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


_ABSENT: Final = object()


def effective_diff(defaults: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    """Lines with `-` for the defaults and `+` for the document; none if nothing differs."""
    profiles = document["profiles"]
    ours = {**defaults, "profiles": defaults["profiles"] * len(profiles)}
    return _lines("", ours, document)


def _lines(path: str, default: Any, value: Any) -> Iterator[str]:
    if default == value:
        return
    if isinstance(default, Mapping) and isinstance(value, Mapping):
        for key in sorted({*default, *value}):
            at = f"{path}.{key}" if path else key
            yield from _lines(at, default.get(key, _ABSENT), value.get(key, _ABSENT))
    elif _are_named(default) and _are_named(value) and (default or value):
        yield from _named_lines(path, default, value)
    elif _are_maps(default) and _are_maps(value):
        pairs = zip_longest(default, value, fillvalue=_ABSENT)
        for index, (before, after) in enumerate(pairs):
            yield from _lines(f"{path}[{index}]", before, after)
    else:
        if default is not _ABSENT:
            yield f"-{path}: {_format_value(default)}"
        if value is not _ABSENT:
            yield f"+{path}: {_format_value(value)}"


def _named_lines(path: str, default: Any, value: Any) -> Iterator[str]:
    before = {entry["name"]: _rest(entry) for entry in _list(default)}
    after = {entry["name"]: _rest(entry) for entry in _list(value)}
    for name in dict.fromkeys((*before, *after)):
        at = f"{path}[{name}]"
        yield from _lines(at, before.get(name, _ABSENT), after.get(name, _ABSENT))
    kept_before = [name for name in before if name in after]
    kept_after = [name for name in after if name in before]
    if kept_before != kept_after:
        yield f"-{path} in order: {', '.join(kept_before)}"
        yield f"+{path} in order: {', '.join(kept_after)}"


def _are_named(value: Any) -> bool:
    """Whether this is nothing, or a list whose entries have different names."""
    if value is _ABSENT:
        return True
    names = [entry.get("name") for entry in value] if _are_maps(value) else []
    return bool(names) and None not in names and len(set(names)) == len(names)


def _are_maps(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)


def _list(value: Any) -> Sequence[Any]:
    return () if value is _ABSENT else value


def _rest(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: inner for key, inner in entry.items() if key != "name"}


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
