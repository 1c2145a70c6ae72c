"""Which nodes a DaemonSet wants a pod on, and the pod it makes for each.

The real controller makes a pod only where the template's node name, node selector and required
affinity match and its tolerations cover the node's hard taints. It then pins the pod by a required
term on `metadata.name`, and lets it onto nodes that are cordoned, under pressure or not ready
(`pkg/controller/daemon`).
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from podium.api.labels import IN
from podium.api.node import Node
from podium.api.node_affinity import NAME_FIELD, required_of
from podium.api.pod import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    Toleration,
)
from podium.api.tolerations import NO_EXECUTE, NO_SCHEDULE, untolerated

_TOLERATED = (
    ("node.kubernetes.io/not-ready", NO_EXECUTE),
    ("node.kubernetes.io/unreachable", NO_EXECUTE),
    ("node.kubernetes.io/disk-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/memory-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/pid-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/unschedulable", NO_SCHEDULE),
)
_TOLERATED_ON_HOST_NETWORK = (("node.kubernetes.io/network-unavailable", NO_SCHEDULE),)


def daemon_specs(template: PodSpec, nodes: Iterable[Node]) -> Iterator[tuple[str, PodSpec]]:
    """(node name, spec of the pod for it) for every node that gets one."""
    spec = replace(template, tolerations=_tolerations(template))
    required = required_of(Pod(spec=spec))
    for node in nodes:
        name = node.metadata.name
        if spec.node_name not in ("", name):
            continue
        if not required.matches(node.metadata.labels, name):
            continue
        if untolerated(node.spec.taints, spec.tolerations) is None:
            yield name, replace(spec, affinity=_pinned(spec.affinity, name))


def _tolerations(template: PodSpec) -> tuple[Toleration, ...]:
    wanted = _TOLERATED + (_TOLERATED_ON_HOST_NETWORK if template.host_network else ())
    added = (Toleration(key=key, operator="Exists", effect=effect) for key, effect in wanted)
    return (*(template.tolerations or ()), *added)


def _pinned(affinity: Affinity | None, node_name: str) -> Affinity:
    """upstream: the terms of the template are replaced, since they matched this node already."""
    affinity = affinity or Affinity()
    on_name = NodeSelectorRequirement(key=NAME_FIELD, operator=IN, values=(node_name,))
    only = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(on_name,)),))
    nodes = affinity.node_affinity or NodeAffinity()
    nodes = replace(nodes, required_during_scheduling_ignored_during_execution=only)
    return replace(affinity, node_affinity=nodes)
