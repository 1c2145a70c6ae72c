"""Which pods affinity terms mean, in both directions.

Terms of the pending pod become queries that count pods on nodes. Terms that pods on nodes carry are
held against the pending pod; they come by the thousand and seldom change, so what a pod template
matches is remembered and only terms that are new since then are looked at.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from podium.kubernetes.kinds.workloads import Namespace
from podium.kubernetes.rules.labels import Selector
from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.pod_classes import (
    CarriedTerm,
    PodClasses,
    PodCounter,
    PodQuery,
    TermKind,
)
from podium.scheduler.cluster.pod_info import PodShape

_MAX_KEPT = 4096

NEGATIVE_NAMESPACE_SELECTORS_REACH_ALL: Final[bool] = True
"""Quirk Q1: after a term's namespaces have been listed, upstream still holds its
namespaceSelector against no labels at all, so that one made of NotIn and DoesNotExist alone
reaches every namespace, those that it meant to exclude included."""

MAX_COUNTED_TERMS: Final = 64
"""Terms of one pod that have a counter each, which the next pod finds again; more than that are
added up together each time."""

Condition = tuple[frozenset[str] | None, Selector]


class TermQueries:
    """Terms of a pending pod as conditions on pods, with namespace selectors resolved."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._version = -1
        self._selected: dict[Selector, frozenset[str]] = {}

    def query(self, *terms: AffinityTerm) -> PodQuery:
        """Pods that match all of the terms."""
        return PodQuery(tuple([self._condition(term) for term in terms]))

    def _condition(self, term: AffinityTerm) -> Condition:
        selector = term.namespace_selector
        if selector.nothing:
            return term.namespaces, term.selector
        if selector.empty or (NEGATIVE_NAMESPACE_SELECTORS_REACH_ALL and selector.matches(None)):
            return None, term.selector
        return term.namespaces | self._namespaces(selector), term.selector

    def _namespaces(self, selector: Selector) -> frozenset[str]:
        version = self._catalog.version(Namespace)
        if version != self._version or len(self._selected) >= _MAX_KEPT:
            self._version = version
            self._selected.clear()
        found = self._selected.get(selector)
        if found is None:
            found = self._selected[selector] = frozenset(
                namespace.metadata.name
                for namespace in self._catalog.all(Namespace)
                if selector.matches(namespace.metadata.labels)
            )
        return found


class _Matched:
    """What one pod template matches among the first `seen` carried terms."""

    __slots__ = ("seen", "terms")

    def __init__(self) -> None:
        self.seen = 0
        self.terms: list[tuple[CarriedTerm, PodCounter]] = []


class CarriedTerms:
    """Terms of pods on nodes that match a pending pod."""

    def __init__(self, catalog: Catalog, classes: PodClasses) -> None:
        self._catalog = catalog
        self._classes = classes
        self._version = (-1, -1)
        self._matched: dict[tuple[PodShape, TermKind], _Matched] = {}

    def find_matching(
        self, kind: TermKind, shape: PodShape
    ) -> Sequence[tuple[CarriedTerm, PodCounter]]:
        """Matching terms with their carriers; a counter may count nobody at the moment."""
        carried = self._classes.carried_terms(kind)
        if not carried:
            return ()
        version = (self._catalog.version(Namespace), self._classes.carried_epoch)
        if version != self._version or len(self._matched) >= _MAX_KEPT:
            self._version = version
            self._matched.clear()
        matched = self._matched.get((shape, kind))
        if matched is None:
            matched = self._matched[shape, kind] = _Matched()
        if matched.seen < len(carried):
            self._look_at_new(matched, carried.items(), shape)
            matched.seen = len(carried)
        return matched.terms

    def _look_at_new(
        self,
        matched: _Matched,
        carried: Iterable[tuple[CarriedTerm, PodCounter]],
        shape: PodShape,
    ) -> None:
        namespace_labels = self._catalog.namespace_labels(shape.namespace)
        for carried_term, counter in islice(carried, matched.seen, None):
            term = carried_term.term
            if term.matches(shape.namespace, shape.labels, namespace_labels):
                matched.terms.append((carried_term, counter))
