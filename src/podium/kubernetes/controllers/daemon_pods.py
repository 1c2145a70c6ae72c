"""The pods of a daemon set: which nodes it allows, and what it makes for one.

A pod is made only where the template's node name, node selector and required affinity match and its
tolerations cover the node's hard taints. It is pinned to its node by a required term on the node's
name and left to the scheduler. It tolerates what should not keep a daemon away: cordons, pressure,
nodes that are not ready (`pkg/controller/daemon/util`).

For nodes that come later the daemon sets themselves are rarely at hand: a dump shows their pods. So
one pod of each says what the set would make for another node.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import OwnerKind
from podium.kubernetes.controllers.pod_templates import REVISION_HASH, pod_from_template
from podium.kubernetes.controllers.workloads import DaemonSet
from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.kinds.pod import Pod, Toleration, as_pending
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.rules.node_affinity import NAME_FIELD, RequiredNodeAffinity, required_of
from podium.kubernetes.rules.nodes import is_daemon
from podium.kubernetes.rules.tolerations import (
    COMPARISON_ALLOWED,
    NO_EXECUTE,
    NO_SCHEDULE,
    find_untolerated_taint,
)

DAEMON_SET: Final = OwnerKind("apps/v1", "DaemonSet")
_GENERATION: Final = "pod-template-generation"
_GENERATION_MARK: Final = "deprecated.daemonset.template.generation"
_TOLERATED: Final = (
    ("not-ready", NO_EXECUTE),
    ("unreachable", NO_EXECUTE),
    ("disk-pressure", NO_SCHEDULE),
    ("memory-pressure", NO_SCHEDULE),
    ("pid-pressure", NO_SCHEDULE),
    ("unschedulable", NO_SCHEDULE),
)
_TOLERATED_ON_HOST_NETWORK: Final = (("network-unavailable", NO_SCHEDULE),)
_IDENTITY: Final = ("key", "operator", "value", "effect")
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


class DaemonTemplate:
    """Raises ObjectError for a spec that makes no sense."""

    def __init__(self, daemons: DaemonSet) -> None:
        self._daemons = daemons
        written = daemons.spec.template.spec
        self._spec = {**written, "tolerations": daemon_tolerations(written)}
        self._tolerations, self._required, self._node_name = _conditions(self._spec)

    def runs_on(
        self, node: str, labels: dict[str, str] | None, taints: Sequence[Taint] | None
    ) -> bool:
        """Whether a pod is to be made there."""
        return self._fits(node, labels, taints, (NO_SCHEDULE, NO_EXECUTE))

    def stays_on(
        self, node: str, labels: dict[str, str] | None, taints: Sequence[Taint] | None
    ) -> bool:
        """Whether a pod that is there may stay: taints that only refuse new pods do not count."""
        return self._fits(node, labels, taints, (NO_EXECUTE,))

    def _fits(
        self,
        node: str,
        labels: dict[str, str] | None,
        taints: Sequence[Taint] | None,
        effects: Sequence[str],
    ) -> bool:
        if self._node_name not in ("", node):
            return False
        if not self._required.matches(labels, node):
            return False
        return (
            find_untolerated_taint(
                taints, self._tolerations, effects, comparison=COMPARISON_ALLOWED
            )
            is None
        )

    def pod_for(self, node: str, revision: str) -> JsonObject:
        labels = {REVISION_HASH: revision}
        generation = self._daemons.metadata.annotation(_GENERATION_MARK)
        if generation:
            labels[_GENERATION] = generation
        return pod_from_template(
            DAEMON_SET,
            self._daemons.metadata,
            self._daemons.spec.template,
            labels=labels,
            spec={**self._spec, "affinity": _pin_to_node(self._spec.get("affinity") or {}, node)},
        )


def daemon_tolerations(spec: JsonObject) -> list[JsonObject]:
    """The tolerations of a template with those that every daemon gets.

    upstream: one of the template for the same key, operator, value and effect is replaced, so a
    daemon stays for ever where its template would have it stay for some seconds.
    """
    wanted = _TOLERATED + (_TOLERATED_ON_HOST_NETWORK if spec.get("hostNetwork") else ())
    added = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
        for key, effect in wanted
    ]
    missing = {_identity(toleration): toleration for toleration in added}
    given = [
        missing.pop(_identity(toleration), toleration)
        for toleration in spec.get("tolerations") or ()
    ]
    return [*given, *missing.values()]


def _identity(toleration: JsonObject) -> tuple[str, ...]:
    return tuple(toleration.get(part) or "" for part in _IDENTITY)


def _conditions(spec: JsonObject) -> tuple[tuple[Toleration, ...], RequiredNodeAffinity, str]:
    named: dict[str, Any] = {"metadata": {"name": "template"}, "spec": spec}
    pod = convert_object(named, Pod, strict=False)
    return pod.spec.tolerations or (), required_of(pod), pod.spec.node_name


def _pin_to_node(affinity: JsonObject, node: str) -> JsonObject:
    """upstream: the template's own terms are replaced, since they matched this node already."""
    on_name = {"key": NAME_FIELD, "operator": "In", "values": [node]}
    only = {"nodeSelectorTerms": [{"matchFields": [on_name]}]}
    return {**affinity, "nodeAffinity": {**(affinity.get("nodeAffinity") or {}), _REQUIRED: only}}


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
