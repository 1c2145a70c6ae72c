"""Events are forgotten after a while, so that they do not fill the memory.

Upstream lets etcd expire them after an hour. Here old ones go when new ones come: a server that
gets no events keeps the last ones.
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
