"""What the expressions of one policy decide about one request.

All policies of a request are paid from one budget. A condition that is not met keeps a policy
out of it; an expression that fails counts as the policy's `failurePolicy` says.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from podium.api.field_errors import aggregate
from podium.api.json_values import JsonObject
from podium.apiserver.policies.programs import (
    BOOL,
    TEXT,
    TEXT_OR_NULL,
    Programs,
    WrongResult,
)
from podium.cel import CelError, CompileError
from podium.cel.environment import Program
from podium.cel.errors import CancelledError
from podium.cel.evaluation import COST_LIMIT, Meter
from podium.cel.functions.authorization import Authorizer
from podium.cel.types import Type

RUNTIME_COST_BUDGET: Final = 200_000
"""For all policies of one request, which is to take less than a second. upstream: 10,000,000 for
each binding."""
_EXPRESSION_COST: Final = 15
"""For asking an expression at all. upstream: nothing."""
_MAX_MESSAGE_BYTES: Final = 5 * 1024
_INVALID: Final = "Invalid"
OUT_OF_BUDGET: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


class Denial(NamedTuple):
    message: str
    reason: str = _INVALID


class UnmetCondition(Exception):
    """Whether conditions are met cannot be told; the text is upstream's."""


class OutOfBudget(Exception):
    """The policies of a request have spent what they may."""


@dataclass(slots=True)
class Budget:
    left: int = RUNTIME_COST_BUDGET


class _Expression(NamedTuple):
    source: str
    program: Program | str
    """Or why it cannot be one."""


@dataclass
class Policy:
    """A stored policy; its expressions are compiled when it is first asked."""

    obj: JsonObject
    spec: JsonObject = field(init=False)

    def __post_init__(self) -> None:
        self.spec = self.obj.get("spec") or {}

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])

    @property
    def ignores_failures(self) -> bool:
        return self.spec.get("failurePolicy") == "Ignore"

    @cached_property
    def _programs(self) -> Programs:
        return Programs.of(self.spec)

    @cached_property
    def variables(self) -> dict[str, _Expression]:
        found: dict[str, _Expression] = {}
        for each in self.spec.get("variables") or ():
            source = each["expression"]
            try:
                program: Program | str = self._programs.add_variable(each["name"], source)
            except CompileError as problem:
                program = f"compilation failed: {problem}"
            found[each["name"]] = _Expression(source, program)
        return found

    @cached_property
    def conditions(self) -> list[_Expression]:
        return [
            self._compiled(each["expression"].strip(), BOOL, with_variables=False)
            for each in self.spec.get("matchConditions") or ()
        ]

    @cached_property
    def validations(self) -> list[tuple[JsonObject, _Expression, _Expression | None]]:
        return [
            (
                each,
                self._compiled(each["expression"], BOOL),
                self._compiled(each["messageExpression"], TEXT, with_authorizer=False)
                if (each.get("messageExpression") or "").strip()
                else None,
            )
            for each in self.spec.get("validations") or ()
        ]

    @cached_property
    def annotations(self) -> list[_Expression]:
        return [
            self._compiled(each["valueExpression"].strip(), TEXT_OR_NULL)
            for each in self.spec.get("auditAnnotations") or ()
        ]

    def _compiled(
        self,
        source: str,
        results: tuple[Type, ...],
        *,
        with_variables: bool = True,
        with_authorizer: bool = True,
    ) -> _Expression:
        if with_variables:
            _ = self.variables
        try:
            compiled = self._programs.compile(
                source, results, with_variables=with_variables, with_authorizer=with_authorizer
            )
        except CompileError as problem:
            return _Expression(source, f"compilation failed: {problem}")
        except WrongResult as problem:
            return _Expression(source, str(problem))
        return _Expression(source, compiled)

    def meets_conditions(self, seen: "Seen", budget: Budget) -> bool:
        """Raises UnmetCondition: none is false, and some cannot be told."""
        try:
            return _Asking(self, seen, budget).meets_conditions()
        except _Failed as problem:
            raise UnmetCondition(str(problem)) from None
        except OutOfBudget:
            if self.ignores_failures:
                return False
            raise UnmetCondition(OUT_OF_BUDGET) from None

    def denials(self, seen: "Seen", budget: Budget) -> list[Denial]:
        """What the policy has against a request."""
        asking = _Asking(self, seen, budget)
        try:
            return asking.decide()
        except OutOfBudget:
            return [] if self.ignores_failures else [Denial(OUT_OF_BUDGET, "")]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the expressions see of a request."""

    obj: JsonObject | None
    old: JsonObject | None
    request: JsonObject
    namespace: JsonObject | None
    params: JsonObject | None
    authorizer: Authorizer | None = None


class _Failed(Exception):
    """An expression has no value; the text is upstream's."""


