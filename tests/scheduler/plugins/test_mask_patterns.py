"""Numbering rows by the combination of conditions that hold for them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.plugins.resources.stack import number_patterns


@given(
    st.integers(1, 30).flatmap(
        lambda width: st.lists(
            st.lists(st.booleans(), min_size=width, max_size=width), min_size=0, max_size=12
        ).map(lambda rows: (width, rows))
    )
)
def test_each_row_gets_the_pattern_of_its_conditions(drawn: tuple[int, list[list[bool]]]) -> None:
    width, rows = drawn
    table = np.array(rows, dtype=np.bool_).reshape(len(rows), width)
    numbers, patterns = number_patterns(list(table.T))
    expected = [tuple(i for i, holds in enumerate(row) if holds) for row in rows]
    assert [patterns[number] for number in numbers] == expected
    assert len(patterns) == len(set(expected))


def test_rows_where_fewer_of_the_first_conditions_hold_come_first() -> None:
    numbers, patterns = number_patterns([np.array([1, 1, 0], bool), np.array([1, 0, 0], bool)])
    assert numbers.tolist() == [2, 1, 0]
    assert patterns == [(), (0,), (0, 1)]
