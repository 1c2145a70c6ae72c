"""Calls that are syntax: `has`, comprehensions, `cel.bind`, `optMap`.

A macro is recognised by its name, its number of arguments and whether it has a target, as in
cel-go; any other call of the same name stays a call and is looked up as a function.
"""

from collections.abc import Callable

from podium.kubernetes.cel.errors import IssueError
from podium.kubernetes.cel.syntax import (
    Bind,
    Call,
    Comprehension,
    Ident,
    Node,
    OptionalMap,
    Select,
)


def expand(call: Call, *, has_bindings: bool) -> Node:
    """The node a macro call stands for, or the call itself; `cel.bind` is not known everywhere."""
    if call.target is None:
        return _has(call) if call.function == "has" and len(call.args) == 1 else call
    is_binding = call.function == "bind" and len(call.args) == 3
    if has_bindings and is_binding and _is_ident(call.target, "cel"):
        name, value, body = call.args
        return Bind(call.offset, _variable(name), value, body)
    expander = _RECEIVER_MACROS.get((call.function, len(call.args)))
    return expander(call, call.target) if expander is not None else call


def _has(call: Call) -> Node:
    selection = call.args[0]
    if not isinstance(selection, Select) or selection.test or selection.optional:
        raise IssueError("invalid argument to has() macro", call.args[0].offset)
    return Select(call.offset, selection.operand, selection.field, test=True)


def _predicate(kind: str) -> Callable[[Call, Node], Node]:
    def build(call: Call, target: Node) -> Node:
        *names, condition = call.args
        return Comprehension(call.offset, kind, target, _variables(names), condition=condition)

    return build


def _value(kind: str, variables: int) -> Callable[[Call, Node], Node]:
    def build(call: Call, target: Node) -> Node:
        names, rest = call.args[:variables], call.args[variables:]
        condition = rest[0] if len(rest) == 2 else None
        return Comprehension(
            call.offset, kind, target, _variables(names), condition=condition, body=rest[-1]
        )

    return build


def _optional_map(*, flat: bool) -> Callable[[Call, Node], Node]:
    def build(call: Call, target: Node) -> Node:
        return OptionalMap(call.offset, target, _variable(call.args[0]), call.args[1], flat)

    return build


def _variables(nodes: list[Node]) -> tuple[str, ...]:
    names = tuple(_variable(node) for node in nodes)
    if len(set(names)) < len(names):
        raise IssueError(f"duplicate variable name: {names[1]}", nodes[1].offset)
    return names


def _variable(node: Node) -> str:
    if not isinstance(node, Ident):
        raise IssueError("argument must be a simple name", node.offset)
    return node.name


def _is_ident(node: Node, name: str) -> bool:
    return isinstance(node, Ident) and node.name == name


_RECEIVER_MACROS: dict[tuple[str, int], Callable[[Call, Node], Node]] = {
    ("all", 2): _predicate("all"),
    ("all", 3): _predicate("all"),
    ("exists", 2): _predicate("exists"),
    ("exists", 3): _predicate("exists"),
    ("exists_one", 2): _predicate("exists_one"),
    ("exists_one", 3): _predicate("exists_one"),
    ("existsOne", 2): _predicate("exists_one"),
    ("existsOne", 3): _predicate("exists_one"),
    ("filter", 2): _predicate("filter"),
    ("map", 2): _value("map", 1),
    ("map", 3): _value("map", 1),
    ("sortBy", 2): _value("sortBy", 1),
    ("transformList", 3): _value("transformList", 2),
    ("transformList", 4): _value("transformList", 2),
    ("transformMap", 3): _value("transformMap", 2),
    ("transformMap", 4): _value("transformMap", 2),
    ("transformMapEntry", 3): _value("transformMapEntry", 2),
    ("transformMapEntry", 4): _value("transformMapEntry", 2),
    ("optMap", 2): _optional_map(flat=False),
    ("optFlatMap", 2): _optional_map(flat=True),
}
