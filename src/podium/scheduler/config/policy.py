"""Policy files: from predicates and priorities, with their arguments, to a profile.

The result is a configuration in the terms of v1beta1, the last format that had all these plugins.
There is one profile, `default-scheduler`. Errors carry the texts of 1.22: what cannot be decoded is
an `invalid policy`, what cannot be translated could not create a scheduler.

Arguments inside a Policy: custom predicates and priorities, collected per plugin. A custom
predicate or priority may have any name that is not registered; what it is follows from its
argument. Several of one kind add up to one plugin. A registered name does not look at its argument,
except those of the custom plugins themselves (upstream lost it and then failed).
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

from msgspec.structs import replace

from podium.golang.quoting import go_quote
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.buildable import FIT, NO_FIT_ARGS, ignored_resources
from podium.scheduler.config.decode import ConfigDecodeError, StrictErrors, decode, header_of
from podium.scheduler.config.defaults import DEFAULT_SCHEDULER_NAME, complete, with_companions
from podium.scheduler.config.errors import ConfigurationError, FieldProblem, invalid, join_problems
from podium.scheduler.config.plugin_args import (
    DEFAULT_RESOURCES,
    LIST_DEFAULTING,
    SYSTEM_DEFAULTING,
    InterPodAffinityArgs,
    PodTopologySpreadArgs,
    ResourceSpec,
    ServiceSpreadArgs,
)
from podium.scheduler.config.policy_names import (
    COVERED_BY_TAINTS,
    DEFAULT_PREDICATES,
    DEFAULT_PRIORITIES,
    EQUAL_PRIORITY,
    MANDATORY_PREDICATES,
    MEMORY_PRESSURE_PREDICATE,
    PRE_SCORED,
    PREDICATE_ALIASES,
    PREDICATES,
    PRIORITIES,
    PRIORITY_ALIASES,
    SERVICE_SPREADING,
    LabelPreferenceArgument,
    LabelsPresenceArgument,
    Policy,
    PredicatePolicy,
    PriorityPolicy,
    RatioArgument,
    ServiceAffinityArgument,
    ServiceAntiAffinityArgument,
    is_custom_predicate,
    is_custom_priority,
    respell_extender,
    respell_policy,
)
from podium.scheduler.config.typed_args import (
    LegacyArgs,
    NamedArgs,
    NodeLabelArgs,
    RequestedToCapacityRatioArgs,
    ServiceAffinityArgs,
    legacy_args_problems,
)
from podium.scheduler.config.types import (
    API_VERSION,
    Configuration,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginRef,
    Plugins,
    PluginSet,
)
from podium.scheduler.config.validation import extender_problems
from podium.scheduler.config.versions import V1BETA1


class PolicyArguments:
    """Everything that a Policy's arguments say, by plugin."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        of_predicates = [
            p.argument
            for p in policy.predicates or ()
            if p.argument and is_custom_predicate(PREDICATE_ALIASES.get(p.name, p.name))
        ]
        of_priorities = [
            p.argument
            for p in policy.priorities or ()
            if p.argument and is_custom_priority(PRIORITY_ALIASES.get(p.name, p.name))
        ]
        self._presence = [a.labels_presence for a in of_predicates if a.labels_presence]
        self._affinity = [a.service_affinity for a in of_predicates if a.service_affinity]
        self._preference = [a.label_preference for a in of_priorities if a.label_preference]
        self._anti_affinity = [
            a.service_anti_affinity for a in of_priorities if a.service_anti_affinity
        ]
        self._ratio = next(
            (
                a.requested_to_capacity_ratio_arguments
                for a in of_priorities
                if a.requested_to_capacity_ratio_arguments
            ),
            None,
        )

    def predicate_for(self, predicate: PredicatePolicy) -> str:
        """The registered name of a predicate with an argument."""
        argument = predicate.argument
        given = argument and [a for a in (argument.service_affinity, argument.labels_presence) if a]
        match given:
            case [LabelsPresenceArgument()]:
                return "CheckNodeLabelPresence"
            case [ServiceAffinityArgument()]:
                return "CheckServiceAffinity"
        raise ConfigurationError(
            f"{_WRAPPER}exactly 1 predicate argument is required, numArgs: {len(given or ())}, "
            f"predicate {{{predicate.name}}}"
        )

    def priority_for(self, priority: PriorityPolicy) -> str:
        """The name by which a priority with an argument is sorted, that of its plugin."""
        match _given_arguments(priority):
            case [LabelPreferenceArgument()]:
                return "NodeLabel"
            case [ServiceAntiAffinityArgument()]:
                return "ServiceAffinity"
            case [RatioArgument()]:
                return "RequestedToCapacityRatio"
        raise ConfigurationError(
            f"{_WRAPPER}exactly 1 priority argument is required, "
            f"numArgs: {len(_given_arguments(priority))}, priority {{{priority.name}}}"
        )

    def priority_problem(self, index: int) -> str:
        """What is wrong with a priority's argument, seen next to the ones before it, or ""."""
        priorities = self._policy.priorities or ()
        priority = priorities[index]
        if priority.argument is None:
            return ""
        given = _given_arguments(priority)
        if not given:
            return f"no priority arguments set for priority {priority.name}"
        same = [
            before
            for before in priorities[:index]
            if before.argument
            and _given_arguments(before)
            and type(_given_arguments(before)[0]) is type(given[0])
        ]
        if not same:
            return ""
        earlier = same[-1]
        if isinstance(given[0], RatioArgument):
            return (
                f'priority "{priority.name}" redeclares custom priority '
                f'"RequestedToCapacityRatio", from: "{earlier.name}"'
            )
        if earlier.weight == priority.weight:
            return ""
        preference = isinstance(given[0], LabelPreferenceArgument)
        kind = "LabelPreference" if preference else "ServiceAntiAffinity"
        names = f'"{priority.name}" has a different weight with "{earlier.name}"'
        return f"{kind}  priority {names}"

    def labels_of(self, priority: str) -> int:
        """How many labels a priority has; 1 for all that have none."""
        if priority == "NodeLabel":
            return len(self._preference)
        return len(self._anti_affinity) if priority == "ServiceAffinity" else 1

    def of(self, plugins: Set[str], priorities: Set[str]) -> list[NamedArgs]:
        """The arguments of the plugins in use."""
        args: list[NamedArgs] = []
        weight = self._policy.hard_pod_affinity_symmetric_weight
        if weight and "InterPodAffinityPriority" in priorities:
            args.append(("InterPodAffinity", InterPodAffinityArgs(hard_pod_affinity_weight=weight)))
        if "NodeLabel" in plugins:
            args.append(("NodeLabel", self._node_label()))
        if "EvenPodsSpreadPriority" in priorities or "SelectorSpreadPriority" in priorities:
            by_owner = "SelectorSpreadPriority" in priorities
            defaulting = SYSTEM_DEFAULTING if by_owner else LIST_DEFAULTING
            kind = ServiceSpreadArgs if self._counts_services_only() else PodTopologySpreadArgs
            args.append(("PodTopologySpread", kind(defaulting_type=defaulting)))
        if self._ratio is not None and "RequestedToCapacityRatio" in plugins:
            args.append(("RequestedToCapacityRatio", _ratio(self._ratio)))
        if "ServiceAffinity" in plugins:
            args.append(("ServiceAffinity", self._service_affinity()))
        return args

    def _counts_services_only(self) -> bool:
        """Whether pods are spread by services and not by controllers too."""
        named = {priority.name for priority in self._policy.priorities or ()}
        return SERVICE_SPREADING in named and PRIORITY_ALIASES[SERVICE_SPREADING] not in named

    def _node_label(self) -> NodeLabelArgs:
        present = [label for a in self._presence if a.presence for label in a.labels]
        absent = [label for a in self._presence if not a.presence for label in a.labels]
        return NodeLabelArgs(
            present_labels=tuple(present),
            absent_labels=tuple(absent),
            present_labels_preference=tuple(a.label for a in self._preference if a.presence),
            absent_labels_preference=tuple(a.label for a in self._preference if not a.presence),
        )

    def _service_affinity(self) -> ServiceAffinityArgs:
        return ServiceAffinityArgs(
            affinity_labels=tuple(label for a in self._affinity for label in a.labels),
            anti_affinity_labels_preference=tuple(a.label for a in self._anti_affinity),
        )


