"""Extenders that answer as a test tells them to, without a wire.

`Script` is what a driver asks: answers are found by the extender's URL and the kind of call, and
every batch of calls is written down. An answer may be a function of the call.
"""

from collections.abc import Callable, Mapping
from typing import Any

from podium.scheduler.framework.asking import (
    Answers,
    BindAnswer,
    BindCall,
    CallFailed,
    Calls,
    ExtenderAnswer,
    ExtenderCall,
    FilterAnswer,
    FilterCall,
    PreemptAnswer,
    PreemptCall,
    PreemptMetaVictims,
    PrioritizeAnswer,
    PrioritizeCall,
)

Reaction = ExtenderAnswer | Callable[[Any], ExtenderAnswer]

SCORING_PLUGINS = (
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
    "DynamicResources",
)


def extender(url: str = "http://a", **fields: Any) -> dict[str, Any]:
    """An entry of `extenders` that takes names; other fields by their names in the file."""
    return {"urlPrefix": url, "nodeCacheCapable": True, **fields}


def filtering(url: str = "http://a", **fields: Any) -> dict[str, Any]:
    return extender(url, **{"filterVerb": "filter", **fields})


def scoring(url: str = "http://a", weight: int = 1, **fields: Any) -> dict[str, Any]:
    return extender(url, **{"prioritizeVerb": "prioritize", "weight": weight, **fields})


def preempting(url: str = "http://a", **fields: Any) -> dict[str, Any]:
    return extender(url, **{"preemptVerb": "preempt", **fields})


def binding(url: str = "http://a", **fields: Any) -> dict[str, Any]:
    return extender(url, **{"bindVerb": "bind", **fields})


def leaves(*names: str, failed: Any = None, unresolvable: Any = None) -> FilterAnswer:
    """Only these nodes are left."""
    return FilterAnswer(names, failed=failed or {}, unresolvable=unresolvable or {})


def scores(**points: int) -> PrioritizeAnswer:
    return PrioritizeAnswer(tuple(points.items()))


def clears(**uids: tuple[str, ...]) -> PreemptAnswer:
    """These nodes may be cleared of these pods, named as `make_pod` names them."""
    return PreemptAnswer(
        {
            node: PreemptMetaVictims(tuple(f"uid-default-{pod}" for pod in pods), 0)
            for node, pods in uids.items()
        }
    )


def fails(problem: str = "boom") -> CallFailed:
    return CallFailed(problem)


def in_turn(*answers: ExtenderAnswer) -> Callable[[Any], ExtenderAnswer]:
    """The first answer for the first call, and so on."""
    left = iter(answers)
    return lambda _: next(left)


class Script:
    def __init__(self, reactions: Mapping[str, Reaction] | None = None, **more: Reaction) -> None:
        """Keys are `URL verb`, or a verb alone for every URL: filter, prioritize, preempt, bind."""
        self._reactions = {**(reactions or {}), **more}
        self.batches: list[Calls] = []

    def __call__(self, calls: Calls) -> Answers:
        self.batches.append(calls)
        return tuple(map(self._answer, calls))

    def _answer(self, call: ExtenderCall) -> ExtenderAnswer:
        verb = verb_of(call)
        found = self._reactions.get(f"{call.extender.url_prefix} {verb}")
        reaction = found if found is not None else self._reactions.get(verb)
        if reaction is None:
            return _agreeable(call)
        return reaction(call) if callable(reaction) else reaction

    @property
    def calls(self) -> list[ExtenderCall]:
        return [call for batch in self.batches for call in batch]

    @property
    def asked(self) -> list[str]:
        """`URL verb` of every call, in order."""
        return [f"{call.extender.url_prefix} {verb_of(call)}" for call in self.calls]

    def nodes(self, verb: str) -> list[tuple[str, ...]]:
        """The nodes that calls of a verb were about."""
        return [
            call.nodes
            for call in self.calls
            if isinstance(call, FilterCall | PrioritizeCall) and verb_of(call) == verb
        ]


def verb_of(call: ExtenderCall) -> str:
    return type(call).__name__.removesuffix("Call").lower()


def _agreeable(call: ExtenderCall) -> ExtenderAnswer:
    """What an extender says that has nothing against anything."""
    match call:
        case FilterCall():
            return FilterAnswer(call.nodes)
        case PrioritizeCall():
            return PrioritizeAnswer()
        case PreemptCall():
            return PreemptAnswer(
                {
                    node: PreemptMetaVictims(
                        tuple(pod.metadata.uid for pod in victims.pods), victims.violations
                    )
                    for node, victims in call.victims.items()
                }
            )
        case BindCall():
            return BindAnswer()
