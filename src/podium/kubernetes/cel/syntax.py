"""The tree of an expression.

Operators and functions are all `CallExpr`s, under the names cel-go gives them (`_+_`, `@in`).
Macros are expanded while parsing, into nodes of their own rather than into folds, so that compiling
`exists` means compiling a loop.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Expr:
    offset: int


@dataclass(slots=True)
class LiteralExpr(Expr):
    value: object


@dataclass(slots=True)
class IdentExpr(Expr):
    name: str


@dataclass(slots=True)
class SelectExpr(Expr):
    """`operand.field`; with `test` it is `has(operand.field)`, with `optional` `operand.?field`."""

    operand: Expr
    field: str
    test: bool = False
    optional: bool = False


@dataclass(slots=True)
class CallExpr(Expr):
    """A call of a function or operator; `target` is set for the form `target.function(...)`."""

    function: str
    target: Expr | None
    args: list[Expr]


@dataclass(slots=True)
class ListLiteral(Expr):
    """Elements at `optional` positions are left out when they are `optional.none()`."""

    elements: list[Expr]
    optional: set[int] = field(default_factory=set)


@dataclass(slots=True)
class MapLiteral(Expr):
    entries: list[tuple[Expr, Expr]]
    optional: set[int] = field(default_factory=set)


@dataclass(slots=True)
class StructField(Expr):
    """`name: value`; its place is that of the colon."""

    name: str
    value: Expr
    optional: bool = False


@dataclass(slots=True)
class StructLiteral(Expr):
    """`Name{field: value}`; its place is that of the brace."""

    type_name: str
    fields: list[StructField] = field(default_factory=list)


@dataclass(slots=True)
class Comprehension(Expr):
    """A macro over a list or map.

    `kind` is one of all, exists, exists_one, filter, map, transformList, transformMap,
    transformMapEntry and sortBy. `names` are the one or two loop variables; `condition` is the
    predicate of the macros that select, `body` the value that others make.
    """

    kind: str
    range: Expr
    names: tuple[str, ...]
    condition: Expr | None = None
    body: Expr | None = None


@dataclass(slots=True)
class BindExpr(Expr):
    """`cel.bind(name, value, body)`."""

    name: str
    value: Expr
    body: Expr


@dataclass(slots=True)
class OptionalMap(Expr):
    """`target.optMap(name, body)`, or `optFlatMap` when `flat`."""

    target: Expr
    name: str
    body: Expr
    flat: bool


def dotted_name(node: Expr) -> str:
    """`a.b.c` for a plain chain of selections, otherwise an empty string."""
    if isinstance(node, IdentExpr):
        return node.name
    if isinstance(node, SelectExpr) and not node.test and not node.optional:
        prefix = dotted_name(node.operand)
        return f"{prefix}.{node.field}" if prefix else ""
    return ""


def walk(node: Expr) -> Iterator[Expr]:
    """A node and everything below it."""
    pending: list[Expr | None] = [node]
    while pending:
        found = pending.pop()
        if found is None:
            continue
        yield found
        match found:
            case SelectExpr():
                pending.append(found.operand)
            case CallExpr():
                pending += (found.target, *found.args)
            case ListLiteral():
                pending += found.elements
            case MapLiteral():
                pending += (part for entry in found.entries for part in entry)
            case StructLiteral():
                pending += (each.value for each in found.fields)
            case Comprehension():
                pending += (found.range, found.condition, found.body)
            case BindExpr():
                pending += (found.value, found.body)
            case OptionalMap():
                pending += (found.target, found.body)
            case _:
                pass
