"""What an extender's bytes say, as values.

Contract: an answer that leaves here is of the type that its call asks for, or is the `CallFailed`
that the extender itself spoke of. Whether the nodes and pods in it exist is for others to check.
"""

from typing import Final, assert_never

from podium.client.extenders import wire
from podium.client.extenders.lenient import body_decoder
from podium.client.extenders.returned_nodes import read_node
from podium.scheduler.framework.asking import (
    BindAnswer,
    BindCall,
    CallFailed,
    ExtenderAnswer,
    ExtenderCall,
    FilterAnswer,
    FilterCall,
    MetaVictims,
    PreemptAnswer,
    PreemptCall,
    PrioritizeAnswer,
    PrioritizeCall,
)

_filter_result: Final = body_decoder(wire.ExtenderFilterResult)
_host_priorities: Final = body_decoder(tuple[wire.HostPriority, ...], "v1.HostPriorityList")
_preemption_result: Final = body_decoder(wire.ExtenderPreemptionResult)
_binding_result: Final = body_decoder(wire.ExtenderBindingResult)


def read_answer(call: ExtenderCall, body: bytes | bytearray, broken: str = "") -> ExtenderAnswer:
    """The answer in a body, of which `broken` says why it may not be whole.

    Raises DecodingProblem.
    """
    match call:
        case FilterCall():
            return _filter_answer(_filter_result(body, broken))
        case PrioritizeCall():
            priorities = _host_priorities(body, broken)
            return PrioritizeAnswer(tuple((entry.host, entry.score) for entry in priorities))
        case PreemptCall():
            return _preempt_answer(_preemption_result(body, broken))
        case BindCall():
            result = _binding_result(body, broken)
            return CallFailed(result.error) if result.error else BindAnswer()
    assert_never(call)


def _filter_answer(result: wire.ExtenderFilterResult) -> ExtenderAnswer:
    # upstream: the whole answer is decoded first, so a bad node counts before the extender's error.
    nodes = None
    if result.nodes is not None:
        nodes = tuple(read_node(raw) for raw in result.nodes.items or ())
    if result.error:
        return CallFailed(result.error)
    return FilterAnswer(
        node_names=result.node_names,
        nodes=nodes,
        failed=result.failed_nodes or {},
        unresolvable=result.failed_and_unresolvable_nodes or {},
    )


def _preempt_answer(result: wire.ExtenderPreemptionResult) -> PreemptAnswer:
    return PreemptAnswer(
        {
            name: MetaVictims(
                tuple(pod.uid for pod in victims.pods or ()), victims.num_pdb_violations
            )
            for name, victims in (result.node_name_to_meta_victims or {}).items()
        }
    )
