"""A checked tree → one closure.

Literal arguments of pure functions are worked out once (`quantity("40Gi")` costs nothing at run
time). Expressions that use only constant-time operations run unmetered; anything with a loop, or
with a function whose work or result can grow, pays into a meter (spec 9.4).
"""

from typing import Any

from podium.cel import access, logic, loops
from podium.cel.checker import TYPE_NAMES, Checker
from podium.cel.errors import CelError, no_such_overload
from podium.cel.evaluation import (
    FIRST_VARIABLE,
    METER,
    Code,
    Frame,
    binding,
    bound,
    constant,
    metered,
    variable,
)
from podium.cel.library import Overload
from podium.cel.mismatches import mismatch
from podium.cel.syntax import (
    Bind,
    Call,
    Comprehension,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    OptionalMap,
    Select,
    dotted_name,
)
from podium.cel.types import is_wild
from podium.cel.values import (
    NONE,
    Optional,
    TypeValue,
    some,
    to_key,
    type_name,
)

_FOLDED = frozenset({"quantity", "semver", "duration", "timestamp", "ip", "cidr", "url", "-_"})


class Compiler:
    """Compiles one expression; `frame_size` is known afterwards."""

    def __init__(self, checker: Checker, variables: tuple[str, ...], *, meter: bool) -> None:
        self._checker = checker
        self._meter = meter
        self._scopes: list[dict[str, Code]] = [
            {name: variable(FIRST_VARIABLE + index) for index, name in enumerate(variables)}
        ]
        self.frame_size = FIRST_VARIABLE + len(variables)

    def compile(self, node: Node) -> Code:
        match node:
            case Literal():
                return constant(node.value)
            case Ident():
                return self._paid(self._ident(node), 1)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._paid(self._list(node), 10)
            case MapLiteral():
                return self._paid(self._map(node), 30)
            case Comprehension():
                return self._comprehension(node)
            case Bind():
                return self._bind(node)
            case OptionalMap():
                return self._optional_map(node)
            case _:
                raise AssertionError(f"unchecked node {node!r}")

    def _paid(self, code: Code, cost: int) -> Code:
        return metered(code, cost) if self._meter else code

    def _ident(self, node: Ident) -> Code:
        if id(node) in self._checker.type_idents:
            return constant(_type_value(node.name))
        for scope in reversed(self._scopes):
            if node.name in scope:
                return scope[node.name]
        raise AssertionError(f"unchecked name {node.name}")

    def _select(self, node: Select) -> Code:
        if id(node) in self._checker.type_idents:
            return constant(_type_value(dotted_name(node)))
        operand = self.compile(node.operand)
        if node.test:
            return access.test_field(operand, node.field)
        if node.optional:
            return self._paid(access.select_optional(operand, node.field), 1)
        return self._paid(access.select(operand, node.field), 1)

    # calls

    def _call(self, node: Call) -> Code:
        special = self._special(node)
        if special is not None:
            return special
        overloads = self._checker.overloads[id(node)]
        arguments = node.args if node.target is None else [node.target, *node.args]
        literals = [arg.value for arg in arguments if isinstance(arg, Literal)]
        if node.function in _FOLDED and len(literals) == len(arguments):
            return _folded(overloads, literals)
        codes = [self.compile(arg) for arg in arguments]
        certain = len(overloads) == 1 and not any(
            is_wild(self._checker.type_of(arg)) for arg in arguments
        )
        if self._meter:
            return _call_metered(overloads, codes)
        return _call_certain(overloads[0], codes) if certain else _call_open(overloads, codes)

    def _special(self, node: Call) -> Code | None:
        args = node.args
        match node.function:
            case "_&&_":
                return logic.all_of([self.compile(arg) for arg in args])
            case "_||_":
                return logic.any_of([self.compile(arg) for arg in args])
            case "_?_:_":
                return logic.choice(*(self.compile(arg) for arg in args))
            case "_==_":
                return self._paid(self._equals(args[0], args[1]), 1)
            case "_!=_":
                left, right = self.compile(args[0]), self.compile(args[1])
                return self._paid(logic.differs(left, right), 1)
            case "@in":
                return self._paid(self._in(args[0], args[1]), 1)
            case "_[_]":
                operand, key = self.compile(args[0]), args[1]
                if isinstance(key, Literal) and isinstance(key.value, str):
                    return self._paid(access.index_constant_text(operand, key.value), 1)
                return self._paid(access.index(operand, self.compile(key)), 1)
            case "_[?_]":
                operand = self.compile(args[0])
                return self._paid(access.index_optional(operand, self.compile(args[1])), 1)
            case "or" | "orValue" if node.target is not None:
                return _otherwise(
                    self.compile(node.target), self.compile(args[0]), keep=node.function == "or"
                )
            case _:
                return None

    def _equals(self, left: Node, right: Node) -> Code:
        if isinstance(right, Literal) and isinstance(right.value, str):
            return logic.equals_text(self.compile(left), right.value)
        return logic.equals(self.compile(left), self.compile(right))

    def _in(self, element: Node, container: Node) -> Code:
        if isinstance(container, ListLiteral) and not container.optional:
            values = [item.value for item in container.elements if isinstance(item, Literal)]
            texts = [value for value in values if isinstance(value, str)]
            if len(texts) == len(container.elements):
                return logic.is_in_texts(self.compile(element), frozenset(texts))
        return logic.is_in(self.compile(element), self.compile(container))

    # literals

    def _list(self, node: ListLiteral) -> Code:
        codes = [self.compile(item) for item in node.elements]
        optional = frozenset(node.optional)

        def run(frame: Frame) -> list[Any]:
            values: list[Any] = []
            for position, code in enumerate(codes):
                value = code(frame)
                if position not in optional:
                    values.append(value)
                elif _optional(value).present:
                    values.append(value.value)
            return values

        return run

    def _map(self, node: MapLiteral) -> Code:
        codes = [(self.compile(key), self.compile(value)) for key, value in node.entries]
        optional = frozenset(node.optional)

        def run(frame: Frame) -> dict[Any, Any]:
            entries: dict[Any, Any] = {}
            for position, (key_code, value_code) in enumerate(codes):
                name = key_code(frame)
                if type(name) is float:
                    raise CelError(f"unsupported key type: {type_name(name)}")
                key = to_key(name)
                value = value_code(frame)
                if position in optional:
                    if not _optional(value).present:
                        continue
                    value = value.value
                if key in entries:
                    raise CelError(f"Failed with repeated key: {name}")
                entries[key] = value
            return entries

        return run

    # variables

    def _new_variable(self) -> int:
        position = self.frame_size
        self.frame_size += 1
        return position

    def _within(self, scope: dict[str, Code], node: Node) -> Code:
        self._scopes.append(scope)
        code = self.compile(node)
        self._scopes.pop()
        return code

    def _bind(self, node: Bind) -> Code:
        value = self.compile(node.value)
        position = self._new_variable()
        return binding(position, self._within({node.name: bound(position, value)}, node.body))

    def _optional_map(self, node: OptionalMap) -> Code:
        target = self.compile(node.target)
        position = self._new_variable()
        body = self._within({node.name: variable(position)}, node.body)
        flat = node.flat

        def run(frame: Frame) -> Any:
            found = target(frame)
            if type(found) is not Optional:
                raise mismatch("hasValue", [found])
            if not found.present:
                return NONE
            frame[position] = found.value
            value = body(frame)
            return _optional(value) if flat else some(value)

        return run

    def _comprehension(self, node: Comprehension) -> Code:
        source = self.compile(node.range)
        positions = tuple(self._new_variable() for _ in node.names)
        scope = dict(zip(node.names, map(variable, positions), strict=True))
        steps = loops.steps_over(source, positions)
        condition = self._within(scope, node.condition) if node.condition is not None else None
        body = self._within(scope, node.body) if node.body is not None else None
        match node.kind, condition, body:
            case "exists", found, None if found is not None:
                return loops.quantifier(steps, found, decisive=True)
            case "all", found, None if found is not None:
                return loops.quantifier(steps, found, decisive=False)
            case "exists_one", found, None if found is not None:
                return loops.exists_one(steps, found)
            case "filter", found, None if found is not None:
                return loops.select_elements(steps, found)
            case "map" | "transformList", found, value if value is not None:
                return loops.make_list(steps, found, value)
            case "transformMap", found, value if value is not None:
                return loops.make_map(steps, found, value)
            case "transformMapEntry", found, value if value is not None:
                return loops.make_entries(steps, found, value)
            case "sortBy", None, value if value is not None:
                return loops.sort_by(steps, value)
            case _:
                raise AssertionError(f"unknown macro {node.kind}")


