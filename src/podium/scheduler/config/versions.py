"""What is particular to each version of the configuration's format, and conversion to v1.

A `ConfigVersion` knows how its files are decoded into the form of v1, which plugins it starts from
and take arguments in it, and what it refuses; all the rest of loading is the same for all. v1.36
reads v1 only; the others are here because their files are still around, and mean what they meant
in the last release that read them (v1beta1 1.22, v1beta2 1.27, v1beta3 1.28).

Configurations of older versions, and Policy files, said in v1. The plugins of a converted file are
all listed, so that the defaults v1 would add change nothing. What v1 says in other words is
translated: score plugins that became strategies of NodeResourcesFit, labels that nodes must have
and that NodeAffinity can demand of all pods, limits on in-tree volumes that NodeVolumeLimits counts
since those volumes go through CSI. What v1 cannot say is left out and named as lost.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.decode import ConfigDecodeError, StrictErrors, decode
from podium.scheduler.config.defaults import (
    merged_v1beta1,
    merged_v1beta2,
    merged_v1beta3,
    merged_with_defaults,
)
from podium.scheduler.config.errors import FieldProblem, invalid
from podium.scheduler.config.merge import ALL
from podium.scheduler.config.plugin_args import (
    ARGS_KINDS,
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    REQUESTED_TO_CAPACITY_RATIO,
    NodeAffinityArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    RawArgs,
    RequestedToCapacityRatioParam,
    ScoringStrategy,
    ServiceSpreadArgs,
)
from podium.scheduler.config.typed_args import (
    LEGACY_ARGS_KINDS,
    ArgsKinds,
    NodeLabelArgs,
    NodeResourcesLeastAllocatedArgs,
    NodeResourcesMostAllocatedArgs,
    RequestedToCapacityRatioArgs,
)
from podium.scheduler.config.types import (
    API_GROUP,
    API_VERSION,
    KIND,
    Configuration,
    KubeSchedulerConfiguration,
    PluginConfig,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfiguration,
)
from podium.scheduler.config.validation import IN_TREE_VOLUME_LIMITS, V1_RULES, VersionRules

_GO_TYPE: Final = re.compile(r"(of type (?:\[\])?)v1\.")
_DROPPED_IN_V1BETA2: Final = (
    "NodeLabel",
    "ServiceAffinity",
    "NodePreferAvoidPods",
    "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
)
_FIT_RIVALS: Final = (
    "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
)


class _WithAddresses(KubeSchedulerConfiguration, frozen=True, kw_only=True):
    """The fields of v1beta1 and v1beta2 that v1beta3 dropped."""

    GO_TYPE = "v1.KubeSchedulerConfiguration"

    healthz_bind_address: str | None = None
    metrics_bind_address: str | None = None


@dataclass(frozen=True, slots=True)
class ConfigVersion:
    """`absent` are v1 fields that the version lacks, `absent_in_args` those of plugins' arguments,
    `judge` finds what only it objects to."""

    api_version: str
    merged: Callable[[Plugins, FeatureGates], Plugins]
    args_kinds: ArgsKinds
    rules: VersionRules
    shape: type[KubeSchedulerConfiguration] = KubeSchedulerConfiguration
    absent: frozenset[str] = frozenset()
    judge: Callable[[KubeSchedulerConfiguration, Configuration], list[FieldProblem]] = field(
        default=lambda _written, _configuration: []
    )
    mend_args: Callable[[PluginConfig], PluginConfig] = field(default=lambda entry: entry)
    absent_in_args: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.api_version.rpartition("/")[2]

    def notes(self, written: KubeSchedulerConfiguration) -> tuple[str, ...]:
        """What was written and has no effect."""
        if isinstance(written, _WithAddresses) and (
            written.healthz_bind_address or written.metrics_bind_address
        ):
            return ("healthzBindAddress, metricsBindAddress: there is no insecure port",)
        return ()

    @property
    def args_versions(self) -> tuple[str, ...]:
        """The apiVersions that arguments may name."""
        return tuple(dict.fromkeys((self.api_version, API_VERSION)))

    def read(self, raw: Mapping[str, Any], strict: StrictErrors) -> KubeSchedulerConfiguration:
        """Raises DecodeError."""
        try:
            decoded = decode(raw, self.shape, self.absent, takes_old=strict.takes_old)
        except ConfigDecodeError as error:
            text = _GO_TYPE.sub(rf"\g<1>{self.name}.", str(error))
            raise ConfigDecodeError(text, error.problems) from None
        strict.add(decoded.unknown_fields)
        strict.old_spellings.extend(decoded.old_spellings)
        written = decoded.value
        profiles = (
            msgspec.structs.replace(
                profile, plugin_config=tuple(map(self.mend_args, profile.plugin_config))
            )
            for profile in written.profiles
        )
        return msgspec.structs.replace(written, profiles=tuple(profiles))


def _refuse_removed(in_version: str, version: str) -> VersionRules:
    text = (
        f'was removed in version "{API_GROUP}/{in_version}" '
        f'(KubeSchedulerConfiguration is version "{API_GROUP}/{version}")'
    )
    return VersionRules(removed=dict.fromkeys(_DROPPED_IN_V1BETA2, text))


def _fit_conflicts(
    _written: KubeSchedulerConfiguration, configuration: Configuration
) -> list[FieldProblem]:
    """v1beta1 scores by NodeResourcesFit or by the older plugins, not by both."""
    version = f"{API_GROUP}/v1beta1"
    found = []
    for i, profile in enumerate(configuration.profiles):
        enabled = [plugin.name for plugin in profile.plugins.score.enabled]
        rivals = " ".join(f'"{name}"' for name in enabled if name in _FIT_RIVALS)
        if rivals and "NodeResourcesFit" in enabled:
            at = f"profiles[{i}].plugins.score.enabled[{enabled.index('NodeResourcesFit')}]"
            text = (
                f'was conflict with [{rivals}] in version "{version}" '
                f'(KubeSchedulerConfiguration is version "{version}")'
            )
            found.append(invalid(at, "NodeResourcesFit", text))
    return found


def _open_addresses(
    written: KubeSchedulerConfiguration, _configuration: Configuration
) -> list[FieldProblem]:
    """v1beta2 keeps the addresses of the insecure port, which must not be opened."""
    if not isinstance(written, _WithAddresses):
        return []
    addresses = (
        ("healthzBindAddress", written.healthz_bind_address),
        ("metricsBindAddress", written.metrics_bind_address),
    )
    return [
        invalid(name, address, "must be empty or with an explicit 0 port")
        for name, address in addresses
        if address and address.rpartition(":")[2] != "0"
    ]


def _without_idle_ratio(entry: PluginConfig) -> PluginConfig:
    """The betas passed over the shape of a strategy that has no use for it; v1 refuses it."""
    strategy = entry.args.get("scoringStrategy") if isinstance(entry.args, Mapping) else None
    if entry.name != "NodeResourcesFit" or not isinstance(strategy, Mapping):
        return entry
    if strategy.get("type") == REQUESTED_TO_CAPACITY_RATIO:
        return entry
    left = {key: value for key, value in strategy.items() if key != "requestedToCapacityRatio"}
    return msgspec.structs.replace(entry, args={**entry.args, "scoringStrategy": left})


def _list_if_constraints(entry: PluginConfig) -> PluginConfig:
    """In v1beta1 default constraints of one's own need no `defaultingType: List`."""
    entry = _without_idle_ratio(entry)
    args = entry.args
    if entry.name != "PodTopologySpread" or not isinstance(args, Mapping):
        return entry
    if args.get("defaultingType") or not args.get("defaultConstraints"):
        return entry
    return msgspec.structs.replace(entry, args={**args, "defaultingType": "List"})


