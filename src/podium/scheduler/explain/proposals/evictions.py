"""Pods in the way: move them to where they fit as well, or evict them.

Only nodes count that nothing speaks against but other pods. Which of these have to leave is decided
per node: those that hold something the pod needs for itself (a port, a disk, a claim, a domain that
an anti-affinity closes), and then the fewest, least important and smallest ones that make enough
room. Disruption budgets are kept. Pods that a node cannot do without (of a DaemonSet, of the
kubelet, of the system) stay.

Priority: as much as it takes for the scheduler to make room by itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import fsum
from typing import NamedTuple

from msgspec.structs import replace

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, PriorityClass
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.kubernetes.rules.priorities import MAX_USER_PRIORITY, PREEMPT
from podium.kubernetes.rules.requests import PODS
from podium.scheduler.cluster.pod_info import PodInfo, uid_of
from podium.scheduler.explain.proposals.proposal import ProposalStep
from podium.scheduler.explain.proposals.situation import SearchSituation
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import ATTACHED_VOLUMES, MAX_STEPS_OF_A_KIND
from podium.scheduler.framework.status import Code
from podium.scheduler.plugins.default_preemption.dry_run import split_by_budget

MAX_NODES = 24
"""On so many nodes, those that lack the least, victims are looked for."""
_SYSTEM = "kube-system"


class VictimChoice(NamedTuple):
    """Ordered so that the best choice comes first."""

    number: int
    priority: int
    size: int
    node: str
    pods: tuple[PodInfo, ...]


def propose_evictions(situation: SearchSituation) -> Iterator[ProposalStep]:
    if situation.refusal is not None:
        return
    choices = sorted((*_choices(situation), *_holders(situation)), key=lambda each: each[:4])[
        :MAX_STEPS_OF_A_KIND
    ]
    for victims in choices:
        pods = tuple(info.pod for info in victims.pods)
        told = " and ".join(info.key for info in victims.pods)
        weight = disturbance.PER_POD * (victims.number - 1)
        # Where a whole domain is closed by another pod, it may move and still be in the way.
        objecting = situation.objections.get(victims.node, {})
        if not any(situation.filters[plugin].closes_domains for plugin in objecting):
            yield ProposalStep(
                "move-pods",
                f"move {told} off node {victims.node}",
                disturbance.MOVE_PODS + weight,
                situation.hypothesis.but_with(moved=pods),
            )
        if victims.priority <= (situation.pod.spec.priority or 0) and not _has_sibling(
            situation, victims.pods
        ):
            again = _made_again(pods)
            yield ProposalStep(
                "evict-pods",
                f"evict {told} from node {victims.node}{again}",
                disturbance.EVICT_PODS + weight,
                situation.hypothesis.but_with(removed=pods),
            )


def _choices(situation: SearchSituation) -> Iterator[VictimChoice]:
    asked = situation.info.shape.requests
    ranked = []
    for name, objections in situation.objections.items():
        if not objections or any(
            status.code is not Code.UNSCHEDULABLE or not situation.filters[plugin].eviction_helps
            for plugin, status in objections.items()
        ):
            continue
        lacking: dict[str, int] = {}
        for plugin in objections:
            lacking |= situation.filters[plugin].find_lacking(situation, name)
        share = fsum(
            short / max(asked.get(resource, 1), 1)
            for resource, short in lacking.items()
            if resource != ATTACHED_VOLUMES
        )
        ranked.append((share, name, lacking))
    ranked.sort(key=lambda each: each[:2])
    blockers = {
        plugin: find
        for plugin, each in situation.filters.items()
        if (find := each.find_blockers(situation)) is not None
    }
    for _, name, lacking in ranked[:MAX_NODES]:
        found = _victims(situation, blockers, name, lacking)
        if found:
            yield _as_victims(situation, name, found)


def _as_victims(situation: SearchSituation, name: str, pods: Iterable[PodInfo]) -> VictimChoice:
    found = tuple(sorted(pods, key=lambda info: info.key))
    where = {
        situation.cluster.nodes.names[situation.cluster.placements[info.uid].row] for info in found
    }
    size = sum(info.shape.accounted.get("cpu", 0) for info in found)
    place = name if len(where) != 1 else where.pop()
    return VictimChoice(len(found), max(info.priority for info in found), size, place, found)


def _victims(
    situation: SearchSituation,
    blockers: Mapping[str, Callable[[str], Iterable[PodInfo]]],
    name: str,
    lacking: dict[str, int],
) -> list[PodInfo]:
    """Those that would have to leave; none if that is impossible."""
    cluster = situation.cluster
    here = cluster.usage.pods(cluster.nodes.row(name))
    first = list(
        {
            info.uid: info
            for plugin in situation.objections[name]
            if plugin in blockers
            for info in blockers[plugin](name)
        }.values()
    )
    if any(not can_leave(info) for info in first):
        return []
    missing = dict(lacking)
    if first:
        missing.pop(ATTACHED_VOLUMES, None)
    for info in first:
        _give(missing, info, cluster.nodes.names[cluster.placements[info.uid].row] == name)
    taken = {info.uid for info in first}
    rest = [info for info in here if info.uid not in taken and can_leave(info)]
    more = _make_room(rest, missing)
    found = [*first, *more] if more is not None else []
    budgets = list(cluster.catalog.all(PodDisruptionBudget))
    violating, _ = split_by_budget(found, budgets)
    return [] if violating else found


def _make_room(pods: list[PodInfo], missing: dict[str, int]) -> list[PodInfo] | None:
    """The single pod that gives enough and matters least, or as few as possible."""
    missing = {resource: amount for resource, amount in missing.items() if amount > 0}
    if not missing:
        return []

    def importance(info: PodInfo) -> tuple[int, float, str]:
        return info.priority, fsum(_gives(info, r) / a for r, a in missing.items()), info.key

    enough = [i for i in pods if all(_gives(i, r) >= a for r, a in missing.items())]
    if enough:
        return [min(enough, key=importance)]
    chosen: list[PodInfo] = []
    for info in sorted(pods, key=lambda i: (i.priority, -importance(i)[1], i.key)):
        left = {r: a for r, a in missing.items() if a > 0}
        if not left:
            break
        if any(_gives(info, resource) for resource in left):
            chosen.append(info)
            _give(missing, info, here=True)
    if any(amount > 0 for amount in missing.values()):
        return None
    for info in sorted(chosen, key=lambda i: sum(_gives(i, r) for r in missing)):
        if all(amount + _gives(info, r) <= 0 for r, amount in missing.items()):
            chosen.remove(info)
            for resource in missing:
                missing[resource] += _gives(info, resource)
    return chosen


def _gives(info: PodInfo, resource: str) -> int:
    if resource == PODS:
        return 1
    if resource == ATTACHED_VOLUMES:
        return 1 if info.shape.claim_names else 0
    return info.shape.accounted.get(resource, 0)


def _give(missing: dict[str, int], info: PodInfo, here: bool) -> None:
    if here:
        for resource in missing:
            missing[resource] -= _gives(info, resource)


def _holders(situation: SearchSituation) -> Iterator[VictimChoice]:
    objecting = {plugin for found in situation.objections.values() for plugin in found}
    cluster = situation.cluster
    budgets = list(cluster.catalog.all(PodDisruptionBudget))
    found = (
        uids
        for plugin, each in situation.filters.items()
        if plugin in objecting
        for uids in each.find_holders(situation)
    )
    for uids in found:
        holders = [cluster.placements[uid].info for uid in uids if uid in cluster.placements]
        if not holders or any(not can_leave(info) for info in holders):
            continue
        if not split_by_budget(holders, budgets)[0]:
            yield _as_victims(situation, "", holders)


# --- who may leave ----------------------------------------------------------------------------


def can_leave(info: PodInfo) -> bool:
    """Whether a node and the cluster can do without a pod."""
    of_node = is_daemon(info.pod) or is_bound_to_node(info.pod)
    of_system = info.shape.namespace == _SYSTEM or info.priority > MAX_USER_PRIORITY
    return not of_system and not of_node


def _has_sibling(situation: SearchSituation, pods: Iterable[PodInfo]) -> bool:
    """Whether one of them is of the pod's own workload: then nothing is gained."""
    workload = situation.workload
    own = {uid_of(pod) for pod in workload.placed} if workload is not None else set()
    return any(info.uid in own for info in pods)


