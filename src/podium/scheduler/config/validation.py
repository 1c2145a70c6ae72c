"""Rules on a completed configuration, in the order in which upstream checks them.

Nothing here stops at the first mistake: a user gets them all at once. Several of the texts look
odd (the value shown for leaseDuration, a duplicate profile name shown as `{}`); they are what
kube-scheduler prints and are kept.

Source: `pkg/scheduler/apis/config/validation/validation.go`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from podium.kubernetes.releases.release import release
from podium.kubernetes.rules.labels import key_problems
from podium.kubernetes.rules.requests import is_extended
from podium.scheduler.config.args_validation import args_problems
from podium.scheduler.config.errors import FieldProblem, duplicate, invalid, required
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs, PluginArgs, RawArgs
from podium.scheduler.config.typed_args import LegacyArgs, NamedArgs, legacy_args_problems
from podium.scheduler.config.types import (
    API_VERSION,
    Configuration,
    Extender,
    LeaderElectionConfiguration,
    PluginSet,
    ProfileConfiguration,
    points_of,
)

Problems = Iterator[FieldProblem]


@dataclass(frozen=True, slots=True)
class VersionRules:
    """What versions judge differently: plugins that are gone, with the text, and lock types."""

    removed: Mapping[str, str]
    locks: frozenset[str] = frozenset({"leases"})


IN_TREE_VOLUME_LIMITS: Final = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")
# upstream: the first version is the core API's, not the configuration's.
_GONE_IN_V1: Final = (
    f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{API_VERSION}")'
)
V1_RULES: Final = VersionRules(removed=dict.fromkeys(IN_TREE_VOLUME_LIMITS, _GONE_IN_V1))


def configuration_problems(
    configuration: Configuration,
    plugin_args: Sequence[Sequence[NamedArgs]],
    gates: Mapping[str, bool],
    rules: "VersionRules | None" = None,
) -> list[FieldProblem]:
    """Everything wrong with a configuration, by the rules of its version.

    `plugin_args` are the user's own entries, a list for each profile of the file: only there does a
    repeated entry still show.
    """
    return list(_problems(configuration, plugin_args, gates, rules or V1_RULES))


def fit_args_problems(
    profile: ProfileConfiguration, gates: Mapping[str, bool]
) -> list[FieldProblem]:
    """What NodeResourcesFit would refuse when it is constructed.

    upstream: the validator never looks at these arguments, because it has them under a wrong name.
    They are checked only when a profile uses the plugin, and reported without a prefix.
    """
    args = profile.plugin_args.get("NodeResourcesFit")
    if not isinstance(args, NodeResourcesFitArgs):
        return []
    if "NodeResourcesFit" not in profile.plugins.enabled_names():
        return []
    return args_problems(args, "", gates)


def _problems(
    configuration: Configuration,
    plugin_args: Sequence[Sequence[NamedArgs]],
    gates: Mapping[str, bool],
    rules: "VersionRules",
) -> Problems:
    burst = configuration.client_connection.burst
    if burst < 0:
        yield invalid("clientConnection.burst", burst, "must be non-negative")
    if configuration.leader_election.leader_elect:
        yield from _leader_election(configuration.leader_election, rules.locks)
    if configuration.parallelism <= 0:
        yield invalid(
            "parallelism",
            configuration.parallelism,
            "should be an integer value greater than zero",
        )
    seen: set[str] = set()
    for i, profile in enumerate(configuration.profiles):
        entries = plugin_args[i] if plugin_args else ()
        yield from _profile(profile, entries, f"profiles[{i}]", gates, rules.removed)
        if profile.scheduler_name in seen:
            # upstream: meant to show the earlier profile's path, which prints as nothing.
            yield duplicate(f"profiles[{i}].schedulerName", {})
        seen.add(profile.scheduler_name)
    yield from _common_queue_sort(configuration.profiles)
    yield from _percentage(configuration.percentage_of_nodes_to_score, "percentageOfNodesToScore")
    initial, longest = (
        configuration.pod_initial_backoff_seconds,
        configuration.pod_max_backoff_seconds,
    )
    if initial <= 0:
        yield invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if longest < initial:
        yield invalid(
            "podMaxBackoffSeconds",
            longest,
            "must be greater than or equal to PodInitialBackoffSeconds",
        )
    yield from extender_problems(configuration.extenders)


def _leader_election(election: LeaderElectionConfiguration, locks: frozenset[str]) -> Problems:
    at = "leaderElection"
    for name, duration in (
        ("leaseDuration", election.lease_duration),
        ("renewDeadline", election.renew_deadline),
        ("retryPeriod", election.retry_period),
    ):
        if duration.nanoseconds <= 0:
            yield invalid(f"{at}.{name}", str(duration), "must be greater than zero")
    if election.lease_duration <= election.renew_deadline:
        # upstream: the value shown is the other one.
        yield invalid(
            f"{at}.leaseDuration",
            str(election.renew_deadline),
            "must be greater than `RenewDeadline`",
        )
    # Only flags can leave these empty; a file that does gets the defaults.
    for name, text in (
        ("resourceLock", election.resource_lock),
        ("resourceNamespace", election.resource_namespace),
        ("resourceName", election.resource_name),
    ):
        if not text:
            yield required(f"{at}.{name}")
    if election.resource_lock not in locks:
        yield invalid(
            f"{at}.resourceLock", election.resource_lock, 'resourceLock value must be "leases"'
        )


def _profile(
    profile: ProfileConfiguration,
    entries: Sequence[NamedArgs],
    at: str,
    gates: Mapping[str, bool],
    removed: Mapping[str, str],
) -> Problems:
    if not profile.scheduler_name:
        yield required(f"{at}.schedulerName")
    yield from _percentage(profile.percentage_of_nodes_to_score, f"{at}.percentageOfNodesToScore")
    for point in _checked_points():
        for i, plugin in enumerate(profile.plugins.at(point).enabled):
            if plugin.name in removed:
                at_plugin = f"{at}.plugins.{point}.enabled[{i}]"
                yield invalid(at_plugin, plugin.name, removed[plugin.name])
    seen: set[str] = set()
    for i, (name, args) in enumerate(entries):
        at_entry = f"{at}.pluginConfig[{i}]"
        if name in seen:
            yield duplicate(at_entry, name)
        seen.add(name)
        if name in removed:
            yield invalid(at_entry, name, removed[name])
        elif isinstance(args, LegacyArgs):
            yield from legacy_args_problems(args, f"{at_entry}.args")
        elif isinstance(args, PluginArgs) and not isinstance(args, NodeResourcesFitArgs):
            yield from args_problems(args, f"{at_entry}.args", gates)


def _common_queue_sort(profiles: Sequence[ProfileConfiguration]) -> Problems:
    """Profiles share a queue and must sort it alike; only the point's own list counts."""
    first = profiles[0].plugins.queue_sort
    if len(first.enabled) > 1:
        yield invalid(
            "profiles[0].plugins.queueSort.Enabled",
            len(first.enabled),
            "only one queue sort plugin can be enabled",
        )
    sorter = first.enabled[0].name if first.enabled else ""
    for i, profile in enumerate(profiles[1:], start=1):
        if profile.plugins.queue_sort != first:
            yield invalid(
                f"profiles[{i}].plugins.queueSort",
                _go_plugin_set(profile.plugins.queue_sort),
                "must be the same for all profiles",
            )
        args = profile.plugin_args.get(sorter)
        if args is not None and args != profiles[0].plugin_args.get(sorter):
            yield invalid(
                f"profiles[{i}].pluginConfig.args",
                _plain(args),
                "queueSort must be the same for all profiles",
            )


