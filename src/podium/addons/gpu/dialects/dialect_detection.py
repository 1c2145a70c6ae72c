"""Which dialects the agents of a cluster speak, for those who only look.

A cluster's dialect is configuration where decisions are made. Whoever just wants to see cards need
not know it: agents leave marks that tell dialects apart, but for the unit of gpushare, which is
told by the amounts.
"""

from collections.abc import Iterable
from math import inf
from typing import Final

from podium.addons.gpu.cards.overview import speaks
from podium.addons.gpu.dialects import DIALECTS, find_dialect
from podium.addons.gpu.dialects.reading import allocatable_of
from podium.kubernetes.kinds.node import Node

_WHOLE_CARDS: Final = "nvidia.com/gpu"
_MIN_MIB: Final = 1024
"""No card has so many GiB, and none that can be shared has fewer MiB."""
_UNIT_TWINS: Final = {"gpushare": "gpushare-mib"}


def find_spoken_dialects(nodes: Iterable[Node]) -> dict[str, int]:
    """How many nodes speak each dialect, the most spoken one first."""
    counts: dict[str, int] = {}
    for node in nodes:
        for name in DIALECTS:
            if name in _UNIT_TWINS.values():
                continue
            cards = find_dialect(name).node_cards(node, -inf)
            if not speaks(cards):
                continue
            in_mib = any(card.memory >= _MIN_MIB for card in cards.cards)
            spoken = _UNIT_TWINS.get(name, name) if in_mib else name
            counts[spoken] = counts.get(spoken, 0) + 1
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def count_unshared(nodes: Iterable[Node]) -> int:
    """How many nodes offer whole cards to the kubelet, and have no agent that shares them."""
    return sum(
        allocatable_of(node, _WHOLE_CARDS) > 0 and not find_spoken_dialects([node])
        for node in nodes
    )
