"""The webhooks of all configurations, in the order in which they are asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from podium.apiserver.policies.asking import Policy
from podium.apiserver.policies.invocations import GROUP
from podium.golang.json_values import JsonObject
from podium.kubernetes.admission.lookup import Lookup

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
    def conditions(self) -> Policy | None:
        """Its match conditions, which are a policy's without the rest."""
        if not self.spec.get("matchConditions"):
            return None
        return Policy({"metadata": {"name": self.name}, "spec": self.spec})


def mutating_hooks(lookup: Lookup) -> Sequence[Webhook]:
    return lookup.derived(GROUP, _MUTATING, _read_hooks)


def validating_hooks(lookup: Lookup) -> Sequence[Webhook]:
    return lookup.derived(GROUP, _VALIDATING, _read_hooks)


def _read_hooks(configurations: Sequence[JsonObject]) -> list[Webhook]:
    """Configurations by name, the webhooks of each as they are written."""
    ordered = sorted(configurations, key=lambda each: str(each["metadata"]["name"]))
    return [Webhook(hook) for each in ordered for hook in each.get("webhooks") or ()]
