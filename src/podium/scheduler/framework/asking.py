"""Waiting for the outside without going there.

A step of the engine that needs an extender's word is a generator: it yields calls, is resumed with
their answers in the same order, and returns what it was for. Whoever drives it decides how answers
are fetched, and whether other work goes on meanwhile. A plugin, which answers at once, says the
same with a value: `Ask` these, then go on so.
"""

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

from podium.scheduler.framework.extender_calls import (
    BindAnswer,
    BindCall,
    CallFailed,
    ExtenderAnswer,
    ExtenderCall,
    FilterAnswer,
    FilterCall,
    PreemptAnswer,
    PreemptCall,
    PrioritizeAnswer,
    PrioritizeCall,
)

T = TypeVar("T")

Calls = tuple[ExtenderCall, ...]
Answers = tuple[ExtenderAnswer, ...]
Asking = Generator[Calls, Answers, T]
Asker = Callable[[Calls], Answers]
"""Carries out calls and gives their answers in the same order; it never raises for what an
extender did."""
AsyncAsker = Callable[[Calls], Awaitable[Answers]]

_ANSWERS: dict[type[ExtenderCall], type[ExtenderAnswer]] = {
    FilterCall: FilterAnswer,
    PrioritizeCall: PrioritizeAnswer,
    PreemptCall: PreemptAnswer,
    BindCall: BindAnswer,
}


class NobodyToAsk(RuntimeError):
    """An extender has to be asked, and the driver gave nobody who could."""


class WrongAnswers(TypeError):
    """A driver's answers are not those of the calls it was given."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[T]):
    """An answer that takes other answers first."""

    calls: Calls
    then: Callable[[Answers], "T | Ask[T]"]


def resolved(answer: T | Ask[T], heard: Callable[[Calls, Answers], None]) -> Asking[T]:
    """Ask for as long as an answer wants it; `heard` is told of every round."""
    while isinstance(answer, Ask):
        answers = yield from asked(answer.calls)
        heard(answer.calls, answers)
        answer = answer.then(answers)
    return answer


def asked(calls: Calls) -> Asking[Answers]:
    """The answers of some calls, each of the kind that its call has."""
    answers = yield calls
    kinds = [type(answer) for answer in answers]
    wanted = [_ANSWERS[type(call)] for call in calls]
    if len(kinds) != len(wanted) or any(
        kind not in (want, CallFailed) for kind, want in zip(kinds, wanted, strict=True)
    ):
        got, due = (", ".join(k.__name__ for k in listed) for listed in (kinds, wanted))
        raise WrongAnswers(f"calls that want {due} were answered with {got or 'nothing'}")
    return answers


def drive(asking: Asking[T], ask: Asker | None = None) -> T:
    """Run a step to its end; `ask` answers what it asks."""
    try:
        calls = next(asking)
        while True:
            if ask is None:
                raise _nobody_for(calls)
            try:
                answers = ask(calls)
            except Exception as problem:
                calls = asking.throw(problem)
            else:
                calls = asking.send(answers)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        asking.close()


async def drive_async(asking: Asking[T], ask: AsyncAsker | None = None) -> T:
    """The same where other work goes on while somebody asks."""
    try:
        calls = next(asking)
        while True:
            if ask is None:
                raise _nobody_for(calls)
            try:
                answers = await ask(calls)
            except Exception as problem:
                calls = asking.throw(problem)
            else:
                calls = asking.send(answers)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        asking.close()


def _nobody_for(calls: Calls) -> NobodyToAsk:
    urls = ", ".join(dict.fromkeys(call.extender.url_prefix for call in calls))
    return NobodyToAsk(f"extenders have to be asked, and nobody does: {urls}")
