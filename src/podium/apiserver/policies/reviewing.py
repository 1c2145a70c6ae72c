"""All validating policies, with all their bindings, asked about one write."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from podium.apiserver.policies.asking import Budget
from podium.apiserver.policies.attempted import AttemptedWrite
from podium.apiserver.policies.evaluation import Denial, ValidatingPolicy
from podium.apiserver.policies.invocations import Misconfigured, Policies
from podium.apiserver.policies.views import Forms
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup

_POLICIES: Final = Policies(
    "validatingadmissionpolicies", "validatingadmissionpolicybindings", ValidatingPolicy
)
_CODES: Final = {"Forbidden": 403, "RequestEntityTooLarge": 413}


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


def validating_policies(lookup: Lookup) -> Sequence[ValidatingPolicy]:
    """In the order of their names."""
    return _POLICIES.stored(lookup)


def review(attempted: AttemptedWrite, forms: Forms) -> list[str]:
    """Ask all policies; StatusError if one denies. Gives what clients are to be warned of."""
    warnings: list[str] = []
    denied = list(_ask_all(attempted, forms, warnings))
    if denied:
        raise _refusal(attempted, denied[0])
    return warnings


def _ask_all(attempted: AttemptedWrite, forms: Forms, warnings: list[str]) -> Iterator[_Denied]:
    budget = Budget()
    for found in _POLICIES.matching(attempted, forms):
        policy = found.policy
        if isinstance(found, Misconfigured):
            if not policy.ignores_failures:
                yield _Denied(policy.name, found.binding, Denial(found.why, ""))
            continue
        name = found.binding_name
        actions = found.binding["spec"].get("validationActions") or ()
        for denial in found.policy.denials(found.seen(attempted, forms), budget):
            if "Deny" in actions:
                yield _Denied(policy.name, name, denial)
            if "Warn" in actions:
                warnings.append(
                    f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' with"
                    f" binding '{name}': {denial.message}"
                )


def _refusal(attempted: AttemptedWrite, denied: _Denied) -> status_errors.StatusError:
    told = denied.told()
    refusal = status_errors.forbidden(attempted.resource, attempted.name, told)
    refusal.reason = denied.denial.reason or "Invalid"
    refusal.code = _CODES.get(refusal.reason, 422)
    refusal.details = {**(refusal.details or {}), "causes": [{"message": told}]}
    return refusal
