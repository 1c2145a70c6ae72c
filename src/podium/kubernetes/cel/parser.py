"""Tokens → tree, by recursive descent with precedence climbing.

Chains of `&&` and `||` become one call with many operands: that is how they are evaluated, and it
keeps the tree of a long condition flat.
"""

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
from podium.kubernetes.cel.macros import expand
from podium.kubernetes.cel.syntax import (
    Call,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
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


def parse(source: str, *, has_bindings: bool = True) -> Node:
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
            raise _unexpected(token, "<EOF>")

    def expression(self) -> Node:
        condition = self._binary(1)
        token = self._peek()
        if token.text != "?" or token.kind != SYMBOL:
            return condition
        self._at += 1
        then = self._binary(1)
        self._expect(":")
        otherwise = self.expression()
        return Call(token.offset, "_?_:_", None, [condition, then, otherwise])

    def _binary(self, lowest: int) -> Node:
        left = self._unary()
        while True:
            token = self._peek()
            found = _BINARY.get(token.text) if token.kind in (SYMBOL, IDENT) else None
            if found is None or found[0] < lowest:
                return left
            precedence, function = found
            self._at += 1
            right = self._binary(precedence + 1)
            if precedence <= 2 and isinstance(left, Call) and left.function == function:
                left.args.append(right)
            else:
                left = Call(token.offset, function, None, [left, right])

    def _unary(self) -> Node:
        token = self._peek()
        if token.kind != SYMBOL or token.text not in ("!", "-"):
            return self._member()
        self._at += 1
        following = self._peek()
        if token.text == "-" and following.kind in (INT, DOUBLE):
            return self._member(negative=True)
        operand = self._unary()
        return Call(token.offset, "!_" if token.text == "!" else "-_", None, [operand])

    def _member(self, *, negative: bool = False) -> Node:
        node = self._primary(negative=negative)
        while True:
            token = self._peek()
            if token.kind != SYMBOL:
                return node
            if token.text == ".":
                self._at += 1
                if self._accept("?"):
                    node = Select(token.offset, node, self._name(), optional=True)
                else:
                    node = self._selection(node, token.offset)
            elif token.text == "[":
                self._at += 1
                function = "_[?_]" if self._accept("?") else "_[_]"
                index = self.expression()
                self._expect("]")
                node = Call(token.offset, function, None, [node, index])
            elif token.text == "{" and dotted_name(node):
                node = self._struct(node)
            else:
                return node

    def _selection(self, node: Node, offset: int) -> Node:
        name = self._name()
        opening = self._peek()
        if opening.kind == SYMBOL and opening.text == "(":
            self._at += 1
            args = self._arguments(")")
            return expand(Call(opening.offset, name, node, args), has_bindings=self._has_bindings)
        return Select(offset, node, name)

    def _primary(self, *, negative: bool = False) -> Node:
        token = self._next()
        if token.kind in (INT, UINT, DOUBLE):
            return Literal(token.offset, _number(token, negative=negative))
        if token.kind in (STRING, BYTES):
            return Literal(token.offset, token.value)
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
        raise _unexpected(token, "an expression")

    def _identifier(self, token: Token) -> Node:
        absolute = token.text == "."
        name = self._name() if absolute else token.text
        if not absolute and name in _CONSTANTS:
            return Literal(token.offset, _CONSTANTS[name])
        if name == "in":
            raise _unexpected(token, "an expression")
        if name in _RESERVED:
            raise IssueError(f"reserved identifier: {name}", token.offset)
        opening = self._peek()
        if opening.kind == SYMBOL and opening.text == "(":
            self._at += 1
            call = Call(opening.offset, name, None, self._arguments(")"))
            return expand(call, has_bindings=self._has_bindings)
        return Ident(token.offset, name)

    def _arguments(self, closing: str) -> list[Node]:
        args: list[Node] = []
        if self._accept(closing):
            return args
        while True:
            args.append(self.expression())
            if not self._accept(","):
                self._expect(closing)
                return args

    def _list(self, opening: Token) -> Node:
        literal = ListLiteral(opening.offset, [])
        while not self._accept("]"):
            if self._accept("?"):
                literal.optional.add(len(literal.elements))
            literal.elements.append(self.expression())
            if not self._accept(","):
                self._expect("]")
                break
        return literal

    def _map(self, opening: Token) -> Node:
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

    def _struct(self, node: Node) -> Node:
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
            raise _unexpected(self._peek(), f"'{symbol}'")

    def _name(self, wanted: str = "IDENTIFIER") -> str:
        token = self._next()
        if token.kind != IDENT or token.text in _CONSTANTS or token.text == "in":
            raise _unexpected(token, wanted)
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


def _unexpected(token: Token, wanted: str) -> IssueError:
    return IssueError(
        f"Syntax error: mismatched input '{token.text}' expecting {wanted}", token.offset
    )
