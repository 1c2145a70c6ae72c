"""Pods that share what they have in common.

A cluster of 300,000 pods has a few thousand templates. Every pod that is read brings containers,
labels and tolerations of its own that equal those of thousands of others, and holding them all
takes several times the memory of what differs. So a pod is given the parts of the first pod of its
shape in place of its own equal ones, and what several shapes share (conditions, volumes that nobody
reads) is found by value. Pods are values that never change, so nobody can tell.
"""

from collections.abc import Hashable
from typing import TypeVar

from msgspec.structs import replace

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Container, Pod, PodSpec, PodStatus

MAX_VALUES = 65_536

T = TypeVar("T", bound=Hashable)


class Values:
    """One object for each value; forgets all of them when they become too many."""

    def __init__(self, most: int = MAX_VALUES) -> None:
        self._known: dict[object, object] = {}
        self._most = most

    def one(self, value: T) -> T:
        if len(self._known) >= self._most:
            self._known.clear()
        return self._known.setdefault(value, value)  # type: ignore[return-value]


class Compaction:
    def __init__(self) -> None:
        self._values = Values()

    def compacted(self, pod: Pod, like: Pod) -> Pod:
        """The same pod, with parts of one that has the same shape."""
        if pod.spec.containers is like.spec.containers:
            return pod
        return Pod(
            metadata=self._metadata(pod.metadata, like.metadata),
            spec=self._spec(pod.spec, like.spec),
            status=self._status(pod.status, like.status),
        )

    def _metadata(self, own: ObjectMeta, like: ObjectMeta) -> ObjectMeta:
        same = own.annotations == like.annotations
        return replace(
            own,
            namespace=like.namespace,
            labels=like.labels,
            annotations=like.annotations if same else own.annotations,
            owner_references=like.owner_references,
        )

    def _spec(self, own: PodSpec, like: PodSpec) -> PodSpec:
        one = self._values.one
        return replace(
            own,
            node_name=own.node_name and one(own.node_name),
            scheduler_name=like.scheduler_name,
            priority_class_name=own.priority_class_name and one(own.priority_class_name),
            node_selector=like.node_selector,
            affinity=like.affinity,
            tolerations=like.tolerations,
            topology_spread_constraints=like.topology_spread_constraints,
            containers=_same(own.containers, like.containers),
            init_containers=_same(own.init_containers, like.init_containers),
            overhead=like.overhead,
            resources=like.resources,
            volumes=like.volumes if own.volumes == like.volumes else own.volumes,
        )

    def _status(self, own: PodStatus, like: PodStatus) -> PodStatus:
        one = self._values.one
        conditions = own.conditions
        if conditions:
            conditions = one(tuple([one(condition) for condition in conditions]))
        same = own.container_statuses == like.container_statuses
        return replace(
            own,
            phase=one(own.phase),
            start_time=own.start_time and one(own.start_time),
            conditions=conditions,
            container_statuses=like.container_statuses if same else own.container_statuses,
        )


def _same(
    own: tuple[Container, ...] | None, like: tuple[Container, ...] | None
) -> tuple[Container, ...] | None:
    """The other's containers, equal to these but for environments; these if those differ."""
    if own is None:
        return like
    for mine, others in zip(own, like or (), strict=True):
        if mine.env != others.env:
            return own
    return like
