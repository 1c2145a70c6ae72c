"""Typical pods: which kinds of pods there are, which are typical, and what they make models worth.

Pods are grouped by what they ask for, memory left out; the most frequent groups are taken until
they cover 95 % of all pods. CPU-only pods are among them, since they, too, can strand a GPU
(`GetTypicalPods` in `pkg/utils/frag.go` of `hkust-adsl/kubernetes-scheduler-simulator`). In a
cluster, what a pod asks of a card may depend on how large cards are, so typical pods are worked out
for one size of cards at a time, from at most the 256 most frequent kinds.

They also say what idle GPU of a model is worth: those who ask for the model by name will want it.
Its price is the part of all demand that names it, over its part of all devices; pods that name
several models ask for each of them by its part, and a model that nobody names has no price. If a
tenth of the demand names a model that a fifth of the devices are of, half of these will be asked
for by name, and the price is `NAMED_WEIGHT` times 0.5.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Final, NamedTuple

import numpy as np

from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.cards.requests import CardSelector
from podium.addons.gpu.packing.card_columns import CardNeed, CardSize, model_mask
from podium.addons.gpu.packing.node_columns import ANY_MODEL, MAX_MODELS
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import ALL_REQUESTS, pod_requests, to_vector

COVERED_PERCENT = 95
NEEDED_CPU_PART = 0.8
"""Of the CPU that pods ask for on average: pods with less can still be put where it is short."""


class EqualPods(NamedTuple):
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
    counts: Mapping[EqualPods, int], masks: Mapping[str, int], capacity: Mapping[int, int]
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


NAMED_WEIGHT: Final = 0.1


def price_models(demands: Mapping[int, int], capacity: Mapping[int, int]) -> Floats:
    """By the number of the model's bit. Demands are by the mask of models that will do, devices of
    the cluster by the bit of their model."""
    demand, devices = sum(demands.values()), sum(capacity.values())
    parts: dict[int, list[float]] = {bit: [] for bit in capacity}
    for mask, asked in demands.items():
        allowed = [bit for bit in capacity if bit & mask]
        count = sum(capacity[bit] for bit in allowed)
        if mask == ANY_MODEL or not count or not demand:
            continue
        for bit in allowed:
            parts[bit].append(asked / demand / (count / devices))
    prices: Floats = np.zeros(MAX_MODELS + 1)
    for bit, some in parts.items():
        # The same in whatever order models are numbered: two schedulers have to agree.
        prices[bit.bit_length() - 1] = NAMED_WEIGHT * fsum(some)
    return prices


def prices_of(model_bit: Ints, prices: Floats) -> Floats:
    """The price of each row's model."""
    _, exponents = np.frexp(model_bit.astype(np.float64))
    found: Floats = prices[exponents - 1]
    return found


MAX_KINDS: Final = 256


class PodKind(NamedTuple):
    cpu_milli: int
    need: CardNeed


def estimate_typical(
    kinds: Mapping[PodKind, int], table: CardTable, size: CardSize, capacity: Mapping[int, int]
) -> TypicalPods:
    """Among so many pods of each kind, with shares as parts of cards of this size; `capacity` are
    devices by model."""
    counts: Counter[EqualPods] = Counter()
    masks = {}
    ordered = sorted(kinds.items(), key=lambda item: item[1], reverse=True)
    for (cpu_milli, need), count in ordered[:MAX_KINDS]:
        words = _words(need.selector)
        masks[words] = model_mask(table, need.selector)
        counts[EqualPods(cpu_milli, need.milli(size), need.cards, words)] += count
    largest = max((kind.need.cards for kind in kinds), default=0)
    return replace(find_typical(counts, masks, capacity), largest_gpus=largest)


def cpu_request(pod: Pod) -> int:
    """In thousandths of a core."""
    return to_vector(pod_requests(pod, status_resources=False, rules=ALL_REQUESTS)).get("cpu", 0)


def _words(selector: CardSelector) -> str:
    """The same for selectors that let the same models through, whatever else they say."""
    if not selector.by_kind():
        return ""
    parts = (selector.models, selector.not_models, selector.modes)
    return " / ".join("|".join(part) for part in parts)
