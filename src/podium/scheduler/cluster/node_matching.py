"""Which rows match: node selectors over label columns, and taints against tolerations.

NodeAffinity, PodTopologySpread, volumes and devices all select nodes by the same terms, so the
vector form is here once. It answers exactly as `NodeTerm.matches` and
`RequiredNodeAffinity.matches` of `podium.kubernetes.rules.node_affinity` do for every present node.

Which rows have taints that a pod does not tolerate. Nodes come in few sorts of taints: most have
none, a pool shares its own. So tolerations are held against each distinct set of taints, once, and
rows gather the answer by the number of their set. The rule for one toleration and one taint is
`podium.kubernetes.rules.tolerations`.
"""

from collections.abc import Iterable

import numpy as np

from podium.golang.arithmetic import parse_int
from podium.kubernetes.kinds.pod import Toleration
from podium.kubernetes.rules.labels import GREATER, IN, Requirement
from podium.kubernetes.rules.node_affinity import (
    NAME_FIELD,
    FieldRequirement,
    NodeTerm,
    RequiredNodeAffinity,
)
from podium.kubernetes.rules.tolerations import TolerationIndex
from podium.scheduler.cluster.growth import Codes, Ints, Mask, Rows, count_of
from podium.scheduler.cluster.nodes import ABSENT, LabelColumn, NodeTable, TaintTriple

_NUMBER, _IS_NUMBER = "number", "is a number"


def required_mask(nodes: NodeTable, required: RequiredNodeAffinity, rows: Rows) -> Mask | None:
    """Rows that a pod's nodeSelector and required terms allow; None when they allow all."""
    mask = labels_mask(nodes, required.selector.requirements, rows)
    if required.terms is None:
        return mask
    allowed = terms_mask(nodes, required.terms, rows)
    return allowed if mask is None else mask & allowed


def terms_mask(nodes: NodeTable, terms: Iterable[NodeTerm], rows: Rows) -> Mask:
    """Rows that match at least one of the terms; without a term that is no row."""
    mask: Mask | None = None
    for term in dict.fromkeys(terms):
        matching = term_mask(nodes, term, rows)
        mask = matching if mask is None else mask | matching
    return _none(rows) if mask is None else mask


def term_mask(nodes: NodeTable, term: NodeTerm, rows: Rows) -> Mask:
    """Rows that match everything a term says; a term that cannot be parsed matches no row."""
    if term.error is not None:
        return _none(rows)
    mask = labels_mask(nodes, term.expressions, rows)
    for field in term.fields:
        matching = _field_mask(nodes, field, rows)
        mask = matching if mask is None else mask & matching
    return ~_none(rows) if mask is None else mask


def labels_mask(nodes: NodeTable, requirements: Iterable[Requirement], rows: Rows) -> Mask | None:
    """Rows whose labels meet every requirement; None when there is nothing to meet."""
    mask: Mask | None = None
    for requirement in requirements:
        matching = _label_mask(nodes, requirement, rows)
        mask = matching if mask is None else mask & matching
        if not mask.any():
            break
    return mask


def _label_mask(nodes: NodeTable, requirement: Requirement, rows: Rows) -> Mask:
    column = nodes.labels.column(requirement.key)
    codes = column.codes[rows]
    mask: Mask
    match requirement.operator:
        case "Exists":
            mask = codes != ABSENT
            return mask
        case "DoesNotExist":
            mask = codes == ABSENT
            return mask
        case "In":
            return _match_listed(column, requirement, codes)
        case "NotIn":
            return ~_match_listed(column, requirement, codes)
        case _:
            return _match_compared(column, requirement, codes)


def _match_listed(column: LabelColumn, requirement: Requirement, codes: Codes) -> Mask:
    found = (column.values.find(value) for value in requirement.values)
    wanted = [code for code in found if code != ABSENT]
    if len(wanted) == 1:
        mask: Mask = codes == wanted[0]
        return mask
    by_code = np.zeros(len(column.values) + 1, dtype=np.bool_)
    by_code[wanted] = True
    # ABSENT is -1 and so reads the last place, which belongs to no value.
    return by_code.take(codes)


def _match_compared(column: LabelColumn, requirement: Requirement, codes: Codes) -> Mask:
    """`Gt` and `Lt`: every distinct value of the label is read once, and all are compared at once.

    A value that is no integer matches neither."""
    (operand,) = requirement.values
    bound = parse_int(operand)
    by_code = np.zeros(len(column.values) + 1, dtype=np.bool_)
    if bound is not None:
        numbers = column.values.table(_NUMBER, _number_of)
        compare = np.greater if requirement.operator == GREATER else np.less
        compare(numbers, bound, out=by_code[:-1])
        by_code[:-1] &= column.values.table(_IS_NUMBER, _is_number) != 0
    # ABSENT is -1 and so reads the last place, which belongs to no value.
    return by_code.take(codes)


def _number_of(value: str) -> int:
    return parse_int(value) or 0


def _is_number(value: str) -> int:
    return parse_int(value) is not None


def _field_mask(nodes: NodeTable, field: FieldRequirement, rows: Rows) -> Mask:
    if field.key != NAME_FIELD:
        # upstream: any other field reads as an empty text, on every node alike.
        return ~_none(rows) if field.matches("") else _none(rows)
    mask = _none(rows)
    for row in (nodes.row(field.value), *nodes.temporary.get(field.value, ())):
        if not isinstance(rows, slice):
            mask |= rows == row
        elif rows.start <= row < rows.stop:
            mask[row - rows.start] = True
    return mask if field.operator == IN else ~mask


def _none(rows: Rows) -> Mask:
    return np.zeros(count_of(rows), dtype=np.bool_)


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
