"""Which nodes hold which images.

An image name has one size for the whole cluster, the one reported by the first node that listed
it; a later node with another size does not change it, and the name goes with its last node. That
is what ImageLocality reads (spec: image states).
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.node import ContainerImage


class ImageState:
    __slots__ = ("_array", "_rows", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._rows: set[int] = set()
        self._array: npt.NDArray[np.intp] | None = None

    @property
    def rows(self) -> npt.NDArray[np.intp]:
        if self._array is None:
            self._array = np.fromiter(self._rows, dtype=np.intp, count=len(self._rows))
        return self._array

    @property
    def node_count(self) -> int:
        return len(self._rows)

    def add(self, row: int) -> None:
        self._rows.add(row)
        self._array = None

    def discard(self, row: int) -> None:
        self._rows.discard(row)
        self._array = None


class ImageIndex:
    """Image names to their states, and the reverse for taking a node out."""

    def __init__(self) -> None:
        self._states: dict[str, ImageState] = {}
        self._listed: dict[int, tuple[ContainerImage, ...]] = {}
        self.version = 0

    def put(self, row: int, images: tuple[ContainerImage, ...] | None) -> None:
        """Replace what a row lists.

        upstream: the node is taken out before it is put in again, so a name that only this node
        lists gets the size it reports now.
        """
        before, now = self._listed.pop(row, ()), images or ()
        if now:
            self._listed[row] = now
        if now == before:
            return
        self.version += 1
        sizes = _sizes(now)
        for name in _sizes(before):
            state = self._states[name]
            if name not in sizes or state.node_count == 1:
                self._take_out(row, name)
        for name, size_bytes in sizes.items():
            if name not in self._states:
                self._states[name] = ImageState(size_bytes)
            self._states[name].add(row)

    def state(self, name: str) -> ImageState | None:
        return self._states.get(name)

    def _take_out(self, row: int, name: str) -> None:
        state = self._states[name]
        state.discard(row)
        if state.node_count == 0:
            del self._states[name]


def _sizes(images: Iterable[ContainerImage]) -> dict[str, int]:
    """The names of a list with their sizes; a name that comes twice has its first one."""
    sizes: dict[str, int] = {}
    for image in images:
        for name in image.names or ():
            sizes.setdefault(name, image.size_bytes)
    return sizes
