"""Rules on the values of plugin arguments, each with upstream's path and words.

`args_problems` answers for one entry of `pluginConfig`. Paths start with whatever prefix the caller
gives, because the same rules are reported under `profiles[0].pluginConfig[1].args` by the loader
and without any prefix by a plugin that is being constructed.

Source: `pkg/scheduler/apis/config/validation/validation_pluginargs.go`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from podium.kubernetes.kinds.pod import NodeAffinity, NodeSelectorTerm
from podium.kubernetes.rules.labels import key_problems
from podium.kubernetes.rules.node_affinity import expression_problems, field_problems
from podium.scheduler.config.errors import (
    FieldProblem,
    duplicate,
    forbidden,
    invalid,
    problem_of,
    required,
    unsupported,
)
from podium.scheduler.config.plugin_args import (
    LEAST_ALLOCATED,
    LIST_DEFAULTING,
    MOST_ALLOCATED,
    REQUESTED_TO_CAPACITY_RATIO,
    SYSTEM_DEFAULTING,
    DefaultPreemptionArgs,
    DeviceScoringStrategy,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PluginArgs,
    PodTopologySpreadArgs,
    UtilizationShapePoint,
    VolumeBindingArgs,
    waits_for_binding_conditions,
)

_DEVICE_STRATEGIES: Final = (LEAST_ALLOCATED, MOST_ALLOCATED)
_STRATEGIES: Final = (LEAST_ALLOCATED, MOST_ALLOCATED, REQUESTED_TO_CAPACITY_RATIO)
_MAX_LOCALITIES: Final = 8
_ONE_SECOND_NS: Final = 1_000_000_000

Problems = Iterator[FieldProblem]


def args_problems(args: PluginArgs, path: str, gates: Mapping[str, bool]) -> list[FieldProblem]:
    """Everything wrong with a plugin's arguments, in upstream's order."""
    return list(_problems(args, f"{path}." if path else "", gates))


def _problems(args: PluginArgs, at: str, gates: Mapping[str, bool]) -> Problems:
    match args:
        case DefaultPreemptionArgs():
            yield from _default_preemption(args, at)
        case InterPodAffinityArgs(hard_pod_affinity_weight=weight):
            if not 0 <= weight <= 100:
                yield invalid(f"{at}hardPodAffinityWeight", weight, "not in valid range [0, 100]")
        case NodeAffinityArgs(added_affinity=affinity):
            if affinity is not None:
                yield from _added_affinity(affinity, f"{at}addedAffinity")
        case NodeResourcesBalancedAllocationArgs():
            yield from _balanced_allocation(args, at)
        case NodeResourcesFitArgs():
            yield from _fit(args, at)
        case PodTopologySpreadArgs():
            yield from _topology_spread(args, at)
        case VolumeBindingArgs():
            yield from _volume_binding(args, at, gates)
        case DynamicResourcesArgs():
            yield from _dynamic_resources(args, at, gates)


def _default_preemption(args: DefaultPreemptionArgs, at: str) -> Problems:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    at_percentage, at_absolute = (
        f"{at}minCandidateNodesPercentage",
        f"{at}minCandidateNodesAbsolute",
    )
    if not 0 <= percentage <= 100:
        yield invalid(at_percentage, percentage, "not in valid range [0, 100]")
    if absolute < 0:
        yield invalid(at_absolute, absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        together = "cannot be zero at the same time as"
        yield invalid(at_percentage, 0, f"{together} minCandidateNodesAbsolute")
        yield invalid(at_absolute, 0, f"{together} minCandidateNodesPercentage")


def _added_affinity(affinity: NodeAffinity, at: str) -> Problems:
    required_terms = affinity.required_during_scheduling_ignored_during_execution
    if required_terms is not None:
        at_required = f"{at}.requiredDuringSchedulingIgnoredDuringExecution"
        for i, term in enumerate(required_terms.node_selector_terms or ()):
            yield from _node_selector_term(term, f"{at_required}.nodeSelectorTerms[{i}]")
    preferred = affinity.preferred_during_scheduling_ignored_during_execution
    for i, weighted in enumerate(preferred or ()):
        # upstream: a preference that weighs nothing is not looked at.
        if weighted.weight != 0:
            at_term = f"{at}.preferredDuringSchedulingIgnoredDuringExecution[{i}]"
            yield from _node_selector_term(weighted.preference, at_term)


def _node_selector_term(term: NodeSelectorTerm, at: str) -> Problems:
    for i, requirement in enumerate(term.match_expressions or ()):
        found = expression_problems(requirement, f"{at}.matchExpressions[{i}]")
        yield from map(problem_of, found)
    for i, requirement in enumerate(term.match_fields or ()):
        yield from map(problem_of, field_problems(requirement, f"{at}.matchFields[{i}]"))


def _balanced_allocation(args: NodeResourcesBalancedAllocationArgs, at: str) -> Problems:
    seen: set[str] = set()
    for i, resource in enumerate(args.resources):
        if resource.name in seen:
            yield duplicate(f"{at}resources[{i}].name", resource.name)
        seen.add(resource.name)
        if resource.weight != 1:
            yield invalid(f"{at}resources[{i}].weight", resource.weight, "must be 1")


def _fit(args: NodeResourcesFitArgs, at: str) -> Problems:
    for i, name in enumerate(args.ignored_resources):
        yield from _label_key(name, f"{at}ignoredResources[{i}]")
    for i, group in enumerate(args.ignored_resource_groups):
        at_group = f"{at}ignoredResourceGroups[{i}]"
        if "/" in group:
            yield invalid(at_group, group, "resource group name can't contain '/'")
        yield from _label_key(group, at_group)

    strategy, at_strategy = args.scoring_strategy, f"{at}scoringStrategy"
    if strategy.type not in _STRATEGIES:
        yield unsupported(f"{at_strategy}.type", strategy.type, _STRATEGIES)
    for i, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            yield invalid(
                f"{at_strategy}.resources[{i}].weight",
                resource.weight,
                f"resource weight of {resource.name} not in valid range (0, 100]",
            )
    ratio, at_ratio = (
        strategy.requested_to_capacity_ratio,
        f"{at_strategy}.requestedToCapacityRatio",
    )
    if strategy.type == REQUESTED_TO_CAPACITY_RATIO:
        if ratio is None:
            yield required(at_ratio, "must be specified when type is RequestedToCapacityRatio")
        else:
            yield from shape_problems(ratio.shape, f"{at_ratio}.shape")
    elif ratio is not None:
        yield forbidden(at_ratio, "must be nil when type is not RequestedToCapacityRatio")


def shape_problems(
    shape: Sequence[UtilizationShapePoint],
    at: str,
    unsorted_text: str = "values must be sorted in increasing order",
) -> Problems:
    if not shape:
        yield required(at, "at least one point must be specified")
    for i in range(1, len(shape)):
        if shape[i - 1].utilization >= shape[i].utilization:
            yield invalid(f"{at}[{i}].utilization", shape[i].utilization, unsorted_text)
            break
    for i, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            yield invalid(
                f"{at}[{i}].utilization", point.utilization, "not in valid range [0, 100]"
            )
        if not 0 <= point.score <= 10:
            yield invalid(f"{at}[{i}].score", point.score, "not in valid range [0, 10]")


def _topology_spread(args: PodTopologySpreadArgs, at: str) -> Problems:
    at_type = f"{at}defaultingType"
    if args.defaulting_type not in (SYSTEM_DEFAULTING, LIST_DEFAULTING):
        yield unsupported(at_type, args.defaulting_type, (SYSTEM_DEFAULTING, LIST_DEFAULTING))
    elif args.defaulting_type == SYSTEM_DEFAULTING and args.default_constraints:
        yield invalid(at_type, args.defaulting_type, "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for i, constraint in enumerate(args.default_constraints):
        at_constraint = f"{at}defaultConstraints[{i}]"
        key, action = constraint.topology_key, constraint.when_unsatisfiable
        if constraint.max_skew <= 0:
            yield invalid(
                f"{at_constraint}.maxSkew", constraint.max_skew, "not in valid range (0, inf)"
            )
        if key:
            yield from _label_key(key, f"{at_constraint}.topologyKey")
        else:
            yield required(f"{at_constraint}.topologyKey", "can not be empty")
        actions = ("DoNotSchedule", "ScheduleAnyway")
        if not action:
            yield required(f"{at_constraint}.whenUnsatisfiable", "can not be empty")
        elif action not in actions:
            yield unsupported(f"{at_constraint}.whenUnsatisfiable", action, actions)
        if constraint.label_selector is not None:
            yield forbidden(
                f"{at_constraint}.labelSelector",
                "constraint must not define a selector, as they deduced for each pod",
            )
        if (key, action) in seen:
            yield duplicate(at_constraint, f"{{{key}, {action}}}")
        seen.add((key, action))


def _volume_binding(args: VolumeBindingArgs, at: str, gates: Mapping[str, bool]) -> Problems:
    if args.bind_timeout_seconds < 0:
        yield invalid(
            f"{at}bindTimeoutSeconds",
            args.bind_timeout_seconds,
            "invalid BindTimeoutSeconds, should not be a negative value",
        )
    if gates["StorageCapacityScoring"]:
        yield from shape_problems(args.shape or (), f"{at}shape")
    elif args.shape is not None:
        points = [{"Utilization": p.utilization, "Score": p.score} for p in args.shape]
        yield invalid(
            f"{at}shape",
            points,
            "unexpected field `shape`, remove it or turn on the feature gate "
            "StorageCapacityScoring",
        )


def _dynamic_resources(args: DynamicResourcesArgs, at: str, gates: Mapping[str, bool]) -> Problems:
    timeout = args.filter_timeout
    if timeout is not None:
        if not gates["DRASchedulerFilterTimeout"]:
            # upstream: the gate's name is misspelt in the text.
            yield forbidden(
                f"{at}filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled"
            )
        elif timeout.nanoseconds < 0:
            yield invalid(f"{at}filterTimeout", str(timeout), "must be zero or positive")
    timeout = args.binding_timeout
    if timeout is not None:
        if not waits_for_binding_conditions(gates):
            yield forbidden(
                f"{at}bindingTimeout",
                "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is "
                "disabled",
            )
        elif timeout.nanoseconds < _ONE_SECOND_NS:
            yield invalid(f"{at}bindingTimeout", str(timeout), "must be at least 1 second")
    strategy = args.scoring_strategy
    if strategy is not None:
        yield from _device_scoring(strategy, f"{at}scoringStrategy")


def _device_scoring(strategy: DeviceScoringStrategy, at: str) -> Problems:
    if strategy.type not in _DEVICE_STRATEGIES and (strategy.type or not strategy.locality):
        yield unsupported(f"{at}.type", strategy.type or "", _DEVICE_STRATEGIES)
    if len(strategy.locality) > _MAX_LOCALITIES:
        yield invalid(
            f"{at}.locality", len(strategy.locality), f"at most {_MAX_LOCALITIES} entries"
        )
    for number, locality in enumerate(strategy.locality):
        at_entry = f"{at}.locality[{number}]"
        if bool(locality.attribute) == bool(locality.node_label):
            yield required(at_entry, "exactly one of attribute and nodeLabel")
        elif locality.node_label:
            yield from _label_key(locality.node_label, f"{at_entry}.nodeLabel")
        if not 0 < locality.weight <= 100:
            yield invalid(
                f"{at_entry}.weight", locality.weight, "weight not in valid range (0, 100]"
            )


def _label_key(name: str, at: str) -> Problems:
    for problem in key_problems(name):
        yield invalid(at, name, problem)
