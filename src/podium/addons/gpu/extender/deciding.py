"""A decision on its way: reserved, written, bound if that is asked for, or taken back.

What cannot be taken back because the server does not answer is a *doubt*: its cards stay reserved
until `housekeeping` could ask what became of it.
"""

import contextlib
import logging
from typing import Final

from msgspec import Struct

from podium.addons.gpu.cards.card import Reason
from podium.addons.gpu.cards.choosing import check_row
from podium.addons.gpu.cards.ledger import Reservation
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.extender.cluster_view import ClusterView, PodChanged
from podium.addons.gpu.extender.decision_writing import (
    DecisionWriter,
    NodeLocked,
    NodeLocks,
    TakenLock,
)
from podium.client import Clock, KubeClient, RequestFailed
from podium.kubernetes.kinds.pod import Pod

_LOG: Final = logging.getLogger("podium.addons.extenders")
FAILURES: Final = (RequestFailed, PodChanged, NodeLocked)


class Doubt(Struct, frozen=True):
    reservation: Reservation
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
            left = self.view.resource_quotas.left(ledger, pod.namespace, uid)
            return check_row(ledger.table, row, request, left)

    def reserve(
        self, pod: Pod, request: PodRequest, node_name: str, now: float
    ) -> Reservation | Reason:
        """Cards of the node, if quota and cards allow it: nobody has a turn in between."""
        view = self.view
        allowed = view.quotas.allowed(
            view.ledger, pod.namespace, pod.metadata.uid, request, (node_name,)
        )
        if allowed is not None and not allowed[0]:
            return Reason.QUOTA_EXCEEDED
        left = view.resource_quotas.left(view.ledger, pod.namespace, pod.metadata.uid)
        return view.ledger.reserve(pod, request, node_name, now, left)

    async def write(self, reservation: Reservation) -> None:
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

    async def bind(self, reservation: Reservation, lock: TakenLock | None = None) -> None:
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

    def _end(self, reservation: Reservation) -> None:
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
