"""Functions an expression may call: their types, their code, what a call costs.

A signature is written as one would read it, `(string).startsWith(string) -> bool` for a member and
`lists.range(int) -> list<int>` for a global function; a capital letter is a type parameter. One
Python function may serve several signatures.

What calls cost once their values are known. The formulas are cel-go's and Kubernetes'
(`interpreter/runtimecost.go`, `apiserver/pkg/cel/library/cost.go`), in units. Where upstream's
count leaves out work that takes time here, it is added and the function says so: the units of a
request bound its processor time. A cost is called with the arguments and the result.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from podium.golang.regexp import PatternError, compile_pattern
from podium.kubernetes.cel.types import Type, is_parameter, is_wild, parameter
from podium.kubernetes.cel.values import (
    CelDuration,
    Opaque,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    size_of,
)

Cost = Callable[..., int]
F = TypeVar("F", bound=Callable[..., Any])


def ONE_UNIT(*_: object) -> int:  # noqa: N802
    """The cost of a call whose work does not depend on its values."""
    return 1


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function. For a member the target is the first parameter.

    `cost` is called with the arguments and the result.
    """

    function: str
    member: bool
    params: tuple[Type, ...]
    result: Type
    run: Callable[..., Any]
    cost: Cost

    def fits(self, args: Iterable[Any]) -> bool:
        """Whether values have the kinds this overload takes."""
        return all(map(_has_kind, args, self.params))


class Functions:
    """A set of overloads by function name."""

    def __init__(self, *parts: "Functions") -> None:
        self._overloads: dict[str, list[Overload]] = {}
        for part in parts:
            for overload in part:
                self._overloads.setdefault(overload.function, []).append(overload)

    def __iter__(self) -> Iterator[Overload]:
        for overloads in self._overloads.values():
            yield from overloads

    def find_overloads(self, function: str) -> list[Overload]:
        return self._overloads.get(function, [])

    def define(self, *signatures: str, cost: Cost = ONE_UNIT) -> Callable[[F], F]:
        """Decorate the code of one or more signatures."""

        def keep(run: F) -> F:
            for signature in signatures:
                overload = _overload(signature, run, cost)
                self._overloads.setdefault(overload.function, []).append(overload)
            return run

        return keep


_SIGNATURE = re.compile(
    r"(?:\((?P<target>[^()]+)\)\.)?(?P<name>[^()]+)\((?P<args>.*)\) -> (?P<result>.+)"
)
_TYPE_TOKEN = re.compile(r"[\w.]+|[<>,]")


def _overload(signature: str, run: Callable[..., Any], cost: Cost) -> Overload:
    match = _SIGNATURE.fullmatch(signature)
    if match is None:
        raise ValueError(f"not a signature: {signature}")
    params = _types(match["args"])
    if match["target"]:
        params = (*_types(match["target"]), *params)
    (result,) = _types(match["result"])
    return Overload(match["name"], bool(match["target"]), params, result, run, cost)


def _types(text: str) -> tuple[Type, ...]:
    tokens: list[str] = _TYPE_TOKEN.findall(text)
    found: list[Type] = []
    while tokens:
        found.append(_type(tokens))
        if tokens:
            tokens.pop(0)
    return tuple(found)


def _type(tokens: list[str]) -> Type:
    name = tokens.pop(0)
    if len(name) == 1 and name.isupper():
        return parameter(name)
    params: list[Type] = []
    if tokens and tokens[0] == "<":
        while tokens.pop(0) != ">":
            params.append(_type(tokens))
    return Type(_SHORT_NAMES.get(name, name), tuple(params))


_SHORT_NAMES = {
    "quantity": "kubernetes.Quantity",
    "semver": "kubernetes.Semver",
    "url": "kubernetes.URL",
    "namedFormat": "kubernetes.NamedFormat",
    "ip": "net.IP",
    "cidr": "net.CIDR",
}

_KINDS: dict[str, frozenset[type]] = {
    "bool": frozenset({bool}),
    "int": frozenset({int}),
    "uint": frozenset({Uint}),
    "double": frozenset({float}),
    "string": frozenset({str}),
    "bytes": frozenset({bytes}),
    "null": frozenset({type(None)}),
    "list": frozenset({list}),
    "optional": frozenset({Optional}),
    "timestamp": frozenset({Timestamp}),
    "duration": frozenset({CelDuration}),
    "type": frozenset({TypeValue}),
}


def _has_kind(value: Any, wanted: Type) -> bool:
    if is_wild(wanted) or is_parameter(wanted):
        return True
    kinds = _KINDS.get(wanted.kind)
    if kinds is None:
        if wanted.kind == "map":
            return isinstance(value, dict)
        return isinstance(value, Opaque) and wanted.kind == value.TYPE_NAME
    if type(value) not in kinds:
        return False
    if wanted.kind == "list":
        return all(_has_kind(element, wanted.params[0]) for element in value)
    return True


_CALL_AND_LIST = 11
_PARSE = 20
FAILED_PATTERN = 300
_COPIED_PER_UNIT = 50
"""Elements or characters that are copied in the time of a unit."""


