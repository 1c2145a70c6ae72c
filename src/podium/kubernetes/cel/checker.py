"""Does the expression make sense for the types of its variables?

Every node gets a type, every call the overloads that its argument types leave open; the compiler
uses both. All problems are collected, as cel-go reports them together.

Types that every expression can name, `type(x) == int`, and those of its literals.

Elements of a list and keys and values of a map are of one type, `dyn` being one of its own. What
`format` is given is exempt. Known only when all types are solved, so it is looked at last.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping

from podium.kubernetes.cel.errors import IssueError
from podium.kubernetes.cel.library import Functions, Overload
from podium.kubernetes.cel.structs import StructTypes, no_structs
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
from podium.kubernetes.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    TypeSubstitution,
    is_parameter,
    is_wild,
    list_of,
    map_of,
    optional_of,
    parameter,
    parameters_of,
    renamed_parameters,
    type_of,
)
from podium.kubernetes.cel.values import Uint

_PLAIN = frozenset({"bool", "double", "int", "list", "map", "string"})


class Checker:
    """Types of one expression. `fields` are the fields of object types by name."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        fields: Mapping[Type, Mapping[str, Type]],
        functions: Functions,
        structs: StructTypes = no_structs,
    ) -> None:
        self._variables = variables
        self._structs = structs
        self._fields = fields
        self._functions = functions
        self._solution = TypeSubstitution()
        self._scopes: list[dict[str, Type]] = []
        self._fresh = itertools.count()
        self._formats = 0
        self._uniform = UniformLiterals()
        self._types: dict[int, Type] = {}
        self.overloads: dict[int, list[Overload]] = {}
        self.type_idents: set[int] = set()
        self.issues: list[IssueError] = []

    def type_of(self, node: Expr) -> Type:
        """The type of a checked node."""
        return self._solution.resolve(self._types[id(node)], final=True)

    def has_fields(self, found: Type) -> bool:
        """Whether values of a type are objects with declared fields."""
        return found in self._fields

    def is_plain(self, found: Type) -> bool:
        """Whether values of a type consist of nothing but scalars that JSON has."""
        if found in self._fields:
            return all(map(self.is_plain, self._fields[found].values()))
        return found.kind in _PLAIN and all(map(self.is_plain, found.params))

    def check(self, node: Expr) -> Type:
        found = self._check(node)
        self._types[id(node)] = found
        return found

    def _check(self, node: Expr) -> Type:
        match node:
            case LiteralExpr():
                return LITERAL_TYPES[type(node.value)]
            case IdentExpr():
                return self._ident(node)
            case SelectExpr():
                return self._select(node)
            case CallExpr():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Comprehension():
                return self._comprehension(node)
            case BindExpr():
                value = self.check(node.value)
                return self._within({node.name: value}, node.body)
            case OptionalMap():
                return self._optional_map(node)
            case StructLiteral():
                return self._struct(node)
            case _:
                raise AssertionError(f"unknown node {node!r}")

    def _ident(self, node: IdentExpr) -> Type:
        for scope in reversed(self._scopes):
            if node.name in scope:
                return scope[node.name]
        if node.name in self._variables:
            return self._variables[node.name]
        named = self._named_type(node.name)
        if named is not None:
            self.type_idents.add(id(node))
            return named
        return self._report_undeclared(node.name, node.offset)

    def _named_type(self, name: str) -> Type | None:
        """The type that a name has as a value, if it is one of a type."""
        found = self._structs(name)
        return TYPE_NAMES.get(name) if found is None else type_of(found.type)

    def _select(self, node: SelectExpr) -> Type:
        dotted = dotted_name(node)
        if dotted and not node.test and not self._is_shadowed(dotted):
            named = self._named_type(dotted)
            if named is not None:
                self.type_idents.add(id(node))
                return named
        target = self._solution.resolve(self.check(node.operand))
        optional = node.optional
        if target.kind == "optional":
            optional, target = True, self._solution.resolve(target.params[0])
        found = self._field(target, node)
        if node.test:
            return BOOL
        return optional_of(found) if optional else found

    def _field(self, target: Type, node: SelectExpr) -> Type:
        if target.kind == "map":
            return target.params[1]
        if target in self._fields:
            found = self._fields[target].get(node.field)
            return found or self._report_undefined(node.field, node.offset)
        struct = self._structs(target.kind)
        if struct is not None:
            return struct.field(node.field) or self._report_undefined(node.field, node.offset)
        if not is_wild(target) and not is_parameter(target):
            return self._issue(f"type '{target}' does not support field selection", node.offset)
        return DYN

    def _call(self, node: CallExpr) -> Type:
        if node.function in ("_&&_", "_||_"):
            for arg in node.args:
                self._require(BOOL, self.check(arg), arg)
            return BOOL
        target = node.target
        if target is not None:
            qualified = f"{dotted_name(target)}.{node.function}"
            if self._functions.find_overloads(qualified) and not self._is_shadowed(qualified):
                node.function, node.target, target = qualified, None, None
        overloads = self._functions.find_overloads(node.function)
        if not overloads:
            for arg in node.args if target is None else (target, *node.args):
                self.check(arg)
            return self._report_undeclared(node.function, node.offset)
        self._formats += node.function == "format"
        args = [self.check(arg) for arg in (node.args if target is None else (target, *node.args))]
        self._formats -= node.function == "format"
        return self._resolve(node, overloads, args)

    def _resolve(self, node: CallExpr, overloads: list[Overload], args: list[Type]) -> Type:
        """The result of a call: that of the fitting overloads if they agree, else `dyn`."""
        result: Type | None = None
        fitting: list[Overload] = []
        for overload in overloads:
            if overload.member != (node.target is not None) or len(overload.params) != len(args):
                continue
            trial = self._solution.trial()
            renamed = {
                p: parameter(f"{p.kind}{next(self._fresh)}")
                for p in parameters_of(*overload.params, overload.result)
            }
            wanted = [renamed_parameters(p, renamed) for p in overload.params]
            if not all(map(trial.accepts, wanted, args)):
                continue
            self._solution = trial
            fitting.append(overload)
            found = trial.resolve(renamed_parameters(overload.result, renamed))
            if result is None:
                result = found
            elif not is_wild(result) and result != found:
                result = DYN
        if result is None:
            shown = [str(self._solution.resolve(arg, final=True)) for arg in args]
            if node.target is not None:
                applied = f"'{shown[0]}.({', '.join(shown[1:])})'"
            else:
                applied = f"'({', '.join(shown)})'"
            return self._issue(
                f"found no matching overload for '{node.function}' applied to {applied}",
                node.offset,
            )
        self.overloads[id(node)] = fitting
        return result

    def finish(self) -> None:
        """What can be told only when the types of everything are known."""
        if not self.issues:
            self.issues.extend(self._uniform.issues(self._resolve_final))

    def _alike(self) -> list[tuple[Expr, Type]]:
        """For parts of a literal that have to be of one type, if they have to."""
        return [] if self._formats else self._uniform.begin()

    def _list(self, node: ListLiteral) -> Type:
        element: Type | None = None
        parts = self._alike()
        for index, item in enumerate(node.elements):
            found = self._unwrap_optional(self.check(item), item, optional=index in node.optional)
            parts.append((item, found))
            element = found if element is None else self._join(element, found, item)
        if element is None:
            element = parameter(f"list{next(self._fresh)}")
        return list_of(element)

    def _map(self, node: MapLiteral) -> Type:
        key_type: Type | None = None
        value_type: Type | None = None
        keys, values = self._alike(), self._alike()
        for index, (key, value) in enumerate(node.entries):
            found_key = self.check(key)
            key_type = found_key if key_type is None else self._join(key_type, found_key, key)
            found = self._unwrap_optional(self.check(value), value, optional=index in node.optional)
            value_type = found if value_type is None else self._join(value_type, found, value)
            keys.append((key, found_key))
            values.append((value, found))
        return map_of(
            key_type or parameter(f"key{next(self._fresh)}"),
            value_type or parameter(f"value{next(self._fresh)}"),
        )

    def _struct(self, node: StructLiteral) -> Type:
        struct = None
        if not self._is_shadowed(node.type_name):
            struct = self._structs(node.type_name)
        if struct is None:
            problem = self._not_a_struct(node.type_name)
            if problem is None:
                return self._report_undeclared(node.type_name, node.offset)
            self._issue(problem, node.offset)
        for each in node.fields:
            found = self._unwrap_optional(
                self.check(each.value), each.value, optional=each.optional
            )
            wanted = None if struct is None else struct.field(each.name)
            if struct is None:
                told = f"unexpected failed resolution of '{node.type_name}'"
                self._issue(told, each.offset)
            elif wanted is None:
                self._report_undefined(each.name, each.offset)
            elif not self._solution.accepts(wanted, found):
                self._issue(
                    f"expected type of field '{each.name}' is '{wanted}' but provided type is"
                    f" '{self._resolve_final(found)}'",
                    each.offset,
                )
        return ERROR if struct is None else struct.type

    def _not_a_struct(self, name: str) -> str | None:
        """What is wrong with making a value of something that is declared."""
        for scope in (*reversed(self._scopes), self._variables):
            if name in scope:
                return f"'{self._resolve_final(scope[name])}' is not a type"
        named = TYPE_NAMES.get(name)
        return None if named is None else f"'{named.params[0]}' is not a message type"

    def _unwrap_optional(self, found: Type, node: Expr, *, optional: bool) -> Type:
        found = self._solution.resolve(found)
        if not optional or is_wild(found):
            return found
        if found.kind != "optional":
            return self._issue(
                f"expected type 'optional_type({found})' but found '{found}'", node.offset
            )
        return found.params[0]

    def _join(self, first: Type, second: Type, node: Expr) -> Type:
        joined = self._solution.join_types(first, second)
        if joined is None and self._formats:
            # What `format` is given may be of many kinds.
            return DYN
        if joined is None:
            first, second = self._resolve_final(first), self._resolve_final(second)
            return self._issue(f"expected type '{first}' but found '{second}'", node.offset)
        return joined

    def _comprehension(self, node: Comprehension) -> Type:
        found = self._solution.resolve(self.check(node.range))
        first, second = self._loop_types(found, node)
        names = node.names
        scope = {names[0]: first} if len(names) == 1 else {names[0]: first, names[1]: second}
        if node.condition is not None:
            self._require(BOOL, self._within(scope, node.condition), node.condition)
        body = self._within(scope, node.body) if node.body is not None else DYN
        match node.kind:
            case "all" | "exists" | "exists_one":
                return BOOL
            case "map" | "transformList":
                return list_of(body)
            case "transformMap":
                return map_of(first, body)
            case "transformMapEntry":
                return body
            case "sortBy":
                return found if found.kind == "list" else list_of(DYN)
            case _:
                return list_of(first)

    def _loop_types(self, found: Type, node: Comprehension) -> tuple[Type, Type]:
        """The types of the loop variables: element, or index/key and value."""
        if found.kind == "list":
            element = found.params[0]
            return (element, element) if len(node.names) == 1 else (INT, element)
        if found.kind == "map" and node.kind != "sortBy":
            key, value = found.params
            return key, value
        if is_parameter(found):
            self._solution.accepts(DYN, found)
            return DYN, DYN
        if found.kind in ("dyn", "!error!"):
            return DYN, DYN
        self._issue(
            f"expression of type '{found}' cannot be range of a comprehension "
            "(must be list, map, or dynamic)",
            node.range.offset,
        )
        return ERROR, ERROR

    def _optional_map(self, node: OptionalMap) -> Type:
        found = self._solution.resolve(self.check(node.target))
        held = DYN
        if found.kind == "optional":
            held = found.params[0]
        elif not is_wild(found):
            self._issue(
                f"found no matching overload for 'hasValue' applied to '{found}.()'", node.offset
            )
        body = self._within({node.name: held}, node.body)
        return body if node.flat else optional_of(body)

    def _within(self, scope: dict[str, Type], node: Expr) -> Type:
        self._scopes.append(scope)
        try:
            return self.check(node)
        finally:
            self._scopes.pop()

    def _require(self, wanted: Type, found: Type, node: Expr) -> None:
        if not self._solution.accepts(wanted, found):
            self._issue(
                f"expected type '{wanted}' but found '{self._resolve_final(found)}'", node.offset
            )

    def _resolve_final(self, found: Type) -> Type:
        return self._solution.resolve(found, final=True)

    def _is_shadowed(self, dotted: str) -> bool:
        """Whether the first part of a dotted name is a variable here."""
        root = dotted.split(".", 1)[0]
        return root in self._variables or any(root in scope for scope in self._scopes)

    def _report_undeclared(self, name: str, offset: int) -> Type:
        return self._issue(f"undeclared reference to '{name}' (in container '')", offset)

    def _report_undefined(self, field: str, offset: int) -> Type:
        return self._issue(f"undefined field '{field}'", offset)

    def _issue(self, problem: str, offset: int) -> Type:
        self.issues.append(IssueError(problem, offset))
        return ERROR


