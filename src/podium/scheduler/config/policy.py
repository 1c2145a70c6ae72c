"""Policy files: from predicates and priorities to a profile.

The result is a configuration in the terms of v1beta1, the last format that had all these plugins.
There is one profile, `default-scheduler`. Errors carry the texts of 1.22: what cannot be decoded is
an `invalid policy`, what cannot be translated could not create a scheduler.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from podium.golang.quoting import quoted
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.buildable import FIT, NO_FIT_ARGS, ignored_resources
from podium.scheduler.config.decode import DecodeError, decode
from podium.scheduler.config.defaults import DEFAULT_SCHEDULER_NAME, complete
from podium.scheduler.config.errors import ConfigurationError, FieldProblem, invalid, joined
from podium.scheduler.config.header import header_of
from podium.scheduler.config.legacy_args import LegacyArgs, legacy_args_problems
from podium.scheduler.config.legacy_plugins import with_companions
from podium.scheduler.config.policy_arguments import PolicyArguments
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
    is_custom_predicate,
    is_custom_priority,
)
from podium.scheduler.config.policy_spellings import respell_policy
from podium.scheduler.config.policy_types import Policy, PriorityPolicy, respelled
from podium.scheduler.config.strict_errors import StrictErrors
from podium.scheduler.config.typed_args import NamedArgs
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
    except DecodeError:
        return False
    return kind == _KIND and api_version in ("v1", API_VERSION)


def load_policy(raw: Mapping[str, Any], strict: StrictErrors, gates: FeatureGates) -> Configuration:
    """Raises ConfigurationError."""
    policy, written = _decoded(raw, strict)
    arguments = PolicyArguments(policy)
    problems = _problems(policy, arguments, written)
    if problems:
        raise ConfigurationError(_WRAPPER + joined(problems), problems)
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


def _decoded(
    raw: Mapping[str, Any], strict: StrictErrors
) -> tuple[Policy, KubeSchedulerConfiguration]:
    try:
        decoded = decode(raw, Policy)
        policy = decoded.value
        strict.add(decoded.unknown_fields)
        extenders = policy.extenders
        if isinstance(extenders, list):
            extenders = [respelled(extender) for extender in extenders]
        profile = KubeSchedulerProfile(scheduler_name=DEFAULT_SCHEDULER_NAME)
        written = decode({"extenders": extenders}, KubeSchedulerConfiguration).value
    except DecodeError as error:
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
                f'{DEFAULT_SCHEDULER_NAME}: initializing plugin "{name}": {joined(problems)}'
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
            _refuse(f"predicate type not found for {quoted(predicate.name)}")
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
        _refuse(f"priority type not found for {quoted(priority.name)}")
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
