"""Which rows have taints that a pod does not tolerate.

Nodes come in few sorts of taints: most have none, a pool shares its own. So tolerations are held
against each distinct set of taints, once, and rows gather the answer by the number of their set.
The rule for one toleration and one taint is `podium.kubernetes.rules.tolerations`.
"""

from collections.abc import Iterable

from podium.kubernetes.kinds.pod import Toleration
from podium.kubernetes.rules.tolerations import TolerationIndex
from podium.scheduler.cluster.growth import Ints, Mask, Rows
from podium.scheduler.cluster.nodes import NodeTable, TaintTriple


def untolerated_mask(
    nodes: NodeTable,
    tolerations: Iterable[Toleration] | None,
    effects: frozenset[str],
    rows: Rows,
    *,
    comparison: bool,
) -> Mask | None:
    """Rows with a taint of one of the effects that no toleration covers; None when no row has.

    `comparison` is the gate TaintTolerationComparisonOperators.
    """
    counts = _counts_by_set(nodes, tolerations, effects, comparison=comparison)
    if counts is None:
        return None
    by_set: Mask = counts != 0
    return by_set.take(nodes.taint_set[rows])


def untolerated_counts(
    nodes: NodeTable,
    tolerations: Iterable[Toleration] | None,
    effects: frozenset[str],
    rows: Rows,
    *,
    comparison: bool,
) -> Ints | None:
    """How many such taints each row has; None when no row has any."""
    counts = _counts_by_set(nodes, tolerations, effects, comparison=comparison)
    return None if counts is None else counts.take(nodes.taint_set[rows])


def _counts_by_set(
    nodes: NodeTable,
    tolerations: Iterable[Toleration] | None,
    effects: frozenset[str],
    *,
    comparison: bool,
) -> Ints | None:
    if not nodes.tainted_count:
        return None
    given = tuple(tolerations or ())
    index: TolerationIndex | None = None

    def count(taints: tuple[TaintTriple, ...]) -> int:
        nonlocal index
        if index is None:
            index = TolerationIndex(given, comparison=comparison)
        return sum(
            effect in effects and not index.tolerates(key, value, effect)
            for key, value, effect in taints
        )

    counts = nodes.taint_sets.table((given, effects, comparison), count)
    return counts if counts.any() else None
