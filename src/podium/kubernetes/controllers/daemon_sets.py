"""Daemon sets: one pod on each node that the template allows.

A new template replaces pods node by node, never more than `maxUnavailable` at a time; surges are
not made. Pods that have failed, or that are on nodes where they have no place any more, are removed
(`pkg/controller/daemon/{daemon_controller,update}.go`).
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from podium.golang.errors import ObjectError
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    Plan,
    Wake,
    delete,
    plan_without_pods,
    read_reported_fields,
    status_patch,
)
from podium.kubernetes.controllers.daemon_pods import DAEMON_SET, DaemonTemplate
from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.ownership import (
    possible_pods,
    settle_ownership,
    wake_owners,
)
from podium.kubernetes.controllers.pod_templates import REVISION_HASH
from podium.kubernetes.controllers.pods import Pod, availability, is_available
from podium.kubernetes.controllers.revisions import possible_revisions, settle_revisions
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.controllers.workloads import (
    ControllerRevision,
    DaemonSet,
    RollingUpdate,
)
from podium.kubernetes.resources.resource_types import DAEMON_SETS, PODS
from podium.kubernetes.rules.disruptions import scale_amount
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.timestamps import Moment

_COMPONENT: Final = "daemonset-controller"


class _Place(NamedTuple):
    """A node, and the pods that are on it or on their way to it."""

    node: Node
    pods: list[Pod]
    wanted: bool
    tolerated: bool


def decide(
    daemons: DaemonSet,
    candidates: Sequence[Pod],
    nodes: Iterable[Node],
    revisions: Sequence[ControllerRevision],
    moment: Moment,
) -> Plan:
    selector = selector_or_nothing(daemons.spec.selector)
    owned, actions = settle_ownership(DAEMON_SET, daemons.metadata, selector, PODS, candidates)
    if daemons.metadata.is_terminating:
        return Plan(actions)
    try:
        template = DaemonTemplate(daemons)
    except ObjectError:
        return Plan(actions)
    revision = settle_revisions(
        DAEMON_SET,
        daemons.metadata,
        selector,
        daemons.spec.template,
        revisions,
        labelled_by_name=False,
        in_use={pod.metadata.label(REVISION_HASH) for pod in owned},
        limit=daemons.spec.revision_history_limit,
    )
    actions += revision.actions
    places, stray = _places(template, owned, nodes)
    actions += [delete(PODS, pod) for pod in stray]
    made, removed = _pods_in_place(daemons, template, places, revision.hash)
    actions += made + removed
    if not made and not removed:
        actions += _roll_pods(daemons, places, revision.hash, moment)
    status = _status(daemons, places, revision.hash, moment)
    if status != read_reported_fields(daemons.status, status):
        actions.append(status_patch(DAEMON_SETS, daemons, status))
    again = availability(owned, daemons.spec.min_ready_seconds, moment).again_after_s
    return Plan(actions, again)


def _places(
    template: DaemonTemplate, pods: Sequence[Pod], nodes: Iterable[Node]
) -> tuple[list[_Place], list[Pod]]:
    """Nodes with their pods, and pods that wait for a node that is not there."""
    by_node: dict[str, list[Pod]] = {}
    for pod in pods:
        by_node.setdefault(pod.target_node, []).append(pod)
    places = []
    for node in nodes:
        seen = node.name, node.metadata.labels, node.spec.taints
        on_node = by_node.pop(node.name, [])
        places.append(_Place(node, on_node, template.runs_on(*seen), template.stays_on(*seen)))
    stray = [
        pod
        for group in by_node.values()
        for pod in group
        if not pod.spec.node_name and not pod.metadata.is_terminating
    ]
    return places, stray


def _pods_in_place(
    daemons: DaemonSet, template: DaemonTemplate, places: Sequence[_Place], revision: str
) -> tuple[list[Action], list[Action]]:
    made: list[Action] = []
    removed: list[Action] = []
    for place in places:
        staying = [pod for pod in place.pods if not pod.metadata.is_terminating]
        if not place.tolerated:
            removed += [delete(PODS, pod) for pod in staying]
        elif place.wanted and not place.pods:
            body = template.pod_for(place.node.name, revision)
            made.append(CreateAction(PODS, daemons.namespace, body))
        else:
            ended = [pod for pod in staying if pod.is_ended]
            alive = sorted(
                (pod for pod in staying if not pod.is_ended),
                key=lambda pod: (not pod.spec.node_name, pod.metadata.creation_timestamp or ""),
            )
            removed += [delete(PODS, pod) for pod in (*ended, *alive[1:])]
    return made, removed


def _roll_pods(
    daemons: DaemonSet, places: Sequence[_Place], revision: str, moment: Moment
) -> list[Action]:
    strategy = daemons.spec.update_strategy
    if strategy.type != "RollingUpdate":
        return []
    wanted = [place for place in places if place.wanted]
    rolling = strategy.rolling_update or RollingUpdate()
    most = max(1, scale_amount(rolling.max_unavailable, len(wanted), rounds_up=True, default=1))
    min_ready_s = daemons.spec.min_ready_seconds
    available = {
        place.node.name: any(
            is_available(pod, min_ready_s, moment) and not pod.metadata.is_terminating
            for pod in place.pods
        )
        for place in wanted
    }
    budget = most - sum(not there for there in available.values())
    actions: list[Action] = []
    for place in wanted:
        for pod in place.pods:
            if pod.metadata.is_terminating or pod.metadata.label(REVISION_HASH) == revision:
                continue
            if not available[place.node.name]:
                actions.append(delete(PODS, pod))
            elif budget > 0:
                budget -= 1
                actions.append(delete(PODS, pod))
    return actions


def _status(
    daemons: DaemonSet, places: Sequence[_Place], revision: str, moment: Moment
) -> JsonObject:
    wanted = [place for place in places if place.wanted]
    min_ready_s = daemons.spec.min_ready_seconds
    available = sum(
        any(is_available(pod, min_ready_s, moment) for pod in place.pods) for place in wanted
    )
    return {
        "desiredNumberScheduled": len(wanted),
        "currentNumberScheduled": sum(bool(place.pods) for place in wanted),
        "numberMisscheduled": sum(bool(p.pods) and not p.wanted for p in places),
        "numberReady": sum(any(pod.is_ready for pod in place.pods) for place in wanted),
        "updatedNumberScheduled": sum(
            any(pod.metadata.label(REVISION_HASH) == revision for pod in place.pods)
            for place in wanted
        ),
        "numberAvailable": available,
        "numberUnavailable": len(wanted) - available,
        "observedGeneration": daemons.metadata.generation,
    }


class DaemonSets:
    """Keys are the namespace and name of a daemon set."""

    name = "daemonsets"

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._sets, self._nodes = stores.daemon_sets, stores.nodes

    def watch(self, wake: Wake) -> None:
        wake_owners(self._stores.pods, self._sets, DAEMON_SET, wake)

        def node_changed(old: Node | None, new: Node | None) -> None:
            if old is not None and new is not None and _as_seen(old) == _as_seen(new):
                return
            for daemons in self._sets.all():
                wake(daemons.metadata.key)

        self._nodes.listen(node_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        daemons = self._sets.find(key)
        if daemons is None:
            return NOTHING
        pods = possible_pods(self._stores, daemons.metadata)
        revisions = possible_revisions(self._stores, daemons.metadata)
        return decide(daemons, pods, self._nodes.all(), revisions, moment)

    def plan_after_failure(self, key: tuple[str, str], problem: Exception, moment: Moment) -> Plan:
        """What needs no new pods, the status included, is done all the same."""
        daemons = self._sets.find(key)
        if daemons is None:
            return NOTHING
        return plan_without_pods(daemons, self.plan(key, moment), _COMPONENT, problem, moment)


def _as_seen(node: Node) -> object:
    """What of a node decides whether daemons run there."""
    return node.metadata.labels, node.spec.taints
