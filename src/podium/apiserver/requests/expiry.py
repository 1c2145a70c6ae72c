"""What is forgotten after a while: events, and the past that pages of lists go on showing.

Events are forgotten after a while, so that they do not fill the memory. Upstream lets etcd
expire them after an hour. Here old ones go when new ones come: a server that gets no events
keeps the last ones.

Pages of a list go on showing its first moment, but not for ever. Upstream has etcd forget old
revisions every five minutes, and clients are made for that: they get 410, and a token to go on
with what is there now. Memory would allow more here, as long as little is written; that
programs meet 410 only on a busy server would help nobody.
"""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import FieldError

if TYPE_CHECKING:
    from podium.apiserver.requests.registry import Registry

LIFE_S: Final = 3600.0
_MAX_AT_ONCE: Final = 100
"""So that one event never pays for the removal of very many."""


class EventExpiry:
    """Removes events an hour after they were created."""

    def __init__(self, registry: "Registry", clock: Callable[[], float]) -> None:
        self._registry = registry
        self._clock = clock
        self._living: deque[tuple[float, str, str, str]] = deque()
        self._known: set[str] = set()

    def settle(self, obj: JsonObject, now: str, *, dry_run: bool) -> list[FieldError]:
        del obj, now, dry_run
        return []

    def written(self, obj: JsonObject) -> None:
        self.adopt(obj, self._clock())
        self._expire()

    def removed(self, obj: JsonObject) -> None:
        self._known.discard(obj["metadata"]["uid"])

    def adopt(self, obj: JsonObject, born: float) -> None:
        """Note when an event is to go; later versions of it do not live longer."""
        metadata = obj["metadata"]
        uid = metadata["uid"]
        if uid not in self._known:
            self._known.add(uid)
            self._living.append((born + LIFE_S, metadata["namespace"], metadata["name"], uid))

    def _expire(self) -> None:
        events = self._registry.table.named("events")
        now = self._clock()
        for _ in range(_MAX_AT_ONCE):
            if not self._living or self._living[0][0] > now:
                return
            _, namespace, name, uid = self._living.popleft()
            if uid in self._known:
                found = self._registry.find(events, namespace, name)
                if found is not None:
                    self._registry.remove(events, found)


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
