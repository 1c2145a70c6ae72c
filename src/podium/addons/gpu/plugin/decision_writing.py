"""What is written for a decision: on the pod, and on the node that is locked meanwhile.

The lock is removed by the node's agent when it has served the pod, and by nobody else unless the
pod is not bound after all.
"""

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Final, assert_never

from podium.addons.gpu.dialects.dialect import Dialect, PodWrite, has_write, merge_patch_of
from podium.addons.gpu.dialects.node_lock import (
    LockGranted,
    LockHeld,
    NodeLockRule,
    acquire_lock,
    lock_patience,
    lock_pauses,
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


async def write_on_pod(
    api: ApiHandle, pod: Pod, write: PodWrite, *, any_version: bool = False
) -> None:
    """Another pod of that name is a conflict; so is another version, unless any will do."""
    if write.annotations or write.labels:
        patch = merge_patch_of(write, pod.metadata, any_version=any_version)
        await api.patch(Pod, pod.name, patch, pod.namespace)


async def lock_node(
    api: ApiHandle,
    rule: NodeLockRule,
    node_name: str,
    pod: Pod,
    clock: Callable[[], float],
    pod_exists: Callable[[str, str], bool],
) -> str | Status:
    """Take the node's lock for a pod: its value, or why it cannot be had after several tries."""
    refused = f"node {node_name} could not be locked"
    for pause_s in chain((0.0,), lock_pauses(rule, lock_patience(rule, pod))):
        if pause_s:
            await api.pause(pause_s)
        node = await api.get(Node, node_name)
        answer = acquire_lock(rule, node, pod, clock(), pod_exists)
        match answer:
            case LockGranted():
                if answer.value is None:
                    return node.metadata.annotation(rule.key)
                try:
                    await _annotate(api, node, {rule.key: answer.value})
                except ObjectConflict:
                    continue
                return answer.value
            case LockHeld():
                refused = answer.message
            case _:
                assert_never(answer)
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
        self, dialect: Dialect, pod: Pod, node_name: str, written: PodWrite | None, lock: str
    ) -> None:
        self.dialect = dialect
        self.pod = pod
        self.node_name = node_name
        self.written = written
        self.lock = lock

    async def carry_out(self, api: ApiHandle) -> None:
        for attempt in range(MAX_CONFLICTS):
            try:
                if self.written is not None:
                    await self._clear(api, self.written)
                    self.written = None
                if self.lock:
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
        if has_write(pod, written):
            await write_on_pod(api, pod, self.dialect.clear_decision(pod))

    async def _unlock(self, api: ApiHandle) -> None:
        rule = self.dialect.lock
        if rule is None:
            return
        node = await api.get(Node, self.node_name)
        if node.metadata.annotation(rule.key) == self.lock:  # nobody else's by now
            await _annotate(api, node, {rule.key: None})