Argument = LabelPreferenceArgument | ServiceAntiAffinityArgument | RatioArgument


def _given_arguments(priority: PriorityPolicy) -> list[Argument]:
    argument = priority.argument
    if argument is None:
        return []
    members = (
        argument.label_preference,
        argument.service_anti_affinity,
        argument.requested_to_capacity_ratio_arguments,
    )
    return [member for member in members if member is not None]


def _ratio(argument: RatioArgument) -> RequestedToCapacityRatioArgs:
    resources = tuple(ResourceSpec(r.name, r.weight or 1) for r in argument.resources)
    return RequestedToCapacityRatioArgs(
        shape=argument.shape, resources=resources or DEFAULT_RESOURCES
    )


_KIND: Final = "Policy"
_WRAPPER: Final = "couldn't create scheduler from policy: "
_MAX_WEIGHT: Final = (2**63 - 1) // 10
_ALL_REASONS: Final = (
    "alwaysCheckAllPredicates: a node shows the reasons of all filters, which no other format can "
    "ask for"
)


def is_policy(raw: object) -> bool:
    try:
        api_version, kind = header_of(raw)
    except ConfigDecodeError:
        return False
    return kind == _KIND and api_version in ("v1", API_VERSION)


def load_policy(raw: Mapping[str, Any], strict: StrictErrors, gates: FeatureGates) -> Configuration:
    """Raises ConfigurationError."""
    policy, written = _decode_policy(raw, strict)
    arguments = PolicyArguments(policy)
    problems = _problems(policy, arguments, written)
    if problems:
        raise ConfigurationError(_WRAPPER + join_problems(problems), problems)
    predicates, notes = _predicates(policy, arguments)
    weights = _weights(policy, arguments)
    plugins = _plugins(predicates, weights)
    args = arguments.of(plugins.enabled_names(), frozenset(weights))
    _check_args(args)
    configuration = complete(
        written, [args], gates, lambda _user, _gates: plugins, V1BETA1.args_kinds
    )
    if ignored_resources(configuration) and FIT not in configuration.profiles[0].plugin_args:
        _refuse(NO_FIT_ARGS)
    if policy.always_check_all_predicates:
        notes.append(_ALL_REASONS)
        configuration = with_all_reasons(configuration)
    return replace(
        configuration,
        api_version=V1BETA1.api_version,
        from_policy=True,
        spares_pods_with_requests=_names_memory_pressure(policy),
        notes=tuple(notes),
    )


