"""JSON values as Go prints them."""

from typing import Any

import pytest

from podium.golang.quoting import go_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "<nil>"),
        (True, "true"),
        (False, "false"),
        (5, "5"),
        (1.0, "1"),
        (1.5, "1.5"),
        (0.0, "0"),
        (1e21, "1e+21"),
        (1.25e-7, "1.25e-07"),
        (123456789.0, "123456789"),
        ("a b", "a b"),
        ([1, "x", None], "[1 x <nil>]"),
        ({"b": [1, True], "a": None}, "map[a:<nil> b:[1 true]]"),
        ({}, "map[]"),
    ],
)
def test_a_value_is_printed_as_go_prints_it(value: Any, text: str) -> None:
    assert go_value(value) == text