class _Variables(dict[str, Any]):
    """Worked out when they are asked for, once."""

    def __init__(self, asking: "_Asking") -> None:
        self._asking = asking

    def __missing__(self, name: str) -> Any:
        value = self[name] = self._asking.value_of_variable(name)
        return value


class _Asking:
    def __init__(self, policy: Policy, seen: Seen, budget: Budget) -> None:
        self._policy = policy
        self._budget = budget
        params = (seen.params,) if policy.spec.get("paramKind") is not None else ()
        self._common = (seen.obj, seen.old, seen.request)
        self._namespace = seen.namespace
        self._authorizer = seen.authorizer
        self._params = params
        self._variables = _Variables(self)
        self._meter: Meter | None = None

    def decide(self) -> list[Denial]:
        try:
            if not self.meets_conditions():
                return []
        except _Failed as problem:
            return self._failure(str(problem))
        found: list[Denial] = []
        for written, expression, message in self._policy.validations:
            try:
                holds = self._value(expression)
            except _Failed as problem:
                found += self._failure(str(problem))
                continue
            if holds is not True:
                reason = written.get("reason") or _INVALID
                found.append(Denial(self._message(written, message), reason))
        for each in self._policy.annotations:
            try:
                self._value(each)
            except _Failed as problem:
                found += self._failure(str(problem))
        return found

    def _failure(self, problem: str) -> list[Denial]:
        return [] if self._policy.ignores_failures else [Denial(problem, "")]

    def meets_conditions(self) -> bool:
        """Raises _Failed: none is false, and some cannot be told."""
        problems: list[str] = []
        for condition in self._policy.conditions:
            try:
                if self._value(condition, with_variables=False) is False:
                    return False
            except _Failed as problem:
                problems.append(str(problem))
        if problems and self._policy.ignores_failures:
            return False
        if problems:
            raise _Failed(aggregate(problems))
        return True

    def _message(self, written: JsonObject, expression: _Expression | None) -> str:
        told = ""
        if expression is not None:
            try:
                found = self._value(expression)
            except _Failed:
                found = ""
            told = found.strip() if isinstance(found, str) else ""
            if "\n" in told or len(told.encode()) > _MAX_MESSAGE_BYTES:
                told = ""
        told = told or (written.get("message") or "").strip()
        return told or f"failed expression: {written['expression'].strip()}"

    def _value(self, expression: _Expression, *, with_variables: bool = True) -> Any:
        """Raises _Failed or OutOfBudget."""
        source, program = expression
        if isinstance(program, str):
            raise _Failed(f"compilation error: {program}")
        self._budget.left -= _EXPRESSION_COST
        if self._budget.left <= 0:
            raise OutOfBudget
        limit = min(COST_LIMIT, self._budget.left)
        self._meter = meter = Meter(limit)
        try:
            return program.run_metered(meter, *self._frame(with_variables=with_variables))
        except CancelledError as stopped:
            if self._budget.left < COST_LIMIT:
                raise OutOfBudget from None
            raise _Failed(f"expression '{source}' resulted in error: {stopped}") from None
        except CelError as problem:
            raise _Failed(f"expression '{source}' resulted in error: {problem}") from None
        finally:
            self._budget.left -= limit - meter.left

    def _frame(self, *, with_variables: bool) -> Iterator[Any]:
        yield from self._common
        # upstream: conditions are asked before the namespace is looked at.
        yield self._namespace if with_variables else None
        yield from self._params
        if with_variables and self._policy.variables:
            yield self._variables
        yield self._authorizer

    def value_of_variable(self, name: str) -> Any:
        source, program = self._policy.variables[name]
        del source
        if isinstance(program, str):
            raise CelError(f'composited variable "{name}" fails to compile: {program}')
        try:
            return program.run_metered(self._meter, *self._frame(with_variables=True))
        except CelError as problem:
            raise CelError(f'composited variable "{name}" fails to evaluate: {problem}') from None