def _optional(value: Any) -> Optional:
    if type(value) is not Optional:
        raise no_such_overload()
    return value


def _otherwise(target: Code, default: Code, *, keep: bool) -> Code:
    """`a.or(b)` and `a.orValue(b)`: the second is looked at only if the first is missing."""

    def run(frame: Frame) -> Any:
        found = target(frame)
        if type(found) is not Optional:
            return found
        if found.present:
            return found if keep else found.value
        return _optional(default(frame)) if keep else default(frame)

    return run


def _folded(overloads: list[Overload], literals: list[Any]) -> Code:
    overload = _pick(overloads, literals)
    try:
        return constant(overload.run(*literals))
    except CelError as problem:
        text = str(problem)

        def fail(_: Frame) -> Any:
            raise CelError(text)

        return fail


def _pick(overloads: list[Overload], values: list[Any]) -> Overload:
    for overload in overloads:
        if overload.fits(values):
            return overload
    raise mismatch(overloads[0].function, values)


def _call_certain(overload: Overload, codes: list[Code]) -> Code:
    """The argument types leave one overload and no doubt."""
    run = overload.run
    if len(codes) == 1:
        (only,) = codes
        return lambda frame: run(only(frame))
    if len(codes) == 2:
        first, second = codes
        return lambda frame: run(first(frame), second(frame))
    return lambda frame: run(*[code(frame) for code in codes])


def _call_open(overloads: list[Overload], codes: list[Code]) -> Code:
    """The overload depends on the values."""

    def call(frame: Frame) -> Any:
        values = [code(frame) for code in codes]
        return _pick(overloads, values).run(*values)

    return call


def _call_metered(overloads: list[Overload], codes: list[Code]) -> Code:
    def call(frame: Frame) -> Any:
        values = [code(frame) for code in codes]
        overload = _pick(overloads, values)
        result = overload.run(*values)
        frame[METER].charge(overload.cost(*values, result))
        return result

    return call


def _type_value(name: str) -> TypeValue:
    return TypeValue(name) if name in TYPE_NAMES else TypeValue("type")
