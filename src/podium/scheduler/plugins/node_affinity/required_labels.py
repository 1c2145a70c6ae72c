"""The single demands of a pod on the labels and the name of its node, and how to let go of one.

A demand is one entry of `nodeSelector`, or one expression or field of a required node affinity
term. For a node that does not match, `unmet_demands` are the fewest that would have to go.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
)
from podium.kubernetes.rules.labels import IN, Requirement
from podium.kubernetes.rules.node_affinity import NAME_FIELD, required_selector


@dataclass(frozen=True, slots=True, order=True)
class Demand:
    """`term` is -1 for an entry of nodeSelector, whose key `key` is; otherwise `place` says which
    of the term's expressions, or fields if `is_field`."""

    term: int
    place: int
    is_field: bool
    key: str
    operator: str
    values: tuple[str, ...]

    def matches(self, node: Node) -> bool:
        if self.is_field:
            found = node.metadata.name if self.key == NAME_FIELD else ""
            return (found in self.values) == (self.operator == IN)
        wanted = Requirement(self.key, self.operator, frozenset(self.values))
        try:
            return wanted.matches(node.metadata.labels or {})
        except ValueError:  # a comparison with more or less than one value
            return False

    def __str__(self) -> str:
        return str(Requirement(self.key, self.operator, frozenset(self.values)))


Rewrite = Callable[[Demand], tuple[str, ...] | None]
"""The new values of a demand; None drops it."""


def demands_of(pod: Pod) -> tuple[list[Demand], list[list[Demand]]]:
    """(entries of nodeSelector, demands of each affinity term)."""
    entries = [
        Demand(-1, 0, False, key, IN, (value,))
        for key, value in (pod.spec.node_selector or {}).items()
    ]
    written = required_selector(pod)
    terms = (written.node_selector_terms if written is not None else None) or ()
    return entries, [demands_of_term(index, term) for index, term in enumerate(terms)]


def demands_of_term(index: int, term: NodeSelectorTerm) -> list[Demand]:
    found = []
    for is_field, listed in ((False, term.match_expressions), (True, term.match_fields)):
        for place, each in enumerate(listed or ()):
            values = tuple(each.values or ())
            found.append(Demand(index, place, is_field, each.key, each.operator, values))
    return found


def unmet_demands(
    entries: list[Demand], terms: list[list[Demand]], node: Node
) -> tuple[Demand, ...]:
    unmet = [demand for demand in entries if not demand.matches(node)]
    if terms:
        per_term = [[demand for demand in term if not demand.matches(node)] for term in terms]
        fewest = min(len(each) for each in per_term)
        unmet += next(each for each in per_term if len(each) == fewest)
    return tuple(unmet)


def rewrite_demands(pod: Pod, demands: Iterable[Demand], rewrite: Rewrite) -> Pod:
    """The pod with other values in some of its demands, or without them."""
    changed = {demand: rewrite(demand) for demand in demands}
    selector = dict(pod.spec.node_selector or {})
    for demand, values in changed.items():
        if demand.term >= 0:
            continue
        if values is None:
            del selector[demand.key]
        else:
            selector[demand.key] = values[0]
    spec = replace(pod.spec, node_selector=selector or None)
    return _rewrite_terms(replace(pod, spec=spec), changed)


def _rewrite_terms(pod: Pod, changed: dict[Demand, tuple[str, ...] | None]) -> Pod:
    written = required_selector(pod)
    affinity = pod.spec.affinity
    if (
        written is None
        or affinity is None
        or affinity.node_affinity is None
        or not any(demand.term >= 0 for demand in changed)
    ):
        return pod
    terms = tuple(
        _rewrite_term(index, term, changed)
        for index, term in enumerate(written.node_selector_terms or ())
    )
    # A term without demands matches no node, so what has none left goes as a whole.
    emptied = any(not t.match_expressions and not t.match_fields for t in terms)
    required = None if emptied else NodeSelector(node_selector_terms=terms)
    node_affinity = replace(
        affinity.node_affinity, required_during_scheduling_ignored_during_execution=required
    )
    if (
        required is None
        and node_affinity.preferred_during_scheduling_ignored_during_execution is None
    ):
        affinity = replace(affinity, node_affinity=None)
    else:
        affinity = replace(affinity, node_affinity=node_affinity)
    return replace(pod, spec=replace(pod.spec, affinity=affinity))


def _rewrite_term(
    index: int, term: NodeSelectorTerm, changed: dict[Demand, tuple[str, ...] | None]
) -> NodeSelectorTerm:
    places = {(d.is_field, d.place): values for d, values in changed.items() if d.term == index}

    def rewritten(
        listed: tuple[NodeSelectorRequirement, ...] | None, is_field: bool
    ) -> tuple[NodeSelectorRequirement, ...] | None:
        kept = []
        for place, each in enumerate(listed or ()):
            values = places.get((is_field, place), each.values or ())
            if values is not None:
                kept.append(replace(each, values=tuple(values) or None))
        return tuple(kept) or None

    return NodeSelectorTerm(
        match_expressions=rewritten(term.match_expressions, is_field=False),
        match_fields=rewritten(term.match_fields, is_field=True),
    )
