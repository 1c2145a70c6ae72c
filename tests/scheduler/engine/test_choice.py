"""Choosing among equals: by name, or by a seed."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.engine.search import FirstByName, Seeded

NAMES = ("delta", "alpha", "charlie", "bravo")


def rows(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.array(numbers, dtype=np.intp)


def test_the_first_name_wins() -> None:
    assert FirstByName().pick(rows(0, 2, 3), NAMES) == 3
    assert FirstByName().pick(rows(0), NAMES) == 0


def test_the_same_seed_and_questions_give_the_same_answers() -> None:
    questions = [rows(0, 1, 2, 3), rows(2), rows(1, 3), rows(0, 1, 2)] * 5
    answers = [[choice.pick(q, NAMES) for q in questions] for choice in (Seeded(7), Seeded(7))]
    assert answers[0] == answers[1]
    other = Seeded(8)
    assert [other.pick(q, NAMES) for q in questions] != answers[0]


def test_a_question_without_a_choice_uses_up_no_number() -> None:
    plain, asked = Seeded(1), Seeded(1)
    asked.pick(rows(2), NAMES)
    assert [plain.pick(rows(0, 1, 2, 3), NAMES) for _ in range(9)] == [
        asked.pick(rows(0, 1, 2, 3), NAMES) for _ in range(9)
    ]


def test_every_row_is_chosen_about_equally_often() -> None:
    choice = Seeded(42)
    counts = Counter(choice.pick(rows(0, 1, 2, 3), NAMES) for _ in range(4000))
    assert set(counts) == {0, 1, 2, 3}
    assert all(900 < count < 1100 for count in counts.values())


@given(
    seed=st.integers(-(2**70), 2**70),
    picked=st.lists(st.integers(0, 3), min_size=1, unique=True),
)
def test_the_answer_is_one_of_the_rows(seed: int, picked: list[int]) -> None:
    for choice in (Seeded(seed), FirstByName()):
        assert choice.pick(rows(*picked), NAMES) in picked
