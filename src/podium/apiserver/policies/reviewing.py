"""All policies, with all their bindings, asked about one write."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from podium.api.json_values import JsonObject
from podium.apiserver import status_errors
from podium.apiserver.access.users import User
from podium.apiserver.admission.lookup import Lookup
from podium.apiserver.policies.attempted import AttemptedWrite
from podium.apiserver.policies.evaluation import Budget, Denial, Policy, Seen
from podium.apiserver.policies.matching import matched_resource
from podium.apiserver.policies.parameters import NotConfigured, Objects, collect_parameters
from podium.apiserver.resources.resource import Resource
from podium.cel.functions.authorization import Authorizer, Question

GROUP: Final = "admissionregistration.k8s.io"
_POLICIES: Final = "validatingadmissionpolicies"
_BINDINGS: Final = "validatingadmissionpolicybindings"
_EXCLUDED_GROUPS: Final = frozenset({GROUP, "authentication.k8s.io", "authorization.k8s.io"})
"""Policies do not speak of each other, nor of who may do what: nobody could mend a mistake."""
_CODES: Final = {"Forbidden": 403, "RequestEntityTooLarge": 413}
_HIDDEN_METADATA: Final = frozenset({"managedFields", "ownerReferences"})


class Forms(Objects, Protocol):
    """The rest of the cluster, and the other forms of an object."""

    @property
    def lookup(self) -> Lookup: ...
    def equivalents_of(self, resource: Resource) -> Sequence[Resource]: ...
    def converted(self, obj: JsonObject, resource: Resource, other: Resource) -> JsonObject:
        """An object of a resource as an equivalent one shows it."""

    def judge(self, user: User, question: Question) -> tuple[bool, str]:
        """Whether a user, or the account that the question names, may do something, and why."""


class _Denied(NamedTuple):
    policy: str
    binding: str
    denial: Denial

    def told(self) -> str:
        binding = f" with binding '{self.binding}'" if self.binding else ""
        return (
            f"ValidatingAdmissionPolicy '{self.policy}'{binding} denied request:"
            f" {self.denial.message}"
        )


def review(attempted: AttemptedWrite, forms: Forms) -> list[str]:
    """Ask all policies; StatusError if one denies. Gives what clients are to be warned of."""
    if attempted.resource.group in _EXCLUDED_GROUPS:
        return []
    bindings = forms.lookup.derived(GROUP, _BINDINGS, _by_policy)
    others = forms.equivalents_of(attempted.resource)
    warnings: list[str] = []
    denied: list[_Denied] = []
    budget = Budget()
    for policy in stored_policies(forms.lookup):
        bound = bindings.get(policy.name, ())
        denied += _ask(policy, bound, attempted, others, forms, warnings, budget)
    if denied:
        raise _refusal(attempted, denied[0])
    return warnings


def stored_policies(lookup: Lookup) -> Sequence[Policy]:
    """In the order of their names."""
    return lookup.derived(GROUP, _POLICIES, _read_policies)


def _read_policies(objects: Sequence[JsonObject]) -> list[Policy]:
    ordered = sorted(objects, key=lambda each: str(each["metadata"]["name"]))
    return [Policy(each) for each in ordered]


def _by_policy(objects: Sequence[JsonObject]) -> dict[str, list[JsonObject]]:
    found: dict[str, list[JsonObject]] = {}
    for each in sorted(objects, key=lambda each: str(each["metadata"]["name"])):
        found.setdefault(each["spec"].get("policyName") or "", []).append(each)
    return found


def _ask(
    policy: Policy,
    bindings: Iterable[JsonObject],
    attempted: AttemptedWrite,
    others: Sequence[Resource],
    forms: Forms,
    warnings: list[str],
    budget: Budget,
) -> Iterator[_Denied]:
    constraints = policy.spec.get("matchConstraints")
    seen_as = matched_resource(constraints, attempted, others, forms.lookup)
    if seen_as is None:
        return
    kind = policy.spec.get("paramKind")
    if kind is not None and forms.resource_of_kind(kind["apiVersion"], kind["kind"]) is None:
        if not policy.ignores_failures:
            told = f"{kind['apiVersion']}, Kind={kind['kind']}"
            why = f"failed to find resource referenced by paramKind: '{told}'"
            yield _Denied(policy.name, "", Denial(f"failed to configure policy: {why}", ""))
        return
    for binding in bindings:
        spec, name = binding["spec"], binding["metadata"]["name"]
        if matched_resource(spec.get("matchResources"), attempted, others, forms.lookup) is None:
            continue
        try:
            found = collect_parameters(kind, spec.get("paramRef"), attempted.namespace, forms)
        except NotConfigured as problem:
            if not policy.ignores_failures:
                told = f"failed to configure binding: {problem}"
                yield _Denied(policy.name, name, Denial(told, ""))
            continue
        actions = spec.get("validationActions") or ()
        for params in found:
            seen = seen_of(attempted, seen_as, params, forms)
            for denial in policy.denials(seen, budget):
                if "Deny" in actions:
                    yield _Denied(policy.name, name, denial)
                if "Warn" in actions:
                    warnings.append(
                        f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' with"
                        f" binding '{name}': {denial.message}"
                    )


def seen_of(
    attempted: AttemptedWrite, seen_as: Resource, params: JsonObject | None, forms: Forms
) -> Seen:
    """What expressions see of a request, in the form of an equivalent resource."""
    obj, old = objects_of(attempted, seen_as, forms)
    namespace = None
    if attempted.namespace and not attempted.is_of_namespace:
        namespace = forms.lookup.find("", "namespaces", "", attempted.namespace)
    about = Question(
        group=attempted.resource.group,
        resource=attempted.resource.plural,
        subresource=attempted.subresource,
        namespace=attempted.namespace,
        name=attempted.name,
    )
    return Seen(
        obj,
        old,
        request_object(attempted, seen_as),
        namespace and _shown(namespace),
        params,
        Authorizer(lambda question: forms.judge(attempted.user, question), about),
    )


def objects_of(
    attempted: AttemptedWrite, seen_as: Resource, forms: Forms
) -> tuple[JsonObject | None, JsonObject | None]:
    """The new and the old object as an equivalent resource shows them."""
    obj, old = attempted.obj, attempted.old
    if seen_as is not attempted.resource and not attempted.subresource:
        obj = obj and forms.converted(obj, attempted.resource, seen_as)
        old = old and forms.converted(old, attempted.resource, seen_as)
    return obj, old


def _shown(namespace: JsonObject) -> JsonObject:
    """A namespace as policies see it."""
    metadata = {
        name: value for name, value in namespace["metadata"].items() if name not in _HIDDEN_METADATA
    }
    return {**namespace, "metadata": metadata}


def request_object(attempted: AttemptedWrite, seen_as: Resource) -> JsonObject:
    """A request as expressions and webhooks see it, without the objects."""
    group, version, kind = attempted.kind
    resource, user = attempted.resource, attempted.user
    is_own = seen_as is resource or (group, version) != (resource.group, resource.version)
    shown = (group, version, kind) if is_own else (seen_as.group, seen_as.version, seen_as.kind)
    info: JsonObject = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        info["uid"] = user.uid
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    request: JsonObject = {
        "kind": dict(zip(("group", "version", "kind"), shown, strict=True)),
        "resource": _resource(seen_as),
        "requestKind": {"group": group, "version": version, "kind": kind},
        "requestResource": _resource(resource),
        "name": attempted.name,
        "operation": attempted.operation,
        "userInfo": info,
        "dryRun": attempted.dry_run,
        "options": dict(attempted.options),
    }
    if attempted.subresource:
        request["subResource"] = request["requestSubResource"] = attempted.subresource
    if attempted.namespace:
        request["namespace"] = attempted.namespace
    return request


def _resource(resource: Resource) -> JsonObject:
    return {
        "group": resource.group,
        "version": resource.version,
        "resource": resource.plural,
    }


def _refusal(attempted: AttemptedWrite, denied: _Denied) -> status_errors.StatusError:
    told = denied.told()
    refusal = status_errors.forbidden(attempted.resource, attempted.name, told)
    refusal.reason = denied.denial.reason or "Invalid"
    refusal.code = _CODES.get(refusal.reason, 422)
    refusal.details = {**(refusal.details or {}), "causes": [{"message": told}]}
    return refusal
