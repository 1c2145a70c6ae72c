"""Is a webhook to be asked about a write, and in the form of which resource?

The webhook's own rules are looked at first for the resource as it was named, then, where its
`matchPolicy` is Equivalent, for the other forms of the same objects.
"""

from collections.abc import Sequence

from podium.apiserver.policies.asking import Budget, UnmetCondition
from podium.apiserver.policies.attempted import AttemptedWrite
from podium.apiserver.policies.invocations import GROUP
from podium.apiserver.policies.matching import matches_labels, matches_namespace, matches_rule
from podium.apiserver.policies.views import Forms, seen_of
from podium.apiserver.webhooks.stored_hooks import Webhook
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.resources.resource import Resource


def is_exempt(attempted: AttemptedWrite) -> bool:
    """Nobody could take back a webhook that refuses everything."""
    return attempted.resource.group == GROUP


def resource_for(
    hook: Webhook, attempted: AttemptedWrite, forms: Forms, budget: Budget
) -> Resource | None:
    """The resource in whose form a webhook is asked, None if it is not; StatusError."""
    spec = hook.spec
    seen_as = _by_rules(spec.get("rules") or (), spec.get("matchPolicy"), attempted, forms)
    if seen_as is None:
        return None
    if not matches_labels(spec.get("objectSelector"), attempted):
        return None
    if not matches_namespace(spec.get("namespaceSelector"), attempted, forms.lookup):
        return None
    if hook.conditions is None:
        return seen_as
    try:
        seen = seen_of(attempted, seen_as, None, forms)
        return seen_as if hook.conditions.meets_conditions(seen, budget) else None
    except UnmetCondition as problem:
        refused = status_errors.forbidden(attempted.resource, attempted.name, str(problem))
        raise refused from None


def _by_rules(
    rules: Sequence[JsonObject], policy: str | None, attempted: AttemptedWrite, forms: Forms
) -> Resource | None:
    if any(matches_rule(rule, attempted, attempted.resource) for rule in rules):
        return attempted.resource
    if policy != "Equivalent" or not rules:
        return None
    others = forms.equivalents_of(attempted.resource)
    for rule in rules:
        for other in others:
            if matches_rule(rule, attempted, other):
                return other
    return None
