"""What the loop of a macro costs besides its parts.

Upstream expands a macro into a fold over an accumulator; these are the units of the fold's own
idents, calls and lists. They hold in advance and at run time alike.
"""

from typing import Final, NamedTuple

LIST_BASE: Final = 10
MAP_BASE: Final = 30


class FoldCost(NamedTuple):
    """Units once, for each turn, and for a turn whose condition holds or that has none."""

    start: int
    turn: int
    chosen: int


_LIST_RESULT: Final = LIST_BASE + 1
_MAP_RESULT: Final = MAP_BASE + 1

FOLD_COSTS: Final = {
    # not_strictly_false(result), result && condition
    "all": FoldCost(1, 3, 0),
    # not_strictly_false(!result), result || condition
    "exists": FoldCost(1, 4, 0),
    # condition ? result + 1 : result, and at last result == 1
    "exists_one": FoldCost(2, 1, 1),
    # condition ? result + [variable] : result
    "filter": FoldCost(_LIST_RESULT, 1, 2 + LIST_BASE),
    # result + [body]
    "map": FoldCost(_LIST_RESULT, 1, 1 + LIST_BASE),
    "sortBy": FoldCost(_LIST_RESULT, 1, 1 + LIST_BASE),
    "transformList": FoldCost(_LIST_RESULT, 1, 1 + LIST_BASE),
    # insert(result, key, body)
    "transformMap": FoldCost(_MAP_RESULT, 1, 2),
    # insert(result, body)
    "transformMapEntry": FoldCost(_MAP_RESULT, 1, 1),
}
