"""Policy files: from predicates and priorities to a profile.

The result is a configuration in the terms of v1beta1, the last format that had all these plugins.
There is one profile, `default-scheduler`. Errors carry the texts of 1.22: what cannot be decoded is
an `invalid policy`, what cannot be translated could not create a scheduler.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from podium.config.decode import DecodeError, decode
from podium.config.defaults import DEFAULT_SCHEDULER_NAME, complete
from podium.config.errors import ConfigurationError, FieldProblem, invalid, joined
from podium.config.feature_gates import FeatureGates
from podium.config.legacy_plugins import with_companions
from podium.config.policy_arguments import PolicyArguments
from podium.config.policy_names import (
    COVERED_BY_TAINTS,
    DEFAULT_PREDICATES,
    DEFAULT_PRIORITIES,
    EQUAL_PRIORITY,
    MANDATORY_PREDICATES,
    PRE_SCORED,
    PREDICATE_ALIASES,
    PREDICATES,
    PRIORITIES,
    PRIORITY_ALIASES,
)
from podium.config.policy_types import Policy, PriorityPolicy, respelled
from podium.config.strict_errors import StrictErrors
from podium.config.types import (
    API_VERSION,
    Configuration,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginRef,
    Plugins,
    PluginSet,
)
from podium.config.validation import configuration_problems
from podium.config.versions import V1BETA1

_KIND: Final = "Policy"
_WRAPPER: Final = "couldn't create scheduler from policy: "
_MAX_WEIGHT: Final = (2**63 - 1) // 10


def is_policy(raw: object) -> bool:
    return (
        isinstance(raw, Mapping)
        and raw.get("kind") == _KIND
        and raw.get("apiVersion") in ("v1", API_VERSION)
    )


def load_policy(raw: Mapping[str, Any], strict: StrictErrors, gates: FeatureGates) -> Configuration:
    """Raises ConfigurationError."""
    policy, written = _decoded(raw, strict)
    arguments = PolicyArguments(policy)
    problems = _problems(policy, arguments)
    if problems:
        raise ConfigurationError(_WRAPPER + joined(problems), problems)
    predicates, notes = _predicates(policy, arguments)
    weights = _weights(policy, arguments)
    plugins = _plugins(predicates, weights)
    args = arguments.of(plugins.enabled_names(), frozenset(weights))
    configuration = complete(
        written, [args], gates, lambda _user, _gates: plugins, V1BETA1.args_kinds
    )
    problems = configuration_problems(configuration, [args], gates, V1BETA1.rules)
    if problems:
        raise ConfigurationError(_WRAPPER + joined(problems), problems)
    if policy.always_check_all_predicates:
        notes.append("alwaysCheckAllPredicates: filtering stops at the first plugin that rejects")
    return replace(configuration, api_version=V1BETA1.api_version, notes=tuple(notes))


def _decoded(
    raw: Mapping[str, Any], strict: StrictErrors
) -> tuple[Policy, KubeSchedulerConfiguration]:
    try:
        policy, unknown_fields = decode(raw, Policy)
        strict.add(unknown_fields)
        extenders = policy.extenders
        if isinstance(extenders, list):
            extenders = [respelled(extender) for extender in extenders]
        profile = KubeSchedulerProfile(scheduler_name=DEFAULT_SCHEDULER_NAME)
        written, _ = decode({"extenders": extenders}, KubeSchedulerConfiguration)
    except DecodeError as error:
        raise ConfigurationError(f"invalid policy: {error}") from None
    if strict:
        refusal = strict.error(())
        raise ConfigurationError(
            f"invalid policy: {refusal.message}", refusal.problems, remedy=refusal.remedy
        )
    return policy, replace(written, profiles=(profile,))


def _problems(policy: Policy, arguments: PolicyArguments) -> list[FieldProblem]:
    found: list[FieldProblem] = []
    for i, priority in enumerate(policy.priorities or ()):
        if not 0 < priority.weight < _MAX_WEIGHT:
            text = "should have a positive weight applied to it or it has overflown"
            found.append(FieldProblem("", f"priority {priority.name} {text}"))
        text = arguments.priority_problem(i)
        if text:
            found.append(FieldProblem("", text))
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
            names.add(arguments.predicate_for(predicate))
        elif name in PREDICATES:
            names.add(name)
        else:
            _refuse(f'predicate type not found for "{predicate.name}"')
    return names, notes


def _weights(policy: Policy, arguments: PolicyArguments) -> dict[str, int]:
    """The weight of every priority, in the order of their names."""
    if policy.priorities is None:
        return dict(sorted(DEFAULT_PRIORITIES.items()))
    weights: dict[str, int] = {}
    for priority in policy.priorities:
        name = _priority_name(priority, arguments)
        if name == EQUAL_PRIORITY:
            continue
        # upstream: the weight of a custom priority counts for each of its labels.
        weights[name] = _int32(priority.weight * arguments.labels_of(name))
    return dict(sorted(weights.items()))


def _priority_name(priority: PriorityPolicy, arguments: PolicyArguments) -> str:
    if priority.argument is not None:
        return arguments.priority_for(priority)
    name = PRIORITY_ALIASES.get(priority.name, priority.name)
    if name not in PRIORITIES and name != EQUAL_PRIORITY:
        _refuse(f'priority type not found for "{priority.name}"')
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
        queue_sort=_listed(["PrioritySort"]),
        post_filter=_listed(["DefaultPreemption"]),
        bind=_listed(["DefaultBinder"]),
        pre_score=_listed([name for name in scores if name in PRE_SCORED]),
        score=PluginSet(tuple(PluginRef(name, weight) for name, weight in scores.items())),
        **{point: _listed(list(names)) for point, names in points.items()},
    )
    return with_companions(plugins, Plugins())


def _listed(names: Sequence[str]) -> PluginSet:
    return PluginSet(tuple(PluginRef(name) for name in names))


def _int32(weight: int) -> int:
    return (weight + 2**31) % 2**32 - 2**31


def _refuse(text: str) -> None:
    raise ConfigurationError(_WRAPPER + text)
