"""Bars, amounts and lists."""

import pytest

from podium.commands.tables import Screen, amount, count, percent, some


@pytest.mark.parametrize(
    ("before", "after", "bar"),
    [
        (0.0, 0.0, "░░░░░░░░░░"),
        (0.5, 0.5, "█████░░░░░"),
        (0.2, 0.6, "██▓▓▓▓░░░░"),
        (0.6, 0.2, "██▒▒▒▒░░░░"),
        (0.001, 0.001, "█░░░░░░░░░"),
        (1.0, 1.7, "██████████"),
    ],
)
def test_a_bar_shows_what_was_what_came_and_what_went(
    before: float, after: float, bar: str
) -> None:
    assert Screen().bar(before, after, 10).plain == bar


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.0, "0%"), (0.001, "1%"), (0.374, "37%"), (0.999, "99%"), (1.0, "100%"), (1.5, "150%")],
)
def test_only_the_full_is_100_percent_and_only_the_empty_0(fraction: float, text: str) -> None:
    assert percent(fraction) == text


@pytest.mark.parametrize(
    ("resource", "number", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("memory", 16 << 30, "16Gi"),
        ("memory", 1536 << 20, "1.5Gi"),
        ("memory", 512, "512"),
        ("ephemeral-storage", 3 << 10, "3Ki"),
        ("nvidia.com/gpu", 1200, "1,200"),
        ("memory", -(2 << 30), "-2Gi"),
    ],
)
def test_amounts_are_written_as_people_write_them(resource: str, number: int, text: str) -> None:
    assert amount(resource, number) == text


def test_long_lists_are_cut() -> None:
    assert some(["a", "b"]) == "a, b"
    assert some(["a", "b", "c", "d"]) == "a, b, c and 1 more"


def test_one_is_singular() -> None:
    assert count(1, "pod") == "1 pod"
    assert count(1200, "pod") == "1,200 pods"
