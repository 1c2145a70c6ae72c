"""All mutating policies, with all their bindings, one after the other, and the object they make.

Each sees what those before it have made. They come before mutating webhooks. When one of them, or a
webhook, has changed the object, the server's own admission is gone through once more, and then
those policies are asked a second time that want to be (`reinvocationPolicy: IfNeeded`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final, NamedTuple, Protocol

from podium.apiserver.policies.asking import (
    OUT_OF_BUDGET,
    Asking,
    Budget,
    Failed,
    OutOfBudget,
    Policy,
    UnmetCondition,
)
from podium.apiserver.policies.attempted import AttemptedWrite, Forms
from podium.apiserver.policies.invocations import Invocation, Misconfigured, Policies
from podium.apiserver.policies.mutations import Mutation
from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.cel.structs import JSON_PATCHES, OBJECT
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.schema import Decoded, Schema

Key = tuple[str, str, str, str]


class ReadAs(Protocol):
    def __call__(self, changed: JsonObject, seen_as: Resource) -> Decoded: ...


class MutatingPolicy(Policy):
    @property
    def is_asked_again(self) -> bool:
        return self.spec.get("reinvocationPolicy") == "IfNeeded"

    @cached_property
    def mutations(self) -> list[Mutation]:
        found = []
        for each in self.spec.get("mutations") or ():
            is_json_patch = each.get("patchType") == "JSONPatch"
            written = each["jsonPatch" if is_json_patch else "applyConfiguration"]
            results = JSON_PATCHES if is_json_patch else OBJECT
            expression = self.compiled(written["expression"], results, with_patch_types=True)
            found.append(Mutation(expression, is_json_patch))
        return found


_POLICIES: Final = Policies(
    "mutatingadmissionpolicies", "mutatingadmissionpolicybindings", MutatingPolicy
)


def mutating_policies(lookup: Lookup) -> Sequence[MutatingPolicy]:
    """In the order of their names."""
    return _POLICIES.stored(lookup)


class _Problem(NamedTuple):
    policy: Policy
    binding: str
    why: str
    reason: str = ""

    def told(self) -> str:
        if not self.binding:
            return f'policy "{self.policy.name}" denied request: {self.why}'
        return (
            f"policy '{self.policy.name}' with binding '{self.binding}' denied request: {self.why}"
        )


@dataclass
class PolicyMutation:
    """The mutating policies and one write."""

    attempted: AttemptedWrite
    forms: Forms
    schema_of: Callable[[Resource], Schema]
    """The fields of the object in the form of a resource."""
    read: ReadAs
    """A changed object, read like one that a client sends; raises DecodeError, StatusError."""
    _asked: set[Key] = field(default_factory=set)
    """Invocations that want to know of later changes."""
    _again: set[Key] = field(default_factory=set)
    """Those for which there has been one."""
    _last: JsonObject | None = None
    """The object as policies have left it."""
    has_mutated: bool = False
    """Whether something was done to the object, even if it is the same afterwards."""

    def run(self, obj: JsonObject | None, *, again: bool = False) -> JsonObject | None:
        """The object that policies make of one; raises StatusError. `again`: the second time."""
        self.attempted = replace(self.attempted, obj=obj)
        if again and self._last != obj:
            self._require_again()
        problems: list[_Problem] = []
        budget = Budget()
        invocations = []
        for found in _POLICIES.matching(self.attempted, self.forms):
            if isinstance(found, Misconfigured):
                problems.append(_Problem(found.policy, found.binding, found.why))
            else:
                invocations.append(found)
        mutated = False
        for invocation in invocations:
            mutated |= self._invoke(invocation, problems, budget, again=again)
        if mutated:
            self._require_again()
            self.has_mutated = True
        refusing = [each for each in problems if not each.policy.ignores_failures]
        if refusing:
            raise _refusal(self.attempted, refusing)
        self._last = self.attempted.obj
        return self.attempted.obj

    def _invoke(
        self,
        invocation: Invocation[MutatingPolicy],
        problems: list[_Problem],
        budget: Budget,
        *,
        again: bool,
    ) -> bool:
        """Let one policy change the object; says whether it has done something to it."""
        policy, before, mutated = invocation.policy, self.attempted.obj, False
        try:
            seen = invocation.seen(self.attempted, self.forms)
            if not policy.meets_conditions(seen, budget):
                return False
        except UnmetCondition as problem:
            problems.append(_Problem(policy, invocation.binding_name, str(problem), "Invalid"))
            return False
        if again and invocation.key not in self._again:
            return False
        for mutation in policy.mutations if before is not None else ():
            try:
                self._mutate(invocation, mutation, budget)
                mutated = True
            except Failed as problem:
                problems.append(_Problem(policy, invocation.binding_name, str(problem), "Invalid"))
        if self.attempted.obj != before:
            self._require_again()
        if policy.is_asked_again:
            self._asked.add(invocation.key)
        return mutated

    def _mutate(
        self, invocation: Invocation[MutatingPolicy], mutation: Mutation, budget: Budget
    ) -> None:
        seen = invocation.seen(self.attempted, self.forms)
        assert seen.obj is not None, "looked at before"
        if isinstance(mutation.expression.program, str):
            raise Failed(mutation.expression.program)
        try:
            made = Asking(invocation.policy, seen, budget).value(mutation.expression)
        except OutOfBudget:
            raise Failed(OUT_OF_BUDGET) from None
        seen_as, own = invocation.seen_as, self.attempted.resource
        read = partial(self.read, seen_as=seen_as)
        new = mutation.change(seen.obj, made, self.schema_of(seen_as), read)
        if seen_as is not own and not self.attempted.subresource:
            new = self.forms.converted(new, seen_as, own)
        self.attempted = replace(self.attempted, obj=new)

    def _require_again(self) -> None:
        self._again |= self._asked
        self._asked = set()


def _refusal(attempted: AttemptedWrite, problems: list[_Problem]) -> status_errors.StatusError:
    told = [each.told() for each in problems]
    refusal = status_errors.forbidden(attempted.resource, attempted.name, "")
    refusal.message = told[0]
    refusal.reason = problems[0].reason or refusal.reason
    refusal.details = {
        **(refusal.details or {}),
        "causes": [{"message": each} for each in told],
    }
    return refusal
