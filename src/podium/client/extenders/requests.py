"""What a call looks like on the wire: its verb and its body.

Source: `Filter`, `Prioritize`, `Bind` and `ProcessPreemption` in `pkg/scheduler/extender.go`.
"""

from collections.abc import Mapping
from typing import assert_never

import msgspec
from msgspec import Raw

from podium.client.extenders import wire
from podium.client.extenders.object_json import object_json
from podium.client.extenders.objects import ObjectSource
from podium.client.extenders.returned_nodes import ReturnedNode
from podium.golang.errors import PodiumError
from podium.kubernetes.kinds.node import Node
from podium.scheduler.framework.asking import (
    BindCall,
    ExtenderCall,
    FilterCall,
    PreemptCall,
    PrioritizeCall,
    Victims,
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


def _meta_victims(victims: Victims) -> wire.MetaVictims:
    pods = tuple(wire.MetaPod(victim.metadata.uid) for victim in victims.pods)
    return wire.MetaVictims(pods, victims.violations)
