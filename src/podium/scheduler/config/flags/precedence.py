"""From flags and files to one configuration: what wins over what, providers included.

- Without `--config`: the defaults, then deprecated flags, then leader election flags, each only if
  it was given. Nothing is validated after that, as upstream does not either.
- With `--config`: the file, then leader election flags; the result is validated. Deprecated flags
  are passed over.
- Legacy flags as in the last release that had them: a policy takes the place of all profiles and
  extenders, with or without a file; an algorithm provider stands for v1beta1's default plugins.

`read_configuration` is what is known before anything is built, `complete_configuration` the rest:
upstream reads a policy and builds its profiles only after it has found its API server.

Sources: `cmd/kube-scheduler/app/options` at v1.36.4, v1.22 and v1.21.

Algorithm providers: the default plugins by name, as `--algorithm-provider` chose them. Until 1.21
there were two. `DefaultProvider` is the default plugins of v1beta1, and `ClusterAutoscalerProvider`
the same packing pods where the other spreads them. A provider is what a v1beta1 file starts from;
later formats bring their own defaults.

Source: `pkg/scheduler/algorithmprovider/registry.go` at v1.21.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.decode import SCHEME, header_of
from podium.scheduler.config.defaults import V1BETA1_DEFAULTS, merged_v1beta1
from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.flags.client_settings import (
    FileProblem,
    HostEnvironment,
    StartRefused,
)
from podium.scheduler.config.flags.options import Options
from podium.scheduler.config.load import EMPTY, READERS, built, decode_written, is_empty
from podium.scheduler.config.load import KEY as POLICY_KEY
from podium.scheduler.config.plugin_args import InterPodAffinityArgs
from podium.scheduler.config.policy import is_policy, with_all_reasons
from podium.scheduler.config.types import (
    API_VERSION,
    KIND,
    ClientConnectionConfiguration,
    Configuration,
    LeaderElectionConfiguration,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfiguration,
)
from podium.scheduler.config.versions import V1BETA1, ConfigVersion
from podium.scheduler.config.written import WrittenFile, read_written

_LEADER_ELECTION: Final = {
    "leader-elect": "leader_elect",
    "leader-elect-lease-duration": "lease_duration",
    "leader-elect-renew-deadline": "renew_deadline",
    "leader-elect-retry-period": "retry_period",
    "leader-elect-resource-lock": "resource_lock",
    "leader-elect-resource-name": "resource_name",
    "leader-elect-resource-namespace": "resource_namespace",
}
_LOCK_OBJECT: Final = {
    "lock-object-name": "resource_name",
    "lock-object-namespace": "resource_namespace",
}
_CLIENT_CONNECTION: Final = {
    "kubeconfig": "kubeconfig",
    "kube-api-content-type": "content_type",
    "kube-api-qps": "qps",
    "kube-api-burst": "burst",
}
_DEBUGGING: Final = {
    "profiling": "enable_profiling",
    "contention-profiling": "enable_contention_profiling",
}
_AFFINITY: Final = "InterPodAffinity"
_SYSTEM: Final = "kube-system"
_WEIGHT: Final = "hard-pod-affinity-symmetric-weight"

ReadConfigMap = Callable[[str, str], Mapping[str, str]]
"""The data of the ConfigMap of a namespace and name; raises StartRefused."""


def read_configuration(
    options: Options, gates: FeatureGates, host: HostEnvironment
) -> Configuration:
    """The configuration before anything is built. Raises StartRefused or ConfigurationError."""
    readers = readers_with(options.legacy.algorithm_provider)

    def with_election_flags(configuration: Configuration) -> Configuration:
        return replace(
            configuration,
            leader_election=with_leader_election(configuration.leader_election, options),
        )

    if options.config:
        written = read_written(host.read(options.config))
        return decode_written(
            written,
            gates,
            readers=readers,
            overlay=with_election_flags,
            takes_old=not options.strict,
        )
    version = V1BETA1.api_version if options.legacy.algorithm_provider else API_VERSION
    silent = WrittenFile({"apiVersion": version, "kind": KIND})
    defaults = decode_written(silent, gates, readers=readers)
    return with_election_flags(_with_deprecated(defaults, options))


def complete_configuration(
    configuration: Configuration,
    options: Options,
    gates: FeatureGates,
    host: HostEnvironment,
    config_map: ReadConfigMap,
) -> Configuration:
    """The configuration with everything built. Raises StartRefused or ConfigurationError."""
    legacy = options.legacy
    if legacy.use_legacy_policy_config or (
        legacy.policy_config_file and not legacy.policy_configmap
    ):
        written = _policy_in_file(legacy.policy_config_file, host)
        configuration = _with_policy(configuration, options, gates, written)
    elif legacy.policy_configmap:
        namespace = legacy.policy_configmap_namespace or _SYSTEM
        written = _policy_in_config_map(namespace, legacy.policy_configmap, config_map)
        configuration = _with_policy(configuration, options, gates, written)
    elif not is_provider(legacy.algorithm_provider):
        name = f'"{legacy.algorithm_provider}"'
        raise StartRefused(
            f"couldn't create scheduler using provider {name}: algorithm provider {name} is not "
            "registered"
        )
    configuration = built(configuration, gates)
    return with_all_reasons(configuration) if options.run_all_filters else configuration


def with_leader_election(
    election: LeaderElectionConfiguration, options: Options
) -> LeaderElectionConfiguration:
    """What the leader election flags leave of a configuration's own."""
    return replace(election, **_given_fields(options, options.leader_election, _LEADER_ELECTION))


