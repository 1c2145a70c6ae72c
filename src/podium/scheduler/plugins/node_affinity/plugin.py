"""NodeAffinity: the nodes a pod may go to by their labels or names, and those it prefers.

A pod's nodeSelector and required terms filter, its preferred terms score. A profile can add an
affinity of its own (`addedAffinity`), which every pod of that profile must meet as well; unlike a
pod's, it must parse without any error.

With weight 3 for zone b and weight 4 for the name n2, nodes n1, n2, n3 (the latter two in zone b)
have 0, 7, 3 and, normalised, 0, 100, 42.

Causes and proposals speak of single demands on the labels and the name of a node. A demand is one
entry of `nodeSelector`, or one expression or field of a required node affinity term. For a node
that does not match, `unmet_demands` are the fewest that would have to go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
)
from podium.kubernetes.rules.labels import IN, Requirement
from podium.kubernetes.rules.node_affinity import (
    NAME_FIELD,
    NodeSelectorError,
    NodeTerm,
    PreferredNodeTerm,
    RequiredNodeAffinity,
    parse_node_selector,
    preferred_of,
    required_names,
    required_selector,
)
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.node_matching import required_mask, term_mask, terms_mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.plugin_args import NodeAffinityArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import Verdict, choosing, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding, Narrowing, NodeRequirement
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.plugin import ProposedChange, RefusalCause
from podium.scheduler.framework.points import (
    FilterPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.scoring import default_normalize
from podium.scheduler.framework.status import SKIP, Status, unresolvable

ENFORCED_MISMATCH = unresolvable("node(s) didn't match scheduler-enforced node affinity")
POD_MISMATCH = unresolvable("node(s) didn't match Pod's node affinity/selector")
NAMES_CONFLICT = unresolvable("pod affinity terms conflict")

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    name = "NodeAffinity"
    refusals_stand = True
    keeps_daemons_away = True
    narrows = NodeRequirement.LABELS
    in_range = True
    normalizes_by_range = True

    def __init__(self, args: NodeAffinityArgs | None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._added = _AddedAffinity.of(args)

    def pre_filter(self, cycle: Cycle) -> Status | frozenset[str] | None:
        pod = cycle.pod.pod
        written = required_selector(pod)
        # upstream: an empty nodeSelector does not skip, only an absent one does.
        if written is None and pod.spec.node_selector is None and self._added.required is None:
            return SKIP
        names = required_names(written)
        if names is None:
            return None
        return names or NAMES_CONFLICT

    def pre_filter_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        own = required_mask(cycle.nodes, cycle.pod.shape.node_affinity, rows)
        if self._added.required is None:
            return None if own is None else rejecting(~own, POD_MISMATCH)
        enforced = terms_mask(cycle.nodes, self._added.required, rows)
        if own is None:
            return rejecting(~enforced, ENFORCED_MISMATCH)
        values = np.where(enforced, 2 * ~own, 1)
        return choosing(values, (ENFORCED_MISMATCH, POD_MISMATCH))

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(cycle.pod.shape.node_affinity, usage=False)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        # A preference that cannot be parsed raises here and so fails the attempt.
        listed = cycle.pod.shape.preferred_nodes is not None
        return None if listed or self._added.preferred is not None else SKIP

    def pre_score_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        scores = np.zeros(count_of(rows), dtype=np.int64)
        own = cycle.pod.shape.preferred_nodes or ()
        for weight, term in (*(self._added.preferred or ()), *own):
            scores += weight * term_mask(cycle.nodes, term, rows)
        return scores

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(cycle.pod.shape.preferred_nodes, usage=False)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return default_normalize(scores)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.node_affinity.causes import find_labels

        return find_labels(view, among, self.args)

    def narrow_nodes(self, view: AttemptView) -> Narrowing:
        from podium.scheduler.plugins.node_affinity.causes import narrow_by_labels

        return narrow_by_labels(view)

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:
        from podium.scheduler.plugins.node_affinity.causes import explain_name_conflict

        return explain_name_conflict(pod.pod) if status.reasons == NAMES_CONFLICT.reasons else None

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.node_affinity.proposals import (
            propose_node_labels,
            propose_other_labels,
        )

        yield from propose_other_labels(situation)
        yield from propose_node_labels(situation, self.args)

    def events(self) -> Sequence[Registration]:
        actions = Action.ADD | Action.UPDATE_NODE_LABEL
        return (Registration(Resource.NODE, actions, self._node_hint),)

    def _node_hint(self, waiting: PodInfo, old: Node | None, new: Node) -> bool:
        if not self._added.allows(new):
            return False
        required = waiting.shape.node_affinity
        if not _matches(required, new):
            return _fails(required, new)
        # upstream: only the pod's own affinity is compared with before, so that a change which
        # makes just the added affinity match does not count.
        return old is None or not _matches(required, old)


@dataclass(frozen=True, slots=True)
class _AddedAffinity:
    """What a profile adds. None is "nothing added"; no usable required term matches no node."""

    required: tuple[NodeTerm, ...] | None = None
    preferred: tuple[PreferredNodeTerm, ...] | None = None

    @classmethod
    def of(cls, args: NodeAffinityArgs | None) -> "_AddedAffinity":
        written = args.added_affinity if args is not None else None
        if written is None:
            return cls()
        required = written.required_during_scheduling_ignored_during_execution
        preferred = written.preferred_during_scheduling_ignored_during_execution
        try:
            terms = None if required is None else parse_node_selector(required, strict=True)
        except NodeSelectorError as problem:
            raise NodeSelectorError(f"parsing addedAffinity.{_REQUIRED}: {problem}") from problem
        try:
            preferences = preferred_of(preferred) if preferred else None
        except NodeSelectorError as problem:
            raise NodeSelectorError(f"parsing addedAffinity.{_PREFERRED}: {problem}") from problem
        return cls(terms, preferences)

    def allows(self, node: Node) -> bool:
        labels, name = node.metadata.labels, node.metadata.name
        return self.required is None or any(term.matches(labels, name) for term in self.required)


def _matches(required: RequiredNodeAffinity, node: Node) -> bool:
    return required.matches(node.metadata.labels, node.metadata.name)


def _fails(required: RequiredNodeAffinity, node: Node) -> bool:
    """Whether matching this node, which does not match, ends in an error: a term is broken."""
    broken = any(term.error is not None for term in required.terms or ())
    return broken and required.selector.matches(node.metadata.labels)


@dataclass(frozen=True, slots=True, order=True)
class LabelDemand:
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


Rewrite = Callable[[LabelDemand], tuple[str, ...] | None]
"""The new values of a demand; None drops it."""


def demands_of(pod: Pod) -> tuple[list[LabelDemand], list[list[LabelDemand]]]:
    """(entries of nodeSelector, demands of each affinity term)."""
    entries = [
        LabelDemand(-1, 0, False, key, IN, (value,))
        for key, value in (pod.spec.node_selector or {}).items()
    ]
    written = required_selector(pod)
    terms = (written.node_selector_terms if written is not None else None) or ()
    return entries, [demands_of_term(index, term) for index, term in enumerate(terms)]


def demands_of_term(index: int, term: NodeSelectorTerm) -> list[LabelDemand]:
    found = []
    for is_field, listed in ((False, term.match_expressions), (True, term.match_fields)):
        for place, each in enumerate(listed or ()):
            values = tuple(each.values or ())
            found.append(LabelDemand(index, place, is_field, each.key, each.operator, values))
    return found


def unmet_demands(
    entries: list[LabelDemand], terms: list[list[LabelDemand]], node: Node
) -> tuple[LabelDemand, ...]:
    unmet = [demand for demand in entries if not demand.matches(node)]
    if terms:
        per_term = [[demand for demand in term if not demand.matches(node)] for term in terms]
        fewest = min(len(each) for each in per_term)
        unmet += next(each for each in per_term if len(each) == fewest)
    return tuple(unmet)


def rewrite_demands(pod: Pod, demands: Iterable[LabelDemand], rewrite: Rewrite) -> Pod:
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


def rename_keys(pod: Pod, keys: Mapping[LabelDemand, str]) -> Pod:
    """The pod with other labels in some of its demands, which keep their values."""
    renamed = {demand.key: key for demand, key in keys.items() if demand.term < 0}
    selector = {
        renamed.get(key, key): value for key, value in (pod.spec.node_selector or {}).items()
    }
    pod = replace(pod, spec=replace(pod.spec, node_selector=selector or None))
    places = {(d.term, d.place): key for d, key in keys.items() if d.term >= 0}

    def rename(index: int, term: NodeSelectorTerm) -> NodeSelectorTerm:
        found = enumerate(term.match_expressions or ())
        expressions = tuple(replace(e, key=places.get((index, at), e.key)) for at, e in found)
        return replace(term, match_expressions=expressions or None)

    return _with_terms(pod, rename) if places else pod


def _rewrite_terms(pod: Pod, changed: dict[LabelDemand, tuple[str, ...] | None]) -> Pod:
    if not any(demand.term >= 0 for demand in changed):
        return pod
    return _with_terms(pod, lambda index, term: _rewrite_term(index, term, changed))


def _with_terms(pod: Pod, change: Callable[[int, NodeSelectorTerm], NodeSelectorTerm]) -> Pod:
    """The pod with each of its required terms as changed."""
    written = required_selector(pod)
    affinity = pod.spec.affinity
    if written is None or affinity is None or affinity.node_affinity is None:
        return pod
    terms = tuple(
        change(index, term) for index, term in enumerate(written.node_selector_terms or ())
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
    index: int, term: NodeSelectorTerm, changed: dict[LabelDemand, tuple[str, ...] | None]
) -> NodeSelectorTerm:
    places = {(d.is_field, d.place): values for d, values in changed.items() if d.term == index}

    def rewrite_listed(
        listed: tuple[NodeSelectorRequirement, ...] | None, is_field: bool
    ) -> tuple[NodeSelectorRequirement, ...] | None:
        kept = []
        for place, each in enumerate(listed or ()):
            values = places.get((is_field, place), each.values or ())
            if values is not None:
                kept.append(replace(each, values=tuple(values) or None))
        return tuple(kept) or None

    return NodeSelectorTerm(
        match_expressions=rewrite_listed(term.match_expressions, is_field=False),
        match_fields=rewrite_listed(term.match_fields, is_field=True),
    )
