"""Typical pods: what pods look like, for judging which idle GPU somebody could use.

Pods are grouped by what they ask for, memory left out; the most frequent groups are taken until
they cover 95 % of all pods. CPU-only pods are among them, since they, too, can strand a GPU.

Source: `GetTypicalPods` in `pkg/utils/frag.go` of `hkust-adsl/kubernetes-scheduler-simulator`.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.packing.model_prices import price_models
from podium.addons.gpu.packing.node_columns import MAX_MODELS

COVERED_PERCENT = 95
NEEDED_CPU_PART = 0.8
"""Of the CPU that pods ask for on average: pods with less can still be put where it is short."""


class PodGroup(NamedTuple):
    """Pods that ask for the same; among equally frequent groups the largest goes first."""

    cpu_milli: int
    gpu_milli: int
    gpus: int
    spec: str
    """Models that will do, in whatever words; pods with the same words have the same mask."""


@dataclass(frozen=True)
class TypicalPods:
    """Groups in the order of their frequency, which sums are made in."""

    cpu_milli: Ints
    gpu_milli: Ints
    gpus: Ints
    model_mask: Ints
    frequency: Floats
    groups: int
    """How many there are, those not taken included."""
    covered: float
    """The part of all pods that the taken groups have."""
    largest_gpus: int
    """The most devices that any pod asks for, typical or not."""
    model_prices: Floats = field(default_factory=lambda: np.zeros(MAX_MODELS + 1))
    """See `model_prices`; all pods count, as few may name a scarce model."""

    @cached_property
    def cpu_only(self) -> Ints:
        return np.flatnonzero(self.gpus == 0)

    @cached_property
    def with_gpus(self) -> Ints:
        return np.flatnonzero(self.gpus > 0)

    @cached_property
    def cpu_per_gpu(self) -> float:
        """CPU milli that goes with one milli of GPU, in what typical GPU pods ask for."""
        demand = float((self.frequency * self.gpus * self.gpu_milli).sum())
        cpu = float((self.frequency * self.cpu_milli)[self.with_gpus].sum())
        return cpu / demand if demand else 0.0

    @cached_property
    def needed_cpu_per_gpu(self) -> float:
        """The CPU that idle GPU has to have beside it not to be stranded."""
        return NEEDED_CPU_PART * self.cpu_per_gpu


def find_typical(
    counts: Mapping[PodGroup, int], masks: Mapping[str, int], capacity: Mapping[int, int]
) -> TypicalPods:
    """The typical pods among so many of each group; `masks` are the models by their words, and
    `capacity` is the cluster's number of devices by the bit of their model."""
    demands: Counter[int] = Counter()
    for group, count in counts.items():
        demands[masks[group.spec]] += count * group.gpus * group.gpu_milli
    ordered = sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True)
    everything = sum(counts.values())
    taken = covered = 0
    while 100 * covered < COVERED_PERCENT * everything:
        covered += ordered[taken][1]
        taken += 1
    groups = [group for group, _ in ordered[:taken]]
    # upstream: two divisions; one by the other count rounds differently and moves placements.
    part = np.array([count for _, count in ordered[:taken]], np.float64) / max(everything, 1)
    return TypicalPods(
        cpu_milli=np.array([group.cpu_milli for group in groups], np.int64),
        gpu_milli=np.array([group.gpu_milli for group in groups], np.int64),
        gpus=np.array([group.gpus for group in groups], np.int64),
        model_mask=np.array([masks[group.spec] for group in groups], np.int64),
        frequency=part / (covered / everything) if everything else part,
        groups=len(ordered),
        covered=covered / everything if everything else 1.0,
        largest_gpus=max((group.gpus for group in counts), default=0),
        model_prices=price_models(demands, capacity),
    )