def _with_deprecated(configuration: Configuration, options: Options) -> Configuration:
    client: ClientConnectionConfiguration = replace(
        configuration.client_connection,
        **_given_fields(options, options.deprecated, _CLIENT_CONNECTION),
    )
    election = replace(
        configuration.leader_election, **_given_fields(options, options.legacy, _LOCK_OBJECT)
    )
    return replace(
        configuration,
        client_connection=client,
        leader_election=election,
        profiles=tuple(_with_legacy(profile, options) for profile in configuration.profiles),
        **_given_fields(options, options.deprecated, _DEBUGGING),
    )


def _with_legacy(profile: ProfileConfiguration, options: Options) -> ProfileConfiguration:
    """The only profile, named and weighted by flags."""
    if options.legacy.scheduler_name and "scheduler-name" in options.given:
        profile = replace(profile, scheduler_name=options.legacy.scheduler_name)
    args = profile.plugin_args.get(_AFFINITY)
    if _WEIGHT in options.given and isinstance(args, InterPodAffinityArgs):
        weight = options.legacy.hard_pod_affinity_symmetric_weight
        args = replace(args, hard_pod_affinity_weight=weight)
        profile = replace(profile, plugin_args={**profile.plugin_args, _AFFINITY: args})
    return profile


def _with_policy(
    configuration: Configuration, options: Options, gates: FeatureGates, written: WrittenFile
) -> Configuration:
    policy = decode_written(written, gates, takes_old=not options.strict)
    profile = policy.profiles[0]
    if not options.config:
        weighted = written.value.get("hardPodAffinitySymmetricWeight")
        given = options.given - {_WEIGHT} if weighted else options.given
        profile = _with_legacy(profile, dataclasses.replace(options, given=given))
    return replace(
        configuration,
        profiles=(profile,),
        extenders=policy.extenders,
        api_version=policy.api_version,
        notes=(*configuration.notes, *policy.notes),
        findings=(*configuration.findings, *policy.findings),
    )


def _policy_in_config_map(namespace: str, name: str, read: ReadConfigMap) -> WrittenFile:
    try:
        data = read(namespace, name)
    except StartRefused as problem:
        raise StartRefused(
            f"couldn't get policy config map {namespace}/{name}: {problem}"
        ) from None
    if POLICY_KEY not in data:
        raise StartRefused(f'missing policy config map value at key "{POLICY_KEY}"')
    return _policy(data[POLICY_KEY].encode())


def _policy_in_file(path: str, host: HostEnvironment) -> WrittenFile:
    try:
        host.find(path)
    except FileProblem:
        raise StartRefused(f"missing policy config file {path}") from None
    try:
        return _policy(host.read(path))
    except FileProblem as problem:
        raise StartRefused(f"couldn't read policy config: {problem}") from None


def _policy(content: bytes) -> WrittenFile:
    try:
        written = read_written(content)
    except ConfigurationError as problem:
        raise StartRefused(f"invalid policy: {problem.message}") from None
    if not is_policy(written.value):
        raise StartRefused(f"invalid policy: {_not_a_policy(written)}")
    return written


def _not_a_policy(written: WrittenFile) -> str:
    try:
        api_version, kind = header_of(written.value)
    except ValueError as problem:
        return str(problem)
    if is_empty(written):
        return f"Object 'Kind' is missing in '{written.text}': {EMPTY}"
    if not kind:
        return f"Object 'Kind' is missing in '{written.text}'"
    return f'no kind "{kind}" is registered for version "{api_version}" {SCHEME}'


def _given_fields(options: Options, section: object, fields: dict[str, str]) -> dict[str, Any]:
    """The fields whose flags were on the command line, with the flags' values."""
    return {
        field: getattr(section, flag.replace("-", "_"))
        for flag, field in fields.items()
        if flag in options.given
    }


_DEFAULT: Final = "DefaultProvider"
_AUTOSCALER: Final = "ClusterAutoscalerProvider"
_PACKED: Final = {"NodeResourcesLeastAllocated": "NodeResourcesMostAllocated"}


def is_provider(name: str) -> bool:
    """Whether there is such a provider; an empty name asks for none."""
    return name in ("", _DEFAULT, _AUTOSCALER)


def readers_with(provider: str) -> Mapping[str, ConfigVersion]:
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
