"""Which policies are to be asked about a write, with which of their bindings and parameters.

Policies are sorted by name, and so are the bindings of one.

Does a policy, or a binding, speak of a request? By rules (group, version, resource, operation,
scope, names), by the labels of the namespace, and by those of the object. With `matchPolicy:
Equivalent` a rule for one version of a resource is one for all of them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from podium.apiserver.access.users import unserved_resource
from podium.apiserver.policies.asking import Seen, StoredPolicy
from podium.apiserver.policies.attempted import (
    DELETE,
    AttemptedWrite,
    Forms,
    NotConfigured,
    collect_parameters,
    seen_of,
)
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.labels import object_selector


def matched_resource(
    matched: JsonObject | None,
    attempted: AttemptedWrite,
    equivalents: Sequence[ApiResource],
    lookup: Lookup,
) -> ApiResource | None:
    """The resource in whose form a request is looked at; None if it is not.

    No criteria, and criteria without rules, match everything. `equivalents` are the other forms of
    the resource.
    """
    if matched is None:
        return attempted.resource
    if not matches_namespace(matched.get("namespaceSelector"), attempted, lookup):
        return None
    if not matches_labels(matched.get("objectSelector"), attempted):
        return None
    others = equivalents if matched.get("matchPolicy") == "Equivalent" else ()
    if _by_rules(matched.get("excludeResourceRules") or (), attempted, others) is not None:
        return None
    rules = matched.get("resourceRules")
    return _by_rules(rules, attempted, others) if rules else attempted.resource


def _by_rules(
    rules: Iterable[JsonObject], attempted: AttemptedWrite, others: Sequence[ApiResource]
) -> ApiResource | None:
    for resource in (attempted.resource, *others):
        if any(matches_rule(rule, attempted, resource) for rule in rules):
            return resource
    return None


def matches_rule(rule: JsonObject, attempted: AttemptedWrite, resource: ApiResource) -> bool:
    names = rule.get("resourceNames")
    return (
        _has(rule.get("operations"), attempted.operation)
        and _has(rule.get("apiGroups"), resource.group)
        and _has(rule.get("apiVersions"), resource.version)
        and _has_resource(rule.get("resources") or (), resource.plural, attempted.subresource)
        and _is_in_scope(rule.get("scope") or "*", attempted)
        and (not names or attempted.name in names)
    )


def _has(listed: Sequence[str] | None, wanted: str) -> bool:
    return bool(listed) and ("*" in (listed or ()) or wanted in (listed or ()))


def _has_resource(listed: Iterable[str], plural: str, subresource: str) -> bool:
    for each in listed:
        resource, _, below = each.partition("/")
        if resource in ("*", plural) and below in ("*", subresource):
            return True
    return False


def _is_in_scope(scope: str, attempted: AttemptedWrite) -> bool:
    is_cluster_wide = attempted.is_of_namespace or not attempted.namespace
    return scope == "*" or is_cluster_wide == (scope == "Cluster")


def matches_namespace(
    written: JsonObject | None, attempted: AttemptedWrite, lookup: Lookup
) -> bool:
    if not written:
        return True
    if not attempted.namespace and not attempted.is_of_namespace:
        return True
    selector = object_selector(written)
    if selector.empty:
        return True
    if attempted.is_of_namespace and attempted.operation != DELETE and not attempted.subresource:
        return selector.matches(_labels(attempted.obj))
    found = lookup.find("", "namespaces", "", attempted.namespace)
    if found is None:
        raise status_errors.not_found(unserved_resource("", "namespaces"), attempted.namespace)
    return selector.matches(_labels(found))


def matches_labels(written: JsonObject | None, attempted: AttemptedWrite) -> bool:
    if not written:
        return True
    selector = object_selector(written)
    return any(
        selector.matches(_labels(each))
        for each in (attempted.obj, attempted.old)
        if each is not None
    )


def _labels(obj: JsonObject | None) -> dict[str, str]:
    return ((obj or {}).get("metadata") or {}).get("labels") or {}


GROUP: Final = "admissionregistration.k8s.io"
_EXCLUDED_GROUPS: Final = frozenset({GROUP, "authentication.k8s.io", "authorization.k8s.io"})
"""Policies do not speak of each other, nor of who may do what: nobody could mend a mistake."""

P = TypeVar("P", bound=StoredPolicy)


@dataclass(frozen=True)
class Invocation(Generic[P]):
    """One policy, asked because of one binding with one parameter."""

    policy: P
    binding: JsonObject
    seen_as: ApiResource
    """The form in which the policy looks at the object."""
    params: JsonObject | None

    @property
    def binding_name(self) -> str:
        return str(self.binding["metadata"]["name"])

    @property
    def key(self) -> tuple[str, str, str, str]:
        """By which an invocation is known again."""
        found = (self.params or {}).get("metadata") or {}
        about = (found.get("namespace") or "", found.get("name") or "")
        return (self.policy.name, self.binding_name, *about)

    def bind_seen(self, attempted: AttemptedWrite, forms: Forms) -> Seen:
        return seen_of(attempted, self.seen_as, self.params, forms)


class Misconfigured(NamedTuple):
    """A policy, or its binding, that cannot be asked though it matches."""

    policy: StoredPolicy
    binding: str
    """Empty where it is the policy's fault."""
    why: str


