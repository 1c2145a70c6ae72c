"""What calls to extenders look like on the wire, and what answers say, nodes included.

Source: `Filter`, `Prioritize`, `Bind` and `ProcessPreemption` in `pkg/scheduler/extender.go`.

What an extender's bytes say, as values. Contract: an answer that leaves here is of the type that
its call asks for, or is the `CallFailed` that the extender itself spoke of. Whether the nodes and
pods in it exist is for others to check.

Nodes that an extender gives back in full. They take the place of what the cluster knows for the
rest of the cycle, and later extenders are sent them as they came (`pkg/scheduler/extender.go`,
`Filter`). A typed node holds only what scheduling reads, so one that came back also keeps its
bytes.

Names of members count in any capitalisation, at every depth. msgspec knows only the right one, so
nodes whose text has a member that differs from a known one by case alone are read leniently.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, assert_never

import msgspec
from msgspec import Raw

from podium.client.extenders import wire
from podium.client.extenders.objects import ObjectSource, object_json
from podium.client.extenders.wire import (
    SHAPES,
    UNDECODABLE,
    body_decoder,
    lenient_decoder,
    names_within,
)
from podium.golang.errors import PodiumError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.strict_decoding import is_countable
from podium.scheduler.framework.asking import (
    BindAnswer,
    BindCall,
    CallFailed,
    ExtenderAnswer,
    ExtenderCall,
    FilterAnswer,
    FilterCall,
    PreemptAnswer,
    PreemptCall,
    PreemptMetaVictims,
    PreemptVictims,
    PrioritizeAnswer,
    PrioritizeCall,
)

_encode = msgspec.json.Encoder().encode


class NodeIsGone(PodiumError, LookupError):
    """A node of the call is no longer known."""


def verb_of(call: ExtenderCall) -> str:
    match call:
        case FilterCall():
            return call.extender.filter_verb
        case PrioritizeCall():
            return call.extender.prioritize_verb
        case PreemptCall():
            return call.extender.preempt_verb
        case BindCall():
            return call.extender.bind_verb
    assert_never(call)


def body_of(call: ExtenderCall, objects: ObjectSource) -> bytes:
    """Raises NodeIsGone."""
    match call:
        case FilterCall() | PrioritizeCall():
            return _encode(_extender_args(call, objects))
        case PreemptCall():
            return _encode(_preemption_args(call, objects))
        case BindCall():
            metadata = call.pod.metadata
            return _encode(
                wire.ExtenderBindingArgs(
                    metadata.name, metadata.namespace, metadata.uid, call.node_name
                )
            )
    assert_never(call)


def _extender_args(call: FilterCall | PrioritizeCall, objects: ObjectSource) -> wire.ExtenderArgs:
    pod = Raw(objects.pod(call.pod))
    if call.extender.node_cache_capable:
        return wire.ExtenderArgs(pod, node_names=call.nodes)
    items = tuple(Raw(_node(name, call.returned, objects)) for name in call.nodes)
    return wire.ExtenderArgs(pod, nodes=wire.NodeList(items=items or None))


def _node(name: str, returned: Mapping[str, Node], objects: ObjectSource) -> bytes:
    node = returned.get(name)
    if isinstance(node, ReturnedNode):
        return node.written
    if node is not None:
        return object_json(node)
    try:
        return objects.node(name)
    except KeyError:
        raise NodeIsGone(f'node "{name}" not found') from None


def _preemption_args(call: PreemptCall, objects: ObjectSource) -> wire.ExtenderPreemptionArgs:
    pod = Raw(objects.pod(call.pod))
    if call.extender.node_cache_capable:
        return wire.ExtenderPreemptionArgs(
            pod,
            node_name_to_meta_victims={
                name: _meta_victims(victims) for name, victims in call.victims.items()
            },
        )
    return wire.ExtenderPreemptionArgs(
        pod,
        node_name_to_victims={
            name: wire.Victims(
                tuple(Raw(objects.pod(victim)) for victim in victims.pods), victims.violations
            )
            for name, victims in call.victims.items()
        },
    )


def _meta_victims(victims: PreemptVictims) -> wire.MetaVictims:
    pods = tuple(wire.MetaPod(victim.metadata.uid) for victim in victims.pods)
    return wire.MetaVictims(pods, victims.violations)


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
            name: PreemptMetaVictims(
                tuple(pod.uid for pod in victims.pods or ()), victims.num_pdb_violations
            )
            for name, victims in (result.node_name_to_meta_victims or {}).items()
        }
    )


_MEMBER_NAME: Final = re.compile(rb'"([A-Za-z]+)"[ \t\r\n]*:')
_WAY: Final = ((None, "Nodes", None), "items", SHAPES.struct(wire.NodeList))
_NAMES: Final = names_within(Node)
_FOLDED: Final = frozenset(name.casefold() for name in _NAMES)

_exactly: Final = msgspec.json.Decoder(Node)
_leniently: Final = lenient_decoder(Node, way=_WAY)


class ReturnedNode(Node, frozen=True):
    """A node as an extender wrote it."""

    written: bytes = b""


def read_node(raw: msgspec.Raw) -> ReturnedNode:
    """Raises DecodingProblem."""
    written = bytes(raw)
    node = _read_exactly(written) or _leniently(written)
    return ReturnedNode(metadata=node.metadata, spec=node.spec, status=node.status, written=written)


def _read_exactly(written: bytes) -> Node | None:
    """The node, if it is spelled as the API spells it."""
    if any(_is_misspelled(name) for name in set(_MEMBER_NAME.findall(written))):
        return None
    try:
        node = _exactly.decode(written)
    except UNDECODABLE:
        return None
    return node if is_countable(node) else None


@lru_cache(maxsize=4096)
def _is_misspelled(name: bytes) -> bool:
    text = name.decode()
    return text not in _NAMES and text.casefold() in _FOLDED
