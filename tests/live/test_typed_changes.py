"""A typed object written back takes away nothing that it does not know."""

from typing import Any

import pytest

from podium.live.api_dispatcher import change


@pytest.mark.parametrize(
    ("stored", "before", "after", "expected"),
    [
        ({"a": 1, "x": 9}, {"a": 1}, {"a": 1}, {"a": 1, "x": 9}),
        ({"a": 1, "x": 9}, {"a": 1}, {"a": 2}, {"a": 2, "x": 9}),
        ({"a": 1, "x": 9}, {"a": 1}, {}, {"x": 9}),
        ({"x": 9}, {}, {"a": {"b": 1}}, {"x": 9, "a": {"b": 1}}),
        ({"a": {"b": 1, "x": 9}}, {"a": {"b": 1}}, {"a": {"b": 2}}, {"a": {"b": 2, "x": 9}}),
        # items by place, by name, by being equal
        ([{"a": 1, "x": 9}], [{"a": 1}], [{"a": 2}], [{"a": 2, "x": 9}]),
        (
            [{"name": "p", "x": 1}, {"name": "q", "x": 2}],
            [{"name": "p"}, {"name": "q"}],
            [{"name": "q"}],
            [{"name": "q", "x": 2}],
        ),
        (
            [{"a": 1, "x": 1}, {"a": 2, "x": 2}],
            [{"a": 1}, {"a": 2}],
            [{"a": 2}],
            [{"a": 2, "x": 2}],
        ),
        ([{"a": 1, "x": 1}], [{"a": 1}], [{"a": 1}, {"a": 3}], [{"a": 1, "x": 1}, {"a": 3}]),
        # a list that the typed form shows only in part
        ([1, 2, 3], [1], [2], [2]),
        ("old", "old", "new", "new"),
        (None, None, {"a": 1}, {"a": 1}),
    ],
)
def test_only_what_differs_is_changed(stored: Any, before: Any, after: Any, expected: Any) -> None:
    assert change(stored, before, after) == expected
