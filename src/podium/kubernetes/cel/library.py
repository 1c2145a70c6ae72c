"""Functions an expression may call: their types, their code, what a call costs.

A signature is written as one would read it, `(string).startsWith(string) -> bool` for a member and
`lists.range(int) -> list<int>` for a global function; a capital letter is a type parameter. One
Python function may serve several signatures.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from podium.kubernetes.cel.types import Type, is_parameter, is_wild, parameter
from podium.kubernetes.cel.values import (
    Duration,
    Opaque,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
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

    def named(self, function: str) -> list[Overload]:
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
    "duration": frozenset({Duration}),
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
