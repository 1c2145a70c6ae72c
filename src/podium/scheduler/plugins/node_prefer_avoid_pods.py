"""NodePreferAvoidPods: keep a controller's pods off nodes that ask for it in an annotation.

A default plugin until v1beta1, with a weight of 10000 so that it outweighs all others. A node gets
100 points, or none if its annotation names the ReplicationController or ReplicaSet that controls
the pod, by kind and uid. An annotation that is no JSON is ignored
(`pkg/scheduler/framework/plugins/nodepreferavoidpods/node_prefer_avoid_pods.go` at v1.22).
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from podium.kubernetes.kinds.meta import OwnerReference
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.framework.node_form import NodeScorePlugin, NodeView
from podium.scheduler.framework.scoring import MAX_SCORE

ANNOTATION: Final = "scheduler.alpha.kubernetes.io/preferAvoidPods"
_CONTROLLERS: Final = ("ReplicationController", "ReplicaSet")


class NodePreferAvoidPods(NodeScorePlugin):
    name = "NodePreferAvoidPods"
    in_range = True

    def score_node(self, pod: Pod, node: NodeView) -> int:
        written = node.annotations.get(ANNOTATION)
        owner = _controller(pod) if written else None
        if written is None or owner is None:
            return MAX_SCORE
        return 0 if (owner.kind, owner.uid) in _avoided(written) else MAX_SCORE


def _controller(pod: Pod) -> OwnerReference | None:
    for owner in pod.metadata.owner_references or ():
        if owner.controller:
            return owner if owner.kind in _CONTROLLERS else None
    return None


def _avoided(written: str) -> set[tuple[str, str]]:
    """Kind and uid of every controller that the annotation names."""
    try:
        document = msgspec.json.decode(written)
    except (msgspec.DecodeError, RecursionError):
        return set()
    entries = document.get("preferAvoidPods") if isinstance(document, dict) else None
    found = set()
    for entry in entries if isinstance(entries, list) else ():
        signature = entry.get("podSignature") if isinstance(entry, dict) else None
        controller = signature.get("podController") if isinstance(signature, dict) else None
        if isinstance(controller, Mapping):
            found.add((str(controller.get("kind")), str(controller.get("uid"))))
    return found
