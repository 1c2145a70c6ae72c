"""Differences between configurations, seed by seed."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.offline.what_if import comparison_answer
from podium.offline.what_if.comparison_answer import compare_pairs, sign_flip_p_value


@pytest.mark.parametrize(
    ("differences", "p_value"),
    [
        ([1, 2, 3], 2 / 8),
        ([1, 1, 1, 1, 1, 1], 2 / 64),
        ([1, -1], 1.0),
        ([0, 0, 0], 1.0),
        ([0, 0, 5], 1.0),
        ([3, 1, -1], 6 / 8),
        ([0.1, 0.2, 0.3], 2 / 8),
    ],
)
def test_the_p_value_counts_choices_of_signs(differences: list[float], p_value: float) -> None:
    assert sign_flip_p_value(differences) == p_value


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=7))
def test_the_p_value_is_that_of_counting_them_one_by_one(differences: list[int]) -> None:
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = sum(each >= observed for each in sums) / len(sums)
    assert sign_flip_p_value(differences) == pytest.approx(expected)


def test_beyond_what_can_be_counted_the_p_value_is_almost_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differences = [31, -12, 27, 22, -19, 14, 41, -36, 13, 25, 7, 16, 28, -11]
    exact = sign_flip_p_value(differences)
    monkeypatch.setattr(comparison_answer, "MAX_EXACT", 13)
    assert sign_flip_p_value(differences) == pytest.approx(exact, abs=0.01)


def test_a_single_seed_says_nothing_about_chance() -> None:
    found = compare_pairs([2], [5])
    assert (found.mean, found.lowest, found.highest, found.p_value) == (3, 3, 3, None)
