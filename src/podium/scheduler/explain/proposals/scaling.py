"""Fewer pods of the workload: as many as have a node."""

from collections.abc import Iterator

from podium.scheduler.explain.proposals.proposal import Step
from podium.scheduler.explain.proposals.situation import SearchSituation
from podium.scheduler.framework.explanations import disturbance

_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController"})


def propose_fewer_replicas(situation: SearchSituation) -> Iterator[Step]:
    """Pods that wait go first when a workload is scaled down, so those that have a node stay."""
    workload = situation.workload
    if workload is None or not workload.placed:
        return
    left = len(workload.placed)
    if workload.owner.kind == "StatefulSet":
        # The last ordinals go, whether they wait or not.
        first = {f"{workload.owner.name}-{at}" for at in range(left)}
        if {pod.name for pod in workload.placed} != first:
            return
    elif workload.owner.kind not in _SCALED:
        return
    yield Step(
        "scale-down",
        f"scale {workload.target} from {workload.wanted} to {left}, the pods that have a node",
        disturbance.SCALE_DOWN,
        situation.hypothesis.but_with(replicas=left),
    )
