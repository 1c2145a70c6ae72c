"""A decision on its way: reserved, written with locks and bindings, and taken back.

What cannot be taken back because the server does not answer is a *doubt*: its cards stay reserved
until `housekeeping` could ask what became of it.

Decisions, bindings and locks as writes to the API server, and how they are taken back. Every write
carries the version of the pod that it was made for. A decision can therefore not land on a pod that
somebody bound meanwhile, a binding lands only on the decision that it belongs to, and once a
decision was taken back no late binding can follow it. What the server answers goes into the ledger
at once, without waiting for the watch.

Locks on nodes as API writes: taken before a pod is bound, given back when it was not. After a
binding that succeeded the lock is the agent's to remove. A lock that cannot be had stops the
binding: the agent could take the pod for another one.
"""

import contextlib
import logging
from collections.abc import Awaitable, Callable
from itertools import chain
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from podium.addons.gpu.cards.card import Reason
from podium.addons.gpu.cards.choosing import check_row
from podium.addons.gpu.cards.ledger import LedgerReservation
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import (
    PodWrite,
    has_write,
    merge_patch_of,
    merge_writes,
    written_pod,
)
from podium.addons.gpu.dialects.node_lock import (
    LockHeld,
    NodeLockRule,
    acquire_lock,
    lock_patience,
    lock_pauses,
    read_lock,
)
from podium.addons.gpu.extender.cluster_view import ClusterView, PodChanged
from podium.client import Clock, KubeClient, RequestFailed, Unreachable
from podium.client.api_errors import Conflict, NotFound, ServerTrouble, TooManyRequests
from podium.client.resources import NODES, PODS
from podium.golang.errors import PodiumError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

RETRY_S: Final = 10.0
"""For how long a write is tried that a conflict or a server in trouble keeps away."""
_PAUSE_S: Final = 1.0
_PAUSE_AFTER_CONFLICT_S: Final = 0.05
_PASSING: Final = (Conflict, ServerTrouble, TooManyRequests, Unreachable)
_MAX_CONFLICTS: Final = 20

T = TypeVar("T")
_decode_pod: Final = msgspec.json.Decoder(Pod).decode


class WrittenPod(NamedTuple):
    """A pod as the server has it after a decision was written, and what was written."""

    pod: Pod
    write: PodWrite