TYPE_NAMES: dict[str, Type] = {
    "bool": type_of(BOOL),
    "bytes": type_of(BYTES),
    "double": type_of(DOUBLE),
    "google.protobuf.Duration": type_of(DURATION),
    "google.protobuf.Timestamp": type_of(TIMESTAMP),
    "int": type_of(INT),
    "list": type_of(list_of(DYN)),
    "map": type_of(map_of(DYN, DYN)),
    "null_type": type_of(NULL),
    "optional_type": type_of(optional_of(DYN)),
    "string": type_of(STRING),
    "type": type_of(DYN),
    "uint": type_of(UINT),
}
"""Identifiers that name a type, with the type they have as values."""

LITERAL_TYPES: dict[type, Type] = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
}


class UniformLiterals:
    """The parts of an expression's literals."""

    def __init__(self) -> None:
        self._literals: list[list[tuple[Expr, Type]]] = []

    def begin(self) -> list[tuple[Expr, Type]]:
        """A list for parts that have to be of one type."""
        parts: list[tuple[Expr, Type]] = []
        self._literals.append(parts)
        return parts

    def issues(self, solved: Callable[[Type], Type]) -> Iterator[IssueError]:
        for parts in self._literals:
            wanted = solved(parts[0][1]) if parts else None
            for node, found in parts[1:]:
                if solved(found) != wanted:
                    told = f"expected type '{wanted}' but found '{solved(found)}'"
                    yield IssueError(told, node.offset)
                    break
