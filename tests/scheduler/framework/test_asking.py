"""Steps that wait for answers, and who drives them."""

import pytest
from support.scheduler.engine.scripted_extenders import Script, fails, leaves, scores

from podium.scheduler.config.types import Extender
from podium.scheduler.framework.asking import (
    Answers,
    Ask,
    Asking,
    Calls,
    FilterAnswer,
    FilterCall,
    NobodyToAsk,
    PrioritizeCall,
    WrongAnswers,
    ask_calls,
    drive,
    resolve_answer,
)
from podium.testing import make_pod

POD = make_pod("p")
FILTER = FilterCall(Extender("http://a"), POD, ("n",))
SCORE = PrioritizeCall(Extender("http://b"), POD, ("n",))


def test_a_step_that_asks_nothing_needs_nobody() -> None:
    def step() -> Asking[int]:
        yield from ()
        return 7

    assert drive(step()) == 7


def test_answers_come_back_in_the_order_of_the_calls() -> None:
    script = Script(filter=leaves("n"), prioritize=scores(n=1))
    assert drive(ask_calls((SCORE, FILTER)), script) == (scores(n=1), leaves("n"))


def test_a_failed_call_answers_every_kind_of_call() -> None:
    script = Script(filter=fails(), prioritize=fails())
    assert drive(ask_calls((SCORE, FILTER)), script) == (fails(), fails())


@pytest.mark.parametrize("answers", [(), (leaves(), leaves()), (scores(),)])
def test_answers_that_are_not_those_of_the_calls_are_refused(answers: Answers) -> None:
    with pytest.raises(WrongAnswers, match="calls that want FilterAnswer"):
        drive(ask_calls((FILTER,)), lambda _: answers)


def test_nobody_to_ask_is_an_error_that_names_the_extenders() -> None:
    with pytest.raises(NobodyToAsk, match="http://a, http://b"):
        drive(ask_calls((FILTER, SCORE)))


def test_a_step_hears_of_what_breaks_while_it_waits() -> None:
    def step() -> Asking[str]:
        try:
            yield from ask_calls((FILTER,))
        except OSError as problem:
            return f"heard of {problem}"
        return "all is well"

    def breaks(_: Calls) -> Answers:
        raise OSError("trouble")

    assert drive(step(), breaks) == "heard of trouble"


def test_a_step_is_closed_when_nobody_goes_on_with_it() -> None:
    left: list[str] = []

    def step() -> Asking[None]:
        try:
            yield from ask_calls((FILTER,))
        finally:
            left.append("tidied")

    with pytest.raises(NobodyToAsk):
        drive(step())
    assert left == ["tidied"]


def test_an_answer_may_take_several_rounds_and_each_is_told() -> None:
    heard: list[tuple[Calls, Answers]] = []

    def second(answers: Answers) -> int:
        return len(answers)

    def first(answers: Answers) -> Ask[int]:
        assert answers == (leaves("n"),)
        return Ask((FILTER, SCORE), second)

    answer: int | Ask[int] = Ask((FILTER,), first)
    asking = resolve_answer(answer, lambda calls, answers: heard.append((calls, answers)))
    assert drive(asking, Script()) == 2
    assert [len(calls) for calls, _ in heard] == [1, 2]


def test_an_answer_that_is_there_takes_no_round() -> None:
    answer: FilterAnswer | Ask[FilterAnswer] = leaves("n")
    assert drive(resolve_answer(answer, lambda *_: None)) == leaves("n")
