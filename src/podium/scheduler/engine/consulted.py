"""Which extenders were asked during an attempt, and what came of it, in a line each.

What an extender said about single nodes is kept with the verdicts and scores of plugins; this is
for the questions that those cannot answer: who was asked at all, who failed and was ignored.
"""

from typing import NamedTuple, assert_never

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

Answered = FilterAnswer | PrioritizeAnswer | PreemptAnswer | BindAnswer


class Consulted(NamedTuple):
    """`asked` counts the nodes it was about; `kept` those that a filter left, that were given a
    score, or that may be cleared. `ignored` says of a problem that it changed nothing else."""

    url_prefix: str
    verb: str
    asked: int
    kept: int = 0
    problem: str = ""
    ignored: bool = False


def summary(call: ExtenderCall, answer: ExtenderAnswer) -> Consulted:
    extender = call.extender
    match call:
        case FilterCall():
            verb, asked = extender.filter_verb, len(call.nodes)
        case PrioritizeCall():
            verb, asked = extender.prioritize_verb, len(call.nodes)
        case PreemptCall():
            verb, asked = extender.preempt_verb, len(call.victims)
        case BindCall():
            verb, asked = extender.bind_verb, 1
        case _:
            assert_never(call)
    if isinstance(answer, CallFailed):
        ignored = extender.ignorable or isinstance(call, PrioritizeCall)
        return Consulted(extender.url_prefix, verb, asked, 0, answer.problem, ignored)
    return Consulted(extender.url_prefix, verb, asked, _kept(call, answer))


def _kept(call: ExtenderCall, answer: Answered) -> int:
    match answer:
        case FilterAnswer():
            named = answer.node_names if call.extender.node_cache_capable else None
            return len(named if named is not None else answer.nodes or ())
        case PrioritizeAnswer():
            return len({host for host, _ in answer.scores})
        case PreemptAnswer():
            return len(answer.victims)
        case BindAnswer():
            return 1
    assert_never(answer)
