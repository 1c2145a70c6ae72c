"""What the loop of a macro costs besides its parts.

Upstream expands a macro into a fold over an accumulator; these are the units of the fold's own
idents, calls and lists. They hold in advance and at run time alike.
"""

from typing import Final, NamedTuple

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
