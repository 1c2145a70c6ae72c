"""Which names an expression may use, and how an expression becomes a program.

An environment is a set of variables with their types and a set of functions. The one for device
selectors is in `selector.py`; tests make others.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from podium.golang.regexp import PatternError, compile_pattern
from podium.kubernetes.cel.checker import Checker
from podium.kubernetes.cel.compiler import Compiler
from podium.kubernetes.cel.costs.estimator import estimate_cost
from podium.kubernetes.cel.costs.sizes import SizeOfPath
from podium.kubernetes.cel.errors import (
    CancelledError,
    CelError,
    CompileError,
    IssueError,
    describe_issues,
)
from podium.kubernetes.cel.evaluation import Code, Meter
from podium.kubernetes.cel.functions.addresses import ADDRESSES
from podium.kubernetes.cel.functions.conversions import CONVERSIONS
from podium.kubernetes.cel.functions.formats import FORMATS
from podium.kubernetes.cel.functions.lists import ATTRIBUTE_LISTS, LISTS, OPTIONALS
from podium.kubernetes.cel.functions.moments import (
    MOMENTS,
    parse_duration,
    parse_timestamp,
)
from podium.kubernetes.cel.functions.operators import OPERATORS
from podium.kubernetes.cel.functions.quantities import QUANTITIES
from podium.kubernetes.cel.functions.text import TEXT
from podium.kubernetes.cel.functions.urls import URLS
from podium.kubernetes.cel.functions.versions import VERSIONS
from podium.kubernetes.cel.library import Functions
from podium.kubernetes.cel.parser import parse
from podium.kubernetes.cel.structs import StructTypes, no_structs
from podium.kubernetes.cel.syntax import (
    BindExpr,
    CallExpr,
    Comprehension,
    Expr,
    IdentExpr,
    LiteralExpr,
    OptionalMap,
    walk,
)
from podium.kubernetes.cel.types import Type

RULE_FUNCTIONS = Functions(
    OPERATORS,
    CONVERSIONS,
    TEXT,
    LISTS,
    OPTIONALS,
    MOMENTS,
    QUANTITIES,
    VERSIONS,
    ADDRESSES,
    URLS,
    FORMATS,
)
"""What rules of custom resources may call."""
ALL_FUNCTIONS = Functions(RULE_FUNCTIONS, ATTRIBUTE_LISTS)
"""The same, and what only devices have."""

_LITERAL_CHECKS: Mapping[str, Callable[[str], object]] = {
    "matches": compile_pattern,
    "duration": parse_duration,
    "timestamp": parse_timestamp,
}

_MAX_SOURCE = 100_000
_SHORT_SOURCE = 2_000
"""No text this short can reach the cost limit with constant-time functions alone."""

# fmt: off
_CONSTANT_TIME = frozenset({
    "!_", "-_", "_+_", "_-_", "_*_", "_/_", "_%_", "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_",
    "@in", "_[_]", "_[?_]", "_?_:_", "_&&_", "_||_",
    "bool", "int", "uint", "double", "string", "dyn", "type", "size",
    "contains", "startsWith", "endsWith", "lowerAscii", "upperAscii", "trim", "charAt", "indexOf",
    "lastIndexOf", "substring", "or", "orValue", "hasValue", "value", "optional.of",
    "optional.none", "quantity", "isQuantity", "sign", "isGreaterThan", "isLessThan", "compareTo",
    "asInteger", "isInteger", "asApproximateFloat", "add", "sub", "semver", "isSemver", "major",
    "minor", "patch",
})
# fmt: on
"""Functions whose work is bounded by the length of their arguments, and whose results are too."""


class Program:
    """A compiled expression, to be run with values for its variables."""

    __slots__ = ("_code", "_frame_size", "_metered", "max_cost", "names", "result")

    def __init__(
        self,
        code: Code,
        frame_size: int,
        result: Type,
        *,
        metered: bool,
        max_cost: int = 0,
        names: frozenset[str] = frozenset(),
    ) -> None:
        self._code = code
        self._frame_size = frame_size
        self._metered = metered
        self.result = result
        self.max_cost = max_cost
        self.names = names
        """The variables that the expression speaks of."""

    def run(self, *values: Any, meter: Meter | None = None) -> Any:
        """The value of the expression, paid for from the meter or one of its own; raises
        CelError."""
        try:
            return self.run_metered((meter or Meter()) if self._metered else None, *values)
        except CancelledError as stopped:
            raise CelError(str(stopped)) from None

    def run_metered(self, meter: Meter | None, *values: Any) -> Any:
        """The value, paid for from a meter; raises CancelledError when that is empty."""
        frame = [meter, *values, *[None] * (self._frame_size - len(values) - 1)]
        try:
            return self._code(frame)
        except RecursionError:
            raise CelError("evaluation is nested too deeply") from None


class Environment:
    def __init__(
        self,
        variables: Mapping[str, Type],
        fields: Mapping[Type, Mapping[str, Type]] | None = None,
        functions: Functions = ALL_FUNCTIONS,
        *,
        structs: StructTypes = no_structs,
        size_of_path: SizeOfPath | None = None,
        is_metered: bool = False,
        has_bindings: bool = True,
    ) -> None:
        """`structs` are types whose values expressions can make. `is_metered` programs always
        count what they spend, others only if it can grow."""
        self._has_bindings = has_bindings
        self._variables = dict(variables)
        self._fields = fields or {}
        self._functions = functions
        self._structs = structs
        self._size_of_path = size_of_path
        self._is_metered = is_metered

    def compile(self, source: str) -> Program:
        """Parse, check and compile; raises CompileError."""
        if len(source) > _MAX_SOURCE:
            raise CompileError(f"expression code point size exceeds limit: {_MAX_SOURCE}")
        try:
            return self._compile(source)
        except IssueError as issue:
            raise CompileError(describe_issues(source, [issue])) from None
        except RecursionError:
            raise CompileError("expression recursion limit exceeded") from None

    def _compile(self, source: str) -> Program:
        tree = parse(source, has_bindings=self._has_bindings)
        checker = Checker(self._variables, self._fields, self._functions, self._structs)
        checker.check(tree)
        checker.finish()
        checker.issues.extend(_literal_issues(tree))
        if checker.issues:
            raise CompileError(describe_issues(source, checker.issues))
        metered = self._is_metered or len(source) > _SHORT_SOURCE or _can_grow(tree)
        compiler = Compiler(checker, tuple(self._variables), self._structs, meter=metered)
        code = compiler.compile(tree)
        sizes = self._size_of_path
        return Program(
            code,
            compiler.frame_size,
            checker.type_of(tree),
            metered=metered,
            max_cost=estimate_cost(tree, checker, sizes) if sizes is not None else 0,
            names=frozenset(node.name for node in walk(tree) if isinstance(node, IdentExpr)),
        )


def _literal_issues(tree: Expr) -> Iterator[IssueError]:
    """Literals that can only fail when they are used."""
    for node in walk(tree):
        if not isinstance(node, CallExpr) or node.function not in _LITERAL_CHECKS or not node.args:
            continue
        argument = node.args[-1]
        if isinstance(argument, LiteralExpr) and isinstance(argument.value, str):
            try:
                _LITERAL_CHECKS[node.function](argument.value)
            except (CelError, PatternError):
                yield IssueError(f"invalid {node.function} argument", argument.offset)


def _can_grow(tree: Expr) -> bool:
    """Whether the expression loops over values or can make them ever larger."""
    nodes = list(walk(tree))
    if any(isinstance(node, Comprehension | OptionalMap) for node in nodes):
        return True
    called = {node.function for node in nodes if isinstance(node, CallExpr)}
    # A bound value that is added to itself, bound again, and so on, doubles each time.
    doubling = "_+_" in called and any(isinstance(node, BindExpr) for node in nodes)
    return doubling or not called <= _CONSTANT_TIME
