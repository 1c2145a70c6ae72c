"""What one has written oneself, until the watch has caught up: client-go's MutationCache.

Whoever writes sees the answer at once and need not wait for the watch to tell of it, so no
controller makes the same pod twice because its watch lags. Until then, what the watch tells of that
object is older than what is known, and no news.

A deleted object is remembered by its uid: whatever comes late does not bring it back. Where only a
selection is watched, what leaves it may come back, so there only what is older comes late.
"""

from typing import Final

from podium.kubernetes.controllers.object_keys import Identity, Key, is_newer, is_older

_MAX_TOMBSTONES: Final = 100_000


class MutationCache:
    def __init__(self) -> None:
        self._written: dict[Key, str] = {}
        self._gone: dict[str, str] = {}
        """The version up to which an object is gone; "" for good."""

    def put(self, written: Identity) -> None:
        self._written[written.key] = written.resource_version

    def bury(self, uid: str, version: str = "") -> None:
        """An object of this uid is deleted, for good or as of a version."""
        if not uid:
            return
        self._gone[uid] = version
        if len(self._gone) > _MAX_TOMBSTONES:
            del self._gone[next(iter(self._gone))]

    def is_gone(self, uid: str, version: str) -> bool:
        last = self._gone.get(uid)
        return last is not None and (not last or not is_newer(version, last))

    def is_ahead(self, key: Key, version: str) -> bool:
        """Whether something was written after a version that a watch or list tells of."""
        written = self._written.get(key)
        return written is not None and is_older(version, written)

    def forget(self, key: Key) -> None:
        """The watch has caught up."""
        self._written.pop(key, None)

    def clear(self) -> None:
        """The server has lost what was written."""
        self._written.clear()
        self._gone.clear()
