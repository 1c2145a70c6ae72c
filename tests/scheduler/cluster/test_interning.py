"""Ids for repeated values, and what is evaluated once per value."""

from podium.scheduler.cluster.growth import Interner


def test_ids_follow_the_order_of_first_sight() -> None:
    words: Interner[str] = Interner("known")
    assert [words.id("b"), words.id("a"), words.id("b")] == [1, 2, 1]
    assert words.find("unseen") == -1
    assert list(words) == ["known", "b", "a"]


def test_a_table_evaluates_each_value_once_per_question() -> None:
    words: Interner[str] = Interner("one", "three")
    evaluated: list[str] = []

    def length(word: str) -> int:
        evaluated.append(word)
        return len(word)

    assert words.table("length", length).tolist() == [3, 5]
    words.id("seven")
    words.id("")
    assert words.table("length", length).tolist() == [3, 5, 5, 0]
    assert evaluated == ["one", "three", "seven", ""]


def test_a_table_keeps_questions_apart() -> None:
    words: Interner[str] = Interner("one")
    assert words.table("length", len).tolist() == [3]
    assert words.table("vowels", lambda word: sum(c in "aeiou" for c in word)).tolist() == [2]


def test_a_forgotten_question_is_answered_again() -> None:
    numbers: Interner[int] = Interner(7)
    for question in range(1000):
        assert numbers.table(question, question.__add__).tolist() == [7 + question]
    assert numbers.table(0, int).tolist() == [7]


def test_the_table_of_no_values_is_empty() -> None:
    assert Interner[str]().table("length", len).tolist() == []