def _made_again(pods: tuple[Pod, ...]) -> str:
    bare = [pod for pod in pods if pod.metadata.controller is None]
    if not bare:
        return ""
    return ", which nothing makes again" if len(bare) == len(pods) else ", some for good"


MAX_LEVELS = 6
_NEVER = "Never"


def propose_priority(situation: SearchSituation) -> Iterator[ProposalStep]:
    """The smallest priority, from a class that exists if there is one, with which preemption
    succeeds."""
    if situation.refusal is not None:
        return
    own = situation.pod.spec.priority or 0
    known = sorted(
        (
            c
            for c in situation.catalog.all(PriorityClass)
            if own < c.value <= MAX_USER_PRIORITY and c.preemption_policy != _NEVER
        ),
        key=lambda c: (c.value, c.name),
    )
    for existing in known[:MAX_LEVELS]:
        step = _try(situation, existing, is_new=False)
        if step is not None:
            yield step
            return
    placements = situation.cluster.placements.values()
    levels = sorted({held.info.priority for held in placements if held.info.priority >= own})
    for level in levels[:MAX_LEVELS]:
        if level < MAX_USER_PRIORITY:
            metadata = ObjectMeta(name=f"above-{level}" if level >= 0 else f"above-minus-{-level}")
            made = PriorityClass(metadata=metadata, value=level + 1)
            step = _try(situation, made, is_new=True)
            if step is not None:
                yield step
                return


def _try(situation: SearchSituation, wanted: PriorityClass, *, is_new: bool) -> ProposalStep | None:
    pod = _with_priority(situation.pod, wanted)
    outcome = situation.trial.decide(pod).post_filter
    if outcome is None or outcome.code is not Code.SUCCESS:
        return None
    if not all(
        can_leave(info) and not _is_sibling(situation, info.pod) for info in outcome.victims
    ):
        return None
    victims = tuple(info.pod for info in outcome.victims)
    told = ", ".join(info.key for info in outcome.victims)
    how = f"create PriorityClass {wanted.name} ({wanted.value}) and use it" if is_new else ""
    how = how or f"use PriorityClass {wanted.name} ({wanted.value})"
    return ProposalStep(
        "raise-priority",
        f"{how}, so that it preempts {told} on node {outcome.nominated_node}",
        disturbance.RAISE_PRIORITY + disturbance.PER_POD * (len(victims) - 1) + is_new,
        situation.hypothesis.but_with(
            pod=pod, objects=(wanted,) if is_new else (), preempted=victims
        ),
    )


def _is_sibling(situation: SearchSituation, pod: Pod) -> bool:
    """Whether a pod is of the same workload, and so would get the priority as well."""
    workload = situation.workload
    return workload is not None and any(uid_of(pod) == uid_of(p) for p in workload.placed)


def _with_priority(pod: Pod, wanted: PriorityClass) -> Pod:
    policy = wanted.preemption_policy or PREEMPT
    spec = replace(
        pod.spec,
        priority=wanted.value,
        priority_class_name=wanted.name,
        preemption_policy=policy,
    )
    return replace(pod, spec=spec)
