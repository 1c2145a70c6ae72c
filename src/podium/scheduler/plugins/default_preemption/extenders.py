"""What extenders make of the candidates of a preemption.

Each is told which pods would leave which nodes, and answers with the nodes that may be cleared and
the pods that have to go there, which may be others than those it was told of. Its answer is what
the next one is asked about. Only pods that are on a node now can be victims of it.

Sources: `callExtenders` in `pkg/scheduler/framework/preemption/preemption.go` and
`ProcessPreemption` in `pkg/scheduler/extender.go`.
"""

from collections.abc import Callable, Sequence

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.types import Extender
from podium.scheduler.framework.asking import (
    Answers,
    Ask,
    CallFailed,
    PreemptAnswer,
    PreemptCall,
    Victims,
)
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.points import PostFilterResult
from podium.scheduler.framework.status import Code
from podium.scheduler.plugins.default_preemption.dry_run import Candidate, rank

NODE_UNKNOWN = 'nodeinfo not found for node name "{}"'
POD_UNKNOWN = (
    "extender: {} claims to preempt pod (UID: &{{{}}}) on node: {},"
    " but the pod is not found on that node"
)
NO_VICTIMS = 'expected at least one victim pod on node "{}"'

Outcome = PostFilterResult | Ask[PostFilterResult]
"""What PostFilter answers, at once or after more questions."""


class _BadAnswer(Exception):
    """An answer that cannot be meant."""


class Negotiation:
    """Asks one extender after the other; `settle` makes the outcome of the candidates left."""

    def __init__(
        self, cycle: Cycle, settle: Callable[[Sequence[Candidate]], PostFilterResult]
    ) -> None:
        self._cycle = cycle
        self._settle = settle

    def about(self, candidates: Sequence[Candidate], extenders: Sequence[Extender]) -> Outcome:
        if not candidates or not extenders:
            return self._settle(candidates)
        victims = {
            candidate.node_name: Victims(
                tuple(victim.pod for victim in candidate.victims), candidate.violations
            )
            for candidate in candidates
        }
        call = PreemptCall(extenders[0], self._cycle.pod.pod, victims)
        return Ask((call,), lambda answers: self._go_on(answers, candidates, extenders))

    def _go_on(
        self, answers: Answers, candidates: Sequence[Candidate], extenders: Sequence[Extender]
    ) -> Outcome:
        extender, left = extenders[0], extenders[1:]
        try:
            return self.about(self._agreed(answers, extender), left)
        except _BadAnswer as problem:
            if extender.ignorable:
                return self.about(candidates, left)
            # upstream: the nomination stays; the text joins the message of the attempt.
            return PostFilterResult(Code.ERROR, (f"preemption: {problem}",))

    def _agreed(self, answers: Answers, extender: Extender) -> list[Candidate]:
        (answer,) = answers
        if isinstance(answer, CallFailed):
            raise _BadAnswer(answer.problem)
        if not isinstance(answer, PreemptAnswer):
            raise TypeError(f"a preemption was answered with {type(answer).__name__}")
        found = {
            name: (self._victims(extender, name, meta.uids), meta.violations)
            for name, meta in answer.victims.items()
        }
        idle = [name for name, (victims, _) in found.items() if not victims]
        if idle and not extender.ignorable:
            raise _BadAnswer(NO_VICTIMS.format(idle[0]))
        return [
            Candidate(name, victims, violations, rank(name, victims, violations))
            for name, (victims, violations) in found.items()
            if victims
        ]

    def _victims(
        self, extender: Extender, node_name: str, uids: Sequence[str]
    ) -> tuple[PodInfo, ...]:
        nodes = self._cycle.nodes
        if not nodes.is_present(node_name):
            raise _BadAnswer(NODE_UNKNOWN.format(node_name))
        there = {pod.uid: pod for pod in self._cycle.usage.pods(nodes.row(node_name))}
        for uid in uids:
            if uid not in there:
                raise _BadAnswer(POD_UNKNOWN.format(extender.url_prefix, uid, node_name))
        return tuple(there[uid] for uid in uids)
