"""Conditions under which a pipeline fails."""

import pytest

from podium.offline.what_if import InputError
from podium.offline.what_if.conditions import parse_condition


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        ("pending > 0", 1, True),
        ("pending>0", 0, False),
        (" pending >= 2 ", 2, True),
        ("cpu_share < 50%", 0.49, True),
        ("cpu_share <= 0.5", 0.51, False),
        ("placed != 7", 7, False),
        ("placed == 7", 7, True),
        ("nvidia.com/gpu_share > 87.5%", 0.88, True),
        ("cost.difference < -1.5", -2, True),
    ],
)
def test_a_metric_is_compared_with_a_number(text: str, value: float, holds: bool) -> None:
    assert parse_condition(text).holds(value) is holds


def test_a_difference_is_told_apart_from_the_metric() -> None:
    condition = parse_condition("nvidia.com/gpu_share.difference > 0")
    assert (condition.metric, condition.is_difference) == ("nvidia.com/gpu_share", True)
    assert not parse_condition("pending > 0").is_difference


@pytest.mark.parametrize(
    "text",
    [
        *("", "pending", "pending >", "> 0", "pending = 0", "pending > x", "pending => 0"),
        *("__import__('os') > 0", "pending > 0 or 1 > 0", "pending > 1e9", "a b > 0", "1 > 0"),
        "pending > " + "9" * 40,
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no condition"):
        parse_condition(text)
