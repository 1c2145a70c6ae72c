"""Taints that expel: pods leave nodes whose NoExecute taints they do not tolerate.

A taint that no toleration covers makes a pod leave at once. Where all are covered, the shortest of
the tolerations that cover them decides. A departure that is fixed already is not moved by another
toleration: it stays unless the pod has to leave at once or may stay for ever
(`pkg/controller/tainteviction/taint_eviction.go`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    Plan,
    Wake,
    delete,
    status_patch,
)
from podium.kubernetes.controllers.objects import Node, pod_disruption
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.node import Taint
from podium.kubernetes.kinds.pod import Toleration
from podium.kubernetes.resources.resource_types import EVENTS, PODS
from podium.kubernetes.rules.timestamps import Moment
from podium.kubernetes.rules.tolerations import COMPARISON_ALLOWED, NO_EXECUTE, tolerates


def select_no_execute(taints: Sequence[Taint] | None) -> tuple[Taint, ...]:
    return tuple(taint for taint in taints or () if taint.effect == NO_EXECUTE)


def stay_s(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> float | None:
    """How long a pod may stay; None is for ever, 0 not at all."""
    shortest: float | None = None
    for taint in taints:
        triple = taint.key, taint.value, taint.effect
        covering = next(
            (t for t in tolerations if tolerates(t, *triple, comparison=COMPARISON_ALLOWED)), None
        )
        if covering is None:
            return 0.0
        seconds = covering.toleration_seconds
        if seconds is not None:
            bounded = float(max(0, seconds))
            shortest = bounded if shortest is None else min(shortest, bounded)
    return shortest


_WHY: Final = ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
_COMPONENT: Final = "taint-eviction-controller"


@dataclass(frozen=True, slots=True)
class Departure:
    """When a pod has to leave, in cluster seconds."""

    uid: str
    at_s: float


def decide(
    pod: Pod, taints: tuple[Taint, ...], fixed: Departure | None, moment: Moment
) -> tuple[Plan, Departure | None]:
    """What to do about a pod, and the departure that is fixed for it from now on."""
    may_stay_s = stay_s(select_no_execute(taints), pod.spec.tolerations or ())
    if pod.metadata.is_terminating:
        return NOTHING, None
    if may_stay_s is None:
        if fixed is None:
            return NOTHING, None
        return Plan([_event(pod, "Cancelling deletion of Pod", moment)]), None
    if may_stay_s > 0:
        if fixed is None or fixed.uid != pod.metadata.uid:
            fixed = Departure(pod.metadata.uid, moment.now_s + may_stay_s)
        rest_s = fixed.at_s - moment.now_s
        if rest_s > 0:
            return Plan([], rest_s), fixed
    return Plan(_eviction(pod, moment)), None


def _eviction(pod: Pod, moment: Moment) -> list[Action]:
    condition = pod_disruption(moment, *_WHY)
    return [
        _event(pod, "Marking for deletion Pod", moment),
        status_patch(PODS, pod, {"conditions": [condition]}),
        delete(PODS, pod),
    ]


def _event(pod: Pod, what: str, moment: Moment) -> CreateAction:
    involved = {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.metadata.uid,
    }
    body: JsonObject = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{pod.name}.", "namespace": pod.namespace},
        "involvedObject": involved,
        "reason": "TaintManagerEviction",
        "message": f"{what} {pod.namespace}/{pod.name}",
        "source": {"component": _COMPONENT},
        "reportingComponent": _COMPONENT,
        "firstTimestamp": moment.timestamp,
        "lastTimestamp": moment.timestamp,
        "count": 1,
        "type": "Normal",
    }
    return CreateAction(EVENTS, pod.namespace, body)


class TaintEviction:
    """Keys are the namespace and name of a pod."""

    name = "tainteviction"

    def __init__(self, stores: Stores) -> None:
        self._nodes, self._pods = stores.nodes, stores.pods
        self._fixed: dict[tuple[str, str], Departure] = {}

    def watch(self, wake: Wake) -> None:
        def node_changed(old: Node | None, new: Node | None) -> None:
            node = new or old
            if node is not None and _taints(old) != _taints(new):
                for pod in self._pods.on_node.of(node.name):
                    wake(pod.metadata.key)

        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            if new is None:
                if old is not None:
                    self._fixed.pop(old.metadata.key, None)
            elif new.spec.node_name and (
                old is None or _relevant_fields(old) != _relevant_fields(new)
            ):
                wake(new.metadata.key)

        self._nodes.listen(node_changed)
        self._pods.listen(pod_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        pod = self._pods.find(key)
        if pod is None:
            return NOTHING
        node = self._nodes.get("", pod.spec.node_name)
        if node is None and key in self._fixed:
            # upstream: who has to leave a node that is gone still has to.
            rest_s = self._fixed[key].at_s - moment.now_s
            return Plan([], rest_s) if rest_s > 0 else Plan(_eviction(pod, moment))
        plan, fixed = decide(pod, _taints(node), self._fixed.get(key), moment)
        if fixed is None:
            self._fixed.pop(key, None)
        else:
            self._fixed[key] = fixed
        return plan


def _taints(node: Node | None) -> tuple[Taint, ...]:
    return select_no_execute(node.spec.taints) if node is not None else ()


def _relevant_fields(pod: Pod) -> object:
    return pod.spec.node_name, pod.spec.tolerations