def _decode_policy(
    raw: Mapping[str, Any], strict: StrictErrors
) -> tuple[Policy, KubeSchedulerConfiguration]:
    try:
        decoded = decode(raw, Policy)
        policy = decoded.value
        strict.add(decoded.unknown_fields)
        extenders = policy.extenders
        if isinstance(extenders, list):
            extenders = [respell_extender(extender) for extender in extenders]
        profile = KubeSchedulerProfile(scheduler_name=DEFAULT_SCHEDULER_NAME)
        written = decode({"extenders": extenders}, KubeSchedulerConfiguration).value
    except ConfigDecodeError as error:
        text = str(error).replace("struct field Extender.", "struct field LegacyExtender.")
        raise ConfigurationError(f"invalid policy: {text}", error.problems) from None
    if strict:
        refusal = strict.error(())
        raise ConfigurationError(
            f"invalid policy: {refusal.message}", refusal.problems, remedy=refusal.remedy
        )
    if strict.takes_old:
        policy, old = respell_policy(policy)
        strict.old_spellings.extend(old)
    return policy, replace(written, profiles=(profile,))


def with_all_reasons(configuration: Configuration) -> Configuration:
    """The same with every filter looking at every node."""
    profiles = (replace(p, always_check_all_predicates=True) for p in configuration.profiles)
    return replace(configuration, profiles=tuple(profiles))


def _check_args(args: Sequence[NamedArgs]) -> None:
    """Refuse arguments that their plugin would refuse when it is made."""
    for name, found in args:
        problems = list(legacy_args_problems(found, "")) if isinstance(found, LegacyArgs) else []
        if problems:
            _refuse(
                "initializing profiles: creating profile for scheduler name "
                f'{DEFAULT_SCHEDULER_NAME}: initializing plugin "{name}": {join_problems(problems)}'
            )


