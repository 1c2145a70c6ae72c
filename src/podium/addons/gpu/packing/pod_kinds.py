"""Kinds of pods as a cluster has them, and the typical pods among them.

What a pod asks of a card may depend on how large cards are, so typical pods are worked out for one
size of cards at a time. At most the 256 most frequent kinds are read.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.requests import CardSelector
from podium.addons.gpu.packing.card_columns import model_mask
from podium.addons.gpu.packing.card_needs import CardNeed, CardSize
from podium.addons.gpu.packing.typical_pods import PodGroup, TypicalPods, find_typical
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import ALL_REQUESTS, pod_requests, to_vector

MAX_KINDS: Final = 256


class PodKind(NamedTuple):
    cpu_milli: int
    need: CardNeed


def estimate_typical(
    kinds: Mapping[PodKind, int], table: CardTable, size: CardSize, capacity: Mapping[int, int]
) -> TypicalPods:
    """Among so many pods of each kind, with shares as parts of cards of this size; `capacity` are
    devices by model."""
    counts: Counter[PodGroup] = Counter()
    masks = {}
    ordered = sorted(kinds.items(), key=lambda item: item[1], reverse=True)
    for (cpu_milli, need), count in ordered[:MAX_KINDS]:
        words = _words(need.selector)
        masks[words] = model_mask(table, need.selector)
        counts[PodGroup(cpu_milli, need.milli(size), need.cards, words)] += count
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
