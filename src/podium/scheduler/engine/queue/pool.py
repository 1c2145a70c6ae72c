"""Pods that wait for an event, found by the plugins that keep them waiting.

Every binding is an event, and a thousand pods that lack memory need not be asked about each: they
are grouped by the set of plugins that rejected them, and an event looks only at the groups with a
plugin that cares for it. Order is order of arrival.
"""

from collections.abc import Iterator

from podium.scheduler.framework.queued import QueuedPod


class Pool:
    def __init__(self) -> None:
        self._pods: dict[str, QueuedPod] = {}
        self._arrivals: dict[str, int] = {}
        self._group_of: dict[str, frozenset[str]] = {}
        self._groups: dict[frozenset[str], dict[str, None]] = {}
        self._next = 0

    def put(self, queued: QueuedPod) -> None:
        """Add a pod, or note that its rejectors changed; it keeps its place."""
        key = queued.info.key
        if key not in self._arrivals:
            self._next += 1
            self._arrivals[key] = self._next
        self._pods[key] = queued
        group = frozenset(queued.rejectors | queued.pending)
        held = self._group_of.get(key)
        if held == group:
            return
        if held is not None:
            self._leave(key, held)
        self._group_of[key] = group
        self._groups.setdefault(group, {})[key] = None

    def pop(self, key: str) -> QueuedPod | None:
        queued = self._pods.pop(key, None)
        if queued is not None:
            del self._arrivals[key]
            self._leave(key, self._group_of.pop(key))
        return queued

    def get(self, key: str) -> QueuedPod | None:
        return self._pods.get(key)

    def kept_by(self, plugins: frozenset[str]) -> list[QueuedPod]:
        """Pods that one of the plugins keeps waiting, and those that nobody does."""
        keys = [
            key
            for group, members in self._groups.items()
            if not group or not group.isdisjoint(plugins)
            for key in members
        ]
        return [self._pods[key] for key in sorted(keys, key=self._arrivals.__getitem__)]

    def _leave(self, key: str, group: frozenset[str]) -> None:
        members = self._groups[group]
        del members[key]
        if not members:
            del self._groups[group]

    def __iter__(self) -> Iterator[QueuedPod]:
        return iter(tuple(self._pods.values()))

    def __contains__(self, key: str) -> bool:
        return key in self._pods

    def __len__(self) -> int:
        return len(self._pods)
