"""The expressions that policies of both kinds have, and asking them about one request.

All policies of a request are paid from one budget. A condition that is not met keeps a policy
out of it; an expression that fails counts as the policy's `failurePolicy` says.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.cel import CelError, CompileError
from podium.kubernetes.cel.admission_programs import BOOL, Programs, WrongResult
from podium.kubernetes.cel.environment import Program
from podium.kubernetes.cel.errors import CancelledError
from podium.kubernetes.cel.evaluation import COST_LIMIT, Meter
from podium.kubernetes.cel.functions.authorization import Authorizer
from podium.kubernetes.cel.types import Type
from podium.kubernetes.rules.field_errors import aggregate

RUNTIME_COST_BUDGET: Final = 200_000
"""For all policies of one request, which is to take less than a second. upstream: 10,000,000 for
each binding."""
_EXPRESSION_COST: Final = 15
"""For asking an expression at all. upstream: nothing."""
OUT_OF_BUDGET: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


class UnmetCondition(Exception):
    """Whether conditions are met cannot be determined; the text is upstream's."""


class OutOfBudget(Exception):
    """The policies of a request have spent what they may."""


class Failed(Exception):
    """An expression has no value; the text is upstream's."""


@dataclass(slots=True)
class Budget:
    left: int = RUNTIME_COST_BUDGET


class Expression(NamedTuple):
    source: str
    program: Program | str
    """Or why it cannot be one."""


@dataclass
class StoredPolicy:
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
    def variables(self) -> dict[str, Expression]:
        found: dict[str, Expression] = {}
        for each in self.spec.get("variables") or ():
            source = each["expression"]
            try:
                program: Program | str = self._programs.add_variable(each["name"], source)
            except CompileError as problem:
                program = f"compilation failed: {problem}"
            found[each["name"]] = Expression(source, program)
        return found

    @cached_property
    def conditions(self) -> list[Expression]:
        return [
            self.compile_expression(each["expression"].strip(), BOOL, with_variables=False)
            for each in self.spec.get("matchConditions") or ()
        ]

    def compile_expression(
        self,
        source: str,
        results: tuple[Type, ...],
        *,
        with_variables: bool = True,
        with_authorizer: bool = True,
        with_patch_types: bool = False,
    ) -> Expression:
        if with_variables:
            _ = self.variables
        try:
            compiled = self._programs.compile(
                source,
                results,
                with_variables=with_variables,
                with_authorizer=with_authorizer,
                with_patch_types=with_patch_types,
            )
        except CompileError as problem:
            return Expression(source, f"compilation failed: {problem}")
        except WrongResult as problem:
            return Expression(source, str(problem))
        return Expression(source, compiled)

    def meets_conditions(self, seen: "Seen", budget: Budget) -> bool:
        """Raises UnmetCondition: none is false, and some cannot be determined."""
        try:
            return Asking(self, seen, budget).meets_conditions()
        except Failed as problem:
            raise UnmetCondition(str(problem)) from None
        except OutOfBudget:
            if self.ignores_failures:
                return False
            raise UnmetCondition(OUT_OF_BUDGET) from None


@dataclass(frozen=True, slots=True)
class Seen:
    """What the expressions see of a request."""

    obj: JsonObject | None
    old: JsonObject | None
    request: JsonObject
    namespace: JsonObject | None
    params: JsonObject | None
    authorizer: Authorizer | None = None


class _Variables(dict[str, Any]):
    """Worked out when they are requested, once."""

    def __init__(self, asking: "Asking") -> None:
        self._asking = asking

    def __missing__(self, name: str) -> Any:
        value = self[name] = self._asking.value_of_variable(name)
        return value


class Asking:
    def __init__(self, policy: StoredPolicy, seen: Seen, budget: Budget) -> None:
        self._policy = policy
        self._budget = budget
        params = (seen.params,) if policy.spec.get("paramKind") is not None else ()
        self._common = (seen.obj, seen.old, seen.request)
        self._namespace = seen.namespace
        self._authorizer = seen.authorizer
        self._params = params
        self._variables = _Variables(self)
        self._meter: Meter | None = None

    def meets_conditions(self) -> bool:
        """Raises Failed: none is false, and some cannot be determined."""
        problems: list[str] = []
        for condition in self._policy.conditions:
            try:
                if self.value(condition, with_variables=False) is False:
                    return False
            except Failed as problem:
                problems.append(str(problem))
        if problems and self._policy.ignores_failures:
            return False
        if problems:
            raise Failed(aggregate(problems))
        return True

    def value(self, expression: Expression, *, with_variables: bool = True) -> Any:
        """Raises Failed or OutOfBudget."""
        source, program = expression
        if isinstance(program, str):
            raise Failed(f"compilation error: {program}")
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
            raise Failed(f"expression '{source}' resulted in error: {stopped}") from None
        except CelError as problem:
            raise Failed(f"expression '{source}' resulted in error: {problem}") from None
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
