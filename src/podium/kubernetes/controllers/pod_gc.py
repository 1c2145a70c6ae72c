"""Collecting pods that nobody else will: those whose node is gone, and old ended ones.

A pod on a node that does not exist is given 40 seconds in which the node may appear; then it is
declared failed and removed. A pod that is to be deleted and was never placed goes at once. Ended
pods are kept until there are more than 12500 of them; then the oldest go (`pkg/controller/podgc`).
"""

from collections.abc import Sequence
from typing import Final

from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    Plan,
    Wake,
    delete,
    status_patch,
)
from podium.kubernetes.controllers.objects import Node, pod_disruption
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.resources.resource_types import PODS
from podium.kubernetes.rules.timestamps import Moment

QUARANTINE_S: Final = 40.0
MAX_ENDED: Final = 12_500
_WHY: Final = ("DeletionByPodGC", "PodGC: node no longer exists")
_ALL: Final = "*"


def decide(pod: Pod, *, node_is_there: bool, lost_s: float, moment: Moment) -> Plan:
    """`lost_s` is for how long its node has been missing."""
    if not pod.spec.node_name:
        if not pod.metadata.is_terminating:
            return NOTHING
        # upstream: it ends as failed, which is what a job waits for that replaces only failed pods.
        ended = [] if pod.is_ended else [status_patch(PODS, pod, {"phase": "Failed"})]
        return Plan([*ended, delete(PODS, pod, grace_period_s=0)])
    if node_is_there:
        return NOTHING
    if lost_s < QUARANTINE_S:
        return Plan([], QUARANTINE_S - lost_s)
    actions: list[Action] = []
    if not pod.is_ended:
        status = {"phase": "Failed", "conditions": [pod_disruption(moment, *_WHY)]}
        actions.append(status_patch(PODS, pod, status))
    return Plan([*actions, delete(PODS, pod, grace_period_s=0)])


def surplus(ended: Sequence[Pod], most: int = MAX_ENDED) -> Plan:
    """The oldest of the ended pods that are too many."""
    excess = len(ended) - most
    if excess <= 0:
        return NOTHING
    oldest = sorted(ended, key=lambda pod: pod.metadata.creation_timestamp or "")
    return Plan([delete(PODS, pod, grace_period_s=0) for pod in oldest[:excess]])


class PodGC:
    """Keys are the namespace and name of a pod; `*` stands for all that have ended."""

    name = "podgc"

    def __init__(self, stores: Stores, most_ended: int = MAX_ENDED) -> None:
        self._nodes, self._pods = stores.nodes, stores.pods
        self._most_ended = most_ended
        self._ended = 0
        self._lost_at_s: dict[tuple[str, str], float] = {}

    def watch(self, wake: Wake) -> None:
        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            self._ended += bool(new and new.is_ended) - bool(old and old.is_ended)
            if self._ended > self._most_ended:
                wake(_ALL)
            if new is None:
                if old is not None:
                    self._lost_at_s.pop(old.metadata.key, None)
            elif self._is_lost(new) or (new.metadata.is_terminating and not new.spec.node_name):
                wake(new.metadata.key)

        def node_changed(old: Node | None, new: Node | None) -> None:
            if old is not None and new is None:
                for pod in self._pods.on_node.of(old.name):
                    wake(pod.metadata.key)

        self._pods.listen(pod_changed)
        self._nodes.listen(node_changed)

    def plan(self, key: tuple[str, str] | str, moment: Moment) -> Plan:
        if isinstance(key, str):
            ended = [pod for pod in self._pods.all() if pod.is_ended]
            return surplus(ended, self._most_ended)
        pod = self._pods.find(key)
        if pod is None:
            return NOTHING
        is_lost = self._is_lost(pod)
        if not is_lost:
            self._lost_at_s.pop(key, None)
            return decide(pod, node_is_there=True, lost_s=0, moment=moment)
        lost_s = moment.now_s - self._lost_at_s.setdefault(key, moment.now_s)
        return decide(pod, node_is_there=False, lost_s=lost_s, moment=moment)

    def _is_lost(self, pod: Pod) -> bool:
        """Whether it was placed on a node that does not exist."""
        return bool(pod.spec.node_name) and self._nodes.get("", pod.spec.node_name) is None
