"""A checked tree → one closure.

Literal arguments of pure functions are worked out once (`quantity("40Gi")` costs nothing at run
time). A metered program pays for its work in cel-go's units. What a stretch of code costs for
certain is paid at its start, in one step; an operand that may be skipped, a branch and the body of
a loop begin a stretch of their own, and calls whose work depends on their values pay for it after
they have run.
"""

from collections.abc import Callable
from typing import Any

from podium.kubernetes.cel import composites, control_flow, overload_calls
from podium.kubernetes.cel.checker import Checker
from podium.kubernetes.cel.costs.sizes import FOLD_COSTS, LIST_BASE, MAP_BASE, STRUCT_BASE
from podium.kubernetes.cel.evaluation import (
    FIRST_VARIABLE,
    Code,
    Frame,
    bound,
    constant,
    meter_code,
    reserve_variable,
    variable,
)
from podium.kubernetes.cel.library import ONE_UNIT
from podium.kubernetes.cel.overload_calls import mismatch
from podium.kubernetes.cel.structs import StructTypes
from podium.kubernetes.cel.syntax import (
    BindExpr,
    CallExpr,
    Comprehension,
    Expr,
    IdentExpr,
    ListLiteral,
    LiteralExpr,
    MapLiteral,
    OptionalMap,
    SelectExpr,
    StructLiteral,
    dotted_name,
)
from podium.kubernetes.cel.types import Type, is_wild
from podium.kubernetes.cel.values import (
    NONE,
    Optional,
    TypeValue,
    some,
)

_PATTERN_FUNCTIONS = frozenset({"find", "findAll", "matches"})
_FIXED_SIZE = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_FOLDED = frozenset({"quantity", "semver", "duration", "timestamp", "ip", "cidr", "url", "-_"})


