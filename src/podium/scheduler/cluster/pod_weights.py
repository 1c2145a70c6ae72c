"""What many queries count together, worked out at once.

A pod may carry thousands of affinity terms. A counter for each would cost as many looks at every
pod class, and would stay with those classes long after. Here the classes are indexed once by label
and namespace, each query finds its classes through the index, and the pods of all of them are added
up row by row. The answer is that of the counters of `pod_classes`, added up with their weights.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np

from podium.kubernetes.rules.labels import EXISTS, IN, NOT_IN, Requirement, Selector
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.pod_classes import PodClass, PodQuery

Classes = set[PodClass]

_NO_CLASSES: Final[Classes] = set()


class PodWeights:
    """Pod classes by what selectors ask for; to be used within one attempt."""

    def __init__(self, classes: Iterable[PodClass]) -> None:
        self._classes = list(classes)
        self._with_key: dict[str, Classes] = {}
        self._with_value: dict[tuple[str, str], Classes] = {}
        for each in self._classes:
            for label in each.labels.items():
                self._with_value.setdefault(label, set()).add(each)
                self._with_key.setdefault(label[0], set()).add(each)

    def per_row(self, weighted: Iterable[tuple[int, PodQuery]], capacity: int) -> Ints:
        """For each row the sum of the weights of all pairs of a query and a pod that it matches.
        The queries have one condition each."""
        everywhere: Counter[frozenset[str] | None] = Counter()
        weights: Counter[PodClass] = Counter()
        for weight, query in weighted:
            ((namespaces, selector),) = query.conditions
            if selector.nothing:
                continue
            wanted, unwanted = self._sides(selector)
            if wanted:
                found = set.intersection(*sorted(wanted, key=len)).difference(*unwanted)
            else:
                # All but a few: those few are taken off the sum that all get.
                everywhere[namespaces] += weight
                found, weight = set().union(*unwanted), -weight
            for each in found:
                if namespaces is None or each.namespace in namespaces:
                    weights[each] += weight
        for namespaces, weight in everywhere.items():
            for each in self._classes:
                if namespaces is None or each.namespace in namespaces:
                    weights[each] += weight
        return _add_up(weights, capacity)

    def _sides(self, selector: Selector) -> tuple[list[Classes], list[Classes]]:
        """Sets of classes that all have to hold a class, and sets that none may hold it."""
        wanted: list[Classes] = []
        unwanted: list[Classes] = []
        for requirement in selector.requirements:
            if requirement.operator == EXISTS:
                wanted.append(self._with_key.get(requirement.key, _NO_CLASSES))
            elif requirement.operator == IN:
                wanted.append(self._with_values(requirement))
            elif requirement.operator == NOT_IN:
                unwanted.append(self._with_values(requirement))
            else:
                unwanted.append(self._with_key.get(requirement.key, _NO_CLASSES))
        return wanted, unwanted

    def _with_values(self, requirement: Requirement) -> Classes:
        key, _, values = requirement
        found = [self._with_value.get((key, value), _NO_CLASSES) for value in values]
        return found[0] if len(found) == 1 else _NO_CLASSES.union(*found)


def _add_up(weights: Counter[PodClass], capacity: int) -> Ints:
    per_row: Ints = np.zeros(capacity, dtype=np.int64)
    for each, weight in weights.items():
        if weight:
            for row, count in each.rows.items():
                per_row[row] += weight * count
    return per_row
