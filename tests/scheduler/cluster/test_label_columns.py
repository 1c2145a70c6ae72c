"""Label columns: made when asked for, current from then on."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.cluster.nodes import ABSENT, LabelColumns


def shown(columns: LabelColumns, key: str) -> list[str | None]:
    column = columns.column(key)
    return [None if code == ABSENT else column.values[code] for code in column.codes]


def wide(capacity: int) -> LabelColumns:
    columns = LabelColumns()
    columns.grow(capacity)
    return columns


def test_a_column_asked_for_late_shows_what_was_set_before() -> None:
    columns = wide(3)
    columns.put(0, {"zone": "x"})
    columns.put(2, {"zone": "y", "disk": "ssd"})
    assert shown(columns, "zone") == ["x", None, "y"]
    assert columns.keys() == ("zone",)


def test_a_column_follows_changes_and_removals() -> None:
    columns = wide(2)
    columns.put(0, {"zone": "x"})
    columns.put(1, {"zone": "x"})
    assert shown(columns, "zone") == ["x", "x"]
    columns.put(0, {"zone": "y"})
    columns.put(1, {"disk": "ssd"})
    assert shown(columns, "zone") == ["y", None]
    columns.put(0, None)
    assert shown(columns, "zone") == [None, None]
    assert columns.labels_of(0) == {}
    assert columns.labels_of(1) == {"disk": "ssd"}


def test_an_empty_value_is_not_an_absent_label() -> None:
    columns = wide(2)
    columns.put(0, {"zone": ""})
    assert shown(columns, "zone") == ["", None]


def test_equal_values_have_equal_numbers_for_good() -> None:
    columns = wide(3)
    codes = columns.codes("zone")
    columns.put(0, {"zone": "x"})
    first = int(codes[0])
    columns.put(0, {"zone": "y"})
    columns.put(1, {"zone": "x"})
    assert int(codes[1]) == first != int(codes[0])


def test_the_version_moves_with_the_values_only() -> None:
    columns = wide(1)
    column = columns.column("zone")
    columns.put(0, {"zone": "x"})
    moved = column.version
    columns.put(0, {"zone": "x", "other": "label"})
    assert column.version == moved
    columns.put(0, {})
    assert column.version > moved


def test_growth_keeps_values_and_adds_absent_ones() -> None:
    columns = wide(1)
    columns.column("zone")
    columns.put(0, {"zone": "x"})
    columns.grow(3)
    columns.put(2, {"zone": "y"})
    assert shown(columns, "zone") == ["x", None, "y"]


label_maps = st.none() | st.dictionaries(st.sampled_from("ab"), st.sampled_from(("", "x", "y")))


@given(events=st.lists(st.tuples(st.integers(0, 4), label_maps)), cut=st.integers(0, 10))
def test_early_and_late_columns_show_the_same(
    events: list[tuple[int, dict[str, str] | None]], cut: int
) -> None:
    early, late = wide(5), wide(5)
    early.column("a")
    for number, (row, labels) in enumerate(events):
        if number == cut:
            late.column("a")
        early.put(row, labels)
        late.put(row, labels)
    assert shown(early, "a") == shown(late, "a")
    assert [late.labels_of(row).get("a") for row in range(5)] == shown(late, "a")
    assert early.codes("a").dtype == np.int32


def test_keys_that_no_node_has_make_no_columns_without_end() -> None:
    columns = wide(2)
    for number in range(5_000):
        assert shown(columns, f"key-{number}") == [None, None]
    assert len(columns.keys()) < 500


def test_a_key_that_a_node_gets_later_has_a_column_of_its_own() -> None:
    columns = wide(2)
    for number in range(5_000):
        columns.column(f"key-{number}")
    before = columns.column("zone").version
    columns.put(1, {"zone": "x"})
    assert shown(columns, "zone") == [None, "x"]
    assert columns.column("zone").version != before
    columns.put(1, {})
    assert shown(columns, "zone") == [None, None]
    columns.put(0, {"zone": "y"})
    assert shown(columns, "zone") == ["y", None]
