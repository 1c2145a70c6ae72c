"""The tree of an expression.

Operators and functions are all `Call`s, under the names cel-go gives them (`_+_`, `@in`). Macros
are expanded while parsing, into nodes of their own rather than into folds, so that compiling
`exists` means compiling a loop.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Node:
    offset: int


@dataclass(slots=True)
class Literal(Node):
    value: object


@dataclass(slots=True)
class Ident(Node):
    name: str


@dataclass(slots=True)
class Select(Node):
    """`operand.field`; with `test` it is `has(operand.field)`, with `optional` `operand.?field`."""

    operand: Node
    field: str
    test: bool = False
    optional: bool = False


@dataclass(slots=True)
class Call(Node):
    """A call of a function or operator; `target` is set for the form `target.function(...)`."""

    function: str
    target: Node | None
    args: list[Node]


@dataclass(slots=True)
class ListLiteral(Node):
    """Elements at `optional` positions are left out when they are `optional.none()`."""

    elements: list[Node]
    optional: set[int] = field(default_factory=set)


@dataclass(slots=True)
class MapLiteral(Node):
    entries: list[tuple[Node, Node]]
    optional: set[int] = field(default_factory=set)


@dataclass(slots=True)
class StructField(Node):
    """`name: value`; its place is that of the colon."""

    name: str
    value: Node
    optional: bool = False


@dataclass(slots=True)
class StructLiteral(Node):
    """`Name{field: value}`; its place is that of the brace."""

    type_name: str
    fields: list[StructField] = field(default_factory=list)


@dataclass(slots=True)
class Comprehension(Node):
    """A macro over a list or map.

    `kind` is one of all, exists, exists_one, filter, map, transformList, transformMap,
    transformMapEntry and sortBy. `names` are the one or two loop variables; `condition` is the
    predicate of the macros that select, `body` the value that others make.
    """

    kind: str
    range: Node
    names: tuple[str, ...]
    condition: Node | None = None
    body: Node | None = None


@dataclass(slots=True)
class Bind(Node):
    """`cel.bind(name, value, body)`."""

    name: str
    value: Node
    body: Node


@dataclass(slots=True)
class OptionalMap(Node):
    """`target.optMap(name, body)`, or `optFlatMap` when `flat`."""

    target: Node
    name: str
    body: Node
    flat: bool


def dotted_name(node: Node) -> str:
    """`a.b.c` for a plain chain of selections, otherwise an empty string."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.test and not node.optional:
        prefix = dotted_name(node.operand)
        return f"{prefix}.{node.field}" if prefix else ""
    return ""


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it."""
    pending: list[Node | None] = [node]
    while pending:
        found = pending.pop()
        if found is None:
            continue
        yield found
        match found:
            case Select():
                pending.append(found.operand)
            case Call():
                pending += (found.target, *found.args)
            case ListLiteral():
                pending += found.elements
            case MapLiteral():
                pending += (part for entry in found.entries for part in entry)
            case StructLiteral():
                pending += (each.value for each in found.fields)
            case Comprehension():
                pending += (found.range, found.condition, found.body)
            case Bind():
                pending += (found.value, found.body)
            case OptionalMap():
                pending += (found.target, found.body)
            case _:
                pass
