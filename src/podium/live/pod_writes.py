"""What a scheduler writes about pods and pod groups, in order for each object.

Writes about one pod take turns, so that an old failure never lands on a pod that was bound since.
A failure that waits for its turn gives way to a newer one of the same pod, and is dropped when the
pod is bound: who reads the status wants to know how things are. Before a failure is written, the
pod is looked at once more; what is there already is not written again.

Writes about pod groups: how their last attempt went, in order. An attempt compares with the group
as the watch has shown it last, which may be older than what is on its way. So one group's writes
wait for each other, and each is compared once more with the one before it: a group that was
scheduled never becomes unschedulable again because a write was slow.

The patches that a scheduler writes into the status of pods, as values. All are strategic merge
patches that carry the pod's UID, so that a pod of the same name that has taken its place is not
written to. A condition's time of transition moves only with its status (`pkg/api/v1/pod/util.go`,
`UpdatePodCondition`). `generations` is the gate PodObservedGenerationTracking: whether a condition
tells which generation of the pod it is about; one that does goes on doing so.

A lock for each key: writes about one object happen one after the other, in order of asking.

Trying a small write again when the server only stumbled. Four tries, the pauses 10 ms and then five
times as long each; for what may pass by itself alone: internal errors, a server that is unavailable
or refuses the connection, a conflict.

Source: `PatchPodStatus` and `Retriable` in `pkg/scheduler/util/utils.go`.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from podium.client import Clock, DeleteOptions, KubeClient, PatchType, RequestFailed, Unreachable
from podium.client.api_errors import AlreadyExists, ApiError, Conflict, NotFound
from podium.client.resources import NODES, POD_GROUPS, PODS
from podium.kubernetes.kinds.pod import POD_SCHEDULED, Pod
from podium.kubernetes.kinds.pod_groups import PodGroupCondition
from podium.kubernetes.rules.timestamps import time_text
from podium.live.metered_transport import POD_BINDING, POD_STATUS_PATCH, WriteMetrics
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.pod_groups.group_cycle import is_news
from podium.scheduler.engine.requests import Evict, PatchPodGroupStatus, PatchStatus

MAX_REMEMBERED: Final = 4096
"""Groups whose last write is known; for one that is forgotten the watch has long caught up."""
_LOG: Final = logging.getLogger("podium.live")


class PodGroupWrites:
    def __init__(self, client: KubeClient, wall: Callable[[], float]) -> None:
        self._client = client
        self._wall = wall
        self._lock = KeyedLock()
        self._written: OrderedDict[str, PodGroupCondition] = OrderedDict()

    async def tell(self, request: PatchPodGroupStatus) -> None:
        uid = request.group.metadata.uid
        async with self._lock.hold(uid):
            if not is_news(self._written.get(uid), request.condition):
                return
            try:
                await self._patch(request)
            except RequestFailed as problem:
                _LOG.warning("the status of pod group %s: %s", request.group.key, problem)
            else:
                self._remember(uid, request.condition)

    async def _patch(self, request: PatchPodGroupStatus) -> None:
        metadata = request.group.metadata
        now = time_text(self._wall())
        condition = msgspec.structs.replace(request.condition, last_transition_time=now)
        patch = {
            "metadata": {"uid": metadata.uid},
            "status": {"conditions": [msgspec.to_builtins(condition)]},
        }
        await self._client.patch(
            POD_GROUPS,
            metadata.name,
            patch,
            metadata.namespace,
            kind=PatchType.STRATEGIC,
            subresource="status",
        )

    def _remember(self, uid: str, condition: PodGroupCondition) -> None:
        self._written[uid] = condition
        self._written.move_to_end(uid)
        if len(self._written) > MAX_REMEMBERED:
            self._written.popitem(last=False)


DISRUPTION_TARGET: Final = "DisruptionTarget"
PREEMPTED: Final = "PreemptionByScheduler"

Patch = dict[str, Any]


def failure_patch(
    pod: Pod,
    reason: str,
    message: str,
    nominated_node: str | None,
    now: str,
    *,
    generations: bool = True,
    announced: bool = False,
) -> Patch:
    """Why a pod is not scheduled; `nominated_node` None says nothing of a nomination. One that was
    `announced` may not show in the pod yet."""
    condition = _condition(
        pod, POD_SCHEDULED, "False", reason, message, now, generations=generations
    )
    status: Patch = {"conditions": [condition]}
    shown = pod.status.nominated_node_name
    if nominated_node is not None and (announced or nominated_node != shown):
        status["nominatedNodeName"] = nominated_node or None
    return _patch(pod, status)


def nomination_patch(pod: Pod, node_name: str) -> Patch:
    return _patch(pod, {"nominatedNodeName": node_name or None})


def disruption_patch(victim: Pod, message: str, now: str, *, generations: bool = True) -> Patch:
    condition = _condition(
        victim, DISRUPTION_TARGET, "True", PREEMPTED, message, now, generations=generations
    )
    return _patch(victim, {"conditions": [condition]})


def _patch(pod: Pod, status: Patch) -> Patch:
    return {"metadata": {"uid": pod.metadata.uid}, "status": status}


def _condition(
    pod: Pod, kind: str, status: str, reason: str, message: str, now: str, *, generations: bool
) -> Patch:
    held = next((each for each in pod.status.conditions or () if each.type == kind), None)
    kept = held is not None and held.status == status and held.last_transition_time
    condition: Patch = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": kept or now,
    }
    if pod.metadata.generation and (generations or (held and held.observed_generation)):
        condition["observedGeneration"] = pod.metadata.generation
    return condition


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
            pod = self._find_pending_pod(latest.pod)
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
            pod = self._find_pending_pod(info)
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

    def _find_pending_pod(self, info: PodInfo) -> Pod | None:
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


class KeyedLock:
    """Locks by key that exist for as long as somebody holds or wants them."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    def __len__(self) -> int:
        return len(self._locks)

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        lock, users = self._locks.get(key) or (asyncio.Lock(), 0)
        self._locks[key] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks[key]
            if users == 1:
                del self._locks[key]
            else:
                self._locks[key] = (lock, users - 1)


T = TypeVar("T")

_TRIES: Final = 4
_FIRST_S: Final = 0.01
_FACTOR: Final = 5.0
_JITTER: Final = 0.1
_PASSING: Final = ("InternalError", "ServiceUnavailable")


async def with_retries(write: Callable[[], Awaitable[T]], clock: Clock, randomness: Random) -> T:
    """What the write gives; raises what its last try raised."""
    pause_s = _FIRST_S
    for _ in range(_TRIES - 1):
        try:
            return await write()
        except RequestFailed as problem:
            if not _may_pass(problem):
                raise
        await clock.sleep(pause_s * (1 + _JITTER * randomness.random()))
        pause_s *= _FACTOR
    return await write()


def _may_pass(problem: RequestFailed) -> bool:
    if isinstance(problem, Unreachable):
        return problem.refused
    if isinstance(problem, Conflict):
        return not isinstance(problem, AlreadyExists)
    return isinstance(problem, ApiError) and problem.reason in _PASSING
