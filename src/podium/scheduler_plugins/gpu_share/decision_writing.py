"""What is written for a decision: on the pod, and on the node that is locked meanwhile.

The lock is removed by the node's agent when it has served the pod, and by nobody else unless the
pod is not bound after all.
"""

from collections.abc import Callable, Mapping
from typing import Final

from podium.gpu.dialects.dialect import Dialect, PodWrite
from podium.gpu.dialects.node_lock import (
    LockGranted,
    LockHeld,
    NodeLockRule,
    acquire_lock,
    may_release_lock,
)
from podium.plugin import (
    ApiHandle,
    DeferredWrite,
    Node,
    ObjectConflict,
    ObjectNotFound,
    Pod,
    Status,
    error,
)

MAX_CONFLICTS: Final = 5

Metadata = dict[str, object]


async def write_on_pod(api: ApiHandle, pod: Pod, write: PodWrite, *, version: str = "") -> None:
    """Another pod of that name, or one that is not of this version any more, is a conflict."""
    metadata: Metadata = {}
    if write.annotations:
        metadata["annotations"] = dict(write.annotations)
    if write.labels:
        metadata["labels"] = dict(write.labels)
    if not metadata:
        return
    if pod.metadata.uid:
        metadata["uid"] = pod.metadata.uid
    if version:
        metadata["resourceVersion"] = version
    await api.patch(Pod, pod.name, {"metadata": metadata}, pod.namespace)  # type: ignore[dict-item]


async def lock_node(
    api: ApiHandle,
    rule: NodeLockRule,
    node_name: str,
    pod: Pod,
    clock: Callable[[], float],
    pod_exists: Callable[[str, str], bool],
) -> Status | None:
    """Take the node's lock for a pod; why it cannot be had if that fails several times."""
    refused = f"node {node_name} could not be locked"
    pause_s = rule.backoff_s
    for attempt in range(rule.tries):
        if attempt:
            await api.pause(pause_s)
            pause_s *= rule.backoff_factor
        node = await api.get(Node, node_name)
        answer = acquire_lock(rule, node, pod, clock(), pod_exists)
        match answer:
            case LockGranted(value=None):
                return None
            case LockGranted(value=value):
                try:
                    await _annotate(api, node, {rule.key: value})
                except ObjectConflict:
                    continue
                return None
            case LockHeld():
                refused = answer.message
    return error(refused)


async def _annotate(api: ApiHandle, node: Node, annotations: Mapping[str, str | None]) -> None:
    metadata: Metadata = {"annotations": dict(annotations)}
    if node.metadata.resource_version:
        metadata["resourceVersion"] = node.metadata.resource_version
    await api.patch(Node, node.name, {"metadata": metadata})  # type: ignore[dict-item]


class TakeBack(DeferredWrite):
    """Remove a decision from a pod that was not bound, unless it is bound after all or carries
    another decision by now; and unlock the node."""

    def __init__(
        self, dialect: Dialect, pod: Pod, node_name: str, written: PodWrite | None, *, locked: bool
    ) -> None:
        self.dialect = dialect
        self.pod = pod
        self.node_name = node_name
        self.written = written
        self.locked = locked

    async def carry_out(self, api: ApiHandle) -> None:
        for attempt in range(MAX_CONFLICTS):
            try:
                if self.written is not None:
                    await self._clear(api, self.written)
                    self.written = None
                if self.locked:
                    await self._unlock(api)
            except ObjectConflict:
                if attempt < MAX_CONFLICTS - 1:
                    continue
                raise
            except ObjectNotFound:
                pass  # gone, and what was written with it
            return

    async def _clear(self, api: ApiHandle, written: PodWrite) -> None:
        try:
            pod = await api.get(Pod, self.pod.name, self.pod.namespace)
        except ObjectNotFound:
            return
        if pod.metadata.uid != self.pod.metadata.uid or pod.spec.node_name:
            return
        if not _carries(pod.metadata.annotations, written.annotations):
            return
        clear = self.dialect.clear_decision(pod)
        await write_on_pod(api, pod, clear, version=pod.metadata.resource_version)

    async def _unlock(self, api: ApiHandle) -> None:
        rule = self.dialect.lock
        if rule is None:
            return
        node = await api.get(Node, self.node_name)
        if may_release_lock(rule, node, self.pod):
            await _annotate(api, node, {rule.key: None})


def _carries(there: Mapping[str, str] | None, written: Mapping[str, str | None]) -> bool:
    return all((there or {}).get(key) == value for key, value in written.items())
