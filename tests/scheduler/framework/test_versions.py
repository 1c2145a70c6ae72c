"""A column that changes in place, held against copies of what it was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.framework.caches.columns import MAX_STEPS, ColumnVersion

changes = st.lists(
    st.dictionaries(st.integers(0, 9), st.integers(-5, 5), min_size=1, max_size=4), max_size=20
)


@given(changes)
def test_every_version_reads_as_the_column_was_at_its_moment(steps: list[dict[int, int]]) -> None:
    version = ColumnVersion(np.arange(10, dtype=np.int64))
    moments = [(version, version.live.copy())]
    for step in steps:
        version = version.with_values(list(step), list(step.values()))
        moments.append((version, version.live.copy()))

    for held, was in moments:
        assert held.read().tolist() == was.tolist()


def test_no_way_back_is_longer_than_so_many_steps() -> None:
    first = version = ColumnVersion(np.zeros(3, dtype=np.int64))
    array = version.live
    for value in range(MAX_STEPS + 1):
        version = version.with_values([1], [value])

    assert version.live is not array
    assert first.read().tolist() == [0, 0, 0]
    assert version.read().tolist() == [0, MAX_STEPS, 0]


def test_an_array_of_somebody_else_is_never_written_to() -> None:
    array = np.zeros(3, dtype=np.int64)
    changed = ColumnVersion.of_another(array).with_values([0, 2], [4, 5])

    assert array.tolist() == [0, 0, 0]
    assert changed.read().tolist() == [4, 0, 5]


def test_what_is_read_is_a_copy() -> None:
    version = ColumnVersion(np.zeros(2, dtype=np.int64))
    read = version.read()
    version.with_values([0], [1])

    assert read.tolist() == [0, 0]


def test_only_the_newest_version_has_the_array() -> None:
    version = ColumnVersion(np.zeros(2, dtype=np.int64))
    version.with_values([0], [1])

    with pytest.raises(LookupError, match="past"):
        _ = version.live
