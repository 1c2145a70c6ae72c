"""A heap whose members can be found, replaced and removed by key.

Removal marks an entry as gone and the heap drops it when it comes up, so every operation stays
logarithmic. Members with equal order come out in the order in which they came in; replacing a
member by one of the same order does not cost it its place.
"""

import heapq
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from podium.scheduler.framework.sort_keys import SortKey

T = TypeVar("T")

_MAX_GONE = 1024


class KeyedHeap(Generic[T]):
    def __init__(self, order: Callable[[T], SortKey]) -> None:
        self._order = order
        self._heap: list[tuple[SortKey, int, str]] = []
        self.members: dict[str, tuple[int, SortKey, T]] = {}
        """By key, with their order: for looking up, which every event does."""
        self._sequence = 0

    def push(self, key: str, member: T) -> None:
        """Add a member, or put it in its new place."""
        order = self._order(member)
        held = self.members.get(key)
        if held is not None and held[1] == order:
            self.members[key] = (held[0], order, member)
            return
        self._sequence += 1
        self.members[key] = (self._sequence, order, member)
        heapq.heappush(self._heap, (order, self._sequence, key))
        if len(self._heap) > 2 * len(self.members) + _MAX_GONE:
            self._compact()

    def pop(self) -> T | None:
        member = self.peek()
        if member is not None:
            _, _, key = heapq.heappop(self._heap)
            del self.members[key]
        return member

    def peek(self) -> T | None:
        while self._heap:
            _, sequence, key = self._heap[0]
            held = self.members.get(key)
            if held is not None and held[0] == sequence:
                return held[2]
            heapq.heappop(self._heap)
        return None

    def remove(self, key: str) -> T | None:
        held = self.members.pop(key, None)
        return held[2] if held is not None else None

    def get(self, key: str) -> T | None:
        held = self.members.get(key)
        return held[2] if held is not None else None

    def _compact(self) -> None:
        alive = {sequence for sequence, _, _ in self.members.values()}
        self._heap = [entry for entry in self._heap if entry[1] in alive]
        heapq.heapify(self._heap)

    def __contains__(self, key: str) -> bool:
        return key in self.members

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[T]:
        return (member for _, _, member in tuple(self.members.values()))