class Policies(Generic[P]):
    """The stored policies of one kind."""

    def __init__(self, policies: str, bindings: str, kind: Callable[[JsonObject], P]) -> None:
        """`policies` and `bindings` are resources."""
        self._policies = policies
        self._bindings = bindings
        self._kind = kind

    def list_policies(self, lookup: Lookup) -> Sequence[P]:
        return lookup.get_derived(GROUP, self._policies, self._read)

    def _read(self, objects: Sequence[JsonObject]) -> list[P]:
        return [self._kind(each) for each in sorted(objects, key=_name)]

    def find_invocations(
        self, attempted: AttemptedWrite, forms: Forms
    ) -> Iterator[Invocation[P] | Misconfigured]:
        """Those that speak of a write."""
        if attempted.resource.group in _EXCLUDED_GROUPS:
            return
        bindings = forms.lookup.get_derived(GROUP, self._bindings, _by_policy)
        others = forms.equivalents_of(attempted.resource)
        for policy in self.list_policies(forms.lookup):
            bound = bindings.get(policy.name, ())
            yield from _invocations(policy, bound, attempted, others, forms)


def _name(obj: JsonObject) -> str:
    return str(obj["metadata"]["name"])


def _by_policy(objects: Sequence[JsonObject]) -> dict[str, list[JsonObject]]:
    found: dict[str, list[JsonObject]] = {}
    for each in sorted(objects, key=_name):
        found.setdefault(each["spec"].get("policyName") or "", []).append(each)
    return found


def _invocations(
    policy: P,
    bindings: Iterable[JsonObject],
    attempted: AttemptedWrite,
    others: Sequence[ApiResource],
    forms: Forms,
) -> Iterator[Invocation[P] | Misconfigured]:
    constraints = policy.spec.get("matchConstraints")
    seen_as = matched_resource(constraints, attempted, others, forms.lookup)
    if seen_as is None:
        return
    kind = policy.spec.get("paramKind")
    if kind is not None and forms.resource_of_kind(kind["apiVersion"], kind["kind"]) is None:
        told = f"{kind['apiVersion']}, Kind={kind['kind']}"
        why = f"failed to find resource referenced by paramKind: '{told}'"
        yield Misconfigured(policy, "", f"failed to configure policy: {why}")
        return
    for binding in bindings:
        spec = binding["spec"]
        if matched_resource(spec.get("matchResources"), attempted, others, forms.lookup) is None:
            continue
        try:
            found = collect_parameters(kind, spec.get("paramRef"), attempted.namespace, forms)
        except NotConfigured as problem:
            told = f"failed to configure binding: {problem}"
            yield Misconfigured(policy, _name(binding), told)
            continue
        for params in found:
            yield Invocation(policy, binding, seen_as, params)
