"""Counting pods on nodes without walking pods, for one query or for many at once.

Pods that agree in namespace, labels, affinity terms and in whether they are terminating are one
*pod class*. A question such as "how many pods on each node match this selector" (a `PodQuery`) is
asked once per class and answered per node by a `PodCounter`: a column that is kept up to date by
deltas while it is in use. Affinity terms that pods on nodes carry are counted in the same way, one
counter per distinct term.

What many queries count together, worked out at once. A pod may carry thousands of affinity terms. A
counter for each would cost as many looks at every pod class, and would stay with those classes long
after. Here the classes are indexed once by label and namespace, each query finds its classes
through the index, and the pods of all of them are added up row by row. The answer is that of the
counters of `pod_classes`, added up with their weights.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

import numpy as np

from podium.kubernetes.rules.labels import EXISTS, IN, NOT_IN, Requirement, Selector
from podium.kubernetes.rules.pod_affinity import AffinityTerm, PodAffinityTerms
from podium.scheduler.cluster.growth import Ints, wider
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.pod_info import PodInfo

_MAX_COUNTER_BYTES = 256 * 1024 * 1024
_FEWEST_COUNTERS = 16
_MAX_EMPTY_CLASSES = 1024
_MAX_CHANGES = 64
"""So many changes of a counter are quicker applied one by one than counted anew."""

TermKind = Literal["required_affinity", "required_anti", "preferred_affinity", "preferred_anti"]


class PodQuery(NamedTuple):
    """Which pods to count: all conditions must hold. `namespaces` None means every namespace."""

    conditions: tuple[tuple[frozenset[str] | None, Selector], ...]
    terminating: bool = True

    def matches(self, namespace: str, labels: Mapping[str, str], terminating: bool) -> bool:
        if terminating and not self.terminating:
            return False
        return all(
            (namespaces is None or namespace in namespaces) and selector.matches(labels)
            for namespaces, selector in self.conditions
        )


ClassKey = tuple[str, tuple[tuple[str, str], ...], PodAffinityTerms, bool]


class CarriedTerm(NamedTuple):
    """An affinity term that pods on nodes carry, with its weight (0 for required terms)."""

    kind: TermKind
    weight: int
    term: AffinityTerm


class PodCounter:
    """Pods per row over a set of pod classes; the column exists only while somebody asks."""

    __slots__ = ("_changes", "classes", "counts", "total", "version")

    def __init__(self) -> None:
        self.classes: list[PodClass] = []
        self.counts: Ints | None = None
        self.total = 0
        self.version = 0
        self._changes: list[tuple[int, int]] | None = None

    def add(self, row: int, delta: int) -> None:
        self.total += delta
        self.version += 1
        if self.counts is not None:
            self.counts[row] += delta
        if self._changes is not None:
            self._changes.append((row, delta))
            if len(self._changes) > 2 * _MAX_CHANGES:
                del self._changes[:_MAX_CHANGES]

    def follow(self) -> None:
        """From now on, remember what changes."""
        if self._changes is None:
            self._changes = []

    def since(self, version: int) -> list[tuple[int, int]] | None:
        """Rows with their changes after a version; None if that is forgotten."""
        missing = self.version - version
        if self._changes is None or missing > len(self._changes):
            return None
        return self._changes[-missing:] if missing else []

    def join(self, pod_class: "PodClass") -> None:
        self.classes.append(pod_class)
        pod_class.counters.append(self)
        for row, count in pod_class.rows.items():
            self.add(row, count)


_NO_TERMS: Mapping[CarriedTerm, PodCounter] = {}


class PodClass:
    __slots__ = ("counters", "key", "labels", "live", "namespace", "rows", "terminating")

    def __init__(
        self, key: ClassKey, namespace: str, labels: Mapping[str, str], terminating: bool
    ) -> None:
        self.key = key
        self.live = True
        self.namespace = namespace
        self.labels = labels
        self.terminating = terminating
        self.rows: dict[int, int] = {}
        self.counters: list[PodCounter] = []


class PodClasses:
    """All pod classes on nodes, the counters over them and the terms they carry."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._classes: dict[ClassKey, PodClass] = {}
        self._empty: set[PodClass] = set()
        self._counters: OrderedDict[PodQuery, PodCounter] = OrderedDict()
        self._carried: dict[TermKind, dict[CarriedTerm, PodCounter]] = {}
        self.carried_epoch = 0
        self.terms_version = 0
        """Moves when a term is carried that was not before, or is not looked at any more."""

    def add(self, row: int, info: PodInfo) -> None:
        self._shift(row, info, 1)

    def remove(self, row: int, info: PodInfo) -> None:
        self._shift(row, info, -1)

    def counts(self, query: PodQuery) -> Ints:
        """Matching pods per row. The array belongs to the table: read it, do not keep it."""
        return self.column(self.counter(query))

    def counter(self, query: PodQuery) -> PodCounter:
        """What counts the matching pods."""
        counter = self._counters.get(query)
        if counter is None:
            counter = self._counters[query] = PodCounter()
            for pod_class in self._classes.values():
                if query.matches(pod_class.namespace, pod_class.labels, pod_class.terminating):
                    counter.join(pod_class)
            self._evict()
        self._counters.move_to_end(query)
        return counter

    def all(self) -> Iterable["PodClass"]:
        return self._classes.values()

    def carried_terms(self, kind: TermKind) -> Mapping[CarriedTerm, PodCounter]:
        """Terms of a kind that pods on nodes carry, in order of first sight.

        A term that nobody carries any more may linger with a total of 0. New terms come at the
        end; when old ones are dropped, `carried_epoch` moves.
        """
        return self._carried.get(kind, _NO_TERMS)

    def column(self, counter: PodCounter) -> Ints:
        if counter.counts is None:
            counter.counts = np.zeros(self._nodes.capacity, dtype=np.int64)
            for pod_class in counter.classes:
                for row, count in pod_class.rows.items():
                    counter.counts[row] += count
        elif len(counter.counts) < self._nodes.capacity:
            counter.counts = wider(counter.counts, self._nodes.capacity)
        return counter.counts

    def _shift(self, row: int, info: PodInfo, delta: int) -> None:
        pod_class = self._class_of(info)
        left = pod_class.rows.get(row, 0) + delta
        if left:
            pod_class.rows[row] = left
        else:
            del pod_class.rows[row]
            if not pod_class.rows:
                self._empty.add(pod_class)
        for counter in pod_class.counters:
            if counter.counts is not None and row >= len(counter.counts):
                self.column(counter)
            counter.add(row, delta)
        if len(self._empty) > _MAX_EMPTY_CLASSES:
            self._drop_empty()

    def _class_of(self, info: PodInfo) -> PodClass:
        shape = info.shape
        found = shape.classes.get(info.terminating)
        if found is not None and found.live:
            return found
        key = (shape.namespace, _items(shape.labels), shape.affinity, info.terminating)
        found = self._classes.get(key)
        if found is None:
            found = PodClass(key, shape.namespace, shape.labels, info.terminating)
            self._classes[key] = found
            self._join_counters(found, info)
        shape.classes[info.terminating] = found
        return found

    def _drop_empty(self) -> None:
        """Forget classes that no pod is in any more, and terms that nobody carries."""
        for pod_class in self._empty:
            if not pod_class.rows:
                pod_class.live = False
                del self._classes[pod_class.key]
                for counter in pod_class.counters:
                    counter.classes.remove(pod_class)
        self._empty.clear()
        for by_term in self._carried.values():
            for term in [t for t, counter in by_term.items() if not counter.classes]:
                del by_term[term]
                self.carried_epoch += 1
                self.terms_version += 1

    def _join_counters(self, pod_class: PodClass, info: PodInfo) -> None:
        for query, counter in self._counters.items():
            if query.matches(pod_class.namespace, pod_class.labels, pod_class.terminating):
                counter.join(pod_class)
        terms = info.shape.affinity
        carried: list[CarriedTerm] = [
            *(CarriedTerm("required_affinity", 0, t) for t in terms.required_affinity),
            *(CarriedTerm("required_anti", 0, t) for t in terms.required_anti),
            *(CarriedTerm("preferred_affinity", w, t) for w, t in terms.preferred_affinity),
            *(CarriedTerm("preferred_anti", w, t) for w, t in terms.preferred_anti),
        ]
        for term in carried:
            by_term = self._carried.setdefault(term.kind, {})
            if term not in by_term:
                by_term[term] = PodCounter()
                self.terms_version += 1
            by_term[term].join(pod_class)

    def _evict(self) -> None:
        room = max(_FEWEST_COUNTERS, _MAX_COUNTER_BYTES // (8 * max(self._nodes.capacity, 1)))
        while len(self._counters) > room:
            _, counter = self._counters.popitem(last=False)
            for pod_class in counter.classes:
                pod_class.counters.remove(counter)


def _items(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(labels.items()))


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
