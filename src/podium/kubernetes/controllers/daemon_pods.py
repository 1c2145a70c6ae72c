"""Pods of daemon sets on nodes that come later.

The daemon sets themselves are rarely at hand: a dump shows their pods. So one pod of each says what
the set would make for another node.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, as_pending
from podium.kubernetes.rules.node_affinity import NAME_FIELD
from podium.kubernetes.rules.node_pods import is_daemon


def daemons_of(pods: Iterable[Pod]) -> list[Pod]:
    """One pod of each daemon set."""
    found: dict[tuple[str, str], Pod] = {}
    for pod in pods:
        owner = pod.metadata.controller
        if owner is not None and is_daemon(pod):
            found.setdefault((pod.metadata.namespace, owner.name), as_pending(pod))
    return list(found.values())


def pod_of_daemon(pod: Pod, node: Node) -> Pod:
    """The pod that a daemon set would make for another node; it has no UID yet."""
    name = f"{pod.metadata.name}-{node.metadata.name}"
    metadata = replace(pod.metadata, name=name, uid="", resource_version="")
    return pin_to_node(replace(pod, metadata=metadata), node.metadata.name)


def pin_to_node(pod: Pod, node: str) -> Pod:
    """The pod of a daemon set for another node: its affinity names that one."""
    affinity = pod.spec.affinity
    of_node = affinity.node_affinity if affinity is not None else None
    required = (
        of_node.required_during_scheduling_ignored_during_execution if of_node is not None else None
    )
    if affinity is None or of_node is None or required is None:
        return pod
    terms = tuple(
        replace(
            term,
            match_fields=tuple(
                replace(each, values=(node,)) if each.key == NAME_FIELD else each
                for each in term.match_fields or ()
            ),
        )
        for term in required.node_selector_terms or ()
    )
    of_node = replace(
        of_node,
        required_during_scheduling_ignored_during_execution=replace(
            required, node_selector_terms=terms
        ),
    )
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=of_node)))