def extender_problems(extenders: Sequence[Extender]) -> Problems:
    """Everything wrong with a list of extenders."""
    managed: set[str] = set()
    for i, extender in enumerate(extenders):
        at = f"extenders[{i}]"
        if extender.prioritize_verb and extender.weight <= 0:
            weight = extender.weight
            yield invalid(f"{at}.weight", weight, "must have a positive weight applied to it")
        for j, resource in enumerate(extender.managed_resources):
            at_name = f"{at}.managedResources[{j}].name"
            malformed = key_problems(resource.name)
            for problem in malformed:
                yield invalid(at_name, resource.name, problem)
            if not malformed and not is_extended(resource.name):
                yield invalid(at_name, resource.name, "is an invalid extended resource name")
            if resource.name in managed:
                yield invalid(at_name, resource.name, "duplicate extender managed resource name")
            managed.add(resource.name)
    binders = sum(1 for extender in extenders if extender.bind_verb)
    if binders > 1:
        yield invalid(
            "extenders",
            f"found {binders} extenders implementing bind",
            "only one extender can implement bind",
        )


def _percentage(percentage: int | None, at: str) -> Problems:
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(at, percentage, "not in valid range [0-100]")


def _go_plugin_set(plugins: PluginSet) -> dict[str, Any]:
    """A plugin set as Go shows it: the fields' internal names, null for an empty list."""
    return {
        "Enabled": [{"Name": p.name, "Weight": p.weight} for p in plugins.enabled] or None,
        "Disabled": [{"Name": p.name, "Weight": p.weight} for p in plugins.disabled] or None,
    }


def _plain(args: PluginArgs | RawArgs) -> Any:
    return args.value if isinstance(args, RawArgs) else msgspec.to_builtins(args)


def _checked_points() -> list[str]:
    # upstream: a plugin that was removed is not looked for at the placement points.
    return sorted(p.value for p in points_of(release()) if not p.value.startswith("placement"))
