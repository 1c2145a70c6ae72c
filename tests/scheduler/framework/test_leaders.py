"""The best rows kept by blocks, held against a look at the whole column."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.framework.caches.totals import BLOCK, Leaders

SIZE = 2 * BLOCK + 7
rows = st.one_of(st.integers(0, SIZE - 1), st.sampled_from((0, 1, BLOCK - 1, BLOCK, SIZE - 1)))
changes = st.lists(st.dictionaries(rows, st.integers(0, 3), min_size=1, max_size=4), max_size=30)


def check(leaders: Leaders, column: np.ndarray) -> None:
    best = np.flatnonzero(column == column.max()).tolist()
    assert leaders.tolist() == best
    assert len(leaders) == len(best)
    for number in {0, len(best) // 2, len(best) - 1}:
        assert leaders[number] == best[number]


@given(changes, st.sampled_from((0, 2)))
def test_after_every_change_the_leaders_are_the_rows_with_the_highest_value(
    steps: list[dict[int, int]], level: int
) -> None:
    column = np.full(SIZE, level, dtype=np.int64)
    leaders = Leaders(column)
    check(leaders, column)
    for step in steps:
        were = [int(column[row]) for row in step]
        if len(step) > 1:
            column = column.copy()  # the column may move to another array
        column[list(step)] = list(step.values())
        leaders.update_rows(column, list(step), were)
        check(leaders, column)