def a_tenth(size: int) -> int:
    return -(-size // 10)


def reading_cost(text: Any, *_: Any) -> int:
    """The first text once."""
    return a_tenth(len(text))


def parsing_cost(*values: Any) -> int:
    """A text into a value of another kind.

    upstream counts its characters only, though Python takes microseconds for the shortest one.
    """
    texts = (len(value) for value in values if isinstance(value, str | bytes))
    return _PARSE + a_tenth(sum(texts))


def conversion_cost(value: Any, *_: Any) -> int:
    """upstream counts one unit, of texts too."""
    return 1 + len(value) // 5 if isinstance(value, str | bytes) else 1


def lookup_cost(*_: Any) -> int:
    """The parts of a moment; upstream counts one unit."""
    return _PARSE


def rewriting_cost(text: str, *_: Any) -> int:
    """Character by character; upstream counts it as reading, which only ASCII is here."""
    return a_tenth(len(text)) if text.isascii() else len(text) // 3 + 1


def quoting_cost(text: str, *_: Any) -> int:
    return len(text) // 3 + 1


def double_reading_cost(text: Any, *_: Any) -> int:
    return a_tenth(2 * len(text))


def joining_cost(*values: Any) -> int:
    """upstream counts the result only, though every part has to be looked at."""
    return a_tenth(2 * len(values[-1])) + len(values[0]) // 2


def addition_cost(left: Any, right: Any, *_: Any) -> int:
    if isinstance(left, str | bytes):
        return a_tenth(len(left) + len(right))
    return 1


def list_addition_cost(left: list[Any], right: list[Any], *_: Any) -> int:
    """upstream links the lists; here they are copied."""
    return 1 + (len(left) + len(right)) // _COPIED_PER_UNIT


def comparison_cost(left: Any, right: Any, *_: Any) -> int:
    if isinstance(left, str | bytes) and isinstance(right, str | bytes):
        return a_tenth(min(len(left), len(right)))
    return 1


def search_cost(text: str, part: str, *_: Any) -> int:
    """`contains`: each character of one against each of the other."""
    return a_tenth(len(text)) * a_tenth(len(part))


def pattern_match_cost(text: str, pattern: str, *_: Any) -> int:
    """upstream guesses by its length what a pattern is made of: `a{1000}` counts as two parts."""
    guessed = a_tenth(1 + len(text)) * -(-len(pattern) // 4)
    try:
        instructions = compile_pattern(pattern).instructions
    except PatternError:
        return guessed + FAILED_PATTERN
    return max(guessed, len(text) * instructions // 10)


def pattern_compile_cost(pattern: str) -> int:
    """A pattern that is no literal, when it is first met; upstream counts nothing."""
    return FAILED_PATTERN + 3 * compile_pattern(pattern).instructions


def pattern_match_all_cost(text: str, pattern: str, *rest: Any) -> int:
    """upstream counts no result; here each match takes as long as ten units."""
    return pattern_match_cost(text, pattern) + 10 * len(rest[-1])


def replacement_cost(text: str, *rest: Any) -> int:
    """upstream counts the text only, though the result may be much longer."""
    return double_reading_cost(text) + len(rest[-1]) // _COPIED_PER_UNIT


def splitting_cost(text: str, *rest: Any) -> int:
    """upstream counts the text only; here each part is an object."""
    return double_reading_cost(text) + len(rest[-1]) // 2


def formatting_cost(template: str, *rest: Any) -> int:
    """upstream counts the template only."""
    return a_tenth(len(template)) + len(rest[-1]) // 5


def traversal_cost(value: Any, *_: Any) -> int:
    """Every element of a list, and every ten characters of the texts in it."""
    if isinstance(value, str | bytes):
        return len(value) // 10
    if isinstance(value, list):
        # upstream: a text of less than ten characters costs nothing; here it takes its time
        return sum(map(traversal_cost, value)) + len(value)
    return 1


def list_creation_cost(*values: Any) -> int:
    return len(values[-1]) + _CALL_AND_LIST


def flattening_cost(values: list[Any], *rest: Any) -> int:
    """upstream counts the outer list; the result may be much longer."""
    depth = rest[0] if len(rest) > 1 else 1
    return len(values) * min(depth, 1_000_000) + _CALL_AND_LIST + len(rest[-1])


def list_comparison_cost(values: list[Any], *_: Any) -> int:
    """`sort` and `distinct`: each element with each."""
    factor = 2.1 if values and isinstance(values[0], str | bytes) else 2.0
    return int(len(values) ** 2 * factor) + _CALL_AND_LIST


def pairing_cost(first: list[Any], second: list[Any], *_: Any) -> int:
    return 1 + len(first) * len(second)


def double_pairing_cost(first: list[Any], second: list[Any], *_: Any) -> int:
    return 1 + 2 * len(first) * len(second)


def size_cost(value: Any, *_: Any) -> int:
    return max(1, a_tenth(size_of(value)))