_NEW_IN_V1: Final = frozenset(
    {
        "delayCacheUntilActive",
        "profiles.percentageOfNodesToScore",
        "profiles.plugins.placementGenerate",
        "profiles.plugins.placementScore",
    }
)
_NEWER_THAN_V1BETA1: Final = {
    "InterPodAffinity": frozenset({"ignorePreferredTermsOfExistingPods"}),
    "PodTopologySpread": frozenset(
        f"defaultConstraints.{name}"
        for name in ("minDomains", "matchLabelKeys", "nodeAffinityPolicy", "nodeTaintsPolicy")
    ),
}
_SHARED_ARGS: Final = {name: k for name, k in ARGS_KINDS.items() if name != "DynamicResources"}

V1: Final = ConfigVersion(API_VERSION, merged_with_defaults, ARGS_KINDS, V1_RULES)
V1BETA3: Final = ConfigVersion(
    f"{API_GROUP}/v1beta3",
    merged_v1beta3,
    _SHARED_ARGS,
    _refuse_removed("v1beta2", "v1beta3"),
    absent=_NEW_IN_V1,
    mend_args=_without_idle_ratio,
)
V1BETA2: Final = ConfigVersion(
    f"{API_GROUP}/v1beta2",
    merged_v1beta2,
    _SHARED_ARGS,
    _refuse_removed("v1beta2", "v1beta2"),
    shape=_WithAddresses,
    absent=_NEW_IN_V1,
    judge=_open_addresses,
    mend_args=_without_idle_ratio,
)
V1BETA1: Final = ConfigVersion(
    f"{API_GROUP}/v1beta1",
    merged_v1beta1,
    {**_SHARED_ARGS, **LEGACY_ARGS_KINDS},
    VersionRules(
        removed={},
        locks=frozenset(
            {"leases", "endpoints", "configmaps", "endpointsleases", "configmapsleases"}
        ),
    ),
    shape=_WithAddresses,
    absent=_NEW_IN_V1 | {"profiles.plugins.multiPoint", "profiles.plugins.preEnqueue"},
    judge=_fit_conflicts,
    mend_args=_list_if_constraints,
    absent_in_args=_NEWER_THAN_V1BETA1,
)