class Compiler:
    """Compiles one expression; `frame_size` is known afterwards."""

    def __init__(
        self, checker: Checker, variables: tuple[str, ...], structs: StructTypes, *, meter: bool
    ) -> None:
        self._checker = checker
        self._structs = structs
        self._meter = meter
        self._due = 0
        self._scopes: list[dict[str, Code]] = [
            {name: variable(FIRST_VARIABLE + index) for index, name in enumerate(variables)}
        ]
        self.frame_size = FIRST_VARIABLE + len(variables)

    def compile(self, node: Expr) -> Code:
        """The code of a node that pays for all it does."""
        outer, self._due = self._due, 0
        code = self._compile(node)
        due, self._due = self._due, outer
        return meter_code(code, due) if self._meter and due else code

    def _compile(self, node: Expr) -> Code:
        """The code of a node whose certain cost is added to that of the stretch around it."""
        match node:
            case LiteralExpr():
                return constant(node.value)
            case IdentExpr():
                return self._charge(self._ident(node), 1)
            case SelectExpr():
                return self._select(node)
            case CallExpr():
                return self._call(node)
            case ListLiteral():
                is_constant = all(isinstance(item, LiteralExpr) for item in node.elements)
                codes = [self._compile(item) for item in node.elements]
                made = composites.make_list(codes, frozenset(node.optional))
                return self._charge(made, 0 if is_constant else LIST_BASE)
            case MapLiteral():
                pairs = [(self._compile(key), self._compile(value)) for key, value in node.entries]
                return self._charge(composites.make_map(pairs, frozenset(node.optional)), MAP_BASE)
            case StructLiteral():
                return self._charge(self._struct(node), STRUCT_BASE)
            case Comprehension():
                return self._comprehension(node)
            case BindExpr():
                return self._bind(node)
            case OptionalMap():
                return self._optional_map(node)
            case _:
                raise AssertionError(f"unchecked node {node!r}")

    def _charge(self, code: Code, cost: int) -> Code:
        self._due += cost
        return code

    def _ident(self, node: IdentExpr) -> Code:
        if id(node) in self._checker.type_idents:
            return constant(TypeValue(node.name))
        for scope in reversed(self._scopes):
            if node.name in scope:
                return scope[node.name]
        raise AssertionError(f"unchecked name {node.name}")

    def _select(self, node: SelectExpr) -> Code:
        if id(node) in self._checker.type_idents:
            return constant(TypeValue(dotted_name(node)))
        operand = self._compile(node.operand)
        if node.test:
            return composites.test_field(operand, node.field)
        if node.optional:
            return self._charge(composites.select_optional(operand, node.field), 1)
        return self._charge(composites.select(operand, node.field), 1)

    # calls

    def _call(self, node: CallExpr) -> Code:
        special = self._special(node)
        if special is not None:
            return special
        overloads = self._checker.overloads[id(node)]
        arguments = node.args if node.target is None else [node.target, *node.args]
        literals = [arg.value for arg in arguments if isinstance(arg, LiteralExpr)]
        if node.function in _FOLDED and len(literals) == len(arguments):
            return overload_calls.fold(overloads, literals)
        codes = [self._compile(arg) for arg in arguments]
        certain = len(overloads) == 1 and not any(
            is_wild(self._checker.type_of(arg)) for arg in arguments
        )
        if self._meter and any(overload.cost is not ONE_UNIT for overload in overloads):
            if node.function in _PATTERN_FUNCTIONS and not isinstance(arguments[1], LiteralExpr):
                codes[1] = overload_calls.meter_pattern(codes[1])
            return overload_calls.call_metered(overloads, codes, certain=certain)
        self._due += 1
        return (
            overload_calls.call_certain(overloads[0], codes)
            if certain
            else overload_calls.call_open(overloads, codes)
        )

    def _special(self, node: CallExpr) -> Code | None:
        args = node.args
        match node.function:
            case "_&&_":
                return control_flow.all_of([self._compile(args[0]), *map(self.compile, args[1:])])
            case "_||_":
                return control_flow.any_of([self._compile(args[0]), *map(self.compile, args[1:])])
            case "_?_:_":
                return control_flow.choice(self._compile(args[0]), *map(self.compile, args[1:]))
            case "_==_":
                return self._equals(args[0], args[1])
            case "_!=_":
                return self._differs(args[0], args[1])
            case "@in":
                return self._in(args[0], args[1])
            case "_[_]":
                operand, key = self._compile(args[0]), args[1]
                if isinstance(key, LiteralExpr) and isinstance(key.value, str):
                    return self._charge(composites.index_constant_text(operand, key.value), 1)
                return self._charge(composites.index(operand, self._compile(key)), 1)
            case "_[?_]":
                operand = self._compile(args[0])
                return self._charge(composites.index_optional(operand, self._compile(args[1])), 1)
            case "or" | "orValue" if node.target is not None:
                self._due += 1
                return _otherwise(
                    self._compile(node.target), self.compile(args[0]), keep=node.function == "or"
                )
            case _:
                return None

    def _equals(self, left: Expr, right: Expr) -> Code:
        if isinstance(right, LiteralExpr) and isinstance(right.value, str):
            self._due += 1 + len(right.value) // 10
            return control_flow.equals_text(self._compile(left), right.value)
        return self._compile_comparison(
            left, right, control_flow.equals, control_flow.equals_metered
        )

    def _differs(self, left: Expr, right: Expr) -> Code:
        return self._compile_comparison(
            left, right, control_flow.differs, control_flow.differs_metered
        )

    def _compile_comparison(
        self,
        left: Expr,
        right: Expr,
        compare: Callable[[Code, Code], Code],
        compare_metered: Callable[..., Code],
    ) -> Code:
        codes = self._compile(left), self._compile(right)
        kinds = self._checker.type_of(left), self._checker.type_of(right)
        if not self._meter or all(kind.kind in _FIXED_SIZE for kind in kinds):
            self._due += 1
            return compare(*codes)
        return compare_metered(*codes, plain=self._are_plain(*kinds))

    def _are_plain(self, left: Type, right: Type) -> bool:
        """Whether Python compares values of these types as CEL does."""
        return left == right and self._checker.is_plain(left)

    def _in(self, element: Expr, container: Expr) -> Code:
        if isinstance(container, ListLiteral) and not container.optional:
            values = [item.value for item in container.elements if isinstance(item, LiteralExpr)]
            texts = [value for value in values if isinstance(value, str)]
            if len(texts) == len(container.elements):
                self._due += 1
                return control_flow.is_in_texts(self._compile(element), frozenset(texts))
        codes = self._compile(element), self._compile(container)
        if not self._meter:
            return control_flow.is_in(*codes)
        held = self._checker.type_of(container).params
        plain = bool(held) and self._are_plain(held[0], self._checker.type_of(element))
        return control_flow.is_in_metered(*codes, plain=plain)

    def _struct(self, node: StructLiteral) -> Code:
        struct = self._structs(node.type_name)
        assert struct is not None, f"unchecked type {node.type_name}"
        parts = [(each.name, self._compile(each.value), each.optional) for each in node.fields]
        return composites.make_struct(struct, parts)

    # variables

    def _new_variable(self) -> int:
        position = self.frame_size
        self.frame_size += 1
        return position

    def _within(self, scope: dict[str, Code], node: Expr) -> Code:
        self._scopes.append(scope)
        code = self._compile(node)
        self._scopes.pop()
        return code

    def _bind(self, node: BindExpr) -> Code:
        value = self.compile(node.value)
        self._due += LIST_BASE
        position = self._new_variable()
        return reserve_variable(
            position, self._within({node.name: bound(position, value)}, node.body)
        )

    def _optional_map(self, node: OptionalMap) -> Code:
        target = self._compile(node.target)
        self._due += 1
        position = self._new_variable()
        outer, self._due = self._due, LIST_BASE + 2
        body = self._within({node.name: variable(position)}, node.body)
        chosen, self._due = self._due, outer
        body = meter_code(body, chosen) if self._meter else body
        flat = node.flat

        def run(frame: Frame) -> Any:
            found = target(frame)
            if type(found) is not Optional:
                raise mismatch("hasValue", [found])
            if not found.present:
                return NONE
            frame[position] = found.value
            value = body(frame)
            return composites.optional(value) if flat else some(value)

        return run

    def _comprehension(self, node: Comprehension) -> Code:
        source = self._compile(node.range)
        positions = tuple(self._new_variable() for _ in node.names)
        scope = dict(zip(node.names, map(variable, positions), strict=True))
        fold = FOLD_COSTS[node.kind]
        self._due += fold.result
        condition, turn = self._apart(scope, node.condition)
        body, chosen = self._apart(scope, node.body)
        chosen += fold.chosen
        turn += fold.turn
        if condition is None:
            turn, chosen = turn + chosen, 0
        steps = control_flow.steps_over(source, positions, turn)
        if node.kind in ("all", "exists") and condition is not None:
            return control_flow.quantifier(steps, condition, decisive=node.kind == "exists")
        steps = control_flow.chosen_steps(steps, condition, chosen)
        match node.kind:
            case "exists_one":
                return control_flow.exists_one(steps)
            case "filter":
                return control_flow.select_elements(steps)
            case "sortBy" if body is not None:
                self._due += LIST_BASE + 2
                return control_flow.sort_by(steps, body)
        if body is not None and node.kind in _MAKERS:
            return _MAKERS[node.kind](steps, body)
        raise AssertionError(f"unknown macro {node.kind}")

    def _apart(self, scope: dict[str, Code], node: Expr | None) -> tuple[Code | None, int]:
        """The code of a part, and what it costs for certain, which the caller has to pay."""
        if node is None:
            return None, 0
        self._scopes.append(scope)
        outer, self._due = self._due, 0
        code = self._compile(node)
        due, self._due = self._due, outer
        self._scopes.pop()
        return code, due


_MAKERS = {
    "map": control_flow.make_list,
    "transformList": control_flow.make_list,
    "transformMap": control_flow.make_map,
    "transformMapEntry": control_flow.make_entries,
}


def _otherwise(target: Code, default: Code, *, keep: bool) -> Code:
    """`a.or(b)` and `a.orValue(b)`: the second is looked at only if the first is missing."""

    def run(frame: Frame) -> Any:
        found = target(frame)
        if type(found) is not Optional:
            return found
        if found.present:
            return found if keep else found.value
        return composites.optional(default(frame)) if keep else default(frame)

    return run
