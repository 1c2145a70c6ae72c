"""All validating policies, with all their bindings, asked about one write.

What the validations of one policy decide about one request.

All validating policies, with all their bindings, asked about one write.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from podium.apiserver.policies.asking import (
    OUT_OF_BUDGET,
    Asking,
    Budget,
    Expression,
    Failed,
    OutOfBudget,
    Seen,
    StoredPolicy,
)
from podium.apiserver.policies.attempted import AttemptedWrite, Forms
from podium.apiserver.policies.invocations import Misconfigured, Policies
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.cel.admission_programs import BOOL, TEXT, TEXT_OR_NULL

_MAX_MESSAGE_BYTES: Final = 5 * 1024
_INVALID: Final = "Invalid"


class Denial(NamedTuple):
    message: str
    reason: str = _INVALID


class ValidatingPolicy(StoredPolicy):
    @cached_property
    def validations(self) -> list[tuple[JsonObject, Expression, Expression | None]]:
        return [
            (
                each,
                self.compile_expression(each["expression"], BOOL),
                self.compile_expression(each["messageExpression"], TEXT, with_authorizer=False)
                if (each.get("messageExpression") or "").strip()
                else None,
            )
            for each in self.spec.get("validations") or ()
        ]

    @cached_property
    def annotations(self) -> list[Expression]:
        return [
            self.compile_expression(each["valueExpression"].strip(), TEXT_OR_NULL)
            for each in self.spec.get("auditAnnotations") or ()
        ]

    def denials(self, seen: Seen, budget: Budget) -> list[Denial]:
        """What the policy has against a request."""
        try:
            return _Validation(self, Asking(self, seen, budget)).decide()
        except OutOfBudget:
            return [] if self.ignores_failures else [Denial(OUT_OF_BUDGET, "")]


class _Validation:
    def __init__(self, policy: ValidatingPolicy, asking: Asking) -> None:
        self._policy = policy
        self._asking = asking

    def decide(self) -> list[Denial]:
        try:
            if not self._asking.meets_conditions():
                return []
        except Failed as problem:
            return self._failure(str(problem))
        found: list[Denial] = []
        for written, expression, message in self._policy.validations:
            try:
                holds = self._asking.value(expression)
            except Failed as problem:
                found += self._failure(str(problem))
                continue
            if holds is not True:
                reason = written.get("reason") or _INVALID
                found.append(Denial(self._message(written, message), reason))
        for each in self._policy.annotations:
            try:
                self._asking.value(each)
            except Failed as problem:
                found += self._failure(str(problem))
        return found

    def _failure(self, problem: str) -> list[Denial]:
        return [] if self._policy.ignores_failures else [Denial(problem, "")]

    def _message(self, written: JsonObject, expression: Expression | None) -> str:
        told = ""
        if expression is not None:
            try:
                found = self._asking.value(expression)
            except Failed:
                found = ""
            told = found.strip() if isinstance(found, str) else ""
            if "\n" in told or len(told.encode()) > _MAX_MESSAGE_BYTES:
                told = ""
        told = told or (written.get("message") or "").strip()
        return told or f"failed expression: {written['expression'].strip()}"


_POLICIES: Final = Policies(
    "validatingadmissionpolicies", "validatingadmissionpolicybindings", ValidatingPolicy
)
_CODES: Final = {"Forbidden": 403, "RequestEntityTooLarge": 413}


class _Denied(NamedTuple):
    policy: str
    binding: str
    denial: Denial

    def describe(self) -> str:
        binding = f" with binding '{self.binding}'" if self.binding else ""
        return (
            f"ValidatingAdmissionPolicy '{self.policy}'{binding} denied request:"
            f" {self.denial.message}"
        )


def validating_policies(lookup: Lookup) -> Sequence[ValidatingPolicy]:
    """In the order of their names."""
    return _POLICIES.list_policies(lookup)


def review(attempted: AttemptedWrite, forms: Forms) -> list[str]:
    """Ask all policies; StatusError if one denies. Gives what clients are to be warned of."""
    warnings: list[str] = []
    denied = list(_ask_all(attempted, forms, warnings))
    if denied:
        raise _refusal(attempted, denied[0])
    return warnings


def _ask_all(attempted: AttemptedWrite, forms: Forms, warnings: list[str]) -> Iterator[_Denied]:
    budget = Budget()
    for found in _POLICIES.find_invocations(attempted, forms):
        policy = found.policy
        if isinstance(found, Misconfigured):
            if not policy.ignores_failures:
                yield _Denied(policy.name, found.binding, Denial(found.why, ""))
            continue
        name = found.binding_name
        actions = found.binding["spec"].get("validationActions") or ()
        for denial in found.policy.denials(found.bind_seen(attempted, forms), budget):
            if "Deny" in actions:
                yield _Denied(policy.name, name, denial)
            if "Warn" in actions:
                warnings.append(
                    f"Validation failed for ValidatingAdmissionPolicy '{policy.name}' with"
                    f" binding '{name}': {denial.message}"
                )


def _refusal(attempted: AttemptedWrite, denied: _Denied) -> status_errors.StatusError:
    told = denied.describe()
    refusal = status_errors.forbidden(attempted.resource, attempted.name, told)
    refusal.reason = denied.denial.reason or "Invalid"
    refusal.code = _CODES.get(refusal.reason, 422)
    refusal.details = {**(refusal.details or {}), "causes": [{"message": told}]}
    return refusal