AllArgs = dict[str, PluginArgs | RawArgs]

_FIT: Final = "NodeResourcesFit"
_AFFINITY: Final = "NodeAffinity"
_LABEL: Final = "NodeLabel"
_STRATEGIES: Final = (
    "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
)
_GONE: Final = {
    "NodePreferAvoidPods": "taints and tolerations took its place",
    "NodeResourceLimits": "nothing took its place",
    "SelectorSpread": "PodTopologySpread spreads such pods by its system defaults",
    "NodeLabel": "node affinity took its place",
    "ServiceAffinity": "inter-pod affinity took its place",
}
_MEMORY_PRESSURE: Final = (
    "predicates: CheckNodeMemoryPressure kept only pods out that ask for nothing; the taint"
    " node.kubernetes.io/memory-pressure keeps all out that do not tolerate it"
)
_SERVICES_ONLY: Final = (
    "ServiceSpreadingPriority counted the pods of services only; PodTopologySpread's system"
    " defaults count those of controllers too"
)


@dataclass(slots=True)
class Conversion:
    """A configuration of v1, what is said differently in it, and what it cannot say."""

    configuration: Configuration
    changed: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def to_v1(configuration: Configuration) -> Conversion:
    """The same configuration in v1; one that is in v1 already comes back as it is."""
    result = Conversion(configuration)
    if configuration.api_version == API_VERSION:
        return result
    if configuration.from_policy:
        result.changed.append(f"a Policy becomes a {KIND} of {API_VERSION}")
    else:
        result.changed.append(f"apiVersion: {configuration.api_version} becomes {API_VERSION}")
    result.lost.extend(configuration.notes)
    if configuration.spares_pods_with_requests:
        result.lost.append(_MEMORY_PRESSURE)
    profiles = tuple(
        _profile(profile, f"profiles[{i}]", result)
        for i, profile in enumerate(configuration.profiles)
    )
    election = configuration.leader_election
    if election.resource_lock != "leases":
        result.changed.append(f"leaderElection.resourceLock: {election.resource_lock} is leases")
        election = replace(election, resource_lock="leases")
    result.configuration = replace(
        configuration,
        api_version=API_VERSION,
        from_policy=False,
        spares_pods_with_requests=False,
        leader_election=election,
        profiles=profiles,
        notes=(),
    )
    return result


def _profile(profile: ProfileConfiguration, at: str, result: Conversion) -> ProfileConfiguration:
    plugins, args = _as_strategy(profile, at, result)
    plugins, args = _as_added_affinity(plugins, args, at, result)
    spread = args.get("PodTopologySpread")
    if isinstance(spread, ServiceSpreadArgs):
        result.lost.append(_SERVICES_ONLY)
        plain = PodTopologySpreadArgs(
            default_constraints=spread.default_constraints, defaulting_type=spread.defaulting_type
        )
        args = {**args, "PodTopologySpread": plain}
    if profile.always_check_all_predicates:
        profile = replace(profile, always_check_all_predicates=False)
    named = sorted(plugins.enabled_names())
    limits = [name for name in named if name in IN_TREE_VOLUME_LIMITS]
    if limits:
        text = f"{at}.plugins: {', '.join(limits)} left out"
        if "NodeVolumeLimits" in named:
            result.changed.append(f"{text}, NodeVolumeLimits counts these volumes")
        else:
            result.lost.append(f"{text}, and NodeVolumeLimits, which would count, is off")
    for name in named:
        if name in _GONE:
            result.lost.append(f"{at}.plugins: {name} is gone; {_GONE[name]}")
        elif name in _STRATEGIES:
            result.lost.append(f"{at}.plugins: {name} left out, NodeResourcesFit has one strategy")
    dropped = {*_GONE, *_STRATEGIES, *IN_TREE_VOLUME_LIMITS}
    points = {point: _without(entry, dropped) for point, entry in plugins.items()}
    # All plugins are listed, so nothing is to come from the defaults.
    multi_point = points["multi_point"]
    points["multi_point"] = PluginSet(multi_point.enabled, (PluginRef(ALL),))
    result.changed.append(
        f"{at}.plugins: every plugin is listed; those that v1 would add by default stay off"
    )
    return replace(
        profile,
        plugins=Plugins(**points),
        plugin_args={name: value for name, value in args.items() if name not in dropped},
    )


