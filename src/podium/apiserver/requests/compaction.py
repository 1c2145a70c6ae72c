"""Pages of a list go on showing its first moment, but not for ever.

Upstream has etcd forget old revisions every five minutes, and clients are made for that: they get
410, and a token to go on with what is there now. Memory would allow more here, as long as little is
written; that programs meet 410 only on a busy server would help nobody.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

KEPT_S: Final = 300.0
_BETWEEN_S: Final = 10.0


class Compaction:
    """Notes from time to time, whenever somebody lists, which revision it is."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._noted: deque[tuple[float, int]] = deque()
        self._forgotten = 0

    def oldest(self, revision: int) -> int:
        """The oldest revision that lists may ask for; it is `revision` by now."""
        now = self._clock()
        if not self._noted or now - self._noted[-1][0] >= _BETWEEN_S:
            self._noted.append((now, revision))
        while now - self._noted[0][0] >= KEPT_S:
            self._forgotten = self._noted.popleft()[1]
        return self._forgotten
