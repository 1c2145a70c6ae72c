"""Typical pods: what pods look like, for judging which idle GPU somebody could use.

Pods are grouped by what they ask for, memory left out; the most frequent groups are taken until
they cover 95 % of all pods. CPU-only pods are among them, since they, too, can strand a GPU.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from podium.study.traces import Ints, Trace

COVERED_PERCENT = 95

Floats = npt.NDArray[np.float64]


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
    """The most devices that a pod of the trace asks for, typical or not."""

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


@lru_cache(maxsize=64)
def typical_pods(trace: Trace) -> TypicalPods:
    """The typical pods of a trace as it is, before it is tuned."""
    pods = trace.pods
    rows = zip(pods.cpu_milli, pods.gpu_milli, pods.gpus, pods.specs, strict=True)
    counts = Counter((int(cpu), int(milli), int(gpus), spec) for cpu, milli, gpus, spec in rows)
    ordered = sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True)
    everything = len(pods.names)
    taken = covered = 0
    while 100 * covered < COVERED_PERCENT * everything:
        covered += ordered[taken][1]
        taken += 1
    groups = [group for group, _ in ordered[:taken]]
    # upstream: two divisions; one by the other count rounds differently and moves placements.
    part = np.array([count for _, count in ordered[:taken]]) / everything
    cpu, milli, gpus = (np.array([group[i] for group in groups], np.int64) for i in range(3))
    mask = np.array([trace.nodes.mask(group[3]) for group in groups], np.int64)
    return TypicalPods(
        cpu_milli=cpu,
        gpu_milli=milli,
        gpus=gpus,
        model_mask=mask,
        frequency=part / (covered / everything),
        groups=len(ordered),
        covered=covered / everything,
        largest_gpus=int(pods.gpus.max()),
    )
