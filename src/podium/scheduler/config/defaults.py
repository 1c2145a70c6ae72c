"""What holds when the user says nothing: the default plugins and every default value.

The default plugins are data of the release. They all come through `multiPoint`, in an order that is
visible in many places: it decides which reason a node shows.

Source: `pkg/scheduler/apis/config/v1/defaults.go`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from podium.golang.durations import Duration
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.merge import merge_plugins
from podium.scheduler.config.plugin_args import ARGS_KINDS, PluginArgs, RawArgs, defaulted
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
                {name: defaulted(kind(), gates) for name, kind in kinds.items()},
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
