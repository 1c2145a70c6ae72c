"""Locks on nodes as API writes: taken before a pod is bound, given back when it was not.

After a binding that succeeded the lock is the agent's to remove. A lock that cannot be had stops
the binding: the agent could take the pod for another one.
"""

from itertools import chain
from typing import Final

import msgspec

from podium.addons.gpu.dialects.node_lock import (
    LockHeld,
    NodeLockRule,
    acquire_lock,
    lock_patience,
    lock_pauses,
    read_lock,
)
from podium.addons.gpu.extender.cluster_view import ClusterView
from podium.client import Clock, KubeClient, RequestFailed
from podium.client.api_errors import Conflict, NotFound
from podium.client.resources import NODES
from podium.golang.errors import PodiumError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

MAX_PATIENCE_S: Final = 20.0
"""Schedulers wait for a binding no longer than their `httpTimeout`."""
_MAX_CONFLICTS: Final = 20
_decode_node: Final = msgspec.json.Decoder(Node).decode


class NodeLocked(PodiumError):
    """The lock of a node cannot be had; the text says why."""


class TakenLock(msgspec.Struct, frozen=True):
    """A lock that this pod has. `values` are all that were written for it."""

    node_name: str
    pod: Pod
    values: tuple[str, ...]


class NodeLocks:
    def __init__(self, client: KubeClient, view: ClusterView, clock: Clock) -> None:
        self._client = client
        self._view = view
        self._clock = clock
        self._rule: NodeLockRule | None = view.dialect.lock

    async def take(self, pod: Pod, node_name: str) -> TakenLock | None:
        """None if the dialect has no locks. Raises NodeLocked."""
        rule = self._rule
        if rule is None:
            return None
        values: tuple[str, ...] = ()
        problem = ""
        patience_s = min(lock_patience(rule, pod), MAX_PATIENCE_S)
        for pause_s in chain((0.0,), lock_pauses(rule, patience_s)):
            if pause_s:
                await self._clock.sleep(pause_s)
            try:
                node = _decode_node(await self._client.get(NODES, node_name))
                if node.metadata.annotation(rule.key) in values:  # the answer was lost
                    return TakenLock(node_name, pod, values)
                verdict = acquire_lock(rule, node, pod, self._view.now(), self._exists)
                if isinstance(verdict, LockHeld):
                    problem = verdict.message
                    continue
                if verdict.value is not None:
                    values = (*values, verdict.value)
                    await self._write(rule, node, verdict.value)
                return TakenLock(node_name, pod, values)
            except RequestFailed as failure:
                problem = f"node {node_name} cannot be locked: {failure}"
        if values:
            await self._try_to_give_back(TakenLock(node_name, pod, values))
        raise NodeLocked(problem)

    async def give_back(self, lock: TakenLock | None) -> None:
        """Remove a lock if it is still this pod's. Raises RequestFailed."""
        rule = self._rule
        if rule is None or lock is None:
            return
        for _ in range(_MAX_CONFLICTS):
            try:
                node = _decode_node(await self._client.get(NODES, lock.node_name))
                holder = read_lock(rule, node)
                is_own = holder is not None and holder.is_pod(lock.pod.metadata)
                if is_own or node.metadata.annotation(rule.key) in lock.values:
                    await self._write(rule, node, None)
            except NotFound:
                return
            except Conflict:
                continue
            return

    async def _try_to_give_back(self, lock: TakenLock) -> None:
        try:
            await self.give_back(lock)
        except RequestFailed:
            return  # it expires

    async def _write(self, rule: NodeLockRule, node: Node, value: str | None) -> None:
        metadata = {
            "resourceVersion": node.metadata.resource_version,
            "annotations": {rule.key: value},
        }
        await self._client.patch(NODES, node.name, {"metadata": metadata})

    def _exists(self, namespace: str, name: str) -> bool:
        return self._view.ledger.find_pod(namespace, name) is not None
