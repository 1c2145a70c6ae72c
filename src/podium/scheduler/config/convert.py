"""Configurations of older versions, and Policy files, said in v1.

The plugins of a converted file are all listed, so that the defaults v1 would add change nothing.
What v1 says in other words is translated: score plugins that became strategies of NodeResourcesFit,
labels that nodes must have and that NodeAffinity can demand of all pods, limits on in-tree volumes
that NodeVolumeLimits counts since those volumes go through CSI. What v1 cannot say is left out and
named as lost.
"""

from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from podium.scheduler.config.merge import ALL
from podium.scheduler.config.plugin_args import (
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
    NodeLabelArgs,
    NodeResourcesLeastAllocatedArgs,
    NodeResourcesMostAllocatedArgs,
    RequestedToCapacityRatioArgs,
)
from podium.scheduler.config.types import (
    API_VERSION,
    KIND,
    Configuration,
    PluginRef,
    Plugins,
    PluginSet,
    ProfileConfiguration,
)
from podium.scheduler.config.validation import IN_TREE_VOLUME_LIMITS

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
    return plugins, {**args, _AFFINITY: _demanding(given, demanded)}


def _demand(key: str, operator: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator)


def _demanding(
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
