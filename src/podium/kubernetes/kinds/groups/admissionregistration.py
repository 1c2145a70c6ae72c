"""The kinds of the group `admissionregistration.k8s.io`."""

from collections.abc import Iterator
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Kind, Printer, Validation, Warnings, WriteStrategy
from podium.kubernetes.tables.printer import age_of, columns_of, name_of, spec_of
from podium.kubernetes.validation import admission_policies, admission_webhooks, mutating_policies

_GROUP: Final = "admissionregistration.k8s.io"
_UNSET: Final = "<unset>"
_STATIC: Final = ".static.k8s.io"
_CATEGORIES: Final = ("api-extensions",)
_STORED_IN: Final = (_GROUP, "v1beta1")
"""upstream: so that the release before can read them."""
_COUNTS_SPEC: Final = WriteStrategy(counted=("spec",))
_COUNTS_WEBHOOKS: Final = WriteStrategy(counted=("webhooks",))


def _set_policy_defaults(policy: JsonObject) -> None:
    spec = policy["spec"]
    spec.setdefault("failurePolicy", "Fail")
    _set_match_defaults(spec.get("matchConstraints"))


def _set_binding_defaults(binding: JsonObject) -> None:
    _set_match_defaults(binding["spec"].get("matchResources"))


def _set_match_defaults(matched: JsonObject | None) -> None:
    if matched is None:
        return
    matched.setdefault("matchPolicy", "Equivalent")
    for selector in ("namespaceSelector", "objectSelector"):
        if matched.get(selector) is None:
            matched[selector] = {}
    for rules in ("resourceRules", "excludeResourceRules"):
        for rule in matched.get(rules) or ():
            rule.setdefault("scope", "*")


def _set_validating_defaults(configuration: JsonObject) -> None:
    for hook in configuration.get("webhooks") or ():
        _set_hook_defaults(hook)


def _set_mutating_defaults(configuration: JsonObject) -> None:
    for hook in configuration.get("webhooks") or ():
        _set_hook_defaults(hook)
        hook.setdefault("reinvocationPolicy", "Never")


def _set_hook_defaults(hook: JsonObject) -> None:
    hook.setdefault("failurePolicy", "Fail")
    hook.setdefault("matchPolicy", "Equivalent")
    for selector in ("namespaceSelector", "objectSelector"):
        if hook.get(selector) is None:
            hook[selector] = {}
    hook.setdefault("timeoutSeconds", 10)
    for rule in hook.get("rules") or ():
        rule.setdefault("scope", "*")
    service = (hook.get("clientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)


def _policy(obj: JsonObject, now: float, counted: str = "validations") -> Cells:
    spec = spec_of(obj)
    kind = spec.get("paramKind")
    shown = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else _UNSET
    return [name_of(obj), len(spec.get(counted) or ()), shown, age_of(obj, now)]


def _mutating_policy(obj: JsonObject, now: float) -> Cells:
    return _policy(obj, now, "mutations")


def _binding(obj: JsonObject, now: float) -> Cells:
    spec = spec_of(obj)
    return [
        name_of(obj),
        spec.get("policyName") or "",
        _parameters(spec.get("paramRef")),
        age_of(obj, now),
    ]


def _webhooks(obj: JsonObject, now: float) -> Cells:
    return [name_of(obj), len(obj.get("webhooks") or ()), age_of(obj, now)]


def _parameters(reference: JsonObject | None) -> str:
    if not reference:
        return _UNSET
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    return _go_text(reference["selector"]) if reference.get("selector") is not None else _UNSET


def _go_text(selector: JsonObject) -> str:
    """A label selector as Go prints the struct."""
    labels = selector.get("matchLabels") or {}
    shown = "".join(f"{key}: {labels[key]}," for key in sorted(labels))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.get('key', '')},Operator:{each.get('operator', '')},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{shown}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


_POLICY: Final = Printer(columns_of("Name", "Validations:integer", "ParamKind", "Age"), _policy)
_MUTATING_POLICY: Final = Printer(
    columns_of("Name", "Mutations:integer", "ParamKind", "Age"), _mutating_policy
)
_BINDING: Final = Printer(columns_of("Name", "PolicyName", "ParamRef", "Age"), _binding)
_WEBHOOKS: Final = Printer(columns_of("Name", "Webhooks:integer", "Age"), _webhooks)


def _about_static_name(obj: JsonObject) -> Iterator[str]:
    """Of policies and webhooks of admission."""
    if (obj["metadata"].get("name") or "").endswith(_STATIC):
        yield (
            f'metadata.name: names ending with "{_STATIC}" are reserved for static manifest-based'
            " configurations and cannot be managed via the API"
        )


_WARNINGS: Final = Warnings(always=_about_static_name)

KINDS: Final = (
    Kind(
        _GROUP,
        "MutatingAdmissionPolicy",
        "mutatingadmissionpolicies",
        description="Expressions by which objects are changed before they are stored.",
        stored_in=_STORED_IN,
        namespaced=False,
        categories=_CATEGORIES,
        defaults=_set_policy_defaults,
        validation=Validation(
            mutating_policies.policy_create_errors, mutating_policies.policy_update_errors
        ),
        strategy=_COUNTS_SPEC,
        printer=_MUTATING_POLICY,
        warnings=_WARNINGS,
    ),
    Kind(
        _GROUP,
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
        description="Puts a policy into force, perhaps with parameters.",
        stored_in=_STORED_IN,
        namespaced=False,
        categories=_CATEGORIES,
        defaults=_set_binding_defaults,
        validation=Validation(
            mutating_policies.binding_create_errors, mutating_policies.binding_update_errors
        ),
        strategy=_COUNTS_SPEC,
        printer=_BINDING,
        warnings=_WARNINGS,
    ),
    Kind(
        _GROUP,
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        description="Webhooks that may change objects before they are stored.",
        namespaced=False,
        categories=_CATEGORIES,
        defaults=_set_mutating_defaults,
        validation=Validation(admission_webhooks.create_errors, admission_webhooks.update_errors),
        strategy=_COUNTS_WEBHOOKS,
        printer=_WEBHOOKS,
        warnings=_WARNINGS,
    ),
    Kind(
        _GROUP,
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        description="Expressions that writes have to make true.",
        namespaced=False,
        has_status=True,
        categories=_CATEGORIES,
        defaults=_set_policy_defaults,
        validation=Validation(
            admission_policies.policy_create_errors,
            admission_policies.policy_update_errors,
            admission_policies.policy_status_errors,
        ),
        strategy=WriteStrategy(empty_status={}, counted=("spec",)),
        printer=_POLICY,
        warnings=_WARNINGS,
    ),
    Kind(
        _GROUP,
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        description="Puts a policy into force, perhaps with parameters.",
        namespaced=False,
        categories=_CATEGORIES,
        defaults=_set_binding_defaults,
        validation=Validation(
            admission_policies.binding_create_errors, admission_policies.binding_update_errors
        ),
        strategy=_COUNTS_SPEC,
        printer=_BINDING,
        warnings=_WARNINGS,
    ),
    Kind(
        _GROUP,
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        description="Webhooks that may refuse writes.",
        namespaced=False,
        categories=_CATEGORIES,
        defaults=_set_validating_defaults,
        validation=Validation(admission_webhooks.create_errors, admission_webhooks.update_errors),
        strategy=_COUNTS_WEBHOOKS,
        printer=_WEBHOOKS,
        warnings=_WARNINGS,
    ),
)
