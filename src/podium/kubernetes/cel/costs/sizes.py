"""What estimates of costs start from: sizes of values, declared variables, the loops of macros.

How large a value may be, and arithmetic that stays at the largest number instead of passing it.

A size is what `size()` says: characters, bytes, elements or entries.

Variables as they are declared: their types, and how large their values can get.

What the loop of a macro costs besides its parts. Upstream expands a macro into a fold over an
accumulator; these are the units of the fold's own idents, calls and lists. They hold in advance and
at run time alike.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Optional

from podium.kubernetes.cel.types import STRING, Type

MAX_UINT64: Final = 2**64 - 1
STRING_FACTOR: Final = 0.1
"""Units for one character that is looked at."""
REGEX_FACTOR: Final = 0.25
"""Parts of a pattern for one of its characters."""


def saturated_sum(*numbers: int) -> int:
    return min(sum(numbers), MAX_UINT64)


def saturated_product(left: int, right: int) -> int:
    return min(left * right, MAX_UINT64)


def by_factor(number: int, factor: float) -> int:
    """A product with a fraction, rounded up."""
    product = number * factor
    return MAX_UINT64 if product >= 2.0**64 else math.ceil(product)


@dataclass(frozen=True, slots=True)
class Size:
    min: int
    max: int

    def plus(self, other: "Size") -> "Size":
        return Size(saturated_sum(self.min, other.min), saturated_sum(self.max, other.max))

    def times(self, other: "Size") -> "Size":
        return Size(saturated_product(self.min, other.min), saturated_product(self.max, other.max))

    def union(self, other: "Size") -> "Size":
        return Size(min(self.min, other.min), max(self.max, other.max))

    def cost(self, factor: float) -> int:
        """What walking over the largest value costs."""
        return by_factor(self.max, factor)


UNKNOWN: Final = Size(0, MAX_UINT64)
ONE: Final = Size(1, 1)


def fixed_size(number: int) -> Size:
    return Size(number, number)


ITEMS: Final = "@items"
KEYS: Final = "@keys"
VALUES: Final = "@values"
INDICES: Final = "@indices"

SizeOfPath = Callable[[Sequence[str]], Size | None]
"""The size of what a path leads to: a variable, then fields, `@items`, `@keys` and `@values`."""


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A type with its sizes; `fields` for objects, `element` for lists and maps.

    `min_bytes` is the least that a value takes in JSON.
    """

    type: Type
    max_elements: int = 0
    min_bytes: int = 2
    fields: Mapping[str, "Declared"] = field(default_factory=dict)
    key: Optional["Declared"] = None
    element: Optional["Declared"] = None


DECLARED_KEY: Final = Declared(STRING)
# upstream: keys of maps count as empty, since their declaration has no length


def size_of_path(root: Declared) -> SizeOfPath:
    """Sizes below one variable.

    upstream: the first part of a path is taken for the variable, whatever it is.
    """

    def find(path: Sequence[str]) -> Size | None:
        node: Declared | None = root
        for name in path[1:]:
            if node is None:
                return None
            if name in (ITEMS, VALUES):
                node = node.element
            elif name == KEYS:
                node = node.key
            else:
                node = node.fields.get(name)
        return None if node is None else Size(0, node.max_elements)

    return find


LIST_BASE: Final = 10
MAP_BASE: Final = 30
STRUCT_BASE: Final = 40


class FoldCost(NamedTuple):
    """Units to begin, for the result, for each turn, and for a turn that is taken in.

    Beginning costs in advance only: at run time the empty list or map is a constant.
    """

    begin: int
    result: int
    turn: int
    chosen: int

    @property
    def start(self) -> int:
        return self.begin + self.result


FOLD_COSTS: Final = {
    # not_strictly_false(result), result && condition
    "all": FoldCost(0, 1, 3, 0),
    # not_strictly_false(!result), result || condition
    "exists": FoldCost(0, 1, 4, 0),
    # condition ? result + 1 : result, and at last result == 1
    "exists_one": FoldCost(0, 2, 1, 1),
    # condition ? result + [variable] : result
    "filter": FoldCost(LIST_BASE, 1, 1, 2 + LIST_BASE),
    # result + [body]
    "map": FoldCost(LIST_BASE, 1, 1, 1 + LIST_BASE),
    "sortBy": FoldCost(LIST_BASE, 1, 1, 1 + LIST_BASE),
    "transformList": FoldCost(LIST_BASE, 1, 1, 1 + LIST_BASE),
    # insert(result, key, body)
    "transformMap": FoldCost(MAP_BASE, 1, 1, 2),
    # insert(result, body)
    "transformMapEntry": FoldCost(MAP_BASE, 1, 1, 1),
}
