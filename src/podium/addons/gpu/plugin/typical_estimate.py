"""Typical pods of a cluster: estimated from the pods that the scheduler knows, running and waiting.

The estimate is made anew when as many pods, or cards, as are 5 % of all came or went since it was
made, so that scores can be remembered in between.
"""

from collections.abc import Callable
from typing import Final

from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.packing.card_columns import devices_by_model
from podium.addons.gpu.packing.card_needs import CardSize, card_need
from podium.addons.gpu.packing.pod_kinds import PodKind, cpu_request, estimate_typical
from podium.addons.gpu.packing.typical_pods import TypicalPods
from podium.plugin import Handle, Pod

MAX_DRIFT_PERCENT: Final = 5

RequestOf = Callable[[Pod], PodRequest | None]


class TypicalEstimate:
    """`request_of` says what a pod asks of cards, or raises InvalidRequest: such pods count for
    nothing. `version` moves with each new estimate."""

    def __init__(self, handle: Handle, request_of: RequestOf) -> None:
        self.version = 0
        self._request_of = request_of
        self._pods = handle.index_pods(self._kind_of)
        self._now: dict[PodKind, int] = {}
        self._estimated: dict[PodKind, int] = {}
        self._capacity: dict[int, int] = {}
        self._drift = 0
        self._typical: dict[tuple[CardSize, int], TypicalPods] = {}

    def follow(self, table: CardTable) -> None:
        """Count pods and cards that came and went, and estimate anew if they are many."""
        for kind in self._pods.take_changed():
            count, before = self._pods.count(kind), self._now.pop(kind, 0)
            if count:
                self._now[kind] = count
            estimated = self._estimated.get(kind, 0)
            self._drift += abs(count - estimated) - abs(before - estimated)
        limit = MAX_DRIFT_PERCENT * sum(self._estimated.values())
        capacity = devices_by_model(table)
        if not self.version or 100 * self._drift > limit or self._differs(capacity):
            self._estimated = dict(self._now)
            self._capacity = capacity
            self._drift = 0
            self._typical.clear()
            self.version += 1

    def _differs(self, capacity: dict[int, int]) -> bool:
        bits = {*capacity, *self._capacity}
        drift = sum(abs(capacity.get(bit, 0) - self._capacity.get(bit, 0)) for bit in bits)
        return 100 * drift > MAX_DRIFT_PERCENT * sum(self._capacity.values())

    def of(self, table: CardTable, size: CardSize) -> TypicalPods:
        """With shares as parts of cards of this size."""
        key = (size, len(table.kinds))
        known = self._typical.get(key)
        if known is None:
            known = estimate_typical(self._estimated, table, size, self._capacity)
            self._typical[key] = known
        return known

    def _kind_of(self, pod: Pod) -> PodKind | None:
        try:
            return PodKind(cpu_request(pod), card_need(self._request_of(pod)))
        except InvalidRequest:
            return None
