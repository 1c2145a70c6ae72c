"""Tokens → tree, by recursive descent with precedence climbing.

Chains of `&&` and `||` become one call with many operands: that is how they are evaluated, and it
keeps the tree of a long condition flat.

Calls that are syntax: `has`, comprehensions, `cel.bind`, `optMap`. A macro is recognised by its
name, its number of arguments and whether it has a target, as in cel-go; any other call of the same
name stays a call and is looked up as a function.
"""

from collections.abc import Callable

from podium.kubernetes.cel.errors import IssueError
from podium.kubernetes.cel.lexer import (
    BYTES,
    DOUBLE,
    END,
    IDENT,
    INT,
    STRING,
    SYMBOL,
    UINT,
    Token,
    tokens_of,
)
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
    StructField,
    StructLiteral,
    dotted_name,
)
from podium.kubernetes.cel.values import INT64_MAX, INT64_MIN, UINT64_MAX, Uint

_BINARY: dict[str, tuple[int, str]] = {
    "||": (1, "_||_"),
    "&&": (2, "_&&_"),
    "<": (3, "_<_"),
    "<=": (3, "_<=_"),
    ">": (3, "_>_"),
    ">=": (3, "_>=_"),
    "==": (3, "_==_"),
    "!=": (3, "_!=_"),
    "in": (3, "@in"),
    "+": (4, "_+_"),
    "-": (4, "_-_"),
    "*": (5, "_*_"),
    "/": (5, "_/_"),
    "%": (5, "_%_"),
}
_CONSTANTS: dict[str, object] = {"true": True, "false": False, "null": None}
# fmt: off
_RESERVED = frozenset({
    "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop",
    "package", "namespace", "return", "var", "void", "while",
})
# fmt: on
_FIELD = "{'}', '?', IDENTIFIER, ESC_IDENTIFIER}"
_FIRST = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"


def parse(source: str, *, has_bindings: bool = True) -> Expr:
    """The tree of an expression; raises IssueError. `has_bindings`: `cel.bind` is a macro."""
    parser = _Parser(tokens_of(source), has_bindings=has_bindings)
    tree = parser.expression()
    parser.finish()
    return tree


class _Parser:
    def __init__(self, tokens: list[Token], *, has_bindings: bool) -> None:
        self._tokens = tokens
        self._has_bindings = has_bindings
        self._at = 0

    def finish(self) -> None:
        token = self._peek()
        if token.kind != END:
            raise _refuse_token(token, "<EOF>")

    def expression(self) -> Expr:
        condition = self._binary(1)
        token = self._peek()
        if token.text != "?" or token.kind != SYMBOL:
            return condition
        self._at += 1
        then = self._binary(1)
        self._expect(":")
        otherwise = self.expression()
        return CallExpr(token.offset, "_?_:_", None, [condition, then, otherwise])

    def _binary(self, lowest: int) -> Expr:
        left = self._unary()
        while True:
            token = self._peek()
            found = _BINARY.get(token.text) if token.kind in (SYMBOL, IDENT) else None
            if found is None or found[0] < lowest:
                return left
            precedence, function = found
            self._at += 1
            right = self._binary(precedence + 1)
            if precedence <= 2 and isinstance(left, CallExpr) and left.function == function:
                left.args.append(right)
            else:
                left = CallExpr(token.offset, function, None, [left, right])

    def _unary(self) -> Expr:
        token = self._peek()
        if token.kind != SYMBOL or token.text not in ("!", "-"):
            return self._member()
        self._at += 1
        following = self._peek()
        if token.text == "-" and following.kind in (INT, DOUBLE):
            return self._member(negative=True)
        operand = self._unary()
        return CallExpr(token.offset, "!_" if token.text == "!" else "-_", None, [operand])

    def _member(self, *, negative: bool = False) -> Expr:
        node = self._primary(negative=negative)
        while True:
            token = self._peek()
            if token.kind != SYMBOL:
                return node
            if token.text == ".":
                self._at += 1
                if self._accept("?"):
                    node = SelectExpr(token.offset, node, self._name(), optional=True)
                else:
                    node = self._selection(node, token.offset)
            elif token.text == "[":
                self._at += 1
                function = "_[?_]" if self._accept("?") else "_[_]"
                index = self.expression()
                self._expect("]")
                node = CallExpr(token.offset, function, None, [node, index])
            elif token.text == "{" and dotted_name(node):
                node = self._struct(node)
            else:
                return node

    def _selection(self, node: Expr, offset: int) -> Expr:
        name = self._name()
        opening = self._peek()
        if opening.kind == SYMBOL and opening.text == "(":
            self._at += 1
            args = self._arguments(")")
            return expand(
                CallExpr(opening.offset, name, node, args), has_bindings=self._has_bindings
            )
        return SelectExpr(offset, node, name)

    def _primary(self, *, negative: bool = False) -> Expr:
        token = self._next()
        if token.kind in (INT, UINT, DOUBLE):
            return LiteralExpr(token.offset, _number(token, negative=negative))
        if token.kind in (STRING, BYTES):
            return LiteralExpr(token.offset, token.value)
        if token.kind == IDENT or token.text == ".":
            return self._identifier(token)
        if token.kind == SYMBOL and token.text == "(":
            inner = self.expression()
            self._expect(")")
            return inner
        if token.kind == SYMBOL and token.text == "[":
            return self._list(token)
        if token.kind == SYMBOL and token.text == "{":
            return self._map(token)
        raise _refuse_token(token, "an expression")

    def _identifier(self, token: Token) -> Expr:
        absolute = token.text == "."
        name = self._name() if absolute else token.text
        if not absolute and name in _CONSTANTS:
            return LiteralExpr(token.offset, _CONSTANTS[name])
        if name == "in":
            raise _refuse_token(token, "an expression")
        if name in _RESERVED:
            raise IssueError(f"reserved identifier: {name}", token.offset)
        opening = self._peek()
        if opening.kind == SYMBOL and opening.text == "(":
            self._at += 1
            call = CallExpr(opening.offset, name, None, self._arguments(")"))
            return expand(call, has_bindings=self._has_bindings)
        return IdentExpr(token.offset, name)

    def _arguments(self, closing: str) -> list[Expr]:
        args: list[Expr] = []
        if self._accept(closing):
            return args
        while True:
            args.append(self.expression())
            if not self._accept(","):
                self._expect(closing)
                return args

    def _list(self, opening: Token) -> Expr:
        literal = ListLiteral(opening.offset, [])
        while not self._accept("]"):
            if self._accept("?"):
                literal.optional.add(len(literal.elements))
            literal.elements.append(self.expression())
            if not self._accept(","):
                self._expect("]")
                break
        return literal

    def _map(self, opening: Token) -> Expr:
        literal = MapLiteral(opening.offset, [])
        while not self._accept("}"):
            if self._accept("?"):
                literal.optional.add(len(literal.entries))
            key = self.expression()
            self._expect(":")
            literal.entries.append((key, self.expression()))
            if not self._accept(","):
                self._expect("}")
                break
        return literal

    def _struct(self, node: Expr) -> Expr:
        literal = StructLiteral(self._next().offset, dotted_name(node))
        while not self._accept("}"):
            optional = self._accept("?")
            name = self._name("IDENTIFIER" if optional else _FIELD if literal.fields else _FIRST)
            colon = self._peek()
            self._expect(":")
            value = self.expression()
            literal.fields.append(StructField(colon.offset, name, value, optional))
            if not self._accept(","):
                self._expect("}")
                break
        return literal

    # tokens

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        if token.kind != END:
            self._at += 1
        return token

    def _accept(self, symbol: str) -> bool:
        token = self._peek()
        if token.kind == SYMBOL and token.text == symbol:
            self._at += 1
            return True
        return False

    def _expect(self, symbol: str) -> None:
        if not self._accept(symbol):
            raise _refuse_token(self._peek(), f"'{symbol}'")

    def _name(self, wanted: str = "IDENTIFIER") -> str:
        token = self._next()
        if token.kind != IDENT or token.text in _CONSTANTS or token.text == "in":
            raise _refuse_token(token, wanted)
        return token.text


