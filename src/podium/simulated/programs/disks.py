"""Files as programs in containers leave them: names that are there from one time to another.

A program is read to its end when it starts, so what it writes later is known beforehand; everyone
who looks sees what is there by then. Volumes are seen by several containers: those of a pod share
its empty directories, pods of a node its paths, pods of a claim its volume.
"""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(slots=True)
class Disk:
    """By path, when a file came and went."""

    changes: defaultdict[str, list[tuple[float, bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def exists(self, path: str, at_s: float) -> bool:
        there = False
        for changed_s, now_there in sorted(self.changes.get(path, ())):
            if changed_s <= at_s:
                there = now_there
        return there

    def write(self, path: str, at_s: float, *, there: bool) -> None:
        if self.exists(path, at_s) != there:
            self.changes[path].append((at_s, there))


class Mount(NamedTuple):
    path: str
    disk: Disk
    below: str = ""
    """Where on the disk the mounted directory begins."""


@dataclass(slots=True)
class ContainerFiles:
    """What the container of a program sees: its own disk and what is mounted there."""

    own: Disk = field(default_factory=Disk)
    mounts: tuple[Mount, ...] = ()
    begun_s: float = 0.0
    """When the program began."""

    def exists(self, path: str, after_s: float) -> bool:
        disk, rest = self._find(path)
        return disk.exists(rest, self.begun_s + after_s)

    def write(self, path: str, after_s: float, *, there: bool) -> None:
        disk, rest = self._find(path)
        disk.write(rest, self.begun_s + after_s, there=there)

    def _find(self, path: str) -> tuple[Disk, str]:
        for mount in sorted(self.mounts, key=lambda each: len(each.path), reverse=True):
            root = mount.path.rstrip("/")
            if path == root or path.startswith(f"{root}/"):
                return mount.disk, f"{mount.below}/{path[len(root) + 1 :]}"
        return self.own, path


class Disks:
    """All disks of a cluster, by whom they belong to; the first of the key is what is forgotten."""

    def __init__(self) -> None:
        self._disks: defaultdict[str, dict[Hashable, Disk]] = defaultdict(dict)

    def of(self, owner: str, *which: Hashable) -> Disk:
        return self._disks[owner].setdefault(which, Disk())

    def forget(self, owner: str) -> None:
        self._disks.pop(owner, None)
