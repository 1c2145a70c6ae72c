"""The pods that are made from one template, and how their controller replaces them.

A change of a template concerns all of them and not only the one that was asked about, so whoever
proposes one has to know the others: those that have a node, those that wait, and how many may be
missing while they are replaced.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from podium.kubernetes.controllers.rollout import limits
from podium.kubernetes.controllers.workloads import DaemonSet, Deployment, StatefulSet, Strategy
from podium.kubernetes.controllers.workloads import Workload as Controller
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import uid_of
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.state import place_pod as assigned
from podium.scheduler.explain.proposals.owners import Owner, OwnersOfPods

ON_DELETE = "OnDelete"
_ROLLS_OUT = frozenset({"Deployment", "DaemonSet"})


@dataclass(frozen=True, slots=True)
class OwnedPods:
    """`placed` have a node, `waiting` have none; `wanted` is how many there are to be. `strategy`
    is how a controller brings a new template to them: at most `surge` pods more than wanted and
    `unavailable` fewer, where it is known."""

    owner: Owner
    namespace: str
    wanted: int
    placed: tuple[Pod, ...]
    waiting: tuple[Pod, ...]
    strategy: str = "RollingUpdate"
    surge: int = 0
    unavailable: int = 1
    known: Controller | None = None
    """The controllers' object, where somebody has read it."""

    @property
    def target(self) -> str:
        """As kubectl names it."""
        return self.owner.target

    @property
    def replaces_waiting(self) -> bool:
        """Whether its controller replaces pods that wait by itself when the template changes."""
        return self.owner.kind in _ROLLS_OUT and self.strategy != ON_DELETE


def workload_of(
    pod: Pod, engine: Engine, controllers: Iterable[Controller] = ()
) -> OwnedPods | None:
    """The workload of a pod, None if nothing has made it; `controllers` are those that are known
    beside the ones that the engine reads."""
    catalog, placements = engine.cluster.catalog, engine.cluster.placements
    owners = OwnersOfPods(catalog)
    owner = owners.of(pod)
    if owner is None:
        return None
    namespace = pod.metadata.namespace
    placed: list[Pod] = []
    waiting: dict[str, Pod] = {uid_of(pod): pod}
    for other in engine.state.pods.values():
        if other.metadata.namespace != namespace or other.metadata.controller is None:
            continue
        if owners.of(other) != owner or other.metadata.deletion_timestamp is not None:
            continue
        held = placements.get(uid_of(other))
        if held is None:
            waiting.setdefault(uid_of(other), other)
        elif uid_of(other) != uid_of(pod):
            placed.append(assigned(held.info.pod, engine.cluster.nodes.names[held.row]))
    known = _find(owner, namespace, controllers)
    wanted = owner.replicas
    if isinstance(known, Deployment | StatefulSet):
        wanted = known.wanted
    if wanted is None or known is None:
        wanted = max(wanted or 0, len(placed) + len(waiting))
    strategy, surge, unavailable = _strategy(owner, known, wanted)
    return OwnedPods(
        owner,
        namespace,
        wanted,
        tuple(placed),
        tuple(waiting.values()),
        strategy,
        surge,
        unavailable,
        known,
    )


def _find(owner: Owner, namespace: str, controllers: Iterable[Controller]) -> Controller | None:
    for each in controllers:
        if (each.kind, each.namespace, each.name) == (owner.kind, namespace, owner.name):
            return each
    return None


def _strategy(owner: Owner, known: Controller | None, wanted: int) -> tuple[str, int, int]:
    """The kind of strategy, the surge and how many pods may be unavailable."""
    match known:
        case Deployment():
            found = limits(known)
            return known.spec.strategy.type, found.surge, found.unavailable
        case StatefulSet() | DaemonSet():
            return known.spec.update_strategy.type, 0, 1
    if owner.kind == "Deployment":
        # What an API server fills in: a quarter, rounded up for the surge and down for the rest.
        return Strategy().type, -(-wanted // 4), wanted // 4
    return Strategy().type, 0, 1