class DecisionWriter:
    def __init__(self, client: KubeClient, view: ClusterView, clock: Clock) -> None:
        self._client = client
        self._view = view
        self._clock = clock

    async def identify(self, namespace: str, name: str, uid: str) -> Pod:
        """The pod that a request speaks of. Raises PodChanged if its namespace, name and UID are
        not of one pod, whatever the server still has to be asked for, and RequestFailed. What a
        caller says of a pod changes nothing of what is known."""
        if not uid:
            raise PodChanged(f"the request names no UID of pod {namespace}/{name}")
        self._view.require_own_uid(namespace, name, uid)
        return self._view.ledger.pod(uid) or await self.read(namespace, name, uid)

    async def read(self, namespace: str, name: str, uid: str) -> Pod:
        """The pod as it is now. Raises PodChanged if it is gone, and RequestFailed."""
        try:
            answer = await self._client.get(PODS, name, namespace)
        except NotFound:
            self._forget(namespace, name, uid)
            raise PodChanged(f"pod {namespace}/{name} is gone") from None
        pod = _decode_pod(answer)
        if pod.metadata.uid != uid:
            self._forget(namespace, name, uid)
            raise PodChanged(f"pod {namespace}/{name} is another one now")
        self._view.ledger.put_pod(pod, self._view.now(), seen=False)
        return pod

    def _forget(self, namespace: str, name: str, uid: str) -> None:
        """A name without its pod proves that the pod is gone only if the pod had that name: a
        caller may have sent the UID of another one."""
        known = self._view.ledger.pod(uid)
        if known is not None and known.metadata.key == (namespace, name):
            self._view.ledger.delete_pod(uid, self._view.now())

    async def write(self, reservation: LedgerReservation) -> WrittenPod:
        """Let the pod carry the decision. Raises PodChanged and RequestFailed; after the latter
        nobody knows whether it does."""
        pod = reservation.pod

        async def attempt(*, again: bool) -> WrittenPod:
            nonlocal pod
            if again:
                pod = await self._read_unbound(pod)
            write = self._decision(pod, reservation)
            return WrittenPod(await self.patch(pod, write), write)

        return await self._retry(attempt)

    async def bind(self, written: WrittenPod, node_name: str) -> None:
        """Create the Binding of a pod that carries its decision. Raises PodChanged and
        RequestFailed; after the latter nobody knows whether it is bound."""
        pod = written.pod

        async def attempt(*, again: bool) -> None:
            nonlocal pod
            if again:
                pod = await self.read(*pod.metadata.key, pod.metadata.uid)
                if pod.spec.node_name == node_name:
                    return
                _require_unbound(pod)
                if not has_write(pod, written.write):
                    raise PodChanged(f"the decision on pod {_name(pod)} was changed")
            await self._create_binding(pod, node_name)

        await self._retry(attempt)
        self._view.ledger.bind_pod(pod.metadata.uid, node_name, self._view.now())

    async def patch(self, pod: Pod, write: PodWrite) -> Pod:
        """One merge patch, of this version only. Raises RequestFailed, Conflict among it."""
        try:
            answer = await self._client.patch(
                PODS, pod.name, merge_patch_of(write, pod.metadata), pod.namespace
            )
        except NotFound:
            self._view.ledger.delete_pod(pod.metadata.uid, self._view.now())
            raise PodChanged(f"pod {_name(pod)} is gone") from None
        patched = _decode_pod(answer)
        self._view.ledger.put_pod(patched, self._view.now(), seen=False)
        return patched

    async def take_back(self, reservation: LedgerReservation, *, doubtful: bool) -> bool:
        """Remove a decision whose pod was not bound, and release its cards. Whether the pod was
        bound after all. `doubtful`: a write of it may still be on its way. Raises RequestFailed if
        nobody can tell; the cards stay reserved then."""
        ledger, uid = self._view.ledger, reservation.uid
        for _ in range(_MAX_CONFLICTS):
            try:
                pod = await self.read(*reservation.pod.metadata.key, uid)
                if pod.spec.node_name:
                    break
                write = self._view.dialect.clear_decision(pod)
                if write.annotations or write.labels:
                    await self.patch(pod, write)
                    doubtful = False  # whatever is on its way was for an older version
            except PodChanged:
                ledger.release(uid, self._view.now())
                return False
            except Conflict:
                await self._clock.sleep(_PAUSE_AFTER_CONFLICT_S)
                continue
            if doubtful:
                ledger.settle(uid, self._view.now())
            else:
                ledger.release(uid, self._view.now())
            return False
        else:
            raise Unreachable(f"pod {_name(reservation.pod)} changes all the time")
        if pod.spec.node_name == reservation.node_name:
            ledger.settle(uid, self._view.now())
            return True
        ledger.release(uid, self._view.now())
        return False

    async def clear(self, pod: Pod) -> None:
        """Remove a decision that counts no longer, unless the pod has changed meanwhile. Raises
        RequestFailed and PodChanged."""
        write = self._view.dialect.clear_decision(pod)
        if write.annotations or write.labels:
            await self.patch(pod, write)

    async def bind_plainly(self, pod: Pod, node_name: str) -> None:
        """The Binding of a pod that asks for no card, which is tried once. Raises RequestFailed,
        also for a node that is not there: the server would take the binding all the same."""
        if node_name not in self._view.ledger.nodes:
            await self._client.get(NODES, node_name)
        await self._create_binding(pod, node_name, of_this_version=False)

    def _decision(self, pod: Pod, reservation: LedgerReservation) -> PodWrite:
        dialect, now = self._view.dialect, self._view.now()
        cleared = dialect.clear_decision(pod)
        decision = dialect.write_decision(
            pod, reservation.node_name, reservation.node, reservation.allocation, now
        )
        decision = merge_writes(cleared, decision)
        binding = dialect.write_binding(written_pod(pod, decision), now)
        return merge_writes(decision, binding)

    async def _create_binding(
        self, pod: Pod, node_name: str, *, of_this_version: bool = True
    ) -> None:
        metadata = {"name": pod.name, "namespace": pod.namespace, "uid": pod.metadata.uid}
        if of_this_version:
            metadata["resourceVersion"] = pod.metadata.resource_version
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": metadata,
            "target": {"kind": NODES.kind, "name": node_name},
        }
        await self._client.create(PODS, body, pod.namespace, name=pod.name, subresource="binding")

    async def _read_unbound(self, pod: Pod) -> Pod:
        fresh = await self.read(*pod.metadata.key, pod.metadata.uid)
        _require_unbound(fresh)
        return fresh

    async def _retry(self, attempt: Callable[..., Awaitable[T]]) -> T:
        """What the attempt comes to; raises what it raised last, at the latest after a while."""
        give_up_at = self._clock.now() + RETRY_S
        again = False
        while True:
            try:
                return await attempt(again=again)
            except _PASSING as problem:
                pause_s = _PAUSE_S
                if isinstance(problem, Conflict):
                    pause_s = _PAUSE_AFTER_CONFLICT_S
                if self._clock.now() + pause_s > give_up_at:
                    raise
            again = True
            await self._clock.sleep(pause_s)


def _require_unbound(pod: Pod) -> None:
    if pod.spec.node_name:
        raise PodChanged(f"pod {_name(pod)} is bound to node {pod.spec.node_name}")
    if pod.metadata.is_terminating:
        raise PodChanged(f"pod {_name(pod)} is being deleted")


def _name(pod: Pod) -> str:
    return f"{pod.namespace}/{pod.name}"


MAX_PATIENCE_S: Final = 20.0
"""Schedulers wait for a binding no longer than their `httpTimeout`."""
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


_LOG: Final = logging.getLogger("podium.addons.extenders")
FAILURES: Final = (RequestFailed, PodChanged, NodeLocked)