def _as_strategy(
    profile: ProfileConfiguration, at: str, result: Conversion
) -> tuple[Plugins, AllArgs]:
    """The plugins and arguments with a lone allocation score turned into NodeResourcesFit's."""
    plugins, args = profile.plugins, profile.plugin_args
    scores = plugins.score.enabled
    rivals = [plugin for plugin in scores if plugin.name in (*_STRATEGIES, _FIT)]
    if len(rivals) != 1 or rivals[0].name == _FIT:
        return plugins, args
    strategy = _strategy(args.get(rivals[0].name))
    if strategy is None:
        return plugins, args
    result.changed.append(
        f"{at}.plugins.score: {rivals[0].name} is NodeResourcesFit with {strategy.type}"
    )
    enabled = tuple(PluginRef(_FIT, p.weight) if p is rivals[0] else p for p in scores)
    prepared = plugins.pre_score.enabled
    if all(plugin.name != _FIT for plugin in prepared):
        prepared = (*prepared, PluginRef(_FIT))
    written = args.get(_FIT)
    fit = written if isinstance(written, NodeResourcesFitArgs) else NodeResourcesFitArgs()
    return (
        replace(plugins, score=PluginSet(enabled), pre_score=PluginSet(prepared)),
        {**args, _FIT: replace(fit, scoring_strategy=strategy)},
    )


def _as_added_affinity(
    plugins: Plugins, args: AllArgs, at: str, result: Conversion
) -> tuple[Plugins, AllArgs]:
    """The same with NodeLabel's filter turned into a demand of NodeAffinity's, if that filters."""
    labels, affinity = args.get(_LABEL), args.get(_AFFINITY)
    filters = [plugin.name for plugin in plugins.filter.enabled]
    if not isinstance(labels, NodeLabelArgs) or _LABEL not in filters:
        return plugins, args
    demanded = (
        *(_demand(key, "Exists") for key in labels.present_labels),
        *(_demand(key, "DoesNotExist") for key in labels.absent_labels),
    )
    if demanded and _AFFINITY not in filters:
        return plugins, args
    plugins = replace(plugins, filter=_without(plugins.filter, {_LABEL}))
    if not demanded:
        return plugins, args
    given = affinity if isinstance(affinity, NodeAffinityArgs) else NodeAffinityArgs()
    result.changed.append(
        f"{at}.plugins.filter: NodeLabel is addedAffinity of NodeAffinity, with its own reason"
    )
    return plugins, {**args, _AFFINITY: _add_demands(given, demanded)}


def _demand(key: str, operator: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator)


def _add_demands(
    args: NodeAffinityArgs, requirements: tuple[NodeSelectorRequirement, ...]
) -> NodeAffinityArgs:
    """Arguments that demand something more of every node."""
    added = args.added_affinity or NodeAffinity()
    required = added.required_during_scheduling_ignored_during_execution
    if required is None:
        terms: tuple[NodeSelectorTerm, ...] = (NodeSelectorTerm(match_expressions=requirements),)
    else:
        # A term that demands nothing selects no node, and has to stay that way.
        terms = tuple(
            replace(term, match_expressions=(*(term.match_expressions or ()), *requirements))
            if term.match_expressions or term.match_fields
            else term
            for term in required.node_selector_terms or ()
        )
    selector = NodeSelector(node_selector_terms=terms)
    added = replace(added, required_during_scheduling_ignored_during_execution=selector)
    return replace(args, added_affinity=added)


def _strategy(args: PluginArgs | RawArgs | None) -> ScoringStrategy | None:
    match args:
        case NodeResourcesLeastAllocatedArgs():
            return ScoringStrategy(type=LEAST_ALLOCATED, resources=args.resources)
        case NodeResourcesMostAllocatedArgs():
            return ScoringStrategy(type=MOST_ALLOCATED, resources=args.resources)
        case RequestedToCapacityRatioArgs():
            return ScoringStrategy(
                type=REQUESTED_TO_CAPACITY_RATIO,
                resources=args.resources,
                requested_to_capacity_ratio=RequestedToCapacityRatioParam(shape=args.shape),
            )
    return None


def _without(plugins: PluginSet, names: set[str]) -> PluginSet:
    return PluginSet(tuple(p for p in plugins.enabled if p.name not in names), plugins.disabled)
