"""What a scheduler writes about pods: bindings, failures, nominations, evictions.

Writes about one pod take turns, so that an old failure never lands on a pod that was bound since.
A failure that waits for its turn gives way to a newer one of the same pod, and is dropped when the
pod is bound: who reads the status wants to know how things are. Before a failure is written, the
pod is looked at once more; what is there already is not written again.
"""

import logging
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from podium.client import Clock, DeleteOptions, KubeClient, PatchType, RequestFailed
from podium.client.api_errors import Conflict, NotFound
from podium.client.resources import NODES, PODS
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.timestamps import time_text
from podium.live.keyed_lock import KeyedLock
from podium.live.retrying import with_retries
from podium.live.status_patches import (
    Patch,
    disruption_patch,
    failure_patch,
    nomination_patch,
)
from podium.live.write_metrics import POD_BINDING, POD_STATUS_PATCH, WriteMetrics
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.requests import Evict, PatchStatus

_LOG: Final = logging.getLogger("podium.live")


class PodWrites:
    def __init__(
        self,
        client: KubeClient,
        known: Callable[[str], Pod | None],
        *,
        clock: Clock,
        wall: Callable[[], float],
        randomness: Random,
        metrics: WriteMetrics,
        generations: bool = True,
    ) -> None:
        """`known` is the pod of a key (`namespace/name`) as it was seen last; `generations` is the
        gate PodObservedGenerationTracking."""
        self._client = client
        self._known = known
        self._clock = clock
        self._wall = wall
        self._randomness = randomness
        self._metrics = metrics
        self._generations = generations
        self.turns = KeyedLock()
        """By the UIDs of objects that are written to."""
        self._failures: dict[str, PatchStatus] = {}

    async def bind(self, info: PodInfo, node_name: str) -> None:
        """Raises ApiError and Unreachable; a binding is not tried twice.

        upstream: pkg/scheduler/framework/plugins/defaultbinder/default_binder.go, Bind.
        """
        metadata = info.pod.metadata
        self._failures.pop(info.uid, None)
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {
                "name": metadata.name,
                "namespace": metadata.namespace,
                "uid": metadata.uid,
            },
            "target": {"kind": NODES.kind, "name": node_name},
        }
        async with self.turns.hold(info.uid):
            binding = self._client.create(
                PODS, body, metadata.namespace, name=metadata.name, subresource="binding"
            )
            await self._count(POD_BINDING, binding)

    async def tell_failure(self, request: PatchStatus) -> None:
        """Write why a pod was not scheduled. Never raises for what the server says."""
        uid = request.pod.uid
        self._failures[uid] = _newer(self._failures.get(uid), request)
        async with self.turns.hold(uid):
            latest = self._failures.pop(uid, None)
            if latest is None:
                return
            pod = self._pending(latest.pod)
            if pod is None:
                return
            patch = failure_patch(
                pod,
                latest.reason,
                latest.message,
                latest.nominated_node,
                self._now(),
                generations=self._generations,
                announced=latest.announced,
            )
            await self._try_to_patch(pod, patch, "the reason of a failure")

    async def nominate(self, info: PodInfo, node_name: str) -> None:
        """Write or, with no name, clear a nomination; if it cannot be, life goes on."""
        async with self.turns.hold(info.uid):
            pod = self._pending(info)
            if pod is not None and pod.status.nominated_node_name != node_name:
                await self._try_to_patch(pod, nomination_patch(pod, node_name), "a nomination")

    async def evict(self, eviction: Evict) -> bool:
        """Mark a victim and delete it; whether it was still there.

        Raises ApiError and Unreachable.
        """
        victim = eviction.victim
        pod = self._known(victim.key)
        if pod is None or not victim.is_about(pod):
            pod = victim.pod
        metadata = pod.metadata
        try:
            async with self.turns.hold(victim.uid):
                patch = disruption_patch(
                    pod, eviction.message, self._now(), generations=self._generations
                )
                await self.patch(pod, patch)
                await self._client.delete(
                    PODS, metadata.name, metadata.namespace, DeleteOptions(uid=metadata.uid)
                )
        except NotFound:
            return False
        except Conflict:
            # Conflicts are tried again; what is left is another pod under the same name.
            return False
        return True

    async def patch(self, pod: Pod, patch: Patch) -> None:
        """Raises ApiError and Unreachable, after a few tries."""
        metadata = pod.metadata
        await with_retries(
            lambda: self._client.patch(
                PODS,
                metadata.name,
                patch,
                metadata.namespace,
                kind=PatchType.STRATEGIC,
                subresource="status",
            ),
            self._clock,
            self._randomness,
        )

    async def _try_to_patch(self, pod: Pod, patch: Patch, what: str) -> None:
        try:
            await self._count(POD_STATUS_PATCH, self.patch(pod, patch))
        except NotFound:
            return
        except RequestFailed as problem:
            name = f"{pod.metadata.namespace}/{pod.metadata.name}"
            _LOG.warning("%s of pod %s could not be written: %s", what, name, problem)

    async def _count(self, call_type: str, write: Coroutine[Any, Any, object]) -> None:
        begun, ok = self._clock.now(), False
        try:
            await write
            ok = True
        finally:
            self._metrics.call_ended(call_type, ok=ok, seconds=self._clock.now() - begun)

    def _pending(self, info: PodInfo) -> Pod | None:
        """The pod as it is now, None if there is nothing to say of it any more."""
        pod = self._known(info.key)
        if pod is None or not info.is_about(pod) or pod.spec.node_name:
            return None
        return pod

    def _now(self) -> str:
        return time_text(self._wall())


def _newer(before: PatchStatus | None, request: PatchStatus) -> PatchStatus:
    """A request that also says of the nomination what an unsent one would have said."""
    if before is None:
        return request
    announced = before.announced or request.announced
    if request.nominated_node is not None:
        return replace(request, announced=announced)
    return replace(request, nominated_node=before.nominated_node, announced=announced)
