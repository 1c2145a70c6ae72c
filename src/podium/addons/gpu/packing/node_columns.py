"""What is left on nodes, as columns: what policies score.

Rows are nodes in the order in which ties are broken. Devices are the second dimension of `left`; a
node with fewer devices than the widest one has zeros there, which nothing fits on and which add
nothing to any sum.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from podium.addons.gpu.cards.columns import Bools, Ints

WHOLE: Final = 1000
"""Thousandths of a device."""
ANY_MODEL: Final = -1
"""All bits: also that of nodes without a model."""
MAX_MODELS: Final = 62


@dataclass(frozen=True, slots=True)
class Pod:
    """What a pod asks for."""

    cpu_milli: int
    gpu_milli: int
    """Of each device, in thousandths; 0 for a CPU-only pod."""
    gpus: int

    @property
    def demand_milli(self) -> int:
        return self.gpu_milli * self.gpus

    @property
    def is_share(self) -> bool:
        return 0 < self.gpu_milli < WHOLE

    @property
    def tag(self) -> int:
        """A bit for pods of one kind: bit 0 for shares, bit n for n whole devices."""
        if not self.gpus:
            return 0
        return 1 if self.is_share else 1 << self.gpus


@dataclass(frozen=True, slots=True)
class NodeColumns:
    cpu_left: Ints
    left: Ints
    """Thousandths left of each device: a row for each node, a column for each device."""
    gpus: Ints
    tags: Ints
    """Kinds of the GPU pods on the node, see `Pod.tag`."""
    model_bit: Ints

    @property
    def idle(self) -> Ints:
        idle: Ints = self.left.sum(axis=1)
        return idle

    def take(self, rows: Ints) -> "NodeColumns":
        return NodeColumns(
            self.cpu_left[rows],
            self.left[rows],
            self.gpus[rows],
            self.tags[rows],
            self.model_bit[rows],
        )

    def fits(self, pod: Pod) -> Bools:
        """Enough CPU, and enough devices with enough left; models and memory are tested apart."""
        enough = self.cpu_left >= pod.cpu_milli
        if pod.gpus:
            enough &= (self.left >= pod.gpu_milli).sum(axis=1) >= pod.gpus
        return enough

    def put(self, row: int, pod: Pod, devices: int) -> None:
        """Place a pod on the devices of a mask."""
        self.cpu_left[row] -= pod.cpu_milli
        self.tags[row] |= pod.tag
        for device in range(self.left.shape[1]):
            if devices >> device & 1:
                self.left[row, device] -= pod.gpu_milli


def whole_devices(left: Ints, count: int) -> int:
    """The lowest-numbered untouched devices of one node, as a mask."""
    return sum(1 << device for device in np.flatnonzero(left == WHOLE)[:count].tolist())


def best_fitting_device(left: Ints, milli: int) -> int:
    """The device with the least left that still holds a share; the lowest-numbered of equals."""
    return int(np.where(left >= milli, left, WHOLE + 1).argmin())
