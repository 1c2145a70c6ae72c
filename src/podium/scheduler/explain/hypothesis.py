"""A cluster that differs from the real one in a few things, as data.

A hypothesis is what a trial supposes and what a proposal would bring about: the pod as it would be,
nodes and other objects as they would be, pods that would be gone or elsewhere. It changes nothing
by itself. Contract: hypotheses are added to, never changed, and applying one to the same cluster
always gives the same cluster.
"""

from dataclasses import dataclass, replace
from typing import TypeVar

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

K = TypeVar("K", bound=KubeObject)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """`pod` is the one that the question is about. `nodes` and `objects` are put in place of those
    with the same names, or are new. `removed` are pods on nodes that would be gone for good,
    `moved` those that would have to find another node, `preempted` those that the scheduler itself
    would evict for this pod. `replicas` is to how many its workload is scaled."""

    pod: Pod
    nodes: tuple[Node, ...] = ()
    objects: tuple[KubeObject, ...] = ()
    removed: tuple[Pod, ...] = ()
    moved: tuple[Pod, ...] = ()
    preempted: tuple[Pod, ...] = ()
    replicas: int | None = None

    def but_with(
        self,
        *,
        pod: Pod | None = None,
        nodes: tuple[Node, ...] = (),
        objects: tuple[KubeObject, ...] = (),
        removed: tuple[Pod, ...] = (),
        moved: tuple[Pod, ...] = (),
        preempted: tuple[Pod, ...] = (),
        replicas: int | None = None,
    ) -> "Hypothesis":
        """The same and more; what is put again replaces what was put before."""
        return replace(
            self,
            pod=self.pod if pod is None else pod,
            nodes=_put(self.nodes, nodes),
            objects=_put(self.objects, objects),
            removed=(*self.removed, *removed),
            moved=(*self.moved, *moved),
            preempted=(*self.preempted, *preempted),
            replicas=self.replicas if replicas is None else replicas,
        )

    @property
    def touches_others(self) -> bool:
        """Whether anything but the pod itself would be different, so that other pods that wait may
        profit as well."""
        return bool(self.nodes or self.objects or self.removed or self.moved)


def _put(there: tuple[K, ...], more: tuple[K, ...]) -> tuple[K, ...]:
    identities = {(obj.kind, obj.namespace, obj.name) for obj in more}
    kept = (obj for obj in there if (obj.kind, obj.namespace, obj.name) not in identities)
    return (*kept, *more)