def _number(token: Token, *, negative: bool) -> object:
    value = token.value
    if token.kind == DOUBLE:
        assert isinstance(value, float)
        return -value if negative else value
    assert isinstance(value, int)
    if token.kind == UINT:
        if value > UINT64_MAX:
            raise IssueError("invalid uint literal", token.offset)
        return Uint(value)
    value = -value if negative else value
    if not INT64_MIN <= value <= INT64_MAX:
        raise IssueError("invalid int literal", token.offset)
    return value


def _refuse_token(token: Token, wanted: str) -> IssueError:
    return IssueError(
        f"Syntax error: mismatched input '{token.text}' expecting {wanted}", token.offset
    )


def expand(call: CallExpr, *, has_bindings: bool) -> Expr:
    """The node a macro call stands for, or the call itself; `cel.bind` is not known everywhere."""
    if call.target is None:
        return _has(call) if call.function == "has" and len(call.args) == 1 else call
    is_binding = call.function == "bind" and len(call.args) == 3
    if has_bindings and is_binding and _is_ident(call.target, "cel"):
        name, value, body = call.args
        return BindExpr(call.offset, _variable(name), value, body)
    expander = _RECEIVER_MACROS.get((call.function, len(call.args)))
    return expander(call, call.target) if expander is not None else call


def _has(call: CallExpr) -> Expr:
    selection = call.args[0]
    if not isinstance(selection, SelectExpr) or selection.test or selection.optional:
        raise IssueError("invalid argument to has() macro", call.args[0].offset)
    return SelectExpr(call.offset, selection.operand, selection.field, test=True)


def _predicate(kind: str) -> Callable[[CallExpr, Expr], Expr]:
    def build(call: CallExpr, target: Expr) -> Expr:
        *names, condition = call.args
        return Comprehension(call.offset, kind, target, _variables(names), condition=condition)

    return build


def _value(kind: str, variables: int) -> Callable[[CallExpr, Expr], Expr]:
    def build(call: CallExpr, target: Expr) -> Expr:
        names, rest = call.args[:variables], call.args[variables:]
        condition = rest[0] if len(rest) == 2 else None
        return Comprehension(
            call.offset, kind, target, _variables(names), condition=condition, body=rest[-1]
        )

    return build


def _optional_map(*, flat: bool) -> Callable[[CallExpr, Expr], Expr]:
    def build(call: CallExpr, target: Expr) -> Expr:
        return OptionalMap(call.offset, target, _variable(call.args[0]), call.args[1], flat)

    return build


def _variables(nodes: list[Expr]) -> tuple[str, ...]:
    names = tuple(_variable(node) for node in nodes)
    if len(set(names)) < len(names):
        raise IssueError(f"duplicate variable name: {names[1]}", nodes[1].offset)
    return names


def _variable(node: Expr) -> str:
    if not isinstance(node, IdentExpr):
        raise IssueError("argument must be a simple name", node.offset)
    return node.name


def _is_ident(node: Expr, name: str) -> bool:
    return isinstance(node, IdentExpr) and node.name == name


_RECEIVER_MACROS: dict[tuple[str, int], Callable[[CallExpr, Expr], Expr]] = {
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
