"""What holds when the user says nothing: default plugins, of earlier formats too, and values.

The default plugins are data of the release. They all come through `multiPoint`, in an order that is
visible in many places: it decides which reason a node shows.

Source: `pkg/scheduler/apis/config/v1/defaults.go`.

The default plugins of v1beta1, v1beta2 and v1beta3, and how a user's lists were laid over them.
v1beta1 and v1beta2 had their defaults at the points, v1beta3 in `multiPoint` as v1 does. Plugins
have gained companions since: some filters read what their own PreFilter worked out, some scores
what PreScore did. Where a per-point version enables the one, the other is added here unless the
user switched it off, since the lists of those days could not know of it.

Sources: `pkg/scheduler/apis/config/{v1beta1,v1beta2,v1beta3}/default_plugins.go` at v1.22, v1.27
and v1.28.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec
from msgspec.structs import replace

from podium.golang.durations import Duration
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.merge import ALL, merge_plugins, merge_set
from podium.scheduler.config.plugin_args import ARGS_KINDS, PluginArgs, RawArgs, fill_defaults
from podium.scheduler.config.typed_args import ArgsKinds, NamedArgs
from podium.scheduler.config.types import (
    ClientConnectionConfiguration,
    Configuration,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfiguration,
)

ValueT = TypeVar("ValueT")

DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"


def default_plugins(gates: FeatureGates) -> Plugins:
    """The plugins of a profile that names none."""
    enabled = (
        PluginRef(plugin.name, plugin.weight)
        for plugin in gates.release.plugins
        if not plugin.gate or gates[plugin.gate]
    )
    return Plugins(multi_point=PluginSet(enabled=tuple(enabled)))


def merged_with_defaults(user: Plugins, gates: FeatureGates) -> Plugins:
    return merge_plugins(default_plugins(gates), user)


def complete(
    written: KubeSchedulerConfiguration,
    plugin_args: Sequence[Sequence[NamedArgs]],
    gates: FeatureGates,
    merged: Callable[[Plugins, FeatureGates], Plugins] = merged_with_defaults,
    kinds: ArgsKinds = ARGS_KINDS,
) -> Configuration:
    """Fill in everything the user left out.

    `merged` lays the user's plugins over the default ones of the file's version, `kinds` are the
    arguments that plugins take in it. `plugin_args` are the typed and defaulted arguments that the
    user wrote, a list for each profile of the file. The result may still be invalid;
    `validation.py` says whether it is.
    """
    profiles = written.profiles or (KubeSchedulerProfile(),)
    args_of_profile = plugin_args or ((),)
    profiling = _or(written.enable_profiling, True)
    return Configuration(
        parallelism=_or(written.parallelism, 16),
        percentage_of_nodes_to_score=_or(written.percentage_of_nodes_to_score, 0),
        pod_initial_backoff_seconds=_or(written.pod_initial_backoff_seconds, 1),
        pod_max_backoff_seconds=_or(written.pod_max_backoff_seconds, 10),
        leader_election=_complete_leader_election(written.leader_election),
        client_connection=_complete_client_connection(written.client_connection),
        enable_profiling=profiling,
        # upstream: without profiling this is left unset, which counts as off.
        enable_contention_profiling=_or(written.enable_contention_profiling, profiling),
        delay_cache_until_active=written.delay_cache_until_active,
        profiles=tuple(
            _complete_profile(
                profile,
                args,
                merged(profile.plugins, gates),
                {name: fill_defaults(kind(), gates) for name, kind in kinds.items()},
                only_one=len(profiles) == 1,
            )
            for profile, args in zip(profiles, args_of_profile, strict=True)
        ),
        extenders=written.extenders,
    )


def _complete_profile(
    profile: KubeSchedulerProfile,
    user_args: Sequence[NamedArgs],
    plugins: Plugins,
    default_args: Mapping[str, PluginArgs],
    *,
    only_one: bool,
) -> ProfileConfiguration:
    args: dict[str, PluginArgs | RawArgs] = dict(user_args)
    for name in sorted(plugins.enabled_names() - args.keys()):
        if name in default_args:
            args[name] = default_args[name]
    name_if_absent = DEFAULT_SCHEDULER_NAME if only_one else ""
    return ProfileConfiguration(
        scheduler_name=_or(profile.scheduler_name, name_if_absent),
        percentage_of_nodes_to_score=profile.percentage_of_nodes_to_score,
        plugins=plugins,
        plugin_args=args,
    )


def _complete_leader_election(written: LeaderElectionConfiguration) -> LeaderElectionConfiguration:
    return msgspec.structs.replace(
        written,
        lease_duration=_unless_zero(written.lease_duration, Duration.of_seconds(15)),
        renew_deadline=_unless_zero(written.renew_deadline, Duration.of_seconds(10)),
        retry_period=_unless_zero(written.retry_period, Duration.of_seconds(2)),
        resource_lock=written.resource_lock or "leases",
        resource_name=written.resource_name or "kube-scheduler",
        resource_namespace=written.resource_namespace or "kube-system",
    )


def _complete_client_connection(
    written: ClientConnectionConfiguration,
) -> ClientConnectionConfiguration:
    return msgspec.structs.replace(
        written,
        content_type=written.content_type or "application/vnd.kubernetes.protobuf",
        qps=written.qps or 50.0,
        burst=written.burst or 100,
    )


def _or(value: ValueT | None, default: ValueT) -> ValueT:
    return default if value is None else value


def _unless_zero(value: Duration, default: Duration) -> Duration:
    return value if value.nanoseconds else default


# (point, companion point, plugins that have both)
_COMPANIONS: Final = (
    (
        "filter",
        "pre_filter",
        (
            "NodeAffinity",
            "NodePorts",
            "NodeResourcesFit",
            "VolumeRestrictions",
            "NodeVolumeLimits",
            "EBSLimits",
            "GCEPDLimits",
            "AzureDiskLimits",
            "CinderLimits",
            "VolumeBinding",
            "VolumeZone",
            "PodTopologySpread",
            "InterPodAffinity",
            "DynamicResources",
            "NodeDeclaredFeatures",
            "ServiceAffinity",
        ),
    ),
    (
        "score",
        "pre_score",
        (
            "TaintToleration",
            "NodeAffinity",
            "NodeResourcesFit",
            "VolumeBinding",
            "PodTopologySpread",
            "InterPodAffinity",
            "NodeResourcesBalancedAllocation",
            "SelectorSpread",
        ),
    ),
)


def _set(*entries: str | tuple[str, int]) -> PluginSet:
    refs = (PluginRef(e) if isinstance(e, str) else PluginRef(*e) for e in entries)
    return PluginSet(enabled=tuple(refs))


_FILTERS: Final = _set(
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "EBSLimits",
    "GCEPDLimits",
    "NodeVolumeLimits",
    "AzureDiskLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)
V1BETA1_DEFAULTS: Final = Plugins(
    queue_sort=_set("PrioritySort"),
    pre_filter=_set(
        "NodeResourcesFit",
        "NodePorts",
        "VolumeRestrictions",
        "PodTopologySpread",
        "InterPodAffinity",
        "VolumeBinding",
        "NodeAffinity",
    ),
    filter=_FILTERS,
    post_filter=_set("DefaultPreemption"),
    pre_score=_set("InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity"),
    score=_set(
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
        ("InterPodAffinity", 1),
        ("NodeResourcesLeastAllocated", 1),
        ("NodeAffinity", 1),
        ("NodePreferAvoidPods", 10000),
        ("PodTopologySpread", 2),
        ("TaintToleration", 1),
    ),
    reserve=_set("VolumeBinding"),
    pre_bind=_set("VolumeBinding"),
    bind=_set("DefaultBinder"),
)
V1BETA2_DEFAULTS: Final = replace(
    V1BETA1_DEFAULTS,
    pre_enqueue=_set("SchedulingGates"),
    pre_filter=_set(
        "NodeResourcesFit",
        "NodePorts",
        "VolumeRestrictions",
        "PodTopologySpread",
        "InterPodAffinity",
        "VolumeBinding",
        "VolumeZone",
        "NodeAffinity",
    ),
    pre_score=_set(
        "InterPodAffinity",
        "PodTopologySpread",
        "TaintToleration",
        "NodeAffinity",
        "NodeResourcesFit",
        "NodeResourcesBalancedAllocation",
    ),
    score=_set(
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
        ("InterPodAffinity", 1),
        ("NodeResourcesFit", 1),
        ("NodeAffinity", 1),
        ("PodTopologySpread", 2),
        ("TaintToleration", 1),
    ),
)
V1BETA3_DEFAULTS: Final = Plugins(
    multi_point=_set(
        "PrioritySort",
        "NodeUnschedulable",
        "NodeName",
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        "NodePorts",
        ("NodeResourcesFit", 1),
        "VolumeRestrictions",
        "EBSLimits",
        "GCEPDLimits",
        "NodeVolumeLimits",
        "AzureDiskLimits",
        "VolumeBinding",
        "VolumeZone",
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        "DefaultPreemption",
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
        "DefaultBinder",
        "SchedulingGates",
    )
)


def merged_v1beta1(
    user: Plugins, gates: FeatureGates, defaults: Plugins = V1BETA1_DEFAULTS
) -> Plugins:
    """Defaults that are not switched off, then everything of the user's.

    upstream: a default that is listed again without being switched off is there twice, which is
    refused when the profile is built.
    """
    merged = {}
    for name, default in _with_gated_scores(defaults, gates).items():
        mine: PluginSet = getattr(user, name)
        off = {plugin.name for plugin in mine.disabled}
        kept = () if ALL in off else tuple(p for p in default.enabled if p.name not in off)
        merged[name] = PluginSet(enabled=kept + mine.enabled)
    return with_companions(Plugins(**merged), user)


def merged_v1beta2(user: Plugins, gates: FeatureGates) -> Plugins:
    """As in v1, except that nothing is remembered as disabled.

    upstream: `multiPoint` and `preEnqueue` can be written and are never looked at.
    """
    merged = {
        name: PluginSet(merge_set(default, getattr(user, name)).enabled)
        for name, default in _with_gated_scores(V1BETA2_DEFAULTS, gates).items()
        if name not in ("multi_point", "pre_enqueue")
    }
    plugins = Plugins(pre_enqueue=V1BETA2_DEFAULTS.pre_enqueue, **merged)
    return with_companions(plugins, user)


def merged_v1beta3(user: Plugins, _gates: FeatureGates) -> Plugins:
    """As in v1. upstream: `preEnqueue` can be written and is never looked at."""
    return merge_plugins(V1BETA3_DEFAULTS, replace(user, pre_enqueue=PluginSet()))


def _with_gated_scores(defaults: Plugins, gates: FeatureGates) -> Plugins:
    """The default plugins, with VolumeBinding among the scores if storage capacity is scored.

    upstream: `applyFeatureGates` beside the defaults, by the gate VolumeCapacityPriority, which
    StorageCapacityScoring has replaced. v1beta3's `multiPoint` has VolumeBinding at all points.
    """
    if not gates["StorageCapacityScoring"]:
        return defaults
    scores = (*defaults.score.enabled, PluginRef("VolumeBinding", 1))
    return replace(defaults, score=replace(defaults.score, enabled=scores))


def with_companions(plugins: Plugins, user: Plugins) -> Plugins:
    """The plugins with every PreFilter and PreScore that today's filters and scores build on."""
    changed: dict[str, PluginSet] = {}
    for point, companion, names in _COMPANIONS:
        off = {plugin.name for plugin in getattr(user, companion).disabled}
        there: PluginSet = getattr(plugins, companion)
        listed = {plugin.name for plugin in there.enabled}
        needed = [
            PluginRef(plugin.name)
            for plugin in dict.fromkeys(getattr(plugins, point).enabled)
            if plugin.name in names and plugin.name not in listed and not {plugin.name, ALL} & off
        ]
        changed[companion] = PluginSet(enabled=(*there.enabled, *needed))
    return replace(plugins, **changed)
