"""All pods that the scheduler has heard of and that have not ended, by key, and by what they say.

A plugin that asks again and again for the pods of a group, a queue or an owner keeps an index: it
is there from the first question on, and follows what comes and goes.
"""

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from podium.kubernetes.kinds.pod import Pod

E = TypeVar("E", bound=Hashable)


class PodIndex(Generic[E]):
    """Pods by an entry that is worked out from each alone; None leaves a pod out."""

    def __init__(self, entry_of: Callable[[Pod], E | None]) -> None:
        self._entry_of = entry_of
        self._found: dict[E, dict[str, Pod]] = {}
        self._changed: set[E] | None = None

    def of(self, entry: E) -> Iterator[Pod]:
        """In order of arrival."""
        return iter(list(self._found.get(entry, {}).values()))

    def count(self, entry: E) -> int:
        return len(self._found.get(entry, ()))

    def __iter__(self) -> Iterator[E]:
        return iter(list(self._found))

    def take_changed(self) -> set[E]:
        """Entries whose pods came, went or changed since the last time that somebody asked; those
        that there are, the first time."""
        changed = set(self._found) if self._changed is None else self._changed
        self._changed = set()
        return changed

    def change(self, key: str, old: Pod | None, new: Pod | None) -> None:
        before = self._entry_of(old) if old is not None else None
        after = self._entry_of(new) if new is not None else None
        if self._changed is not None:
            self._changed.update(entry for entry in (before, after) if entry is not None)
        if before is not None and before != after:
            left = self._found[before]
            del left[key]
            if not left:
                del self._found[before]
        if after is not None and new is not None:
            self._found.setdefault(after, {})[key] = new


class KnownPods(dict[str, Pod]):
    """Pods by `namespace/name`; only `[key] = pod` and `pop` change it."""

    def __init__(self) -> None:
        super().__init__()
        self._indexes: list[PodIndex[Hashable]] = []

    def index(self, entry_of: Callable[[Pod], E | None]) -> PodIndex[E]:
        """A new index of what there is and of what will be."""
        made: PodIndex[E] = PodIndex(entry_of)
        for key, pod in self.items():
            made.change(key, None, pod)
        self._indexes.append(made)  # type: ignore[arg-type]  # entries go in and out of it alone
        return made

    def __setitem__(self, key: str, pod: Pod) -> None:
        if self._indexes:
            old = self.get(key)
            for index in self._indexes:
                index.change(key, old, pod)
        super().__setitem__(key, pod)

    def pop(self, key: str) -> Pod:  # type: ignore[override]  # nobody has a default for a pod
        """Take a pod out. Raises KeyError if it is not there."""
        for index in self._indexes:
            index.change(key, self[key], None)
        return super().pop(key)