def _problems(
    policy: Policy, arguments: PolicyArguments, written: KubeSchedulerConfiguration
) -> list[FieldProblem]:
    found: list[FieldProblem] = []
    for i, priority in enumerate(policy.priorities or ()):
        if not 0 < priority.weight < _MAX_WEIGHT:
            text = "should have a positive weight applied to it or it has overflown"
            found.append(FieldProblem("", f"priority {priority.name} {text}"))
        text = arguments.priority_problem(i)
        if text:
            found.append(FieldProblem("", text))
    found.extend(extender_problems(written.extenders))
    weight = policy.hard_pod_affinity_symmetric_weight
    if not 0 <= weight <= 100:
        at = "hardPodAffinitySymmetricWeight"
        found.append(invalid(at, weight, "not in valid range [0-100]"))
    return found


def _predicates(policy: Policy, arguments: PolicyArguments) -> tuple[set[str], list[str]]:
    """The names of all predicates, and what is to be said about some of them."""
    if policy.predicates is None:
        return {*DEFAULT_PREDICATES, *MANDATORY_PREDICATES}, []
    names, notes = set(MANDATORY_PREDICATES), []
    for predicate in policy.predicates:
        name = PREDICATE_ALIASES.get(predicate.name, predicate.name)
        if name in COVERED_BY_TAINTS:
            notes.append(f"predicates: {name} is covered by the taints of node conditions")
        elif predicate.argument is not None:
            custom = arguments.predicate_for(predicate)
            names.add(custom if is_custom_predicate(name) else name)
        elif name in PREDICATES:
            names.add(name)
        else:
            _refuse(f"predicate type not found for {go_quote(predicate.name)}")
    return names, notes


def _names_memory_pressure(policy: Policy) -> bool:
    return any(each.name == MEMORY_PRESSURE_PREDICATE for each in policy.predicates or ())


def _weights(policy: Policy, arguments: PolicyArguments) -> dict[str, int]:
    """The weight of every priority, in the order of their names."""
    if policy.priorities is None:
        return dict(sorted(DEFAULT_PRIORITIES.items()))
    weights: dict[str, int] = {}
    for priority in policy.priorities:
        if priority.name == EQUAL_PRIORITY:
            continue
        name = _priority_name(priority, arguments)
        # upstream: the weight of a custom priority counts for each of its labels.
        weights[name] = _int32(priority.weight * arguments.labels_of(name))
    return dict(sorted(weights.items()))


def _priority_name(priority: PriorityPolicy, arguments: PolicyArguments) -> str:
    name = PRIORITY_ALIASES.get(priority.name, priority.name)
    if priority.argument is not None:
        custom = arguments.priority_for(priority)
        return custom if is_custom_priority(name) else name
    if name not in PRIORITIES:
        _refuse(f"priority type not found for {go_quote(priority.name)}")
    return name


def _plugins(predicates: set[str], weights: Mapping[str, int]) -> Plugins:
    points: dict[str, dict[str, None]] = {
        "filter": {},
        "pre_filter": {},
        "reserve": {},
        "pre_bind": {},
    }
    for name, enabled in PREDICATES.items():
        if name in predicates:
            for point, listed in points.items():
                listed.update(dict.fromkeys(getattr(enabled, point)))
    # upstream: of two priorities that are one plugin, the first by name gives the weight.
    scores: dict[str, int] = {}
    for name, weight in weights.items():
        scores.setdefault(PRIORITIES[name], weight)
    plugins = Plugins(
        queue_sort=_list_plugins(["PrioritySort"]),
        post_filter=_list_plugins(["DefaultPreemption"]),
        bind=_list_plugins(["DefaultBinder"]),
        pre_score=_list_plugins([name for name in scores if name in PRE_SCORED]),
        score=PluginSet(tuple(PluginRef(name, weight) for name, weight in scores.items())),
        **{point: _list_plugins(list(names)) for point, names in points.items()},
    )
    return with_companions(plugins, Plugins())


def _list_plugins(names: Sequence[str]) -> PluginSet:
    return PluginSet(tuple(PluginRef(name) for name in names))


def _int32(weight: int) -> int:
    return (weight + 2**31) % 2**32 - 2**31


def _refuse(text: str) -> None:
    raise ConfigurationError(_WRAPPER + text)
