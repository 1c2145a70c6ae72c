"""From the bytes of a request to an extender's method, and back to bytes.

Contract: requests are read as leniently and strictly as Go reads them; answers are spelled exactly
as upstream's types are, with every member present. What an extender's method gets wrong about its
own answer is said as an error that names the class and the method.
"""

import inspect
from asyncio import to_thread
from collections.abc import Callable, Mapping
from operator import index
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw

from podium.addons.extenders.extender import Extender, Nodes, Unresolvable, Victims
from podium.client.extenders import wire
from podium.client.extenders.lenient import body_decoder
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

V = TypeVar("V")

_encode: Final = msgspec.json.Encoder().encode
_extender_args: Final = body_decoder(wire.ExtenderArgs)
_preemption_args: Final = body_decoder(wire.ExtenderPreemptionArgs)
_binding_args: Final = body_decoder(wire.ExtenderBindingArgs)
_pod: Final = body_decoder(Pod)
_node: Final = body_decoder(Node)


class InvalidAnswer(TypeError):
    """What a method gave back is not what its verb needs."""


async def answer(extender: Extender, verb: str, body: bytes | bytearray) -> bytes:
    """Raises DecodingProblem for a bad request, and whatever the method raises."""
    return await _ANSWERERS[verb](extender, body)


async def _filter(extender: Extender, body: bytes | bytearray) -> bytes:
    args = _extender_args(body)
    nodes = _nodes(args)
    rejected = await _run(extender.filter, _pod(args.pod), nodes)
    rejected = _mapping(extender.filter, rejected, str, "reasons as text")
    _refuse_strangers(extender.filter, rejected, nodes.names)
    result = wire.ExtenderFilterResult(
        nodes=_passing(args, nodes, rejected),
        node_names=_passing_names(args, rejected),
        failed_nodes={n: str(r) for n, r in rejected.items() if not isinstance(r, Unresolvable)},
        failed_and_unresolvable_nodes={
            n: str(r) for n, r in rejected.items() if isinstance(r, Unresolvable)
        },
    )
    return _encode(result)


async def _prioritize(extender: Extender, body: bytes | bytearray) -> bytes:
    args = _extender_args(body)
    nodes = _nodes(args)
    scores = await _run(extender.prioritize, _pod(args.pod), nodes)
    scores = _mapping(extender.prioritize, scores, object, "scores")
    _refuse_strangers(extender.prioritize, scores, nodes.names)
    return _encode(
        [
            wire.HostPriority(name, _whole(extender.prioritize, name, scores.get(name, 0)))
            for name in nodes.names
        ]
    )


async def _preempt(extender: Extender, body: bytes | bytearray) -> bytes:
    args = _preemption_args(body)
    offered = _victims(args)
    kept = await _run(extender.preempt, _pod(args.pod), offered)
    kept = _mapping(extender.preempt, kept, Victims, "Victims")
    return _encode(
        wire.ExtenderPreemptionResult(
            {
                name: wire.MetaVictims(
                    tuple(wire.MetaPod(uid) for uid in victims.uids), victims.violations
                )
                for name, victims in kept.items()
            }
        )
    )


async def _bind(extender: Extender, body: bytes | bytearray) -> bytes:
    args = _binding_args(body)
    await _run(extender.bind, args.pod_name, args.pod_namespace, args.pod_uid, args.node)
    return _encode(wire.ExtenderBindingResult())


_ANSWERERS: Final = {
    "filter": _filter,
    "prioritize": _prioritize,
    "preempt": _preempt,
    "bind": _bind,
}


def error_answer(verb: str, text: str) -> bytes | None:
    """An answer that says what went wrong, for the verbs whose answers have a place for it."""
    match verb:
        case "filter":
            return _encode(wire.ExtenderFilterResult(error=text))
        case "bind":
            return _encode(wire.ExtenderBindingResult(text))
    return None


# --- in ---------------------------------------------------------------------------------------


def _nodes(args: wire.ExtenderArgs) -> Nodes:
    if args.nodes is None:
        return Nodes(args.node_names or ())
    return Nodes.of([_node(raw) for raw in args.nodes.items or ()])


def _victims(args: wire.ExtenderPreemptionArgs) -> dict[str, Victims]:
    if args.node_name_to_victims is None:
        return {
            name: Victims([pod.uid for pod in meta.pods or ()], meta.num_pdb_violations)
            for name, meta in (args.node_name_to_meta_victims or {}).items()
        }
    offered = {}
    for name, victims in args.node_name_to_victims.items():
        pods = [_pod(raw) for raw in victims.pods or ()]
        uids = [pod.metadata.uid for pod in pods]
        offered[name] = Victims(uids, victims.num_pdb_violations, pods)
    return offered


async def _run(method: Callable[..., Any], *arguments: Any) -> Any:
    if inspect.iscoroutinefunction(method):
        return await method(*arguments)
    result = await to_thread(method, *arguments)
    return await result if inspect.isawaitable(result) else result


# --- out --------------------------------------------------------------------------------------


def _passing(
    args: wire.ExtenderArgs, nodes: Nodes, rejected: Mapping[str, str]
) -> wire.NodeList | None:
    """The objects of the nodes that pass, as they came."""
    if args.nodes is None:
        return None
    items: list[Raw] = [
        raw
        for name, raw in zip(nodes.names, args.nodes.items or (), strict=True)
        if name not in rejected
    ]
    return wire.NodeList(items=tuple(items))


def _passing_names(args: wire.ExtenderArgs, rejected: Mapping[str, str]) -> tuple[str, ...] | None:
    if args.nodes is not None:
        return None
    return tuple(name for name in args.node_names or () if name not in rejected)


def _mapping(
    method: Callable[..., Any], given: object, values: type[V], wanted: str
) -> Mapping[str, V]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidAnswer(
            f"{method.__qualname__} gave back {type(given).__name__}; it should be a mapping from "
            f"names of nodes to {wanted}"
        )
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, values):
            raise InvalidAnswer(
                f"{method.__qualname__} gave back {value!r} for {name!r}; it should map names of "
                f"nodes to {wanted}"
            )
    return given


def _refuse_strangers(
    method: Callable[..., Any], given: Mapping[str, object], names: tuple[str, ...]
) -> None:
    strangers = given.keys() - set(names)
    if strangers:
        raise InvalidAnswer(
            f"{method.__qualname__} speaks of {min(strangers)!r}, which is not asked"
        )


def _whole(method: Callable[..., Any], name: str, score: object) -> int:
    try:
        return index(score)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidAnswer(
            f"{method.__qualname__} gave {name!r} the score {score!r}; scores are whole numbers"
        ) from None
