"""Arguments inside a Policy: custom predicates and priorities, collected per plugin.

A custom predicate or priority may have any name that is not registered; what it is follows from its
argument. Several of one kind add up to one plugin. A registered name does not look at its argument,
except those of the custom plugins themselves (upstream lost it and then failed).
"""

from collections.abc import Set
from typing import Final

from podium.scheduler.config.errors import ConfigurationError
from podium.scheduler.config.legacy_args import (
    NodeLabelArgs,
    RequestedToCapacityRatioArgs,
    ServiceAffinityArgs,
)
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
    PREDICATE_ALIASES,
    PRIORITY_ALIASES,
    SERVICE_SPREADING,
    is_custom_predicate,
    is_custom_priority,
)
from podium.scheduler.config.policy_types import (
    LabelPreferenceArgument,
    LabelsPresenceArgument,
    Policy,
    PredicatePolicy,
    PriorityPolicy,
    RatioArgument,
    ServiceAffinityArgument,
    ServiceAntiAffinityArgument,
)
from podium.scheduler.config.typed_args import NamedArgs

_WRAPPER: Final = "couldn't create scheduler from policy: "


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
        match _given(priority):
            case [LabelPreferenceArgument()]:
                return "NodeLabel"
            case [ServiceAntiAffinityArgument()]:
                return "ServiceAffinity"
            case [RatioArgument()]:
                return "RequestedToCapacityRatio"
        raise ConfigurationError(
            f"{_WRAPPER}exactly 1 priority argument is required, "
            f"numArgs: {len(_given(priority))}, priority {{{priority.name}}}"
        )

    def priority_problem(self, index: int) -> str:
        """What is wrong with a priority's argument, seen next to the ones before it, or ""."""
        priorities = self._policy.priorities or ()
        priority = priorities[index]
        if priority.argument is None:
            return ""
        given = _given(priority)
        if not given:
            return f"no priority arguments set for priority {priority.name}"
        same = [
            before
            for before in priorities[:index]
            if before.argument and _given(before) and type(_given(before)[0]) is type(given[0])
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


def _given(priority: PriorityPolicy) -> list[Argument]:
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
