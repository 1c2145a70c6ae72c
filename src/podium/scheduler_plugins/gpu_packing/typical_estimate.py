"""Typical pods of a cluster: estimated from the pods that the scheduler knows, running and waiting.

The estimate is made anew when as many pods, or cards, as are 5 % of all came or went since it was
made, so that scores can be remembered in between. It reads at most the 256 most frequent kinds of
pods.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from podium.api.requests import pod_requests, to_vector
from podium.gpu.card_table import CardTable
from podium.gpu.packing.card_columns import devices_by_model, model_mask
from podium.gpu.packing.card_needs import CardNeed, CardSize
from podium.gpu.packing.typical_pods import PodGroup, TypicalPods, find_typical
from podium.gpu.requests import CardSelector
from podium.plugin import Handle, Pod

MAX_DRIFT_PERCENT: Final = 5
MAX_KINDS: Final = 256


class PodKind(NamedTuple):
    cpu_milli: int
    need: CardNeed


class TypicalEstimate:
    """`need_of` says what a pod needs of cards; None if nobody can say. `version` moves with each
    new estimate."""

    def __init__(self, handle: Handle, need_of: Callable[[Pod], CardNeed | None]) -> None:
        self.version = 0
        self._need_of = need_of
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
            known = self._typical[key] = self._estimate(table, size)
        return known

    def _estimate(self, table: CardTable, size: CardSize) -> TypicalPods:
        counts: Counter[PodGroup] = Counter()
        masks = {}
        ordered = sorted(self._estimated.items(), key=lambda item: item[1], reverse=True)
        for (cpu_milli, need), count in ordered[:MAX_KINDS]:
            words = _words(need.selector)
            masks[words] = model_mask(table, need.selector)
            counts[PodGroup(cpu_milli, need.milli(size), need.cards, words)] += count
        largest = max((kind.need.cards for kind in self._estimated), default=0)
        return replace(find_typical(counts, masks, self._capacity), largest_gpus=largest)

    def _kind_of(self, pod: Pod) -> PodKind | None:
        need = self._need_of(pod)
        return None if need is None else PodKind(cpu_request(pod), need)


def cpu_request(pod: Pod) -> int:
    """In thousandths of a core."""
    return to_vector(pod_requests(pod, status_resources=False)).get("cpu", 0)


def _words(selector: CardSelector) -> str:
    """The same for selectors that let the same models through, whatever else they say."""
    if not selector.by_kind():
        return ""
    parts = (selector.models, selector.not_models, selector.modes)
    return " / ".join("|".join(part) for part in parts)
