"""A daemon set's template: which nodes it allows, and the pod that it makes for one.

A pod is pinned to its node by a required term on the node's name and left to the scheduler. It
tolerates what should not keep a daemon away: cordons, pressure, nodes that are not ready
(`pkg/controller/daemon/util`).
"""

from collections.abc import Sequence
from typing import Any, Final

from podium.api.kinds import convert_object
from podium.api.node_affinity import NAME_FIELD, RequiredNodeAffinity, required_of
from podium.api.pod import Pod as TemplatePod
from podium.api.pod import Toleration
from podium.api.tolerations import NO_EXECUTE, NO_SCHEDULE, untolerated
from podium.population.controllers.ownership import Kind, pod_from_template
from podium.population.controllers.revisions import HASH_LABEL
from podium.population.objects.meta import JsonObject
from podium.population.objects.nodes import Node
from podium.population.objects.workloads import DaemonSet

KIND: Final = Kind("apps/v1", "DaemonSet")
_GENERATION: Final = "pod-template-generation"
_GENERATION_MARK: Final = "deprecated.daemonset.template.generation"
_NODE: Final = "node.kubernetes.io/"
_TOLERATED: Final = (
    (f"{_NODE}not-ready", NO_EXECUTE),
    (f"{_NODE}unreachable", NO_EXECUTE),
    (f"{_NODE}disk-pressure", NO_SCHEDULE),
    (f"{_NODE}memory-pressure", NO_SCHEDULE),
    (f"{_NODE}pid-pressure", NO_SCHEDULE),
    (f"{_NODE}unschedulable", NO_SCHEDULE),
)
_TOLERATED_ON_HOST_NETWORK: Final = ((f"{_NODE}network-unavailable", NO_SCHEDULE),)
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


class Template:
    """Raises ObjectError for a spec that makes no sense."""

    def __init__(self, daemons: DaemonSet) -> None:
        self._daemons = daemons
        written = daemons.spec.template.spec
        extra = _TOLERATED + (_TOLERATED_ON_HOST_NETWORK if written.get("hostNetwork") else ())
        added = [{"key": k, "operator": "Exists", "effect": effect} for k, effect in extra]
        self._spec = {**written, "tolerations": [*(written.get("tolerations") or ()), *added]}
        self._tolerations, self._required, self._node_name = _conditions(self._spec)

    def runs_on(self, node: Node) -> bool:
        """Whether a pod is to be made there."""
        return self._fits(node, (NO_SCHEDULE, NO_EXECUTE))

    def stays_on(self, node: Node) -> bool:
        """Whether a pod that is there may stay: taints that only refuse new pods do not count."""
        return self._fits(node, (NO_EXECUTE,))

    def _fits(self, node: Node, effects: Sequence[str]) -> bool:
        if self._node_name not in ("", node.name):
            return False
        if not self._required.matches(node.metadata.labels, node.name):
            return False
        return untolerated(node.spec.taints, self._tolerations, effects) is None

    def pod_for(self, node: str, revision: str) -> JsonObject:
        labels = {HASH_LABEL: revision}
        generation = self._daemons.metadata.annotation(_GENERATION_MARK)
        if generation:
            labels[_GENERATION] = generation
        return pod_from_template(
            KIND,
            self._daemons.metadata,
            self._daemons.spec.template,
            labels=labels,
            spec={**self._spec, "affinity": _pinned(self._spec.get("affinity") or {}, node)},
        )


def _conditions(spec: JsonObject) -> tuple[tuple[Toleration, ...], RequiredNodeAffinity, str]:
    named: dict[str, Any] = {"metadata": {"name": "template"}, "spec": spec}
    pod = convert_object(named, TemplatePod, strict=False)
    return pod.spec.tolerations or (), required_of(pod), pod.spec.node_name


def _pinned(affinity: JsonObject, node: str) -> JsonObject:
    """upstream: the template's own terms are replaced, since they matched this node already."""
    on_name = {"key": NAME_FIELD, "operator": "In", "values": [node]}
    only = {"nodeSelectorTerms": [{"matchFields": [on_name]}]}
    return {**affinity, "nodeAffinity": {**(affinity.get("nodeAffinity") or {}), _REQUIRED: only}}
