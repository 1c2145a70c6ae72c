"""What one call costs at worst, and how large its result may be.

A function has a formula if its work grows with its arguments; any other call costs one unit.
Sizes that upstream lets run over 64 bits do so here.
"""

import math
from collections.abc import Callable
from typing import Final, NamedTuple

from podium.kubernetes.cel.costs.sizes import (
    ITEMS,
    LIST_BASE,
    MAX_UINT64,
    ONE,
    REGEX_FACTOR,
    STRING_FACTOR,
    UNKNOWN,
    Size,
    SizeOfPath,
    by_factor,
    fixed_size,
    saturated_product,
    saturated_sum,
)
from podium.kubernetes.cel.library import Overload
from podium.kubernetes.cel.syntax import Expr, LiteralExpr
from podium.kubernetes.cel.types import Type

_FORMAT_REGEX: Final = 128
_MAX_FORMAT: Final = 64
_MAX_ATTRIBUTE_VALUES: Final = 48
_ADDRESS: Final = 16
"""Bytes of the longest address."""


class Operand(NamedTuple):
    """A target or argument of a call."""

    node: Expr | None
    type: Type
    path: tuple[str, ...]
    known_size: Size | None

    @property
    def size(self) -> Size:
        return self.known_size or UNKNOWN

    def integer(self, default: int) -> int:
        """The value of a literal integer, at least zero."""
        value = self.node.value if isinstance(self.node, LiteralExpr) else None
        return max(value, 0) if type(value) is int else default


class CallCost(NamedTuple):
    cost: int
    size: Size | None = None


class Called(NamedTuple):
    overload: Overload
    target: Operand | None
    args: list[Operand]
    size_of_path: SizeOfPath

    def element_of(self, operand: Operand) -> Operand | None:
        """The elements of a list; None if it is none."""
        if not operand.type.params:
            return None
        path = (*operand.path, ITEMS) if operand.path else ()
        size = self.size_of_path(path) if path else None
        return Operand(None, operand.type.params[0], path, size)


Formula = Callable[[Called], CallCost | None]


def cost_of_call(call: Called) -> CallCost:
    formula = _FORMULAS.get(call.overload.function)
    return (formula(call) if formula is not None else None) or CallCost(1)


def _walk(call: Called) -> CallCost | None:
    """`max`, `indexOf` and the like: every element, and every character of a text, once."""
    if call.target is None:
        return None
    element = call.element_of(call.target)
    if element is None:
        return CallCost(call.target.size.cost(STRING_FACTOR))
    each = 1
    if element.type.kind in ("string", "bytes"):
        each = saturated_sum(each, element.size.cost(STRING_FACTOR))
    return CallCost(saturated_product(call.target.size.max, each))


def _read_argument(call: Called) -> CallCost | None:
    """A global function that reads a text and makes something else of it."""
    if not call.args:
        return None
    return CallCost(call.args[0].size.cost(STRING_FACTOR))


def _url(call: Called) -> CallCost:
    size = call.args[0].size
    return CallCost(size.cost(STRING_FACTOR), size)


def _same_length(call: Called) -> CallCost | None:
    if call.target is None:
        return None
    return CallCost(call.target.size.cost(STRING_FACTOR), call.target.size)


def _replace(call: Called) -> CallCost | None:
    if call.target is None or len(call.args) < 2:
        return None
    size, old, new = call.target.size, call.args[0].size, call.args[1].size
    most, kept_most = _longest_replacement(size, old, new)
    least, kept_least = _shortest_replacement(size, old, new)
    made = Size(least, most).times(new).plus(Size(kept_least, kept_most))
    return CallCost(size.cost(2 * STRING_FACTOR), made)


def _longest_replacement(size: Size, old: Size, new: Size) -> tuple[int, int]:
    """How often a text may be replaced, and what of it stays besides."""
    if old.min == 0:
        return saturated_sum(size.max, 1), size.max
    if new.max <= old.min:
        return 0, size.max
    return math.ceil(float(size.max) / float(old.min)), 0


