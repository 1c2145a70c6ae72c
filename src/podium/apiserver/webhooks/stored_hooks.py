"""The webhooks of all configurations, in the order in which they are asked.

Is a webhook to be asked about a write, and in the form of which resource? The webhook's own
rules are looked at first for the resource as it was named, then, where its `matchPolicy` is
Equivalent, for the other forms of the same objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from podium.apiserver.policies.asking import Budget, StoredPolicy, UnmetCondition
from podium.apiserver.policies.attempted import AttemptedWrite, Forms, seen_of
from podium.apiserver.policies.invocations import (
    GROUP,
    matches_labels,
    matches_namespace,
    matches_rule,
)
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.resource import ApiResource

_MUTATING: Final = "mutatingwebhookconfigurations"
_VALIDATING: Final = "validatingwebhookconfigurations"
_DEFAULT_TIMEOUT_S: Final = 10


@dataclass(eq=False)
class Webhook:
    """One entry of a configuration. There is one of each as long as nothing changes."""

    spec: JsonObject

    @property
    def name(self) -> str:
        return str(self.spec["name"])

    @property
    def ignores_failures(self) -> bool:
        return self.spec.get("failurePolicy") == "Ignore"

    @property
    def is_asked_again(self) -> bool:
        """Whether it wants to see what later webhooks have made of its work."""
        return self.spec.get("reinvocationPolicy") == "IfNeeded"

    @property
    def may_run_dry(self) -> bool:
        return self.spec.get("sideEffects") in ("None", "NoneOnDryRun")

    @property
    def timeout_s(self) -> int:
        return int(self.spec.get("timeoutSeconds") or _DEFAULT_TIMEOUT_S)

    @cached_property
    def conditions(self) -> StoredPolicy | None:
        """Its match conditions, which are a policy's without the rest."""
        if not self.spec.get("matchConditions"):
            return None
        return StoredPolicy({"metadata": {"name": self.name}, "spec": self.spec})


def mutating_hooks(lookup: Lookup) -> Sequence[Webhook]:
    return lookup.get_derived(GROUP, _MUTATING, _read_hooks)


def validating_hooks(lookup: Lookup) -> Sequence[Webhook]:
    return lookup.get_derived(GROUP, _VALIDATING, _read_hooks)


def _read_hooks(configurations: Sequence[JsonObject]) -> list[Webhook]:
    """Configurations by name, the webhooks of each as they are written."""
    ordered = sorted(configurations, key=lambda each: str(each["metadata"]["name"]))
    return [Webhook(hook) for each in ordered for hook in each.get("webhooks") or ()]


def is_exempt(attempted: AttemptedWrite) -> bool:
    """Nobody could take back a webhook that refuses everything."""
    return attempted.resource.group == GROUP


def resource_for(
    hook: Webhook, attempted: AttemptedWrite, forms: Forms, budget: Budget
) -> ApiResource | None:
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
) -> ApiResource | None:
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
