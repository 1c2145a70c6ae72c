"""Asking extenders: who is asked, the calls as values, and steps that wait for the answers.

A step of the engine that needs an extender's word is a generator: it yields calls, is resumed with
their answers in the same order, and returns what it was for. Whoever drives it decides how answers
are fetched, and whether other work goes on meanwhile. A plugin, which answers at once, says the
same with a value: `Ask` these, then go on so.

What the engine asks of extenders, and what they answer, as values. An extender lives outside, so
nothing at this level may call it. A cycle that needs one yields calls and is resumed with their
answers, in the same order; the driver decides how to fetch them. Calls that are yielded together
may be carried out together. Names and reasons are checked here and above, the wire is not known.

Which extenders have a say about a pod, and in which order. Configuration lists them for all
profiles alike. Those whose errors count come first, those that may be ignored after them; an
extender that manages resources hears only of pods that mention one.

Sources: `IsInterested` in `pkg/scheduler/extender.go` and `buildExtenders` in
`pkg/scheduler/scheduler.go`.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, TypeVar

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.config.types import Extender


@dataclass(frozen=True, slots=True)
class PreemptVictims:
    """Pods of one node that would have to go, most important first."""

    pods: tuple[Pod, ...]
    violations: int


@dataclass(frozen=True, slots=True)
class FilterCall:
    """Which of these nodes may the pod run on? `returned` holds those that an earlier extender
    gave back in full and that now stand for what the cluster knows."""

    extender: Extender
    pod: Pod
    nodes: tuple[str, ...]
    returned: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PrioritizeCall:
    """How good is each of these nodes for the pod?"""

    extender: Extender
    pod: Pod
    nodes: tuple[str, ...]
    returned: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreemptCall:
    """Which of these nodes may be cleared, and of which pods?"""

    extender: Extender
    pod: Pod
    victims: Mapping[str, PreemptVictims]


@dataclass(frozen=True, slots=True)
class BindCall:
    """Bind the pod in the scheduler's place."""

    extender: Extender
    pod: Pod
    node_name: str


ExtenderCall = FilterCall | PrioritizeCall | PreemptCall | BindCall


@dataclass(frozen=True, slots=True)
class FilterAnswer:
    """As decoded: None where the answer had null or nothing; not yet checked against the call."""

    node_names: tuple[str, ...] | None = None
    nodes: tuple[Node, ...] | None = None
    failed: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PrioritizeAnswer:
    """Hosts with scores as they came: hosts may be missing, repeated or unknown."""

    scores: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PreemptMetaVictims:
    uids: tuple[str, ...]
    violations: int


@dataclass(frozen=True, slots=True)
class PreemptAnswer:
    victims: Mapping[str, PreemptMetaVictims]


@dataclass(frozen=True, slots=True)
class BindAnswer:
    """The extender says that it has bound the pod."""


@dataclass(frozen=True, slots=True)
class CallFailed:
    """No usable answer: the text is what users read, `Error` of the answer included."""

    problem: str


ExtenderAnswer = FilterAnswer | PrioritizeAnswer | PreemptAnswer | BindAnswer | CallFailed


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


def resolve_answer(answer: T | Ask[T], heard: Callable[[Calls, Answers], None]) -> Asking[T]:
    """Ask for as long as an answer wants it; `heard` is notified of every round."""
    while isinstance(answer, Ask):
        answers = yield from ask_calls(answer.calls)
        heard(answer.calls, answers)
        answer = answer.then(answers)
    return answer


def ask_calls(calls: Calls) -> Asking[Answers]:
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


EXTENDER = "Extender"
"""The name under which all extenders together reject pods, as if they were one plugin."""

Extenders = tuple[Extender, ...]


def in_calling_order(extenders: Sequence[Extender]) -> Extenders:
    return tuple(sorted(extenders, key=lambda extender: extender.ignorable))


def find_interested(extenders: Sequence[Extender], pod: Pod) -> Extenders:
    """Those that want to hear of a pod, order kept."""
    if not any(extender.managed_resources for extender in extenders):
        return tuple(extenders)
    mentioned = _mentioned_resources(pod)
    return tuple(
        extender
        for extender in extenders
        if not extender.managed_resources
        or any(resource.name in mentioned for resource in extender.managed_resources)
    )


def _mentioned_resources(pod: Pod) -> set[str]:
    """Resources that containers and init containers name, whatever the amount."""
    found: set[str] = set()
    for container in chain(pod.spec.containers or (), pod.spec.init_containers or ()):
        if container.resources is not None:
            found.update(container.resources.requests or ())
            found.update(container.resources.limits or ())
    return found
