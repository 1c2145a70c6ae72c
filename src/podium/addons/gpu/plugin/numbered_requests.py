"""What pods ask for, each different request with a number of its own.

Pods of one template with the same annotations ask for the same, and what is remembered for one of
them holds for the others: the number stands for the request wherever that is looked up.
"""

from collections.abc import Callable, Hashable
from typing import Final

from podium.addons.gpu.cards.requests import PodRequest
from podium.plugin import Pod, PodInfo

MAX_REQUESTS: Final = 4096
"""So many different requests are known by number."""


class NumberedRequests:
    def __init__(self, request_of: Callable[[Pod], PodRequest | None]) -> None:
        self._request_of = request_of
        self._requests: dict[Hashable, tuple[PodRequest, int]] = {}
        self._numbers: dict[PodRequest, int] = {}
        self._numbered = 0

    def of(self, info: PodInfo) -> tuple[PodRequest, int] | None:
        """A pod's request and its number; None if it asks for no card. Raises InvalidRequest."""
        annotations = info.pod.metadata.annotations
        key = (info.shape, frozenset(annotations.items()) if annotations else None)
        known = self._requests.get(key)
        if known is None:
            request = self._request_of(info.pod)
            if request is None:
                return None
            if len(self._requests) >= MAX_REQUESTS:
                self._requests.clear()
            known = self._requests[key] = request, self._number(request)
        return known

    def _number(self, request: PodRequest) -> int:
        if len(self._numbers) >= MAX_REQUESTS:
            self._numbers.clear()
        number = self._numbers.get(request)
        if number is None:
            self._numbered += 1
            number = self._numbers[request] = self._numbered
        return number
