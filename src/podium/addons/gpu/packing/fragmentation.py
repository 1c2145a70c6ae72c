"""Fragmentation: how much idle GPU of a node typical pods cannot use.

For one typical pod it is all idle GPU if the pod does not fit on the node or asks for no GPU, else
what lies on devices with less left than it asks for. F(n) is the mean over typical pods, in milli.

Two nodes whose F is equal in real numbers must be equal in floating point, or scores differ by one.
So sums are made as upstream makes them: one for each class of outcome, in the order of typical
pods, then the classes in a fixed order.

Source: `NodeGpuShareFragAmount` in `pkg/utils/frag.go` of
`hkust-adsl/kubernetes-scheduler-simulator`. Worked example: with 400 and 1000 left on two devices,
and typical pods of which half ask for 500 of one device and half for CPU alone, F(n) is
0.5 * 400 + 0.5 * 1400 = 900.

Idle GPU of a cluster's nodes, and how much of it typical pods cannot use. The fragmentation of each
node is worked out over the cards of a table. Whoever follows cards all the time
has the table; `observe_fragments` makes one for those who only look.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import fsum
from typing import NamedTuple

import numpy as np

from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.cards.known_pods import held_cards
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest
from podium.addons.gpu.packing.card_columns import (
    CardSize,
    card_need,
    card_sizes,
    devices_by_model,
    packing_columns,
)
from podium.addons.gpu.packing.typical_pods import (
    PodKind,
    TypicalPods,
    cpu_request,
    estimate_typical,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

_MAX_ROWS = 2048
"""Rows worked on at a time, so that temporaries stay in the processor's cache."""


def node_fragmentation(
    cpu_left: Ints,
    left: Ints,
    model_bit: Ints,
    typical: TypicalPods,
    *,
    without_access: bool = True,
) -> Floats:
    """F(n) of each row, in thousandths of a device; on wish only of pods that have access to the
    row's model."""
    if len(cpu_left) <= _MAX_ROWS:
        return _fragmentation(cpu_left, left, model_bit, typical, without_access)
    starts = range(0, len(cpu_left), _MAX_ROWS)
    parts = [slice(start, start + _MAX_ROWS) for start in starts]
    return np.concatenate(
        [
            _fragmentation(cpu_left[part], left[part], model_bit[part], typical, without_access)
            for part in parts
        ]
    )


def _fragmentation(
    cpu_left: Ints, left: Ints, model_bit: Ints, typical: TypicalPods, without_access: bool
) -> Floats:
    idle = left.sum(axis=1)

    # Pods with GPUs: one row for each typical pod, one column for each node.
    some = typical.with_gpus
    sizes, size_of = np.unique(typical.gpu_milli[some], return_inverse=True)
    too_small = left.T[None, :, :] < sizes[:, None, None]
    pieces = (left.T * too_small).sum(axis=1)[size_of]
    large_enough = (left.shape[1] - too_small.sum(axis=1))[size_of]
    gpu_fits = large_enough >= typical.gpus[some, None]
    cpu_fits = cpu_left >= typical.cpu_milli[some, None]
    has_access = (typical.model_mask[some, None] & model_bit) != 0
    weight = typical.frequency[some, None]
    stranded = weight * idle
    too_small_or_idle = np.where(gpu_fits, weight * pieces, stranded)

    # CPU-only pods: no GPU is of use to them, whether or not they fit.
    others = typical.cpu_only
    unused = typical.frequency[others, None] * idle
    served = cpu_left >= typical.cpu_milli[others, None]

    lack_both = _sum_in_order(stranded * (has_access & ~gpu_fits & ~cpu_fits))
    lack_gpu = _sum_in_order(too_small_or_idle * (has_access & cpu_fits))
    lack_cpu = _sum_in_order(stranded * (has_access & gpu_fits & ~cpu_fits))
    total: Floats = lack_both + lack_gpu + lack_cpu
    total = total + _sum_in_order(unused * served) + _sum_in_order(unused * ~served)
    return total + _sum_in_order(stranded * ~has_access) if without_access else total


def _sum_in_order(parts: Floats) -> Floats:
    """Sums of columns from the first row down; `sum` may add in another order."""
    if not len(parts):
        return np.zeros(parts.shape[1])
    sums: Floats = np.add.accumulate(parts, axis=0)[-1]
    return sums


class NodeFragments(NamedTuple):
    """Idle thousandths of the node's cards, and those of them that typical pods cannot use."""

    node: str
    idle: int
    fragments: float

    @property
    def ratio(self) -> float:
        return self.fragments / self.idle if self.idle else 0.0


def total_fragments(nodes: Iterable[NodeFragments]) -> NodeFragments:
    """Of all of them together."""
    listed = list(nodes)
    return NodeFragments(
        "", sum(each.idle for each in listed), fsum(each.fragments for each in listed)
    )


def table_fragments(
    table: CardTable,
    rows: Mapping[str, int],
    cpu_left: Ints,
    typical_of: Callable[[CardSize], TypicalPods],
) -> list[NodeFragments]:
    """Of the nodes with cards among these rows, by name; `cpu_left` is of these rows too."""
    numbers = np.array(list(rows.values()), np.int64)
    columns = packing_columns(table, numbers, cpu_left, np.zeros_like(numbers))
    found: Floats = np.zeros(len(numbers))
    for size, part in rows_by_size(table, numbers):
        some = columns.take(part)
        found[part] = node_fragmentation(some.cpu_left, some.left, some.model_bit, typical_of(size))
    both = zip(rows, columns.gpus.tolist(), columns.idle.tolist(), found.tolist(), strict=True)
    return [NodeFragments(name, idle, part) for name, gpus, idle, part in both if gpus]


def rows_by_size(table: CardTable, rows: Ints) -> list[tuple[CardSize, Ints]]:
    """Sizes of cards, and where among these rows the nodes are that have such."""
    sizes, numbers = card_sizes(table, rows)
    return [(size, np.flatnonzero(numbers == at)) for at, size in enumerate(sizes)]


def observe_fragments(
    dialect: Dialect,
    cpu_left: Mapping[str, int],
    nodes: Iterable[Node],
    pods: Iterable[Pod],
    now: float,
) -> list[NodeFragments]:
    """By what is written on nodes and pods; the pods there are say which ones are typical."""
    cards = {node.name: dialect.node_cards(node, now) for node in nodes}
    rows = {name: row for row, name in enumerate(cards)}
    table = CardTable(dialect.memory_unit)
    table.reserve(len(rows))
    for name, row in rows.items():
        table.put_node(row, cards[name])
    kinds: Counter[PodKind] = Counter()
    for pod in pods:
        try:
            kinds[PodKind(cpu_request(pod), card_need(dialect.pod_request(pod)))] += 1
        except InvalidRequest:
            continue
        place = dialect.decided_node(pod) or pod.spec.node_name
        if place in rows:
            held = held_cards(dialect, pod, cards.get(place, NodeCards()), now)
            table.charge(rows[place], held.uses)
    left = np.array([cpu_left[name] for name in rows], np.int64)
    capacity = devices_by_model(table)
    return table_fragments(
        table, rows, left, lambda size: estimate_typical(kinds, table, size, capacity)
    )