def _shortest_replacement(size: Size, old: Size, new: Size) -> tuple[int, int]:
    if old.max == 0:
        return saturated_sum(size.min, 1), size.min
    if old.max <= new.min:
        return 0, size.min
    return math.ceil(float(size.min) / float(old.max)), 0


def _split(call: Called) -> CallCost | None:
    if call.target is None:
        return None
    most = call.target.size.max
    if len(call.args) > 1:
        limit = call.args[1].node
        if isinstance(limit, LiteralExpr) and type(limit.value) is int:
            most = limit.value & MAX_UINT64
    return CallCost(call.target.size.cost(2 * STRING_FACTOR), Size(0, most))


def _join(call: Called) -> CallCost | None:
    if call.target is None:
        return None
    count, size = call.target.size, Size(0, 0)
    element = call.element_of(call.target)
    if element is not None:
        size = count.times(element.size)
    if call.args:
        separators = Size(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(call.args[0].size.times(separators))
    return CallCost(size.cost(STRING_FACTOR), size)


def _match(call: Called) -> CallCost | None:
    """`matches`, `find` and `findAll`: each character against each part of the pattern."""
    if call.target is None:
        return None
    text = call.target.size.plus(ONE).cost(STRING_FACTOR)
    cost = saturated_product(text, call.args[0].size.cost(REGEX_FACTOR))
    found = None if call.overload.function == "matches" else Size(0, call.target.size.max)
    return CallCost(cost, found)


def _ip(call: Called) -> CallCost | None:
    return CallCost(1) if call.overload.member else _read_argument(call)


def _is_canonical(call: Called) -> CallCost:
    return CallCost(call.args[0].size.cost(2 * STRING_FACTOR))


def _contains_ip(call: Called) -> CallCost:
    return CallCost(saturated_sum(_compare_addresses(2), _parse_address(call)))


def _contains_cidr(call: Called) -> CallCost:
    masked = by_factor(_ADDRESS, STRING_FACTOR) + 1
    return CallCost(saturated_sum(_compare_addresses(2), masked, _parse_address(call)))


def _compare_addresses(times: int) -> int:
    return by_factor(times * _ADDRESS, STRING_FACTOR)


def _parse_address(call: Called) -> int:
    is_text = call.overload.params[-1].kind == "string"
    return call.args[0].size.cost(STRING_FACTOR) if is_text else 0


def _validate(call: Called) -> CallCost | None:
    if not call.args:
        return None
    read = call.args[0].size.cost(STRING_FACTOR)
    return CallCost(by_factor(read, _FORMAT_REGEX * REGEX_FACTOR))


def _equal(call: Called) -> CallCost:
    left, right = call.args
    if left.type == right.type:
        match left.type.kind:
            case "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver":
                return CallCost(1)
            case "kubernetes.NamedFormat":
                return CallCost(by_factor(_MAX_FORMAT, STRING_FACTOR))
            case "kubernetes.URL":
                # upstream: the size of the right one is taken for both
                return CallCost((right.known_size or ONE).cost(STRING_FACTOR))
    return _compare(call)


def _compare(call: Called) -> CallCost:
    return CallCost(by_factor(min(each.size.max for each in call.args), STRING_FACTOR))


def _order(call: Called) -> CallCost | None:
    return _compare(call) if call.overload.params[0].kind in ("string", "bytes") else None


def _add(call: Called) -> CallCost | None:
    kind = call.overload.params[0].kind
    if kind not in ("string", "bytes", "list"):
        return None
    size = call.args[0].size.plus(call.args[1].size)
    return CallCost(1 if kind == "list" else size.cost(STRING_FACTOR), size)


def _in(call: Called) -> CallCost | None:
    return CallCost(call.args[1].size.max) if call.overload.params[1].kind == "list" else None


def _affix(call: Called) -> CallCost:
    return CallCost(call.args[0].size.cost(STRING_FACTOR))


def _contains(call: Called) -> CallCost | None:
    if call.target is None:
        return None
    part = call.args[0].size.cost(STRING_FACTOR)
    return CallCost(saturated_product(call.target.size.cost(STRING_FACTOR), part))


def _format(call: Called) -> CallCost | None:
    return None if call.target is None else CallCost(call.target.size.cost(STRING_FACTOR))


def _bytes(call: Called) -> CallCost | None:
    if call.overload.params[0].kind != "string":
        return None
    size = call.args[0].size
    return CallCost(size.cost(STRING_FACTOR), Size(size.min, size.max * 4 & MAX_UINT64))


def _string(call: Called) -> CallCost | None:
    if call.overload.params[0].kind != "bytes":
        return None
    size = call.args[0].size
    return CallCost(size.cost(STRING_FACTOR), Size(size.min // 4, size.max))


def _quote(call: Called) -> CallCost:
    size = call.args[0].size
    longest = (size.max * 2 + 2) & MAX_UINT64
    return CallCost(size.cost(STRING_FACTOR), Size(size.min + 2 & MAX_UINT64, longest))


def make_list(size: Size, factor: float = 1.0) -> CallCost:
    """A call that makes a list; its size is what it costs."""
    return CallCost(saturated_sum(size.cost(factor), 1, LIST_BASE), size)


def sort_list(size: Size, kind: str) -> CallCost:
    """Sorting by keys of a kind. upstream: the result counts as long as the comparisons."""
    factor = 2.0 + STRING_FACTOR if kind in ("string", "bytes") else 2.0
    return make_list(size.times(size), factor)


def _slice(call: Called) -> CallCost | None:
    if call.target is None:
        return None
    end = call.args[1].integer(call.target.size.max)
    return make_list(fixed_size((end - call.args[0].integer(0)) & MAX_UINT64))


def _flatten(call: Called) -> CallCost | None:
    if call.target is None:
        return None
    depth = call.args[0].integer(MAX_UINT64) if call.args else 1
    return make_list(call.target.size, float(depth))


def _range(call: Called) -> CallCost:
    return make_list(fixed_size(call.args[0].integer(MAX_UINT64)))


def _reverse(call: Called) -> CallCost | None:
    return None if call.target is None else make_list(call.target.size)


def _distinct(call: Called) -> CallCost | None:
    return None if call.target is None else sort_list(call.target.size, "")


def _sort(call: Called) -> CallCost | None:
    if call.target is None:
        return None
    return sort_list(call.target.size, call.overload.params[0].params[0].kind)


def _sets(times: float) -> Formula:
    def cost(call: Called) -> CallCost:
        pairs = call.args[0].size.times(call.args[1].size)
        return CallCost(saturated_sum(pairs.cost(times), 1))

    return cost


def _includes(_: Called) -> CallCost:
    return CallCost(_MAX_ATTRIBUTE_VALUES)


_FORMULAS: Final[dict[str, Formula]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _walk),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity"), _read_argument),
    **dict.fromkeys(("semver", "isSemver"), _read_argument),
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim"), _same_length),
    **dict.fromkeys(("matches", "find", "findAll"), _match),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _order),
    **dict.fromkeys(("startsWith", "endsWith"), _affix),
    "_!=_": _compare,
    "_+_": _add,
    "_==_": _equal,
    "@in": _in,
    "bytes": _bytes,
    "contains": _contains,
    "containsCIDR": _contains_cidr,
    "containsIP": _contains_ip,
    "distinct": _distinct,
    "flatten": _flatten,
    "format": _format,
    "includes": _includes,
    "ip": _ip,
    "ip.isCanonical": _is_canonical,
    "join": _join,
    "lists.range": _range,
    "replace": _replace,
    "reverse": _reverse,
    "sets.contains": _sets(1),
    "sets.equivalent": _sets(2),
    "sets.intersects": _sets(1),
    "slice": _slice,
    "sort": _sort,
    "split": _split,
    "string": _string,
    "strings.quote": _quote,
    "url": _url,
    "validate": _validate,
}