class Doubt(Struct, frozen=True):
    reservation: LedgerReservation
    lock: TakenLock | None


class Decider:
    def __init__(self, client: KubeClient, view: ClusterView, clock: Clock) -> None:
        self.view = view
        self.writer = DecisionWriter(client, view, clock)
        self.doubts: dict[str, Doubt] = {}
        self._locks = NodeLocks(client, view, clock)

    def check(self, pod: Pod, request: PodRequest, node_name: str) -> Reason | None:
        """Why the pod does not fit the node as its cards are now; None if it does."""
        ledger, uid = self.view.ledger, pod.metadata.uid
        row = ledger.row(node_name)
        if row is None:
            return Reason.NO_CARDS
        with ledger.without(uid):
            left = self.view.resource_quotas.compute_quota_left(ledger, pod.namespace, uid)
            return check_row(ledger.table, row, request, left)

    def reserve(
        self, pod: Pod, request: PodRequest, node_name: str, now: float
    ) -> LedgerReservation | Reason:
        """Cards of the node, if quota and cards allow it: nobody has a turn in between."""
        view = self.view
        allowed = view.quotas.find_allowed_nodes(
            view.ledger, pod.namespace, pod.metadata.uid, request, (node_name,)
        )
        if allowed is not None and not allowed[0]:
            return Reason.QUOTA_EXCEEDED
        left = view.resource_quotas.compute_quota_left(view.ledger, pod.namespace, pod.metadata.uid)
        return view.ledger.reserve(pod, request, node_name, now, left)

    async def write(self, reservation: LedgerReservation) -> None:
        """Let the pod carry the decision, for somebody else to bind it. Raises FAILURES, with
        nothing held any more."""
        try:
            await self.writer.write(reservation)
        except FAILURES as problem:
            if not await self._undo(Doubt(reservation, None), problem):
                raise
        except BaseException:
            self._doubt(Doubt(reservation, None))
            raise
        self._end(reservation)

    async def lock(self, pod: Pod, node_name: str) -> TakenLock | None:
        """The lock of a node whose agent chooses cards itself: it chooses by what it has given out,
        so nobody decides while another pod is being bound. None if there is no such lock. Raises
        NodeLocked."""
        if not self.view.dialect.chooses_shared_card:
            return None
        return await self._locks.take(pod, node_name)

    async def unlock(self, lock: TakenLock | None) -> None:
        """Nobody is bound under it. One that cannot be given back expires."""
        with contextlib.suppress(RequestFailed):
            await self._locks.give_back(lock)

    async def bind(self, reservation: LedgerReservation, lock: TakenLock | None = None) -> None:
        """Let the pod carry the decision and bind it, under a lock if the dialect has some. Raises
        FAILURES, with nothing held any more."""
        try:
            if lock is None:
                lock = await self._locks.take(reservation.pod, reservation.node_name)
            written = await self.writer.write(reservation)
            await self.writer.bind(written, reservation.node_name)
        except FAILURES as problem:
            if not await self._undo(Doubt(reservation, lock), problem):
                raise
        except BaseException:
            self._doubt(Doubt(reservation, lock))
            raise
        self._end(reservation)

    async def read_settled(self, pod: Pod) -> Pod:
        """The newest version of a pod, once nothing of an earlier decision about it is in doubt.
        Raises RequestFailed, and PodChanged if it is gone."""
        uid = pod.metadata.uid
        doubt = self.doubts.get(uid)
        if doubt is None:
            return self.view.ledger.pod(uid) or pod
        await self.clear_up(doubt)
        return await self.writer.read(*pod.metadata.key, uid)

    async def clear_up(self, doubt: Doubt) -> None:
        """Find out what became of a decision, and take it back if nothing did. Raises
        RequestFailed if the server still does not say."""
        uid = doubt.reservation.uid
        is_reserved = self.view.ledger.reservations.get(uid) == doubt.reservation
        is_bound = is_reserved and await self.writer.take_back(doubt.reservation, doubtful=True)
        if not is_bound:
            await self._locks.give_back(doubt.lock)
        self.doubts.pop(uid, None)

    def _end(self, reservation: LedgerReservation) -> None:
        self.doubts.pop(reservation.uid, None)
        self.view.ledger.settle(reservation.uid, self.view.now())

    async def _undo(self, doubt: Doubt, problem: Exception) -> bool:
        """Take back what was begun; whether the pod was bound after all."""
        try:
            doubtful = isinstance(problem, RequestFailed)
            if await self.writer.take_back(doubt.reservation, doubtful=doubtful):
                return True
            await self._locks.give_back(doubt.lock)
        except RequestFailed as failure:
            pod = doubt.reservation.pod
            _LOG.warning(
                "pod %s/%s: what became of its decision is not known: %s",
                *(pod.namespace, pod.name, failure),
            )
            self._doubt(doubt)
        return False

    def _doubt(self, doubt: Doubt) -> None:
        self.doubts[doubt.reservation.uid] = doubt
